/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Assigns each lost nanosecond to a reason (reasons.h). reasons_gain.c estimates savings,
 * reasons_text.c writes the sentences.
 */
#include "analysis/reasons.h"

#include <stdlib.h>

#include "analysis/reasons_internal.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/table.h"
#include "lib/u64.h"

const char *const reason_names[REASON_KINDS] = {
	[REASON_COMPUTED] = "computed",
	[REASON_HELD_BY_OTHER] = "core_held_by_other",
	[REASON_HELD_BY_RANK] = "core_held_by_rank",
	[REASON_HELD_BY_SELF] = "core_held_by_own_thread",
	[REASON_HELD_BY_KERNEL] = "core_held_by_kernel",
	[REASON_HELD_BY_NOBODY] = "core_idle",
	[REASON_HELD_UNKNOWN] = "core_held_by_unknown",
	[REASON_SLEPT] = "slept",
	[REASON_MPI_WORK] = "mpi_work",
	[REASON_TRANSFER] = "transfer",
	[REASON_FILE_IO] = "file_io",
	[REASON_APART] = "started_or_ended_apart",
	[REASON_TRACING] = "tracing",
	[REASON_OPEN] = "open_call",
	[REASON_UNKNOWN] = "unknown",
};

/* Time that one rank itself lost for one reason, not by waiting for others. */
struct own_loss {
	enum reason_kind kind;
	uint32_t process, victim;
	uint32_t reason; /* index of reasons.reason; set by victims_find() */
	uint64_t ns;
};

struct maker {
	struct reasons *r;
	struct findings *f;
	const struct account *a;
	struct own_loss *own; /* owned */
	uint32_t nown;
};

/* ---- whose time was lost, and why ---- */

static struct reason *reason_of(struct maker *k, enum reason_kind kind, uint32_t process)
{
	struct reasons *r = k->r;
	struct reason *one;

	for (uint32_t i = 0; i < r->n; i++)
		if (r->reason[i].kind == kind && r->reason[i].process == process)
			return &r->reason[i];
	one = table_append(r->reason, r->n);
	*one = (struct reason){.kind = kind,
			       .process = process,
			       .victim = FINDING_NOBODY,
			       .alone = FINDING_NOBODY};
	if (kind == REASON_COMPUTED || kind == REASON_SLEPT)
		one->job = account_job_of(k->a, process);
	return one;
}

/* Adds lost time to share_ns, divided by the number of ranks in the process's job. */
static void share_add(const struct maker *k, struct reason *r, uint32_t process, uint64_t ns)
{
	const struct account_job *job = account_job_of(k->a, process);

	r->share_ns += (double)ns / (job ? job->n : k->a->nrank);
}

static void own_add(struct maker *k, enum reason_kind kind, uint32_t process, uint32_t victim,
		    uint64_t ns)
{
	struct reason *r;

	if (!ns)
		return;
	r = reason_of(k, kind, process);
	r->own_ns += ns;
	share_add(k, r, victim, ns);
	*table_append(k->own, k->nown) = (struct own_loss){kind, process, victim, 0, ns};
}

/* Returns, by process index, which kind of reason it is if that process holds a core. */
static uint8_t *holders_sort(const struct model *m)
{
	uint32_t n = model_process_count(m);
	uint8_t *kind = xcalloc(n + 1, sizeof(*kind));

	for (uint32_t i = 0; i < n; i++) {
		const struct model_process *p = model_process_get(m, i);

		kind[i] = p->is_rank  ? REASON_HELD_BY_RANK :
			  p->host_pid ? REASON_HELD_BY_OTHER :
					REASON_HELD_BY_NOBODY;
	}
	for (uint32_t i = 0; i < model_thread_count(m); i++) {
		const struct model_thread *t = model_thread_get(m, i);

		if (kind[t->proc->idx] != REASON_HELD_BY_OTHER)
			continue;
		if (t->kthread)
			kind[t->proc->idx] = REASON_HELD_BY_KERNEL;
		else if (model_thread_records(m, t))
			kind[t->proc->idx] = REASON_TRACING;
	}
	return kind;
}

/*
 * Returns, by process index, the first process of the same program on its host. A build or a
 * monitor runs many short processes of a few programs, so a program is blamed as a whole.
 */
static uint32_t *programs_find(const struct model *m, const uint8_t *holder)
{
	uint32_t n = model_process_count(m), *program = xcalloc(n + 1, sizeof(*program));
	struct names names = {0};
	struct map first = {0}; /* by host and name */

	for (uint32_t i = 0; i < n; i++) {
		const struct model_process *p = model_process_get(m, i);
		uint64_t key = map_pair(p->host_idx, names_id(&names, p->name));

		program[i] = i;
		if (holder[i] != REASON_HELD_BY_OTHER)
			continue;
		if (!map_get(&first, key))
			map_set(&first, key, &program[i]);
		program[i] = *(const uint32_t *)map_get(&first, key);
	}
	map_release(&first);
	names_release(&names);
	return program;
}

