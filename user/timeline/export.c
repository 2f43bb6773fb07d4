/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Exports a file to a file. */
#include "timeline/export.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/event.h"
#include "analysis/host_clocks.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/file.h"
#include "lib/progress.h"
#include "lib/table.h"
#include "model/model.h"
#include "site/site_names.h"
#include "timeline/args.h"
#include "timeline/timeline.h"
#include "timeline/writer.h"
#include "trace/trace_join.h"
#include "trace/trace_read.h"

struct model;
struct writer_select;

/* ---- the resolution ---- */

/*
 * Counts how many slices of calls a thread would have at each available resolution. Follows the
 * rule of timeline_group.c without its details. Records come in order of their end, a call after
 * the calls inside it. The size of a slice with its arrows and counters was measured
 * (kmod-docs/PERFETTO_LARGE.md).
 */

#define ALWAYS_CALLS 100000 /* so many are drawn one by one, however small the recording */
#define SLICE_BYTES 550	    /* including the ends of its arrows */
#define SCHED_BYTES 8
#define TIMES_RECORDING 10

static const uint64_t choices_ns[] = {1000,    2000,	3000,	 5000,	  10000,   20000,
				      30000,   50000,	100000,	 200000,  300000,  500000,
				      1000000, 2000000, 3000000, 5000000, 10000000};
#define CHOICES (sizeof(choices_ns) / sizeof(choices_ns[0]))

struct caller {
	uint64_t group_ns[CHOICES]; /* begin of the last group; 0: it has ended */
};

struct census {
	const struct model *model;
	const struct writer_select *sel;
	uint64_t from_ns, to_ns;
	uint64_t calls, sched, slices[CHOICES];
	struct map callers;   /* by thread */
	struct map is_chosen; /* processes by pid; used if ranks are selected */
	bool *func_chosen;    /* by id; used if functions are selected */
};

static bool process_chosen(const struct census *c, uint32_t pid)
{
	return !c->sel->ranks.n || map_get(&c->is_chosen, pid);
}

/* Array by id. Functions that the trace does not list are left out. */
static bool *functions_chosen(const struct model *m, const struct writer_select *sel)
{
	bool *chosen = xcalloc(FUNC_IDS, sizeof(*chosen));

	for (uint32_t f = 0; f < model_func_count(m); f++) {
		const struct func_info *func = model_func_get(m, f);

		for (uint32_t i = 0; i < sel->nfunctions; i++)
			chosen[func->id] |= !fnmatch(sel->functions[i], func->name, 0);
	}
	return chosen;
}

static void call_count(struct census *c, const struct pov_hdr *rec, uint64_t dur_ns, uint32_t pid,
		       uint16_t func)
{
	uint64_t begin_ns = rec->ts_ns - dur_ns;
	struct caller *caller;

	if (rec->ts_ns < c->from_ns || begin_ns > c->to_ns || !process_chosen(c, pid) ||
	    (c->sel->nfunctions && !c->func_chosen[func]))
		return;
	c->calls++;
	caller = map_get(&c->callers, rec->tid) ?: map_make(&c->callers, rec->tid, sizeof(*caller));
	for (unsigned int i = 0; i < CHOICES; i++) {
		bool brief = dur_ns < choices_ns[i];

		if (brief && caller->group_ns[i] && begin_ns < caller->group_ns[i] + choices_ns[i])
			continue;
		c->slices[i]++;
		caller->group_ns[i] = brief ? begin_ns : 0;
	}
}

static void record_count(struct census *c, const struct pov_hdr *rec)
{
	const struct pov_call *call = (const struct pov_call *)rec;
	const struct pov_spin *spin = (const struct pov_spin *)rec;

	if (rec->kind == POV_KIND_CALL)
		call_count(c, rec, call->dur_ns, call->tgid, call->func);
	else if (rec->kind == POV_KIND_SPIN)
		call_count(c, rec, spin->dur_ns, spin->tgid, spin->nfuncs ? spin->func[0].func : 0);
	else if (rec->kind == POV_KIND_SWITCH || rec->kind == POV_KIND_WAKING)
		c->sched += rec->ts_ns >= c->from_ns && rec->ts_ns <= c->to_ns;
}

static int census_take(struct census *c)
{
	const struct pov_hdr *rec;
	struct trace_merge *merge;
	int err = trace_merge_open(model_get_trace(c->model), NULL, &merge);

	if (err)
		return err;
	while ((err = trace_merge_next(merge, &rec)) > 0)
		record_count(c, rec);
	trace_merge_close(merge);
	return err;
}

