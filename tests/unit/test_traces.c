/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Small traces and their processing by the model and the analyses (cases.h). The script is
 * povmake's in its brief form, with these lines in addition:
 *
 *   recording MEMBERS     begins the trace, with these members of its config object (JSON)
 *   functions             the built-in table
 *   rank N pid P ts NS    a process of two ranks
 *   cut N                 removes the Nth event block from the file
 *   spoil N               damages one event block
 *   until TEXT            ends the report before a line with this text
 *   interrupts TID FROM..TO   prints the interrupts of a rank's thread that began in that time
 *   section NAME          a section for the section analysis; may occur several times
 *   tail N                prints only the last N events; the trace is long and goes through the
 *                         model once
 *   analyses              runs only the analyses; the trace is long and no events are shown
 *   show WORD…            what is printed: events of the sink by their first word, and the results
 *                         below
 */
#include <inttypes.h>

#include "lib/table.h"
#include "unit/test.h"
#include "analysis/app_time.h"
#include "analysis/contests.h"
#include "analysis/demand.h"
#include "analysis/holders.h"
#include "analysis/cores.h"
#include "analysis/migrations.h"
#include "analysis/program_section.h"
#include "record/overhead.h"
#include "report/report.h"
#include "tool/povmake/maker.h"
#include "unit/cases.h"
#include "unit/model_fixture.h"

#define U(n) ((unsigned long long)(n))

struct play {
	struct mfix f;
	const char *show;
	unsigned int tail; /* 0: all events */
	bool analyses;	   /* only the analyses */
	const char *until; /* ends the report; NULL: prints all of it */
	FILE *out;
	struct app_time app;
	struct contests contests;
	struct holders holders;
	struct coverage coverage;
	struct demand demand;
	struct migrations migrations;
	struct interrupts interrupts;
};

/* ---- results ---- */

static void times_print(FILE *out, const struct state_times *t)
{
	cases_figures_part(out, {"R", t->ns[THREAD_RUNNING]}, {"Q", t->ns[THREAD_RUNNABLE]},
			   {"B", t->ns[THREAD_BLOCKED]}, {"U", t->ns[THREAD_UNKNOWN]});
}

static void stats_print(struct play *p)
{
	const struct model_stats *s = model_get_stats(p->f.model);

	fputs("stats", p->out);
	cases_figures(p->out, {"bad", s->bad_records}, {"unknown_functions", s->unknown_functions},
		      {"unannounced", s->unannounced_threads},
		      {"contradictions", s->contradictions}, {"spilled", s->pending_spilled},
		      {"gaps", s->sched_gaps}, {"gap_ns", s->sched_gap_ns},
		      {"gaps_late", s->sched_gaps_late});
}

static void threads_print(struct play *p)
{
	for (uint32_t i = 0; i < model_thread_count(p->f.model); i++) {
		const struct model_thread *t = model_thread_get(p->f.model, i);

		if (t->idle)
			continue;
		fprintf(p->out, "life %u", t->out_tid);
		if (t->out_tid != t->tid)
			fprintf(p->out, " tid %u", t->tid);
		fprintf(p->out, " %llu..%llu", U(t->start_ns), U(t->end_ns));
		times_print(p->out, &t->times);
		fputc('\n', p->out);
	}
}

static void processes_print(struct play *p)
{
	const struct model_info *info = model_get_info(p->f.model);

	fprintf(p->out, "info jobs=%u%s%s%s\n", info->njobs, info->sched_recorded ? " sched" : "",
		info->sched_all ? " all" : "", info->complete ? " complete" : "");
	for (uint32_t i = 0; i < model_process_count(p->f.model); i++) {
		const struct model_process *m = model_process_get(p->f.model, i);

		fprintf(p->out, "process %u", m->out_pid);
		if (m->is_rank)
			fprintf(p->out, " rank %d of job %u", m->rank, m->job_idx);
		fprintf(p->out, " %s", m->name);
		if (m->cmdline && *m->cmdline)
			fprintf(p->out, " \"%s\"", m->cmdline);
		fputs(m->is_target ? " target" : "", p->out);
		fputs(model_ran_before(p->f.model, m) ? " ran before" : "", p->out);
		if (m->exited)
			fprintf(p->out, " exits %d", m->exit_code);
		fputc('\n', p->out);
	}
}

