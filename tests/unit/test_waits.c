/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Who waited for whom and why, and what nonblocking operations hid: calls, messages and states of
 * ranks 0 to 4 as text (cases.h). The analyses get them in the order of the lines. Each line begins
 * with its rank R. SPAN is BEGIN..END in ns.
 *
 *   R runs|queues|sleeps|vanishes SPAN       a state of its thread
 *   R calls|polls SPAN                       an MPI call, or polls that found nothing
 *   R gets FROM SPAN                         waits for a message until FROM sends it
 *   R joins COMM N SPAN                      a barrier of ranks 0 to N - 1
 *   R barrier|ibarrier SPAN                  a barrier of ranks 0 to 2
 *   R ends SPAN/SPAN                         the calls that start and complete an ibarrier
 *   R fence WINDOW SPAN                      WINDOW 0: unknown
 *   R start|post RANKS SPAN                  RANKS 1,2; ?: an unknown group; -: and window
 *   R complete|wait|test SPAN
 *   R lock|share|unlock|access|flush T SPAN  T: the target, or all
 *   R sends WHEN TO WHEN [any|assumed|incomplete|from NS|bytes N]
 *                                            a message and its receive; from NS: when the receive's
 *                                            completion begins. WHEN: SPAN of one call, or
 *                                            SPAN/SPAN of the calls that post and complete
 *   R starts irecv|isend|ibarrier N BYTES SPAN    starts request N
 *   R completes N,N SPAN [NS]                its thread has no core for the last NS of the call
 *   R tests CNT NS SPAN                      that many polls, NS of them within MPI
 *   R ran NS NS                              running time of its thread before, and since then
 *   R early                                  it ran before the recording began
 *   R lost                                   records of calls are missing
 *   R helps RANK                             it is a thread of that rank's process
 *   overlaps                                 prints what operations hid so far, and forgets it
 *   us                                       the case's times are in us
 *   show RESULT…
 */
#include "lib/table.h"
#include "unit/test.h"
#include "analysis/queues.h"
#include "analysis/epochs.h"
#include "analysis/overlap.h"
#include "unit/cases.h"
#include "unit/causes_world.h"

#define U(n) ((unsigned long long)(n))
#define MEMBERS 3
#define REQUESTS 8

static const struct func_info blocks = {
	.name = "MPI_Win_blocks", .group_bit = GROUP_RMA, .layer_name = "mpi", .waits = true};
static const struct func_info polls = {.id = 6,
				       .name = "MPI_Win_test",
				       .group_bit = GROUP_RMA,
				       .layer_name = "mpi",
				       .polls = true};
static const struct func_info barrier = {
	.name = "MPI_Barrier", .group_bit = GROUP_COLL, .layer_name = "mpi", .waits = true};
static const struct func_info ibarrier = {
	.id = 3, .name = "MPI_Ibarrier", .group_bit = GROUP_COLL, .layer_name = "mpi"};
static const struct func_info send_info = {
	.id = 5, .name = "MPI_Send", .layer_name = "mpi", .waits = true};
static const struct func_info recv_info = {.name = "MPI_Recv", .layer_name = "mpi"};
static const struct func_info irecv = {
	.id = 1, .name = "MPI_Irecv", .group_bit = GROUP_P2P, .layer_name = "mpi"};
static const struct func_info isend = {
	.id = 2, .name = "MPI_Isend", .group_bit = GROUP_P2P, .layer_name = "mpi"};
static const struct func_info waitall = {
	.id = 4, .name = "MPI_Waitall", .group_bit = GROUP_P2P, .layer_name = "mpi", .waits = true};
static const struct model_module module = {.path = "/bin/app"};

struct play {
	struct causes_world w;
	struct locks locks;
	struct any_source any_source;
	struct unexpecteds unexpecteds;
	struct overlaps overlaps;
	struct call_operation op[REQUESTS];
	uint64_t unit_ns;
	FILE *out;
};

/* ---- lines ---- */

/* Reads a span in the case's unit and converts it to ns. */
static void span(const struct play *p, const struct cases_line *l, const char *word,
		 uint64_t *begin_ns, uint64_t *end_ns)
{
	cases_span(l, word, begin_ns, end_ns);
	*begin_ns *= p->unit_ns;
	*end_ns *= p->unit_ns;
}

