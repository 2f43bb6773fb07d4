/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See causes.h. Keeps what threads did, and the waits to be followed (causes_chain.c). */
#include "analysis/causes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/causes_line.h"
#include "analysis/find.h"
#include "lib/log.h"
#include "lib/table.h"

#define NEAR 8

/* ---- lines ---- */

const struct line_entry *line_find(struct line *l, uint64_t ts_ns)
{
	uint32_t lo = 0, hi = l->n;

	/* The next query is mostly at the last entry or shortly after it. */
	if (l->last < hi && l->entry[l->last].from_ns <= ts_ns) {
		for (lo = l->last + 1; lo < hi && lo - l->last <= NEAR; lo++)
			if (l->entry[lo].from_ns > ts_ns) {
				l->last = lo - 1;
				return &l->entry[lo - 1];
			}
	} else if (l->last < hi) {
		hi = l->last;
	}
	lo = table_first(lo, hi, i, l->entry[i].from_ns > ts_ns);
	l->last = lo ? lo - 1 : 0;
	return lo ? &l->entry[lo - 1] : NULL;
}

const struct line_entry *line_at(struct line *l, uint64_t ts_ns, uint64_t *until_ns)
{
	const struct line_entry *e = line_find(l, ts_ns);
	const struct line_entry *next = e ? e + 1 : l->entry;
	bool covers = e && e->to_ns > ts_ns;
	uint64_t end_ns = covers			 ? e->to_ns :
			  l->n && next < l->entry + l->n ? next->from_ns :
							   UINT64_MAX;

	*until_ns = u64_min(*until_ns, end_ns);
	return covers ? e : NULL;
}

enum thread_state line_state(struct causes *a, const struct model_thread *t, uint64_t ts_ns,
			     uint64_t *until_ns, const struct model_thread **holder)
{
	struct causes_thread *c = table_row(a->thread, a->nthread, t->idx);
	const struct line_entry *e = line_at(&c->line[LINE_STATES], ts_ns, until_ns);

	*holder = e ? e->holder : NULL;
	if (e)
		return e->state;
	if (ts_ns >= t->since_ns && t->state != THREAD_DEAD)
		return t->state; /* the state is still current */
	if (t->since_ns > ts_ns && t->since_ns < *until_ns)
		*until_ns = t->since_ns;
	return THREAD_UNKNOWN;
}

static void wait_put(struct causes_wait *w)
{
	if (!--w->refs)
		free(w);
}

/* Drops entries that ended before until_ns. */
static uint32_t line_drop(struct line *l, enum line_track track, uint64_t until_ns)
{
	uint32_t old = 0;

	while (old < l->n && l->entry[old].to_ns <= until_ns) {
		if (track == LINE_WAITS)
			wait_put(l->entry[old].wait);
		old++;
	}
	l->n -= old;
	if (old)
		memmove(l->entry, l->entry + old, l->n * sizeof(*l->entry));
	return old;
}

/* Mean number of entries of the tracks that have any. */
static uint64_t line_mean(const struct causes *a)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < a->nthread; i++)
		for (int track = 0; track < LINE_TRACKS; track++)
			lines += a->thread[i].line[track].n > 0;
	return a->kept / (lines ?: 1);
}

/*
 * Follows the waits that began before until_ns. Then drops the entries that ended before it, but
 * only on tracks with at least the mean number of entries. A thread that yields all the time while
 * it waits has millions of states. They must not push out the entries of its waits and of other
 * threads.
 */
static void causes_forget(struct causes *a, uint64_t until_ns)
{
	uint32_t left = 0;
	uint64_t mean;

	for (uint32_t i = 0; i < a->nqueue; i++) {
		if (a->queue[i].wait->step[0].from_ns >= until_ns) {
			a->queue[left++] = a->queue[i];
			continue;
		}
		causes_follow(a, &a->queue[i]);
		wait_put(a->queue[i].wait);
	}
	a->nqueue = left;
	mean = line_mean(a);
	for (uint32_t i = 0; i < a->nthread; i++) {
		struct causes_thread *t = &a->thread[i];

		for (int track = 0; track < LINE_TRACKS; track++) {
			if (t->line[track].n < mean)
				continue;
			a->kept -= line_drop(&t->line[track], track, until_ns);
			t->since_ns = until_ns;
		}
	}
	a->since_ns = until_ns;
}