static void held_print(struct play *p)
{
	uint32_t n;
	struct holder *list = holders_list(&p->holders, p->f.model, &n);

	for (uint32_t i = 0; i < n; i++)
		fprintf(p->out, "held %u by %u ns=%llu\n",
			model_thread_get(p->f.model, list[i].waiter)->tid,
			model_thread_get(p->f.model, list[i].thread)->tid, U(list[i].ns));
	free(list);
	for (uint32_t i = 0; i < p->holders.nthread && i < model_thread_count(p->f.model); i++) {
		const struct holders_row *r = &p->holders.thread[i];

		if (!r->runnable_ns)
			continue;
		fprintf(p->out, "waits %u", model_thread_get(p->f.model, i)->tid);
		cases_figures(p->out, {"ns", r->runnable_ns}, {"idle", r->idle_ns},
			      {"unknown", r->unknown_ns});
	}
}

static const char *activity_name(enum activity d)
{
	return d == ACTIVITY_OWN  ? "own" :
	       d == ACTIVITY_POLL ? "poll" :
	       d == ACTIVITY_WORK ? "work" :
				    "unknown";
}

TABLE_ORDER(contest_compare, struct contest, table_compare(a->waiter->tid, b->waiter->tid),
	    table_compare(b->ns, a->ns))

static void contests_print(struct play *p)
{
	uint32_t n;
	struct contest *c = contests_list(&p->contests, &n);

	qsort(c, n, sizeof(*c), contest_compare);
	for (uint32_t i = 0; i < n; i++) {
		fprintf(p->out, "contest %u %s", c[i].waiter->tid, activity_name(c[i].waits));
		fprintf(p->out, "%s%s", c[i].waits_in ? " " : "",
			c[i].waits_in ? c[i].waits_in->name : "");
		fprintf(p->out, " for %u %s", c[i].holder->tid, activity_name(c[i].holds));
		fprintf(p->out, "%s%s", c[i].holds_in ? " " : "",
			c[i].holds_in ? c[i].holds_in->name : "");
		fprintf(p->out, " cpu%u ns=%llu cnt=%llu worst=%llu@%llu\n", c[i].cpu, U(c[i].ns),
			U(c[i].cnt), U(c[i].worst_ns), U(c[i].worst_from_ns));
	}
	free(c);
}

static void demand_print(struct play *p)
{
	const struct demand *a = &p->demand;

	for (uint32_t i = 0; i < a->nmask; i++) {
		const struct demand_mask *k = &a->mask[i];

		fprintf(p->out, "demand %s%llx cpus=%u", k->all ? "all " : "", U(k->cpus.word[0]),
			k->nr);
		cases_figures_part(p->out, {"most", k->most}, {"ran", k->ran_ns},
				   {"over", k->over_ns}, {"lost", k->lost_ns}, {"want", k->want_ns},
				   {"worst", k->worst_ns},
				   {"from", k->over_ns ? k->worst_from_ns : 0});
		for (uint32_t t = 0; t < model_thread_count(p->f.model); t++) {
			const struct model_thread *m = model_thread_get(p->f.model, t);
			uint64_t ns = demand_of_thread(a, m, i);

			if (ns)
				fprintf(p->out, " %u:%llu", m->tid, U(ns));
		}
		fputc('\n', p->out);
	}
}

static void migrations_print(struct play *p)
{
	const struct migrations *a = &p->migrations;

	for (uint32_t i = 0; i < a->nthread && i < model_thread_count(p->f.model); i++) {
		const struct migrations_thread *t = &a->thread[i];

		if (!t->migrations)
			continue;
		fprintf(p->out, "migrations %u cnt=%llu", model_thread_get(p->f.model, i)->tid,
			U(t->migrations));
		cases_figures(p->out, {"back", t->back}, {"wait", t->migrations_wait_ns},
			      {"worst", t->worst_ns});
	}
	for (uint32_t i = 0; i < a->nprocess && i < model_process_count(p->f.model); i++) {
		const struct migrations_process *m = &a->process[i];

		if (!m->wakeups.cnt && !m->held_back)
			continue;
		fprintf(p->out, "wakeups %u", model_process_get(p->f.model, i)->pid);
		cases_figures(p->out, {"cnt", m->wakeups.cnt}, {"max", m->wakeups.max},
			      {"slow", m->slow}, {"slow_ns", m->slow_ns},
			      {"from", m->worst_from_ns}, {"held_back", m->held_back},
			      {"held_back_ns", m->held_back_ns}, {"held_worst", m->held_worst_ns},
			      {"held_from", m->held_worst_from_ns});
	}
}

