/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Who waited for whom, and why: calls, messages and states of ranks 0 to 4 as text (cases.h). They are handed to the analyses in
 * the order of the lines; a line is about the rank that it begins with. Spans are BEGIN..END in ns.
 *
 *   R runs|queues|sleeps|vanishes SPAN       a state of its thread
 *   R calls|polls SPAN                       a call of MPI, or polls that found nothing
 *   R gets FROM SPAN                         waits for a message until FROM sends it
 *   R joins COMM N SPAN                      a barrier of ranks 0 to N - 1
 *   R barrier|ibarrier SPAN                  one of ranks 0 to 2
 *   R fence WINDOW SPAN                      WINDOW 0: unknown
 *   R start|post RANKS SPAN                  RANKS 1,2; ?: an unknown group; -: and window
 *   R complete|wait|test SPAN
 *   R lock|share|unlock|access|flush T SPAN  T: the target, or all
 *   R sends SPAN TO SPAN [any|assumed|incomplete|from NS]   a message, and its receive, which from NS on is completed
 *   R early                                  it ran before the recording began
 *   R lost                                   records of calls are missing
 *   repeat N step NS: LINE, LINE …           each time NS later
 *   show RESULT…
 */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "analysis/any_source.h"
#include "analysis/locks.h"
#include "analysis/unexpected.h"
#include "base/log.h"
#include "unit/cases.h"
#include "unit/causes_world.h"

#define U(n) ((unsigned long long)(n))
#define MEMBERS 3

static const struct func_info blocks = {
	.name = "MPI_Win_blocks", .group = "rma", .layer_name = "mpi", .waits = true};
static const struct func_info polls = {
	.name = "MPI_Win_test", .group = "rma", .layer_name = "mpi", .polls = true};
static const struct func_info barrier = {
	.name = "MPI_Barrier", .group = "coll", .layer_name = "mpi", .waits = true};
static const struct func_info ibarrier = {
	.name = "MPI_Ibarrier", .group = "coll", .layer_name = "mpi"};
static const struct func_info send_info = {.name = "MPI_Send"}, recv_info = {.name = "MPI_Recv"};

struct play {
	struct causes_world w;
	struct locks locks;
	struct any_source any_source;
	struct unexpecteds unexpecteds;
	const char *show;
	uint64_t shift_ns;
	FILE *out;
};

/* ---- lines ---- */

static bool is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

static void span(const struct play *p, const char *text, uint64_t *begin_ns, uint64_t *end_ns)
{
	unsigned long long begin = 0, end = 0;

	if (!text || sscanf(text, "%llu..%llu", &begin, &end) != 2)
		fail_msg("no span: %s", text);
	*begin_ns = begin + p->shift_ns;
	*end_ns = end + p->shift_ns;
}

static void call_tell(struct play *p, const struct func_info *f, int rank,
		      const struct call_roles *roles, uint64_t begin_ns, uint64_t end_ns)
{
	struct call_view view = {.roles = *roles};
	const struct model_call c = {.func = f,
				     .thread = &p->w.thread[rank],
				     .begin_ns = begin_ns,
				     .end_ns = end_ns,
				     .split = {.ns = {[THREAD_RUNNING] = end_ns - begin_ns}},
				     .view = &view};

	p->w.arrivals.sink.call(&p->w.arrivals, &c);
	p->w.epochs.sink.call(&p->w.epochs, &c);
	p->locks.sink.call(&p->locks, &c);
	p->w.causes.sink.call(&p->w.causes, &c);
}