enum reason_kind reason_held_kind(const struct reasons *r, uint32_t holder, uint32_t waiter,
				  uint32_t *process)
{
	enum reason_kind kind = holder == HELD_UNKNOWN ?
					REASON_HELD_UNKNOWN :
				holder == waiter ?
					REASON_HELD_BY_SELF :
					(enum reason_kind)(r->holder[holder] & HOLDER_KIND);

	*process = kind == REASON_HELD_BY_OTHER && !reason_is_shared(r, holder) ?
			   r->program[holder] :
			   FINDING_NOBODY;
	return kind;
}

/* Scales ns by want / have if `have`, the sum of all, exceeds `want`. */
static uint64_t ns_scaled(uint64_t ns, uint64_t have, uint64_t want)
{
	return have > want ? (uint64_t)((unsigned __int128)ns * want / have) : ns;
}

/* Cost of a holder, without the time in which the waiter waited for another rank anyway. */
static uint64_t held_alone_ns(const struct findings *f, const struct held *h)
{
	uint64_t waiting_ns = held_get(&f->causes.held, h->waiter, h->holder);

	return h->ns > waiting_ns ? h->ns - waiting_ns : 0;
}

/* Marks a process that had a core that ranks needed. */
static void holder_note(struct maker *k, uint32_t holder, uint64_t ns)
{
	if (ns && holder != HELD_UNKNOWN)
		k->r->holder[holder] |= HOLDER_COST;
}

/*
 * Adds a rank's time without a core to the reasons of its holders. Held times run to the end of the
 * window's last call, so their sum may exceed the account's. Then it scales them down.
 */
static void no_core_add(struct maker *k, const struct account_rank *rank, struct held *const *held,
			uint32_t n)
{
	uint64_t want_ns = rank->row.ns[ACCOUNT_NO_CORE] + rank->row.ns[ACCOUNT_MPI_NO_CORE];
	uint64_t have_ns = 0, given_ns = 0, rest_ns;

	for (uint32_t i = 0; i < n; i++)
		have_ns += held_alone_ns(k->f, held[i]);
	for (uint32_t i = 0; i < n; i++)
		given_ns += ns_scaled(held_alone_ns(k->f, held[i]), have_ns, want_ns);
	/*
	 * The first holder gets the rounding error. Time without a known holder is
	 * REASON_HELD_UNKNOWN.
	 */
	rest_ns = want_ns - given_ns;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ns = ns_scaled(held_alone_ns(k->f, held[i]), have_ns, want_ns);
		uint32_t process;
		enum reason_kind kind = reason_held_kind(k->r, held[i]->holder, rank->process,
							 &process);

		if (have_ns > want_ns && ns) {
			ns += rest_ns;
			rest_ns = 0;
		}
		holder_note(k, held[i]->holder, ns);
		own_add(k, kind, process, rank->process, ns);
	}
	own_add(k, REASON_HELD_UNKNOWN, FINDING_NOBODY, rank->process, rest_ns);
}

TABLE_ORDER(held_compare, struct held *, u64_compare((*a)->waiter, (*b)->waiter),
	    u64_compare((*a)->holder, (*b)->holder))

/* All records of held cores, sorted by waiting thread and holder. */
static struct held **held_list(const struct findings *f, uint32_t *n)
{
	struct held **list = xmalloc((f->app.held.cnt + 1) * sizeof(struct held *)), *h;

	*n = 0;
	for (size_t at = 0; (h = map_next(&f->app.held, &at, NULL));)
		list[(*n)++] = h;
	qsort(list, *n, sizeof(struct held *), held_compare);
	return list;
}