static void line_add(struct causes *a, const struct model_thread *t, enum line_track track,
		     const struct line_entry *e)
{
	struct line *l;
	uint32_t at;

	while (a->kept >= CAUSES_KEPT_MAX)
		causes_forget(a, a->since_ns + (a->now_ns - a->since_ns + 1) / 2);
	l = &((struct causes_thread *)table_row(a->thread, a->nthread, t->idx))->line[track];
	(void)table_row(l->entry, l->room, l->n);
	for (at = l->n++; at && l->entry[at - 1].from_ns > e->from_ns; at--)
		l->entry[at] = l->entry[at - 1];
	l->entry[at] = *e;
	a->kept++;
	a->now_ns = u64_max(a->now_ns, e->to_ns);
}

/* ---- what threads do ---- */

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	if (t->proc->is_rank && s != THREAD_RUNNABLE && from_ns < to_ns)
		line_add(ctx, t, LINE_STATES,
			 &(struct line_entry){.from_ns = from_ns, .to_ns = to_ns, .state = s});
}

static void on_runnable(void *ctx, const void *event)
{
	const struct held_stretch *h = event;

	if (h->waiter->proc->is_rank)
		line_add(ctx, h->waiter, LINE_STATES,
			 &(struct line_entry){.from_ns = h->from_ns,
					      .to_ns = h->to_ns,
					      .state = THREAD_RUNNABLE,
					      .holder = h->holder});
}

/* Polls that found nothing get the function and site of the call that ended them. */
static void polls_end(struct causes *a, struct blame *b, const struct model_call *c)
{
	struct causes_thread *t = table_row(a->thread, a->nthread, c->thread->idx);
	struct line *l = &t->line[LINE_CALLS];
	struct line_entry *polls = l->n ? &l->entry[l->n - 1] : NULL;

	if (c->polled_since_ns == c->begin_ns || !polls || polls->from_ns != c->polled_since_ns)
		return;
	polls->func = c->func;
	polls->site = c->site;
	table_row_add(&b->polled, &t->polled, ns);
	b->polled.ns[THREAD_RUNNING] += c->begin_ns - polls->to_ns;
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct causes *a = ctx;
	struct blame *b;

	if (c->nested || !func_is_top(c->func))
		return;
	b = table_row(a->process, a->nprocess, c->thread->proc->idx);
	for (int s = 0; s < THREAD_STATE_CNT; s++)
		b->calls.ns[s] += c->split.ns[s];
	polls_end(a, b, c);
	line_add(a, c->thread, LINE_CALLS,
		 &(struct line_entry){.from_ns = c->begin_ns,
				      .to_ns = c->end_ns,
				      .func = c->func,
				      .site = c->site});
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	struct causes *a = ctx;

	if (s->nested || s->computes || !s->nfuncs || !func_is_top(s->func[0].func))
		return;
	line_add(a, s->thread, LINE_CALLS,
		 &(struct line_entry){.from_ns = s->begin_ns, .to_ns = s->end_ns});
	a->thread[s->thread->idx].polled = s->split;
}

/* ---- waits ---- */

static struct causes_wait *wait_new(enum cause_wait how, uint32_t members, uint32_t steps)
{
	struct causes_wait *w = xcalloc(1, sizeof(*w) + members * sizeof(*w->member) +
						   steps * sizeof(*w->step));

	w->refs = 1;
	w->how = how;
	w->member = (struct wait_member *)(w + 1);
	w->step = (struct wait_step *)(w->member + members);
	w->members = members;
	w->steps = steps;
	return w;
}

/*
 * Queues a wait for one member. awaited: this wait is long enough to be charged with the member's
 * earlier delays, so later waits are not charged with them again.
 */
static void queue_add(struct causes *a, struct causes_wait *w, uint32_t member, bool awaited)
{
	const struct wait_member *m = &w->member[member];
	uint32_t half = CAUSES_QUEUED_MAX / 2;

	if (!a->queue)
		a->queue = xmalloc(CAUSES_QUEUED_MAX * sizeof(*a->queue));
	if (a->nqueue == CAUSES_QUEUED_MAX) {
		for (uint32_t i = 0; i < half; i++) {
			causes_follow(a, &a->queue[i]);
			wait_put(a->queue[i].wait);
		}
		memmove(a->queue, a->queue + half, half * sizeof(*a->queue));
		a->nqueue = half;
	}
	w->refs++;
	a->queue[a->nqueue++] = (struct causes_queued){w, member};
	if (awaited)
		line_add(a, m->thread, LINE_AWAITED,
			 &(struct line_entry){.from_ns = w->step[0].from_ns, .to_ns = m->begin_ns});
}