static bool window_tell(struct play *p, int rank, const char *verb, char **word)
{
	static const struct {
		const char *verb;
		enum win_event event;
		enum { NOTHING, WINDOW, GROUP, TARGET } of;
	} events[] = {
		{"fence", WIN_TOGETHER, WINDOW}, {"start", WIN_START, GROUP},
		{"post", WIN_POST, GROUP},	 {"complete", WIN_COMPLETE, NOTHING},
		{"wait", WIN_WAIT, NOTHING},	 {"test", WIN_WAIT, NOTHING},
		{"lock", WIN_LOCK, TARGET},	 {"share", WIN_LOCK, TARGET},
		{"unlock", WIN_UNLOCK, TARGET},	 {"access", WIN_ACCESS, TARGET},
		{"flush", WIN_FLUSH, TARGET},
	};
	struct call_window window = {.number = 1, .rank = is(verb, "test") ? -1 : rank};
	struct call_roles roles = {
		.comm_id = 1, .comm_size = MEMBERS, .send_bytes = 8, .window = &window};
	uint64_t begin_ns, end_ns;
	int32_t group[RANKS];
	size_t i = 0;

	while (i < sizeof(events) / sizeof(*events) && !is(events[i].verb, verb))
		i++;
	if (i == sizeof(events) / sizeof(*events))
		return false;
	window.event = events[i].event;
	window.exclusive = is(verb, "lock");
	if (events[i].of == WINDOW)
		window.number = (uint32_t)atoi(*word);
	if (events[i].of == TARGET)
		window.target = is(*word, "all") ? PEER_ANY : atoi(*word);
	if (events[i].of == GROUP && **word == '-')
		window.number = 0;
	else if (events[i].of == GROUP && **word != '?') {
		window.group = group;
		for (char *r = strtok(*word, ","); r; r = strtok(NULL, ","))
			group[window.ngroup++] = atoi(r);
	}
	span(p, word[events[i].of != NOTHING], &begin_ns, &end_ns);
	call_tell(p, is(verb, "test") ? &polls : &blocks, rank, &roles, begin_ns, end_ns);
	return true;
}

static void barrier_tell(struct play *p, int rank, const struct func_info *f, const char *when)
{
	const struct call_request started = {.event = REQUEST_START};
	const struct call_roles roles = {.has_comm = true,
					 .comm_id = 1,
					 .comm_size = MEMBERS,
					 .requests = &started,
					 .nrequests = f == &ibarrier};
	uint64_t begin_ns, end_ns;

	span(p, when, &begin_ns, &end_ns);
	call_tell(p, f, rank, &roles, begin_ns, end_ns);
}

static struct match_end end_of(struct play *p, int rank, const struct func_info *f,
			       const char *when)
{
	struct match_end e = {.process = p->w.thread[rank].proc,
			      .thread = &p->w.thread[rank],
			      .completer = &p->w.thread[rank],
			      .func = f,
			      .bytes = 10};

	span(p, when, &e.begin_ns, &e.end_ns);
	e.posted_ns = e.end_ns;
	e.completing_ns = e.begin_ns;
	return e;
}

/* SPAN TO SPAN, and what is said of it. */
static void message_tell(struct play *p, int rank, char **word)
{
	struct match m = {.send = end_of(p, rank, &send_info, word[0]),
			  .recv = end_of(p, atoi(word[1]), &recv_info, word[2]),
			  .bytes = 10};

	for (word += 3; *word; word++) {
		m.recv.any_source |= is(*word, "any");
		m.assumed |= is(*word, "assumed") ? ASSUMED_WHOLE : ASSUMED_NOTHING;
		if (is(*word, "incomplete"))
			m.send.completer = NULL;
		if (is(*word, "from"))
			m.recv.completing_ns = strtoull(*++word, NULL, 10);
	}
	p->w.late.matches.tell(p->w.late.matches.ctx, &m);
}

static bool state_tell(struct play *p, int rank, const char *verb, const char *when)
{
	static const char *const verbs[] = {[THREAD_UNKNOWN] = "vanishes",
					    [THREAD_RUNNING] = "runs",
					    [THREAD_RUNNABLE] = "queues",
					    [THREAD_BLOCKED] = "sleeps"};
	uint64_t from_ns, to_ns;

	for (int s = 0; s < (int)(sizeof(verbs) / sizeof(*verbs)); s++) {
		if (!is(verbs[s], verb))
			continue;
		span(p, when, &from_ns, &to_ns);
		told_state(&p->w, rank, from_ns, to_ns, (enum thread_state)s);
		return true;
	}
	return false;
}