static void census_begin(struct census *c, struct model *m, const struct writer_select *sel)
{
	uint64_t start_ns = model_get_info(m)->start_ns;

	*c = (struct census){.model = m, .sel = sel, .to_ns = UINT64_MAX};
	c->from_ns = sel->from_ns ? start_ns + sel->from_ns : 0;
	if (sel->to_ns)
		c->to_ns = start_ns + sel->to_ns;
	c->func_chosen = functions_chosen(m, sel);
	for (uint32_t i = 0; i < model_process_count(m); i++) {
		struct model_process *p = model_process_get(m, i);

		if (p->is_rank && rank_list_has(&sel->ranks, p->job_idx, p->rank))
			map_set(&c->is_chosen, p->pid, p);
	}
}

static uint64_t census_choose(const struct census *c, uint64_t recording_bytes)
{
	uint64_t room = TIMES_RECORDING * recording_bytes, sched = c->sched * SCHED_BYTES;
	uint64_t slices = room > sched ? (room - sched) / SLICE_BYTES : 0;

	if (slices < ALWAYS_CALLS)
		slices = ALWAYS_CALLS;
	if (c->calls <= slices)
		return 0;
	for (unsigned int i = 0; i < CHOICES; i++)
		if (c->slices[i] <= slices)
			return choices_ns[i];
	return choices_ns[CHOICES - 1];
}

/*
 * Returns the requested resolution in ns. Without a request, returns the shortest of 1, 2, 3, 5, 10
 * us … 10 ms with which the selection takes about ten times the recording's bytes in Perfetto's
 * format; 0 (draw each call) if calls are few. Reads a large recording once. 0 or -errno (printed).
 */
static int resolution_choose(struct model *m, const struct writer_select *sel,
			     uint64_t recording_bytes, uint64_t *resolution_ns)
{
	const struct trace_summary *sum = trace_get_summary(model_get_trace(m));
	uint64_t ns = sel->all_calls ? 0 : sel->resolution_ns;
	struct census c;
	int err = 0;

	if (!sel->all_calls && !sel->resolution_ns && sum->records > ALWAYS_CALLS) {
		census_begin(&c, m, sel);
		err = census_take(&c);
		ns = census_choose(&c, recording_bytes);
		map_free(&c.callers, free);
		map_release(&c.is_chosen);
		free(c.func_chosen);
	}
	if (!err)
		*resolution_ns = ns;
	return err;
}

/* ---- what was written ---- */

/* Prints what a written timeline contains, what it lacks, and how to make it smaller. */

#define LARGE_BYTES 100000000
#define BROWSER_BYTES 700000000

/* "20 us" rather than "20.000 us". */
static void resolution_text(char *buf, size_t bytes, uint64_t ns)
{
	if (ns % 1000)
		human_ns(buf, bytes, ns);
	else if (ns % 1000000)
		snprintf(buf, bytes, "%llu us", (unsigned long long)ns / 1000);
	else
		snprintf(buf, bytes, "%llu ms", (unsigned long long)ns / 1000000);
}

static void posts_report(const struct writer_totals *t)
{
	if (t->posts + t->completions + t->arrivals)
		log_info("below MPI: %s, %s, %s, %s", PLURAL_TEXT(t->posts, "post", "posts"),
			 PLURAL_TEXT(t->completions, "completion", "completions"),
			 PLURAL_TEXT(t->arrivals, "arrival", "arrivals"),
			 PLURAL_TEXT(t->messages, "message", "messages"));
	if (t->messages_hidden)
		log_warn("%s messages are not shown: more than %d of a rank overlap",
			 COUNT_TEXT(t->messages_hidden), TIMELINE_LANES_MAX);
}

static const char *hint_for_smaller(const struct writer_totals *t)
{
	if (t->resolution_ns)
		return "a longer --resolution draws more calls together";
	return "without --detail all, short calls are drawn together";
}