/* Adds up a thread's states in a stretch, as far as they are known now. */
static void states_add(struct causes *a, const struct model_thread *t, uint64_t from_ns,
		       uint64_t to_ns, struct state_times *out)
{
	const struct model_thread *holder;
	struct causes_part part = {.thread = t, .to_ns = from_ns};

	while (part.to_ns < to_ns) {
		part.from_ns = part.to_ns;
		part.to_ns = to_ns;
		part.state = line_state(a, t, part.from_ns, &part.to_ns, &holder);
		out->ns[part.state] += part.to_ns - part.from_ns;
		observers_notify(&a->parts, &part);
		if (part.state == THREAD_RUNNABLE)
			held_add(&a->held, t, holder, part.to_ns - part.from_ns);
	}
}

/* Records that a thread waited. */
static void waiter_add(struct causes *a, const struct model_thread *t, struct causes_wait *w,
		       uint64_t from_ns, uint64_t to_ns)
{
	struct blame *b = table_row(a->process, a->nprocess, t->proc->idx);
	struct causes_waiting *waiting = table_row(a->waiting, a->nwaiting, t->idx);
	struct state_times did = {{0}};

	states_add(a, t, from_ns, to_ns, &did);
	table_row_add(&b->waited[w->how], &did, ns);
	table_row_add(&waiting->all, &did, ns);
	if (w->in_file)
		table_row_add(&waiting->in_files, &did, ns);
	a->reported_late += from_ns < a->thread[t->idx].asked_ns;
	w->refs++;
	line_add(a, t, LINE_WAITS,
		 &(struct line_entry){.from_ns = from_ns, .to_ns = to_ns, .wait = w});
}

static void on_late(void *ctx, const void *event)
{
	const struct late_wait *l = event;
	struct causes_wait *w =
		wait_new(l->kind == LATE_SENDER ? CAUSE_LATE_SENDER : CAUSE_LATE_RECEIVER, 1, 1);

	w->waiter = l->waiter;
	w->member[0] = (struct wait_member){l->late->thread, l->to_ns};
	w->step[0] = (struct wait_step){l->from_ns, l->to_ns, 0, l->to_ns - l->from_ns, 0};
	waiter_add(ctx, l->waiter, w, l->from_ns, l->to_ns);
	queue_add(ctx, w, 0, true);
	wait_put(w);
}

/* waiter: the only waiter; NULL: all members that wait. */
static void joint_add(struct causes *a, enum cause_wait how, const struct model_thread *waiter,
		      const struct arrival_joint *j)
{
	struct causes_wait *w = wait_new(how, j->calls, j->steps);
	uint64_t last_ns = j->call[j->calls - 1].begin_ns, sum_ns = 0, waited_ns = 0;

	w->waiter = waiter;
	w->in_file = j->call[0].func->file_io;
	for (uint32_t i = 0; i < j->steps; i++) {
		w->step[i] = (struct wait_step){j->step[i].from_ns, j->step[i].to_ns, sum_ns,
						j->step[i].each_ns, waited_ns};
		sum_ns += j->step[i].each_ns;
		waited_ns += j->step[i].to_ns - j->step[i].from_ns;
	}
	for (uint32_t i = 0; i < j->calls; i++)
		w->member[i] = (struct wait_member){j->call[i].thread, j->call[i].begin_ns};
	for (uint32_t i = 0; i < j->calls; i++) {
		const struct arrival_call *c = &j->call[i];
		uint64_t from_ns = arrival_wait_ns(c), to_ns = u64_min(c->end_ns, last_ns);

		if (c->waits && from_ns < to_ns)
			waiter_add(a, c->thread, w, from_ns, to_ns);
		if (c->begin_ns > w->step[0].from_ns)
			queue_add(a, w, i,
				  causes_charges_delays(w, w->step[0].from_ns, c->begin_ns));
	}
	wait_put(w);
}

static void on_joint(void *ctx, const void *event)
{
	const struct arrival_joint *j = event;

	if (j->steps)
		joint_add(ctx, CAUSE_COLLECTIVE, NULL, j);
}

static void on_epoch(void *ctx, const void *event)
{
	const struct epoch_joint *e = event;

	joint_add(ctx, CAUSE_EPOCH + e->kind, e->waiter, e->joint);
}

/* ---- init and release ---- */

static void on_start(void *ctx, const struct model *m)
{
	struct causes *a = ctx;

	a->start_ns = a->since_ns = model_get_info(m)->start_ns;
}