static void app_print(struct play *p)
{
	const struct app_time *a = &p->app;

	for (uint32_t i = 0; i < a->nprocess && i < model_process_count(p->f.model); i++) {
		const struct app_process *m = &a->process[i];

		if (!model_process_get(p->f.model, i)->is_rank)
			continue;
		fprintf(p->out, "app %u", model_process_get(p->f.model, i)->pid);
		if (m->has_main)
			fprintf(p->out, " main=%u", model_thread_get(p->f.model, m->main)->tid);
		cases_figures_part(p->out, {"init", m->init_ns}, {"finalize", m->finalize_ns},
				   {"computed", m->computed_ns});
		fputs(a->lost ? " lost\n" : "\n", p->out);
	}
	for (uint32_t i = 0; i < a->nthread && i < model_thread_count(p->f.model); i++) {
		const struct app_thread *t = &a->thread[i];

		if (!model_thread_get(p->f.model, i)->proc->is_rank)
			continue;
		fprintf(p->out, "part %u %llu..%llu", model_thread_get(p->f.model, i)->tid,
			U(t->from_ns), U(t->to_ns));
		cases_figures(p->out, {"compute", t->compute_ns}, {"work", t->work_ns},
			      {"wait", t->wait_ns}, {"no_core", t->no_core_ns},
			      {"asleep", t->asleep_ns}, {"unknown", t->unknown_ns},
			      {"recording", t->recording_ns}, {"room", t->room_ns},
			      {"taken", t->taken_ns}, {"mpi", t->mpi_ns}, {"calls", t->calls});
		assert_int_equal(t->window_ns, t->to_ns - t->from_ns);
		assert_int_equal(t->window_ns, t->compute_ns + t->work_ns + t->wait_ns +
						       t->no_core_ns + t->asleep_ns +
						       t->unknown_ns + t->tracing_ns);
	}
}

static void interrupts_print(struct play *p, unsigned int tid, uint64_t from_ns, uint64_t to_ns)
{
	struct interrupts_row all, within;

	for (uint32_t i = 0; i < model_thread_count(p->f.model); i++) {
		if (model_thread_get(p->f.model, i)->tid != tid)
			continue;
		all = interrupts_of(&p->interrupts, i);
		within = interrupts_within(&p->interrupts, i, from_ns, to_ns);
		fprintf(p->out, "interrupts %u %llu..%llu", tid, U(from_ns), U(to_ns));
		cases_figures(p->out, {"all", all.cnt}, {"all_ns", all.ns}, {"cnt", within.cnt},
			      {"ns", within.ns});
	}
	assert_int_equal(interrupts_of(&p->interrupts, 77).ns, 0);
	assert_int_equal(interrupts_within(&p->interrupts, 77, 0, UINT64_MAX).cnt, 0);
}

static void section_print(struct play *p, const char *text)
{
	struct section section;
	struct program_section a;
	const struct model_sink *sink = &a.sink;

	assert_int_equal(section_parse(text, &section), 0);
	program_section_init(&a, &section);
	assert_int_equal(model_run(p->f.model, &sink, 1), 0);
	fprintf(p->out, "section %s\n", text);
	for (uint32_t i = 0; i < model_process_count(p->f.model); i++) {
		const struct section_row *r = program_section_row(&a, i);

		if (!r->entered)
			continue;
		fprintf(p->out, "  rank %d entered=%llu", model_process_get(p->f.model, i)->rank,
			U(r->entered));
		cases_figures_part(p->out, {"open", r->open}, {"wall", r->wall_ns});
		times_print(p->out, &r->split);
		cases_figures(p->out, {"others", r->other_threads_ns});
		for (uint32_t cpu = 0; cpu < program_section_cpus(&a); cpu++) {
			const struct section_core_row *c = program_section_core(&a, i, cpu);

			if (!c->here_ns)
				continue;
			fprintf(p->out, "    cpu%u here=%llu", cpu, U(c->here_ns));
			cases_figures(p->out, {"running", c->running_ns}, {"own", c->own_ns},
				      {"ranks", c->ranks_ns}, {"other", c->other_ns},
				      {"idle", c->idle_ns}, {"unknown", c->unknown_ns});
		}
	}
	program_section_release(&a);
}