static void call_tell(struct play *p, const struct func_info *f, int rank,
		      const struct call_roles *roles, uint64_t begin_ns, uint64_t end_ns,
		      uint64_t runnable_ns)
{
	struct call_view view = {.roles = *roles};
	const struct model_call c = {
		.func = f,
		.thread = &p->w.thread[rank],
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.site = {.module = &module, .offset = 0x10 * f->id},
		.split = {.ns = {[THREAD_RUNNING] = end_ns - begin_ns - runnable_ns,
				 [THREAD_RUNNABLE] = runnable_ns}},
		.view = &view};

	p->w.arrivals.sink.call(&p->w.arrivals, &c);
	p->w.epochs.sink.call(&p->w.epochs, &c);
	p->locks.sink.call(&p->locks, &c);
	p->w.causes.sink.call(&p->w.causes, &c);
	p->overlaps.sink.call(&p->overlaps, &c);
}

/* Reads a list like "1,2". */
static uint32_t ranks_read(const char *text, int32_t *rank)
{
	uint32_t n = 0;

	for (; text; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL)
		rank[n++] = atoi(text);
	return n;
}

static bool window_tell(struct play *p, const struct cases_line *l, int rank)
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
	const char *verb = l->word[1], *of = l->word[2];
	struct call_window window = {.number = 1, .rank = word_is(verb, "test") ? -1 : rank};
	struct call_roles roles = {.comm_id = 1,
				   .comm_size = MEMBERS,
				   .comm_all = MEMBERS,
				   .send_bytes = 8,
				   .window = &window};
	uint64_t begin_ns, end_ns;
	int32_t group[RANKS];
	size_t i = 0;

	while (i < COUNT(events) && !word_is(events[i].verb, verb))
		i++;
	if (i == COUNT(events))
		return false;
	window.event = events[i].event;
	window.exclusive = word_is(verb, "lock");
	if (events[i].of == WINDOW)
		window.number = (uint32_t)atoi(of);
	if (events[i].of == TARGET)
		window.target = word_is(of, "all") ? PEER_ANY : atoi(of);
	if (events[i].of == GROUP && *of == '-')
		window.number = 0;
	else if (events[i].of == GROUP && *of != '?') {
		window.group = group;
		window.ngroup = ranks_read(of, group);
	}
	span(p, l, l->word[2 + (events[i].of != NOTHING)], &begin_ns, &end_ns);
	call_tell(p, word_is(verb, "test") ? &polls : &blocks, rank, &roles, begin_ns, end_ns, 0);
	return true;
}

static void barrier_tell(struct play *p, const struct cases_line *l, int rank,
			 const struct func_info *f)
{
	const struct call_request started = {.event = REQUEST_START};
	const struct call_roles roles = {.has_comm = true,
					 .comm_id = 1,
					 .comm_size = MEMBERS,
					 .comm_all = MEMBERS,
					 .requests = &started,
					 .nrequests = f == &ibarrier};
	uint64_t begin_ns, end_ns;

	span(p, l, l->word[2], &begin_ns, &end_ns);
	call_tell(p, f, rank, &roles, begin_ns, end_ns, 0);
}

/* Reports that a call completed an ibarrier: SPAN/SPAN. */
static void ibarrier_end_tell(struct play *p, const struct cases_line *l, int rank)
{
	static const struct call_request done = {.event = REQUEST_COMPLETE};
	static const struct call_roles roles = {.has_comm = true, .comm_id = 1};
	struct model_operation o = {.thread = &p->w.thread[rank],
				    .starter = &p->w.thread[rank],
				    .func = &ibarrier,
				    .roles = &roles,
				    .completion = &done};

	span(p, l, l->word[2], &o.begin_ns, &o.posted_ns);
	span(p, l, strchr(l->word[2], '/') + 1, &o.completing_ns, &o.end_ns);
	o.waiting_ns = o.completing_ns;
	call_tell(p, &waitall, rank, &(struct call_roles){0}, o.completing_ns, o.end_ns, 0);
	p->w.arrivals.sink.operation(&p->w.arrivals, &o);
}