static void on_finish(void *ctx, const struct model *m)
{
	struct causes *a = ctx;

	causes_forget(a, UINT64_MAX);
}

void causes_init(struct causes *a, struct late_pairs *late, struct arrivals *arrivals,
		 struct epochs *epochs, struct holders *holders)
{
	*a = (struct causes){
		.sink = {.ctx = a,
			 .start = on_start,
			 .state = on_state,
			 .call = on_call,
			 .spin = on_spin,
			 .finish = on_finish},
	};
	observers_add(&late->waits, on_late, a);
	observers_add(&arrivals->joints, on_joint, a);
	observers_add(&epochs->joints, on_epoch, a);
	observers_add(&holders->stretches, on_runnable, a);
}

void causes_release(struct causes *a)
{
	for (uint32_t i = 0; i < a->nqueue; i++)
		wait_put(a->queue[i].wait);
	for (uint32_t i = 0; i < a->nthread; i++)
		for (int track = 0; track < LINE_TRACKS; track++) {
			(void)line_drop(&a->thread[i].line[track], track, UINT64_MAX);
			free(a->thread[i].line[track].entry);
		}
	free(a->queue);
	free(a->touched);
	free(a->thread);
	free(a->process);
	free(a->waiting);
	map_free(&a->held, free);
	map_free(&a->roots, free);
	for (int how = 0; how < CAUSE_WAITS; how++)
		map_free(&a->direct[how], free);
}

const struct blame *causes_blame(const struct causes *a, uint32_t process)
{
	return table_get(a->process, a->nprocess, process);
}

/*
 * ---- findings ----
 *
 * Explains, for findings about late ranks, why these were late. Finds ranks that made others wait
 * indirectly, through further ranks.
 */

#define CAUSE_PART 20 /* names no cause below 1/CAUSE_PART of the finding's cost */

static const char *const did[CAUSE_KINDS] = {
	[CAUSE_COMPUTED] = "computed",
	[CAUSE_NO_CORE] = "had no core",
	[CAUSE_SLEPT] = "slept or was blocked outside MPI",
	[CAUSE_OUTSIDE] = "was outside MPI",
	[CAUSE_MPI] = "was in MPI calls to which nobody is known to have been late",
	[CAUSE_POLLED] = "polled",
	[CAUSE_UNKNOWN] = "did something unknown",
	[CAUSE_WAITED] = "waited itself",
};

/* Appends the process that had the core, or the process waited for. */
static char *other_words(const struct findings *f, char *text, const struct cause *c)
{
	const struct model_process *p = model_process_get(f->model, c->other);

	if (c->kind == CAUSE_WAITED)
		return words(text, "for %s", phrase_process(f, p).text);
	if (c->other == c->process)
		return words(text, "another thread of it had it");
	if (!p->host_pid)
		return words(text, "its core was idle");
	return words(text, "%s had it", phrase_process(f, p).text);
}

/* Finds the causes of a process in a list sorted by process. */
static const struct cause *causes_of(const struct cause *list, uint32_t n, uint32_t process,
				     uint32_t *found, uint64_t *sum_ns)
{
	const struct cause *first = list, *c;

	while (first < list + n && first->process < process)
		first++;
	*sum_ns = 0;
	for (c = first; c < list + n && c->process == process; c++)
		*sum_ns += c->ns;
	*found = (uint32_t)(c - first);
	return first;
}

/* Sum of the causes of one kind. */
struct kind_sum {
	enum cause_kind kind;
	uint64_t ns;
	const struct cause *most; /* first one with an `other`, or NULL */
	uint32_t others;	  /* number of causes */
};

TABLE_ORDER(kind_compare, struct kind_sum, u64_compare(b->ns, a->ns), u64_compare(a->kind, b->kind))

/* Sums n causes by kind, costliest kind first. */
static void kinds_sum(const struct cause *c, uint32_t n, struct kind_sum *sum)
{
	for (int kind = 0; kind < CAUSE_KINDS; kind++)
		sum[kind] = (struct kind_sum){.kind = (enum cause_kind)kind};
	for (uint32_t i = 0; i < n; i++) {
		struct kind_sum *s = &sum[c[i].kind];

		s->ns += c[i].ns;
		s->others++;
		if (!s->most && c[i].other != CAUSE_NOBODY)
			s->most = &c[i];
	}
	qsort(sum, CAUSE_KINDS, sizeof(*sum), kind_compare);
}