/* format: as for export_timeline(). */
static void large_report(const char *out, const char *format, const struct writer_totals *t)
{
	const char *browser = "ui.perfetto.dev is quick with some 200 MB";
	bool gzip;
	const struct writer *w = writer_find(format ?: out, &gzip);

	if (t->raw_bytes < LARGE_BYTES)
		return;
	if (t->raw_bytes > BROWSER_BYTES)
		browser = "more than ui.perfetto.dev can load: it has 2 GB of memory and needs two "
			  "to four times the file; \"trace_processor_shell server http FILE\" can "
			  "use all memory";
	if (w && !strcmp(w->name, "json"))
		log_info("this is large: %s. Perfetto's own format shows the same in a fraction of "
			 "it (-o FILE.pftrace, or --format pftrace); --from and --to choose a "
			 "part of the time",
			 browser);
	else
		log_info("this is large: %s. --from and --to choose a part of the time, --rank "
			 "and --function a part of the calls; %s",
			 browser, hint_for_smaller(t));
}

/* Reports what is drawn together or left out because the recording is large. */
static void resolution_report(const struct writer_totals *t)
{
	char ns[HUMAN_BYTES];

	if (!t->groups)
		return;
	resolution_text(ns, sizeof(ns), t->resolution_ns);
	log_info("calls shorter than %s that follow each other are drawn as one slice, with their "
		 "number, time and bytes: %s calls in %s slices; --detail all draws each",
		 ns, COUNT_TEXT(t->grouped), COUNT_TEXT(t->groups));
	if (t->arrows_hidden || t->counters_hidden)
		log_info("%s arrows between such calls and %s values of counters are left out",
			 COUNT_TEXT(t->arrows_hidden), COUNT_TEXT(t->counters_hidden));
}

static void picture_report(const char *where, const struct writer_totals *t)
{
	log_info("wrote %s: a picture with %s and %s, %s", where,
		 PLURAL_TEXT(t->arrows, "arrow", "arrows"),
		 PLURAL_TEXT(t->findings, "finding", "findings"), BYTES_TEXT(t->bytes));
}

static void stacks_report(const char *where, const struct writer_totals *t)
{
	log_info("wrote %s: %s of code outside MPI (%s of CPU time each) in %s", where,
		 PLURAL_TEXT(t->samples, "sample", "samples"),
		 ROUND_NS_TEXT(1000000000 / POV_SAMPLES_HZ),
		 PLURAL_TEXT(t->stacks, "stack", "stacks"));
}

void export_report(const char *out, const char *format, const struct writer_totals *t)
{
	bool gzip;
	const struct writer *w = writer_find(format ?: out, &gzip);
	const char *where = strcmp(out, "-") ? out : "to stdout";

	if (w && w->kind == WRITER_PICTURE) {
		picture_report(where, t);
		return;
	}
	if (w && w->kind == WRITER_STACKS) {
		stacks_report(where, t);
		return;
	}
	log_info("wrote %s: %s, %s, %s, %s, %s, %s", where,
		 PLURAL_TEXT(t->slices, "slice", "slices"),
		 PLURAL_TEXT(t->flows, "arrow", "arrows"),
		 PLURAL_TEXT(t->counters, "counter value", "counter values"),
		 PLURAL_TEXT(t->switches, "switch", "switches"),
		 PLURAL_TEXT(t->wakings, "wake-up", "wake-ups"), BYTES_TEXT(t->bytes));
	if (t->samples)
		log_info("with the stacks of %s of code outside MPI",
			 PLURAL_TEXT(t->samples, "sample", "samples"));
	resolution_report(t);
	large_report(out, format, t);
	if (t->merged)
		log_info("%s more switches of threads that wait busily are merged into these "
			 "(--every-switch shows them)",
			 COUNT_TEXT(t->merged));
	posts_report(t);
	if (t->misplaced)
		log_warn("%s slices would overlap others on their track and became instants "
			 "(argument \"misplaced\"): the recording is damaged",
			 COUNT_TEXT(t->misplaced));
	if (t->early)
		log_warn("%s slices began before the recording and are cut at its start",
			 COUNT_TEXT(t->early));
	if (t->arrows_reversed)
		log_warn("%s messages are without arrow: by the clocks of their hosts they were "
			 "received before they were sent",
			 COUNT_TEXT(t->arrows_reversed));
	if (t->findings_hidden)
		log_info("%s findings are not shown: more than %d of a kind overlap; the report "
			 "has all",
			 COUNT_TEXT(t->findings_hidden), TIMELINE_FINDINGS_MAX);
	if (t->undecided)
		log_warn("%s wake-ups are without arrow: they were too many to wait for the calls "
			 "around them",
			 COUNT_TEXT(t->undecided));
}

/* ---- exporting ---- */