static void own_losses_add(struct maker *k)
{
	static const struct {
		enum account_class class;
		enum reason_kind kind;
	} plain[] = {
		{ACCOUNT_MPI_WORK, REASON_MPI_WORK}, {ACCOUNT_TRANSFER, REASON_TRANSFER},
		{ACCOUNT_FILE_IO, REASON_FILE_IO},   {ACCOUNT_APART, REASON_APART},
		{ACCOUNT_TRACING, REASON_TRACING},   {ACCOUNT_UNKNOWN, REASON_UNKNOWN},
		{ACCOUNT_OPEN, REASON_OPEN},
	};
	uint32_t nheld;
	struct held **held = held_list(k->f, &nheld);

	for (uint32_t i = 0; i < k->a->nrank; i++) {
		const struct account_rank *rank = &k->a->rank[i];
		uint32_t first = 0, n = 0;

		while (first < nheld && held[first]->waiter != rank->thread)
			first++;
		while (first + n < nheld && held[first + n]->waiter == rank->thread)
			n++;
		no_core_add(k, rank, held + first, n);
		own_add(k, REASON_SLEPT, rank->process, rank->process,
			rank->row.ns[ACCOUNT_ASLEEP]);
		for (size_t c = 0; c < sizeof(plain) / sizeof(plain[0]); c++)
			own_add(k, plain[c].kind, FINDING_NOBODY, rank->process,
				rank->row.ns[plain[c].class]);
	}
	free(held);
}

/* ---- what others waited for ---- */

static enum reason_kind root_kind(const struct maker *k, const struct cause *c, uint32_t *process)
{
	*process = FINDING_NOBODY;
	switch (c->kind) {
	case CAUSE_COMPUTED:
		*process = c->process;
		return REASON_COMPUTED;
	case CAUSE_OUTSIDE:
		if (k->a->sched)
			return REASON_UNKNOWN;
		*process = c->process;
		return REASON_COMPUTED;
	case CAUSE_NO_CORE:
		return reason_held_kind(k->r, c->other, c->process, process);
	case CAUSE_SLEPT:
		*process = c->process;
		return REASON_SLEPT;
	case CAUSE_MPI:
		return REASON_MPI_WORK;
	case CAUSE_POLLED: /* as in the account: nobody is known to have been late */
		return REASON_TRANSFER;
	default:
		return REASON_UNKNOWN;
	}
}

static void root_add(struct maker *k, enum reason_kind kind, uint32_t process,
		     const struct cause *c, uint64_t ns)
{
	struct reason *r = ns ? reason_of(k, kind, process) : NULL;

	if (!r)
		return;
	r->waited_ns += ns;
	share_add(k, r, c->process, ns);
	r->root = !r->root || r->root->ns < c->ns ? c : r->root;
}

/*
 * The part of the waiting for a late rank that tracing explains. Each of the job's other ranks may
 * have waited for all that the late rank computed. What exceeds that is charged to tracing, but for
 * each of them at most the late rank's tracing time.
 */
static uint64_t traced_ns(const struct maker *k, enum reason_kind kind, uint32_t process,
			  uint64_t ns)
{
	const struct account_rank *rank = account_of(k->a, process);
	const struct account_job *job = account_job_of(k->a, process);

	if (kind != REASON_COMPUTED || !rank || !job || job->n < 2)
		return 0;
	return u64_min(u64_minus(ns, reason_computed_ns(rank) * (job->n - 1)),
		       rank->row.ns[ACCOUNT_TRACING] * (job->n - 1));
}

/*
 * Adds waiting time to the reasons at its roots. Some waits belong to threads outside the account,
 * so it scales the roots to the account's waiting. Waits without a root are REASON_UNKNOWN.
 */
static void roots_add(struct maker *k)
{
	uint64_t want_ns = k->a->sum.ns[ACCOUNT_WAITING], have_ns = 0, given_ns = 0;

	for (uint32_t i = 0; i < k->f->nroot; i++)
		have_ns += k->f->root[i].ns;
	for (uint32_t i = 0; i < k->f->nroot; i++) {
		const struct cause *c = &k->f->root[i];
		uint64_t ns = ns_scaled(c->ns, have_ns, want_ns);
		uint32_t process;
		enum reason_kind kind = root_kind(k, c, &process);
		uint64_t tracing_ns = traced_ns(k, kind, process, ns);

		if (c->kind == CAUSE_NO_CORE)
			holder_note(k, c->other, ns);
		given_ns += ns;
		root_add(k, kind, process, c, ns - tracing_ns);
		root_add(k, REASON_TRACING, FINDING_NOBODY, c, tracing_ns);
	}
	if (given_ns < want_ns) {
		struct reason *r = reason_of(k, REASON_UNKNOWN, FINDING_NOBODY);

		r->waited_ns += want_ns - given_ns;
		share_add(k, r, FINDING_NOBODY, want_ns - given_ns);
	}
}

/* ---- merging reasons ---- */

static void root_merge(struct reason *to, const struct cause *root)
{
	if (root && (!to->root || to->root->ns < root->ns)) {
		to->next_root = to->root;
		to->root = root;
	} else if (root && (!to->next_root || to->next_root->ns < root->ns)) {
		to->next_root = root;
	}
}