static struct match_end end_of(struct play *p, const struct cases_line *l, int rank,
			       const struct func_info *f, const char *when)
{
	const char *completes = strchr(when, '/');
	struct match_end e = {.process = p->w.thread[rank].proc,
			      .thread = &p->w.thread[rank],
			      .completer = &p->w.thread[rank],
			      .func = f,
			      .bytes = 10};

	span(p, l, when, &e.begin_ns, &e.end_ns);
	e.posted_ns = e.end_ns;
	e.completing_ns = e.begin_ns;
	if (completes)
		span(p, l, completes + 1, &e.completing_ns, &e.end_ns);
	return e;
}

static void message_tell(struct play *p, const struct cases_line *l, int rank)
{
	struct match m = {.send = end_of(p, l, rank, &send_info, l->word[2]),
			  .recv = end_of(p, l, atoi(l->word[3]), &recv_info, l->word[4]),
			  .bytes = 10};

	m.send.waiting_ns = m.send.completing_ns;
	m.recv.waiting_ns = m.recv.completing_ns;
	for (const char *const *word = l->word + 5; *word; word++) {
		m.recv.any_source |= word_is(*word, "any");
		m.assumed |= word_is(*word, "assumed") ? ASSUMED_WHOLE : ASSUMED_NOTHING;
		if (word_is(*word, "incomplete"))
			m.send.completer = NULL;
		if (word_is(*word, "from"))
			m.recv.waiting_ns = m.recv.completing_ns = cases_number(l, *++word);
		if (word_is(*word, "bytes"))
			m.bytes = m.send.bytes = m.recv.bytes = (int64_t)cases_number(l, *++word);
	}
	p->w.late.matches.notify(p->w.late.matches.ctx, &m);
}

static bool state_tell(struct play *p, const struct cases_line *l, int rank)
{
	static const char *const verbs[] = {[THREAD_UNKNOWN] = "vanishes",
					    [THREAD_RUNNING] = "runs",
					    [THREAD_RUNNABLE] = "queues",
					    [THREAD_BLOCKED] = "sleeps"};
	uint64_t from_ns, to_ns;

	for (int s = 0; s < (int)COUNT(verbs); s++) {
		if (!word_is(verbs[s], l->word[1]))
			continue;
		span(p, l, l->word[2], &from_ns, &to_ns);
		state_at(&p->w, rank, from_ns, to_ns, (enum thread_state)s);
		p->overlaps.sink.state(&p->overlaps, &p->w.thread[rank], from_ns, to_ns,
				       (enum thread_state)s, 0);
		return true;
	}
	return false;
}

/* Reports a start: FUNCTION N BYTES SPAN. */
static void start_tell(struct play *p, const struct cases_line *l, int rank)
{
	const struct func_info *f = word_is(l->word[2], "irecv") ? &irecv :
				    word_is(l->word[2], "isend") ? &isend :
								   &ibarrier;
	const struct call_request started = {.handle = cases_number(l, l->word[3]),
					     .event = REQUEST_START};
	const int64_t bytes = (int64_t)cases_number(l, l->word[4]);
	struct call_operation *op = &p->op[started.handle % REQUESTS];
	struct call_roles roles = {.requests = &started, .nrequests = 1};

	*op = (struct call_operation){.func = f,
				      .roles = {.sends = f == &isend,
						.receives = f == &irecv,
						.has_peer = true,
						.peer = 1,
						.recv_peer = 1,
						.send_bytes = f == &isend ? bytes : 0,
						.recv_bytes = f == &irecv ? bytes : 0}};
	span(p, l, l->word[5], &op->begin_ns, &op->posted_ns);
	call_tell(p, f, rank, &roles, op->begin_ns, op->posted_ns, 0);
}

/* Reports completions: N,N SPAN [NS]. */
static void completion_tell(struct play *p, const struct cases_line *l, int rank)
{
	int32_t number[REQUESTS];
	struct call_request request[REQUESTS];
	const struct call_roles roles = {.requests = request,
					 .nrequests = ranks_read(l->word[2], number)};
	uint64_t begin_ns, end_ns;

	for (uint32_t i = 0; i < roles.nrequests; i++)
		request[i] = (struct call_request){.handle = (uint64_t)number[i],
						   .event = REQUEST_COMPLETE,
						   .op = &p->op[number[i] % REQUESTS]};
	span(p, l, l->word[3], &begin_ns, &end_ns);
	call_tell(p, &waitall, rank, &roles, begin_ns, end_ns,
		  l->word[4] ? cases_number(l, l->word[4]) * p->unit_ns : 0);
}