/*
 * Prints a share, because the time is the sum over all waiters. In ns it would look like the late
 * rank's own time.
 */
static char *words_share(char *text, const char *before, uint64_t ns, uint64_t sum_ns)
{
	return words(text, "%s%.0f %%", before, 100 * (double)ns / (double)sum_ns);
}

/* "computed: 80 %, had no core: 20 % (sh (pid 4711) had it)" */
static char *causes_words(const struct findings *f, char *text, const struct cause *c, uint32_t n,
			  uint64_t sum_ns)
{
	struct kind_sum sum[CAUSE_KINDS];

	kinds_sum(c, n, sum);
	for (int i = 0; i < CAUSE_KINDS && sum[i].ns && sum[i].ns >= sum_ns / CAUSE_PART; i++) {
		text = words(text, "%s%s", i ? ", " : "", did[sum[i].kind]);
		text = words_share(text, ": ", sum[i].ns, sum_ns);
		if (!sum[i].most)
			continue;
		text = other_words(f, words(text, sum[i].others > 1 ? " (most: " : " ("),
				   sum[i].most);
		if (sum[i].others > 1)
			text = words_share(text, ", ", sum[i].most->ns, sum_ns);
		text = words(text, ")");
	}
	return text;
}

char *words_causes(const struct findings *f, char *text, enum cause_wait how, uint32_t process,
		   uint64_t cost_ns)
{
	uint64_t sum_ns;
	uint32_t n;
	const struct cause *c = causes_of(f->direct[how], f->ndirect[how], process, &n, &sum_ns);

	/* Causes cover all waiters, cost_ns only those that count. Skips causes if both differ. */
	if (sum_ns != cost_ns)
		return text;
	return causes_words(f, words(text, "; meanwhile it "), c, n, sum_ns);
}

/*
 * "; most, 200.000 ms, when rank 2 waited for rank 1, that for rank 0, which computed before
 * MPI_Send at 0.620 s"
 */
static char *farthest_words(const struct findings *f, char *text, const struct cause *c)
{
	const struct cause_worst *w = &c->farthest;

	text = words_ns(text, "; most, ", w->ns, ", when ");
	if (w->how == CAUSE_COLLECTIVE)
		text = words(text, "a collective call waited for ");
	for (uint32_t i = 0; i < w->nchain; i++) {
		bool waiter = i == 1 && w->how != CAUSE_COLLECTIVE;

		text = words(text, "%s%s",
			     !i	    ? "" :
			     waiter ? " waited for " :
				      ", that for ",
			     phrase_process(f, model_process_get(f->model, w->chain[i])).text);
	}
	return words(text, ", which %s%s%s%s", did[c->kind], w->after ? " before " : "",
		     w->after ? w->after->name : "",
		     phrase_when(f, w->after ? w->after_ns : w->from_ns).text);
}

/* Returns the cause with the most time lost through further ranks. */
static const struct cause *cause_farthest(const struct cause *c, uint32_t n)
{
	const struct cause *most = c;

	for (uint32_t i = 1; i < n; i++)
		if (c[i].through_ns > most->through_ns)
			most = &c[i];
	return most;
}

static void root_add(struct findings *f, const struct cause *c, uint32_t n)
{
	const struct model_process *p = model_process_get(f->model, c->process);
	const struct cause *most = cause_farthest(c, n);
	uint64_t ns = 0, through_ns = 0;
	char *text;

	for (uint32_t i = 0; i < n; i++) {
		ns += c[i].ns;
		through_ns += c[i].through_ns;
	}
	if (through_ns < f->least_ns || !finding_counts(f, p))
		return;
	text = xasprintf("%s made others wait %s, %s of it indirectly: it ",
			 phrase_process(f, p).text, phrase_ns(ns).text, phrase_ns(through_ns).text);
	text = causes_words(f, text, c, n, ns);
	finding_add(f, &(struct finding){
			       .kind = "root_of_waits",
			       .cost_ns = ns,
			       .text = farthest_words(f, text, most),
			       .process = c->process,
			       .from_ns = most->farthest.from_ns,
			       .to_ns = most->farthest.to_ns,
		       });
}

void find_roots(struct findings *f)
{
	for (uint32_t i = 0, n; i < f->nroot; i += n) {
		uint64_t sum_ns;

		(void)causes_of(f->root + i, f->nroot - i, f->root[i].process, &n, &sum_ns);
		root_add(f, &f->root[i], n);
	}
}