static void reason_merge(struct reason *to, const struct reason *from)
{
	to->own_ns += from->own_ns;
	to->waited_ns += from->waited_ns;
	to->share_ns += from->share_ns;
	root_merge(to, from->root);
}

#define NAMED_PART 100	 /* a program that cost each rank less than run / NAMED_PART is small */
#define PROGRAMS_ALONE 2 /* if more programs than this are not small, they share a reason */

static void program_add(struct reason *to, uint32_t process, uint64_t ns)
{
	uint32_t at = to->programs < REASON_PROGRAMS ? to->programs : REASON_PROGRAMS;

	to->programs++;
	for (; at > 0 && to->program[at - 1].ns < ns; at--)
		if (at < REASON_PROGRAMS)
			to->program[at] = to->program[at - 1];
	if (at < REASON_PROGRAMS) {
		to->program[at].process = process;
		to->program[at].ns = ns;
	}
}

static bool program_is_small(const struct reasons *r, const struct reason *one)
{
	return (one->own_ns + one->waited_ns) / r->account->nrank < r->run_ns / NAMED_PART;
}

/*
 * Merges programs that held cores into one reason, because the same action helps against all of
 * them. Merges the small ones. If more than PROGRAMS_ALONE are not small, it also merges these,
 * except one that cost more than all others together.
 */
static void programs_merge(struct reasons *r)
{
	uint32_t left = 0, together = UINT32_MAX, large = 0;
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->reason[i].kind != REASON_HELD_BY_OTHER)
			continue;
		sum_ns += r->reason[i].own_ns + r->reason[i].waited_ns;
		large += !program_is_small(r, &r->reason[i]);
	}
	for (uint32_t i = 0; i < r->n; i++) {
		struct reason one = r->reason[i];
		uint64_t ns = one.own_ns + one.waited_ns;

		if (one.kind != REASON_HELD_BY_OTHER ||
		    (!program_is_small(r, &one) && (large <= PROGRAMS_ALONE || 2 * ns > sum_ns))) {
			r->reason[left++] = one;
			continue;
		}
		r->holder[one.process] |= HOLDER_SHARED;
		if (together == UINT32_MAX) {
			together = left;
			r->reason[left] = one;
			r->reason[left++].process = FINDING_NOBODY;
		} else {
			reason_merge(&r->reason[together], &one);
		}
		program_add(&r->reason[together], one.process, ns);
	}
	r->n = left;
}

/*
 * True if a rank gets a reason of its own, because it caused most of the cost. If ranks take turns
 * in computing, each one is late to the others. Then the rank must have caused three quarters.
 */
static bool is_alone(const struct reasons *r, const struct reason *one, uint64_t sum_ns)
{
	uint64_t ns = one->own_ns + one->waited_ns;

	return 2 * ns > sum_ns && (one->kind != REASON_COMPUTED || 4 * ns > 3 * sum_ns ||
				   reason_is_uneven(r->account, one));
}

/*
 * Merges a job's reasons of one kind into one about several ranks, except that of a rank that
 * is_alone. If only one other rank is left, its reason still names it.
 */
static void kind_merge(struct reasons *r, enum reason_kind kind, const struct account_job *job)
{
	uint64_t sum_ns = 0;
	uint32_t left = 0, together = UINT32_MAX, merged = 0, alone = FINDING_NOBODY;

	for (uint32_t i = 0; i < r->n; i++)
		if (r->reason[i].kind == kind && r->reason[i].job == job)
			sum_ns += r->reason[i].own_ns + r->reason[i].waited_ns;
	for (uint32_t i = 0; i < r->n; i++) {
		struct reason one = r->reason[i];

		if (one.kind != kind || one.job != job) {
			r->reason[left++] = one;
		} else if (is_alone(r, &one, sum_ns)) {
			alone = one.process;
			r->reason[left++] = one;
		} else if (!merged++) {
			together = left;
			r->reason[left++] = one;
		} else {
			reason_merge(&r->reason[together], &one);
		}
	}
	if (merged > 1) {
		r->reason[together].process = FINDING_NOBODY;
		r->reason[together].alone = alone;
	}
	r->n = left;
}

/* Index of the reason that a loss has been merged into. */
static uint32_t reason_find(const struct reasons *r, uint32_t kind, uint32_t process)
{
	const struct account_job *job = account_job_of(r->account, process);
	uint32_t together = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->reason[i].kind != kind)
			continue;
		if (r->reason[i].process == process)
			return i;
		if (r->reason[i].process == FINDING_NOBODY &&
		    (!r->reason[i].job || r->reason[i].job == job))
			together = i;
	}
	return together;
}