/* Reports polls: CNT NS SPAN. */
static void tests_tell(struct play *p, const struct cases_line *l, int rank)
{
	struct model_spin s = {.thread = &p->w.thread[rank],
			       .nfuncs = 1,
			       .func = {{.func = &polls}},
			       .cnt = cases_number(l, l->word[2]),
			       .busy_ns = cases_number(l, l->word[3]) * p->unit_ns};

	span(p, l, l->word[4], &s.begin_ns, &s.end_ns);
	s.func[0].cnt = s.cnt;
	s.computes = s.end_ns - s.begin_ns > s.busy_ns + s.cnt * MODEL_POLL_PAUSE_NS;
	p->overlaps.sink.spin(&p->overlaps, &s);
}

static void overlaps_print(struct play *p)
{
	struct overlap_row *list;
	uint32_t n;

	if (p->overlaps.kept > 2)
		fprintf(p->out, "kept=%u\n", p->overlaps.kept);
	overlaps_settle(&p->overlaps);
	assert_int_equal(p->overlaps.kept, 0);
	list = overlaps_list(&p->overlaps, NULL, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct overlap_row *r = &list[i];

		fprintf(p->out, "%s+%d until %s+%d bucket %u:", r->key.start->name,
			(int)r->key.start_site.offset, r->key.done->name,
			(int)r->key.done_site.offset, r->key.bucket);
		if (r->compared)
			fprintf(p->out, " ratio=%.3f", overlap_row_ratio(r));
		cases_figures(p->out, {"cnt", r->cnt}, {"bytes", r->bytes},
			      {"outside", r->outside_ns / p->unit_ns},
			      {"computing", r->computing_ns / p->unit_ns},
			      {"wait", r->wait_ns / p->unit_ns}, {"late", r->late_ns / p->unit_ns},
			      {"left", r->left_ns / p->unit_ns}, {"unsure", r->unsure},
			      {"saved", r->saved_ns / p->unit_ns}, {"of", r->saved_cnt},
			      {"alone", r->alone_cnt}, {"alone_ns", r->alone_ns / p->unit_ns},
			      {"compared", r->compared});
	}
	free(list);
	overlaps_release(&p->overlaps);
	overlaps_init(&p->overlaps);
}

static void rank_tell(struct play *p, const struct cases_line *l, int rank)
{
	const struct model_lost lost = {.class = POV_CLASS_CALL};
	struct model_thread *t = &p->w.thread[rank];
	const char *const *word = l->word + 2, *verb = l->word[1];
	uint64_t begin_ns, end_ns;

	if (window_tell(p, l, rank) || state_tell(p, l, rank))
		return;
	if (word_is(verb, "calls")) {
		span(p, l, word[0], &begin_ns, &end_ns);
		call_tell(p, &send_info, rank, &(struct call_roles){0}, begin_ns, end_ns, 0);
	} else if (word_is(verb, "polls")) {
		span(p, l, word[0], &begin_ns, &end_ns);
		told_polls(&p->w, rank, begin_ns, end_ns);
	} else if (word_is(verb, "gets")) {
		span(p, l, word[1], &begin_ns, &end_ns);
		told_receive(&p->w, rank, begin_ns, atoi(word[0]), end_ns);
	} else if (word_is(verb, "joins")) {
		span(p, l, word[2], &begin_ns, &end_ns);
		told_join(&p->w, rank, (uint32_t)atoi(word[0]), atoi(word[1]), begin_ns, end_ns);
	} else if (word_is(verb, "barrier") || word_is(verb, "ibarrier")) {
		barrier_tell(p, l, rank, *verb == 'i' ? &ibarrier : &barrier);
	} else if (word_is(verb, "ends")) {
		ibarrier_end_tell(p, l, rank);
	} else if (word_is(verb, "sends")) {
		message_tell(p, l, rank);
	} else if (word_is(verb, "starts")) {
		start_tell(p, l, rank);
	} else if (word_is(verb, "completes")) {
		completion_tell(p, l, rank);
	} else if (word_is(verb, "tests")) {
		tests_tell(p, l, rank);
	} else if (word_is(verb, "ran")) {
		p->overlaps.sched = true;
		t->state = THREAD_RUNNING;
		t->times.ns[THREAD_RUNNING] = cases_number(l, word[0]) * p->unit_ns;
		t->since_ns = cases_number(l, word[1]) * p->unit_ns;
	} else if (word_is(verb, "helps")) {
		t->proc = p->w.thread[atoi(word[0])].proc;
	} else if (word_is(verb, "early")) {
		t->proc->start_ns = START;
	} else if (word_is(verb, "lost")) {
		p->w.epochs.sink.lost(&p->w.epochs, &lost);
	} else {
		fail_msg("no %s", verb);
	}
}