static void rank_tell(struct play *p, int rank, const char *verb, char **word)
{
	const struct model_lost lost = {.class = POV_CLASS_CALL};
	uint64_t begin_ns, end_ns;

	if (window_tell(p, rank, verb, word) || state_tell(p, rank, verb, word[0]))
		return;
	if (is(verb, "calls") || is(verb, "polls")) {
		span(p, word[0], &begin_ns, &end_ns);
		(is(verb, "calls") ? told_call : told_polls)(&p->w, rank, begin_ns, end_ns);
	} else if (is(verb, "gets")) {
		span(p, word[1], &begin_ns, &end_ns);
		told_receive(&p->w, rank, begin_ns, atoi(word[0]), end_ns);
	} else if (is(verb, "joins")) {
		span(p, word[2], &begin_ns, &end_ns);
		told_join(&p->w, rank, (uint32_t)atoi(word[0]), atoi(word[1]), begin_ns, end_ns);
	} else if (is(verb, "barrier") || is(verb, "ibarrier")) {
		barrier_tell(p, rank, *verb == 'i' ? &ibarrier : &barrier, word[0]);
	} else if (is(verb, "sends")) {
		message_tell(p, rank, word);
	} else if (is(verb, "early")) {
		p->w.thread[rank].proc->start_ns = START;
	} else if (is(verb, "lost")) {
		p->w.epochs.sink.lost(&p->w.epochs, &lost);
	} else {
		fail_msg("no %s", verb);
	}
}

static void line_tell(struct play *p, const char *line)
{
	char *copy = xstrdup(line), *word[12] = {NULL}, *rest;
	int n = 0;

	for (char *s = strtok_r(copy, " ", &rest); s && n < 11; s = strtok_r(NULL, " ", &rest))
		word[n++] = s;
	rank_tell(p, atoi(word[0]), word[1], word + 2);
	free(copy);
}

static void repeat_tell(struct play *p, const char *line)
{
	unsigned int n;
	unsigned long long step;
	char *copy, *part, *next;

	if (sscanf(line, "repeat %u step %llu:", &n, &step) != 2)
		fail_msg("%s", line);
	for (unsigned int i = 0; i < n; i++, p->shift_ns += step) {
		copy = xstrdup(strchr(line, ':') + 2);
		for (part = copy; part; part = next) {
			next = strstr(part, ", ");
			if (next) {
				*next = '\0';
				next += 2;
			}
			line_tell(p, part);
		}
		free(copy);
	}
	p->shift_ns = 0;
}

/* ---- results ---- */

static void pairs_print(struct play *p, const char *name, const struct map *pairs)
{
	uint32_t n;
	struct waited_for *l = waited_for_list(pairs, &n);

	for (uint32_t i = 0; i < n; i++)
		fprintf(p->out, "%s: %u for %u %llu ns in %llu, most %llu..%llu\n", name,
			l[i].waiter, l[i].late, U(l[i].ns), U(l[i].cnt), U(l[i].worst_from_ns),
			U(l[i].worst_to_ns));
	free(l);
}