TABLE_ORDER(own_compare, struct own_loss, u64_compare(a->reason, b->reason),
	    u64_compare(a->victim, b->victim))

/* Finds the rank that lost most by each reason. Frees k->own. */
static void victims_find(struct maker *k)
{
	uint32_t end;

	for (uint32_t i = 0; i < k->nown; i++)
		k->own[i].reason = reason_find(k->r, k->own[i].kind, k->own[i].process);
	table_sort(k->own, k->nown, own_compare);
	for (uint32_t i = 0; i < k->nown; i = end) {
		struct reason *r = &k->r->reason[k->own[i].reason];
		uint64_t ns = 0;

		for (end = i; end < k->nown && !own_compare(&k->own[i], &k->own[end]); end++)
			ns += k->own[end].ns;
		if (ns <= r->victim_ns)
			continue;
		r->victim = k->own[i].victim;
		r->victim_ns = ns;
	}
	free(k->own);
}

bool reason_is_shared(const struct reasons *r, uint32_t process)
{
	return r->holder[r->program[process]] & HOLDER_SHARED;
}

static int reason_compare(const void *va, const void *vb, void *ctx)
{
	const struct reason *a = va, *b = vb;
	uint64_t x = reason_most_ns(ctx, a), y = reason_most_ns(ctx, b);
	int order = u64_compare(y, x) ?: u64_compare(b->ns, a->ns);

	order = order ?: u64_compare(a->kind, b->kind) ?: u64_compare(a->process, b->process);
	return order ?: u64_compare((uintptr_t)a->job, (uintptr_t)b->job);
}

/*
 * Counts, for each reason that blames a program, the program's processes that held cores. If there
 * is only one, the reason blames this process.
 */
static void processes_count(struct reasons *r, uint32_t n)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct reason *one = &r->reason[i];
		uint32_t program = one->process, last = program;

		if (one->kind != REASON_HELD_BY_OTHER || program == FINDING_NOBODY)
			continue;
		for (uint32_t p = 0; p < n; p++) {
			if (r->program[p] != program || !(r->holder[p] & HOLDER_COST))
				continue;
			one->processes++;
			last = p;
		}
		for (uint32_t p = 0; p < n && one->processes == 1; p++)
			r->program[p] = r->program[p] == program ? last : r->program[p];
		one->process = one->processes == 1 ? last : program;
	}
}

bool reason_is_one(const struct reason *r)
{
	return r->process != FINDING_NOBODY && r->processes <= 1;
}

/* ---- making the list ---- */

#define REPLAYED_PART 100 /* replays no reason that costs less than run / REPLAYED_PART */

/*
 * True if a replay is worth its time: the loss is large on average over all ranks, or for one rank.
 */
static bool is_replayed(const struct reasons *r, const struct reason *one)
{
	uint64_t least_ns = r->run_ns / REPLAYED_PART;

	return reason_share_ns(r, one) >= least_ns || one->victim_ns >= least_ns;
}

void reasons_make(struct reasons *r, struct findings *f, const struct account *a, struct whatif *w)
{
	struct maker k = {.r = r, .f = f, .a = a};

	*r = (struct reasons){.account = a, .holder = holders_sort(f->model)};
	r->program = programs_find(f->model, r->holder);
	for (uint32_t i = 0; i < a->njob; i++) {
		uint64_t ns = a->job[i].to_ns - a->job[i].from_ns;

		r->run_ns = ns > r->run_ns ? ns : r->run_ns;
	}
	own_losses_add(&k);
	roots_add(&k);
	for (uint32_t i = 0; i <= a->njob; i++) {
		kind_merge(r, REASON_COMPUTED, i < a->njob ? &a->job[i] : NULL);
		kind_merge(r, REASON_SLEPT, i < a->njob ? &a->job[i] : NULL);
	}
	programs_merge(r);
	victims_find(&k);
	processes_count(r, model_process_count(f->model));
	for (uint32_t i = 0; i < r->n; i++) {
		struct reason *one = &r->reason[i];

		one->ns = one->own_ns + one->waited_ns;
		r->lost_ns += one->ns;
		reason_gain_find(r, f, one, is_replayed(r, one) ? w : NULL);
	}
	if (r->n)
		qsort_r(r->reason, r->n, sizeof(*r->reason), reason_compare, r);
	for (uint32_t i = 0; i < r->n; i++)
		reason_words(r, f, &r->reason[i]);
}

void reasons_release(struct reasons *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		free(r->reason[i].title);
		free(r->reason[i].evidence);
		free(r->reason[i].action);
	}
	free(r->reason);
	free(r->holder);
	free(r->program);
	*r = (struct reasons){0};
}