static void report_print(struct play *p)
{
	const struct report_options opt = {.top = 15, .details = UINT32_MAX};
	char *text = NULL;
	struct report r;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(report_open(&(struct trace_source){.path = p->f.path}, 1, &opt, &r), 0);
	report_text(&r, out);
	fclose(out);
	cases_text(p->out, text, p->until, p->f.path);
	report_close(&r);
	free(text);
}

static void distortion_print(struct play *p, const char *name, uint32_t pid,
			     const struct distortion *d)
{
	fprintf(p->out, "%s: %.2f %% of %u, mostly %s; above %u\n", name, d->pct, pid,
		d->func[0].name, d->above);
}

/* Compares the recorder's counts while storing records with the report on the file. */
static void overhead_print(struct play *p)
{
	const struct probe_cost cost = {
		.call_ns = 2.5, .spin_ns = 1, .stepped_ns = 4.5, .samples = 9};
	const struct report_options opt = {.top = 15};
	const struct trace_merge_options all = {0};
	const struct model_info *info = model_get_info(p->f.model);
	const struct pov_hdr *rec;
	struct trace_merge *merge;
	struct overhead overhead = {0};
	struct distortion d;
	struct report r;
	uint32_t pid;

	assert_int_equal(trace_merge_open(p->f.trace, &all, &merge), 0);
	while (trace_merge_next(merge, &rec) == 1)
		overhead_record(&overhead, rec);
	trace_merge_close(merge);
	for (size_t i = 0; i < trace_meta_count(p->f.trace); i++)
		overhead_library(&overhead, trace_meta_get(p->f.trace, i));
	overhead_find(&overhead, &cost, info->start_ns, info->end_ns, &d, &pid);
	distortion_print(p, "recorder", pid, &d);
	overhead_release(&overhead);
	assert_int_equal(report_open(&(struct trace_source){.path = p->f.path}, 1, &opt, &r), 0);
	distortion_print(p, r.distortion.who, r.distorted->pid, &r.distortion);
	report_close(&r);
}

static const struct result {
	const char *word;
	void (*print)(struct play *p);
} results[] = {
	{"times", threads_print}, {"processes", processes_print},
	{"held", held_print},	  {"contests", contests_print},
	{"demand", demand_print}, {"migrations", migrations_print},
	{"app", app_print},	  {"overhead", overhead_print},
	{"report", report_print},
};

/* ---- a case ---- */

static bool is_shown(const struct play *p, const char *word, size_t len)
{
	const char *at = p->show;

	while (*at) {
		size_t n = strcspn(at, " ");

		if (n == len && !strncmp(at, word, n))
			return true;
		at += n + strspn(at + n, " ");
	}
	return false;
}

/* Runs a line that is not povmake's; returns false if it is. */
static bool own_line(struct play *p, struct maker *m, const char *line)
{
	const char *rest;
	unsigned int rank, pid, ts;

	if ((rest = words_after(line, "recording"))) {
		mfix_begin(&p->f, rest);
		m->w = p->f.writer;
	} else if (!strcmp(line, "functions")) {
		mfix_functions(&p->f);
	} else if (sscanf(line, "rank %u pid %u ts %u", &rank, &pid, &ts) == 3) {
		mfix_rank(&p->f, ts, pid, (int)rank, "app");
	} else if (sscanf(line, "cut %d", &p->f.cut) == 1 ||
		   sscanf(line, "spoil %" SCNu64, &p->f.spoil) == 1) {
		;
	} else if (sscanf(line, "tail %u", &p->tail) == 1) {
		;
	} else if (!strcmp(line, "analyses")) {
		p->analyses = true;
	} else if ((rest = words_after(line, "until"))) {
		p->until = rest;
	} else if ((rest = words_after(line, "show"))) {
		p->show = rest;
	} else if (!words_after(line, "section") && !words_after(line, "interrupts")) {
		return false;
	}
	return true;
}