static const struct writer *writer_choose(const char *out, const char *format, bool *gzip)
{
	const struct writer *w = writer_find(format ? format : out, gzip);

	if (!w && format)
		log_error(
			"export: unknown format \"%s\"; known: json, json.gz, pftrace, svg, folded",
			format);
	else if (!w && !strcmp(out, "-"))
		log_error("export: say with --format what to write to stdout");
	else if (!w)
		log_error("export: %s: unknown ending; use .json, .json.gz, .pftrace, .svg or "
			  ".folded, or --format",
			  out);
	return w;
}

static uint64_t sources_bytes(const struct trace_source *source, size_t cnt)
{
	struct stat st;

	return table_sum(cnt, i, stat(source[i].path, &st) ? 0 : (uint64_t)st.st_size);
}

static int timeline_write(struct model *m, const struct writer *w, const struct writer_select *sel,
			  uint64_t resolution_ns, FILE *file, bool gzip,
			  struct writer_totals *totals)
{
	struct writer_args *recording = xmalloc(sizeof(*recording));
	struct out *out = out_new(file, gzip);
	struct timeline_options opt;
	int err, write_err;

	meta_fill(recording, m, sel);
	timeline_options_fill(&opt, m, sel, recording);
	opt.resolution_ns = totals->resolution_ns = resolution_ns;
	opt.sites = sites_new();
	err = w->write(m, out, &opt, totals);
	sites_free(opt.sites);
	totals->raw_bytes = out_raw_bytes(out);
	write_err = out_finish(out, &totals->bytes);
	if (write_err)
		log_error("export: cannot write: %s", log_unwritten(-write_err));
	free(recording);
	return err ? err : write_err;
}

/*
 * Shows progress, unless the output goes to a terminal. A timeline may need another pass, which
 * chooses its resolution.
 */
static void export_progress(const struct trace_source *source, size_t cnt, const char *out,
			    const struct writer *w, const struct writer_select *sel)
{
	bool census = w->kind == WRITER_TIMELINE && !sel->all_calls && !sel->resolution_ns;

	if (strcmp(out, "-") || !isatty(STDOUT_FILENO))
		trace_sources_progress(source, cnt, census, w->passes);
}

static int sources_export(const struct trace_source *source, size_t cnt, const char *out,
			  const struct export_options *opt, const struct writer *w, bool gzip,
			  struct writer_totals *totals)
{
	const struct model_options mopt = {.counters = true};
	struct writer_totals written = {0};
	struct model *m = NULL;
	struct output_file o;
	struct trace *t;
	uint64_t resolution_ns = 0;
	int err = host_clocks_join(source, cnt, &t);

	if (err)
		return err;
	err = model_open(t, &mopt, &m);
	if (!err)
		err = select_check(m, source->path, &opt->select);
	if (!err && w->kind == WRITER_TIMELINE) /* a picture has columns instead */
		err = resolution_choose(m, &opt->select, sources_bytes(source, cnt),
					&resolution_ns);
	if (!err)
		err = output_file_begin(&o, "export", source->path, out, opt->as);
	if (!err) {
		err = timeline_write(m, w, &opt->select, resolution_ns, o.file, gzip, &written);
		err = output_file_end(&o, err);
	}
	model_close(m);
	trace_close(t);
	if (!err)
		*totals = written;
	return err;
}

int export_timeline(const struct trace_source *source, size_t cnt, const char *out,
		    const struct export_options *opt, struct writer_totals *totals)
{
	bool gzip;
	int err;
	const struct writer *w = writer_choose(out, opt->format, &gzip);

	if (!w)
		return -ENOTSUP;
	for (size_t i = 0; i < cnt; i++)
		if (strcmp(out, "-") && output_file_is_recording("export", out, source[i].path))
			return -EINVAL;
	export_progress(source, cnt, out, w, &opt->select);
	err = sources_export(source, cnt, out, opt, w, gzip, totals);
	progress_end();
	return err;
}

int export_file(const char *pov, const char *out, const struct person *as)
{
	const struct export_options opt = {.as = as};
	struct writer_totals totals;
	const struct trace_source source = {.path = pov};
	int err = export_timeline(&source, 1, out, &opt, &totals);

	if (!err)
		export_report(out, NULL, &totals);
	return err;
}

bool export_wants(const char *out)
{
	bool gzip;

	return writer_find(out, &gzip) != NULL;
}