static void epochs_print(struct play *p)
{
	static const char *const kinds[EPOCH_KINDS] = {"late post", "late complete", "locked"};
	static const char *const whys[EPOCH_WHY_CNT] = {
		"matched", "window_unknown", "group_unknown", "uncertain", "no_other", "too_many"};

	for (int k = 0; k < EPOCH_KINDS; k++)
		pairs_print(p, kinds[k], &p->w.epochs.waits[k]);
	for (uint32_t i = 0; i < RANKS; i++) {
		const struct epoch_row *r = epochs_of(&p->w.epochs, i);
		uint64_t sum = r->locks + r->doubtful;

		for (int k = 0; k < EPOCH_WHY_CNT; k++)
			sum += r->accesses[k] + r->exposures[k];
		if (!sum)
			continue;
		fprintf(p->out, "epochs of %u", i);
		for (int k = 0; k < EPOCH_WHY_CNT; k++)
			cases_figure(p->out, whys[k], r->accesses[k]);
		fputs(" |", p->out);
		for (int k = 0; k < EPOCH_WHY_CNT; k++)
			cases_figure(p->out, whys[k], r->exposures[k]);
		cases_figure(p->out, "locks", r->locks);
		cases_figure(p->out, "doubtful", r->doubtful);
		fputc('\n', p->out);
	}
	if (p->w.epochs.kept)
		fprintf(p->out, "epochs kept=%u\n", p->w.epochs.kept);
}

static void arrivals_print(struct play *p)
{
	for (uint32_t i = 0; i < p->w.arrivals.nprocess && i < RANKS; i++) {
		const struct arrival_row *r = &p->w.arrivals.process[i];

		fprintf(p->out, "arrivals of %u calls=%llu", i, U(r->calls));
		cases_figure(p->out, "last", r->last);
		cases_figure(p->out, "waited", r->waited_ns);
		cases_figure(p->out, "late", r->worst.late_ns);
		fputc('\n', p->out);
	}
	if (p->w.arrivals.uncertain)
		fprintf(p->out, "arrivals uncertain=%llu\n", U(p->w.arrivals.uncertain));
}

static void late_print(struct play *p)
{
	const struct unexpected *u;

	pairs_print(p, "late sender", &p->w.late.pairs[LATE_SENDER]);
	pairs_print(p, "late receiver", &p->w.late.pairs[LATE_RECEIVER]);
	pairs_print(p, "any source", &p->any_source.waits);
	for (size_t at = 0; (u = map_next(&p->unexpecteds.process, &at, NULL));)
		fprintf(p->out,
			"unexpected of %u %s cnt=%llu bytes=%llu ns=%llu after %llu at %llu..%llu\n",
			u->process->idx, u->func ? u->func->name : "several", U(u->cnt),
			U(u->bytes), U(u->ns), U(u->behind), U(u->behind_from_ns),
			U(u->behind_to_ns));
	if (p->w.late.uncertain[ASSUMED_WHOLE])
		fprintf(p->out, "late uncertain=%llu\n", U(p->w.late.uncertain[ASSUMED_WHOLE]));
}

static const char *const how_names[CAUSE_WAITS] = {"sender", "receiver", "collective",
						   "post",   "complete", "locked"};

static void worst_print(struct play *p, const char *name, const struct cause_worst *w)
{
	if (!w->ns)
		return;
	fprintf(p->out, ", %s %llu %s %llu..%llu", name, U(w->ns), how_names[w->how], U(w->from_ns),
		U(w->to_ns));
	for (uint32_t i = 0; i < w->nchain; i++)
		fprintf(p->out, "%s%u", i ? ">" : " ", w->chain[i]);
	if (w->after)
		fprintf(p->out, " then %s %llu", w->after->name, U(w->after_ns));
}

static int cause_compare(const void *va, const void *vb)
{
	const struct cause *a = va, *b = vb;

	return a->process != b->process ? (a->process < b->process ? -1 : 1) :
					  (int)a->kind - (int)b->kind;
}