static void trace_make(struct play *p, const struct script *lines)
{
	struct maker m = {.brief = true};

	/* Runs povmake's lines together, since a repeat spans several of them. */
	for (size_t i = 0; i < lines->cnt; i++) {
		if (own_line(p, &m, lines->line[i]))
			continue;
		for (; i < lines->cnt && !own_line(p, &m, lines->line[i]); i++)
			script_add(&m.script, lines->line[i]);
		maker_run(&m);
		script_release(&m.script);
	}
}

static void events_print(struct play *p)
{
	const char *line, *end;
	unsigned int cnt = 0;

	for (line = p->f.text; (end = strchr(line, '\n')); line = end + 1)
		cnt += is_shown(p, line, strcspn(line, " "));
	for (line = p->f.text; (end = strchr(line, '\n')); line = end + 1)
		if (is_shown(p, line, strcspn(line, " ")) && (!p->tail || cnt-- <= p->tail))
			fprintf(p->out, "%.*s\n", (int)(end - line), line);
}

/* Asserts that a second pass reports the same as the first. */
static void second_pass(struct play *p)
{
	char *first = xstrdup(p->f.text);
	size_t at = 0, line = 0;

	mfix_run(&p->f);
	for (; first[at] && first[at] == p->f.text[at]; at++)
		line = first[at] == '\n' ? at + 1 : line;
	if (first[at] != p->f.text[at])
		fail_msg("first pass: %.*s, second: %.*s", (int)strcspn(first + line, "\n"),
			 first + line, (int)strcspn(p->f.text + line, "\n"), p->f.text + line);
	free(first);
}

static void analyses_run(struct play *p)
{
	const struct model_sink *sinks[] = {&p->coverage.sink,	&p->app.sink,
					    &p->contests.sink,	&p->holders.sink,
					    &p->demand.sink,	&p->migrations.sink,
					    &p->interrupts.sink};

	coverage_init(&p->coverage);
	holders_init(&p->holders);
	app_time_init(&p->app, &p->holders);
	p->app.coverage = &p->coverage;
	contests_init(&p->contests, &p->app.windows);
	demand_init(&p->demand, &p->app.windows);
	migrations_init(&p->migrations);
	interrupts_init(&p->interrupts, &p->app.windows);
	assert_int_equal(model_run(p->f.model, sinks, COUNT(sinks)), 0);
}

static void analyses_release(struct play *p)
{
	migrations_release(&p->migrations);
	interrupts_release(&p->interrupts);
	demand_release(&p->demand);
	holders_release(&p->holders);
	contests_release(&p->contests);
	app_time_release(&p->app);
	coverage_release(&p->coverage);
}

static void trace_play(const struct script *lines, FILE *out)
{
	struct play p = {.out = out, .show = ""};
	unsigned long long from_ns, to_ns;
	unsigned int tid;

	trace_make(&p, lines);
	mfix_open(&p.f, true);
	if (!is_shown(&p, "call", 4))
		p.f.sink.call = NULL;
	if (!p.analyses) {
		mfix_run(&p.f);
		events_print(&p);
	}
	if (is_shown(&p, "stats", 5))
		stats_print(&p);
	if (!p.analyses && !p.tail)
		second_pass(&p);
	if (!p.tail)
		analyses_run(&p);
	for (size_t i = 0; i < COUNT(results); i++)
		if (is_shown(&p, results[i].word, strlen(results[i].word)))
			results[i].print(&p);
	for (size_t i = 0; i < lines->cnt; i++) {
		if (words_after(lines->line[i], "section"))
			section_print(&p, words_after(lines->line[i], "section"));
		if (sscanf(lines->line[i], "interrupts %u %llu..%llu", &tid, &from_ns, &to_ns) == 3)
			interrupts_print(&p, tid, from_ns, to_ns);
	}
	if (!p.tail)
		analyses_release(&p);
	mfix_release(&p.f);
}

TEST(model)
{
	cases_run("model", trace_play);
}

TEST(threads)
{
	cases_run("threads", trace_play);
}

TEST(report)
{
	cases_run("report", trace_play);
}