static void line_tell(void *ctx, const struct cases_line *l)
{
	struct play *p = ctx;

	if (word_is(l->word[0], "us"))
		p->unit_ns = 1000;
	else if (word_is(l->word[0], "overlaps"))
		overlaps_print(p);
	else
		rank_tell(p, l, atoi(l->word[0]));
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
			cases_figures_part(p->out, {whys[k], r->accesses[k]});
		fputs(" |", p->out);
		for (int k = 0; k < EPOCH_WHY_CNT; k++)
			cases_figures_part(p->out, {whys[k], r->exposures[k]});
		cases_figures(p->out, {"locks", r->locks}, {"doubtful", r->doubtful});
	}
	if (p->w.epochs.kept)
		fprintf(p->out, "epochs kept=%u\n", p->w.epochs.kept);
}

static void arrivals_print(struct play *p)
{
	for (uint32_t i = 0; i < p->w.arrivals.nprocess && i < RANKS; i++) {
		const struct arrival_row *r = &p->w.arrivals.process[i];

		fprintf(p->out, "arrivals of %u calls=%llu", i, U(r->calls));
		cases_figures(p->out, {"last", r->last}, {"waited", r->waited_ns},
			      {"late", r->worst.late_ns});
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

TABLE_ORDER(cause_compare, struct cause, table_compare(a->process, b->process),
	    table_compare(a->kind, b->kind))

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
		cases_figures_part(p->out, {"through", c[i].through_ns});
		if (word_is(name, "root")) {
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
	if (p->w.causes.reported_late)
		fprintf(p->out, "causes late=%llu\n", U(p->w.causes.reported_late));
}

/* ---- a case ---- */

static void waits_play(const struct script *lines, FILE *out)
{
	struct play p = {.out = out, .unit_ns = 1};
	const struct waited_for *l;
	uint64_t epochs_ns = 0;

	causes_world_open(&p.w);
	locks_init(&p.locks, &p.w.epochs);
	any_source_init(&p.any_source, &p.w.late);
	unexpecteds_init(&p.unexpecteds, &p.w.late);
	overlaps_init(&p.overlaps);
	observers_add(&p.w.late.matched, overlaps_match, &p.overlaps);
	mfix_sink_start(&p.w.epochs.sink, p.w.f.model);
	mfix_sink_start(&p.locks.sink, p.w.f.model);
	cases_each(lines, line_tell, &p);
	mfix_sink_finish(&p.w.arrivals.sink, p.w.f.model);
	mfix_sink_finish(&p.w.epochs.sink, p.w.f.model);
	mfix_sink_finish(&p.locks.sink, p.w.f.model);
	causes_world_end(&p.w);
	assert_true(p.w.causes.kept <= CAUSES_KEPT_MAX);
	if (cases_shows(lines, "epochs"))
		epochs_print(&p);
	if (cases_shows(lines, "arrivals"))
		arrivals_print(&p);
	if (cases_shows(lines, "late"))
		late_print(&p);
	if (cases_shows(lines, "causes")) {
		causes_print(&p);
		for (int k = 0; k < EPOCH_KINDS; k++)
			for (size_t at = 0; (l = map_next(&p.w.epochs.waits[k], &at, NULL));)
				epochs_ns += l->ns;
		assert_int_equal(causes_world_root_ns(&p.w, CAUSE_NOBODY, CAUSE_KINDS),
				 causes_world_waited_ns(&p.w) + epochs_ns);
	}
	overlaps_release(&p.overlaps);
	any_source_release(&p.any_source);
	unexpecteds_release(&p.unexpecteds);
	locks_release(&p.locks);
	causes_world_close(&p.w);
}

TEST(waits)
{
	cases_run("waits", waits_play);
}