static void causes_print_of(struct play *p, const char *name, const struct map *of)
{
	static const char *const kinds[CAUSE_KINDS] = {"computed", "no_core", "slept",	 "outside",
						       "mpi",	   "polled",  "unknown", "waited"};
	uint32_t n;
	struct cause *c = causes_list(of, &n);

	qsort(c, n, sizeof(*c), cause_compare);
	for (uint32_t i = 0; i < n; i++) {
		fprintf(p->out, "%s %d %s", name, (int)c[i].process, kinds[c[i].kind]);
		if (c[i].other != CAUSE_NOBODY)
			fprintf(p->out, " by %u", c[i].other);
		fprintf(p->out, " %llu ns in %llu", U(c[i].ns), U(c[i].cnt));
		cases_figure(p->out, "through", c[i].through_ns);
		if (is(name, "root")) {
			worst_print(p, "worst", &c[i].worst);
			worst_print(p, "farthest", &c[i].farthest);
		}
		fputc('\n', p->out);
	}
	free(c);
}

static void causes_print(struct play *p)
{
	causes_print_of(p, "root", &p->w.causes.roots);
	for (int how = 0; how < CAUSE_WAITS; how++)
		causes_print_of(p, how_names[how], &p->w.causes.direct[how]);
	for (uint32_t i = 0; i < RANKS; i++) {
		const struct blame *b = causes_blame(&p->w.causes, i);

		for (int how = 0; how < CAUSE_WAITS; how++)
			for (int s = 0; s < THREAD_STATE_CNT; s++)
				if (b->waited[how].ns[s])
					fprintf(p->out, "blame %u %s %c%llu of R%llu\n", i,
						how_names[how], "URQBD"[s], U(b->waited[how].ns[s]),
						U(b->calls.ns[THREAD_RUNNING]));
	}
	if (p->w.causes.told_late)
		fprintf(p->out, "causes late=%llu\n", U(p->w.causes.told_late));
}

/* ---- a case ---- */

static void on_match(void *ctx, const struct match *m)
{
	struct play *p = ctx;

	any_source_match(&p->any_source, m);
	unexpecteds_match(&p->unexpecteds, m);
}

static void waits_play(const struct script *lines, FILE *out)
{
	struct play p = {.out = out, .show = ""};
	const struct waited_for *l;
	uint64_t epochs_ns = 0;

	causes_world_open(&p.w);
	locks_init(&p.locks, &p.w.epochs);
	p.w.late.matched = on_match;
	p.w.late.matched_ctx = &p;
	any_source_init(&p.any_source, &p.w.late);
	unexpecteds_init(&p.unexpecteds);
	p.w.epochs.sink.start(&p.w.epochs, p.w.f.model);
	p.locks.sink.start(&p.locks, p.w.f.model);
	for (size_t i = 0; i < lines->cnt; i++) {
		if (!strncmp(lines->line[i], "show ", 5))
			p.show = lines->line[i] + 5;
		else if (!strncmp(lines->line[i], "repeat", 6))
			repeat_tell(&p, lines->line[i]);
		else
			line_tell(&p, lines->line[i]);
	}
	p.w.epochs.sink.finish(&p.w.epochs, p.w.f.model);
	p.locks.sink.finish(&p.locks, p.w.f.model);
	causes_world_end(&p.w);
	assert_true(p.w.causes.kept <= CAUSES_KEPT_MAX);
	if (strstr(p.show, "epochs"))
		epochs_print(&p);
	if (strstr(p.show, "arrivals"))
		arrivals_print(&p);
	if (strstr(p.show, "late"))
		late_print(&p);
	if (strstr(p.show, "causes")) {
		causes_print(&p);
		for (int k = 0; k < EPOCH_KINDS; k++)
			for (size_t at = 0; (l = map_next(&p.w.epochs.waits[k], &at, NULL));)
				epochs_ns += l->ns;
		assert_int_equal(causes_world_root_ns(&p.w, CAUSE_NOBODY, CAUSE_KINDS),
				 causes_world_waited_ns(&p.w) + epochs_ns);
	}
	any_source_release(&p.any_source);
	unexpecteds_release(&p.unexpecteds);
	locks_release(&p.locks);
	causes_world_close(&p.w);
}

TEST(waits)
{
	cases_run("waits", waits_play);
}
