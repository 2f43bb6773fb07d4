/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Estimates how much shorter the run would be without a reason (reasons.h). */
#include <stdlib.h>

#include "analysis/reasons_internal.h"
#include "lib/log.h"
#include "lib/u64.h"

struct mended {
	const struct reasons *r;
	const struct findings *f;
	const struct reason *reason;
};

static uint64_t core_give(void *ctx, const struct whatif_no_core *n)
{
	const struct mended *d = ctx;
	const struct model_process *own = model_thread_get(d->f->model, n->thread)->proc;
	uint32_t process, holder = n->holder == UINT32_MAX ?
					   HELD_UNKNOWN :
					   model_thread_get(d->f->model, n->holder)->proc->idx;

	if (reason_held_kind(d->r, holder, own->idx, &process) != d->reason->kind ||
	    process != d->reason->process || !windows_has(&d->f->app.windows, own, n->from_ns))
		return 0;
	return n->to_ns - n->from_ns;
}

bool reason_is_held(enum reason_kind kind)
{
	return kind >= REASON_HELD_BY_OTHER && kind <= REASON_HELD_UNKNOWN;
}

uint64_t reason_share_ns(const struct reasons *r, const struct reason *reason)
{
	if (r->account->njob > 1)
		return (uint64_t)reason->share_ns;
	return r->account->nrank ? reason->ns / r->account->nrank : 0;
}

uint64_t reason_computed_ns(const struct account_rank *r)
{
	return r ? r->row.ns[ACCOUNT_COMPUTING] + r->row.ns[ACCOUNT_OUTSIDE] : 0;
}

static uint64_t job_computed_ns(const struct account_job *job)
{
	return job->sum.ns[ACCOUNT_COMPUTING] + job->sum.ns[ACCOUNT_OUTSIDE];
}

uint64_t reason_others_mean_ns(const struct account *a, uint32_t process)
{
	const struct account_job *job = account_job_of(a, process);

	if (!job || job->n < 2)
		return 0;
	return (job_computed_ns(job) - reason_computed_ns(account_of_job(a, job, process))) /
	       (job->n - 1);
}

const struct account_rank *reason_most_computed(const struct account *a,
						const struct account_job *job, uint32_t but)
{
	const struct account_rank *most = NULL;

	for (uint32_t i = 0; job && i < job->n; i++) {
		const struct account_rank *rank = &a->rank[job->first + i];

		if (rank->process != but &&
		    (!most || reason_computed_ns(rank) > reason_computed_ns(most)))
			most = rank;
	}
	return most;
}

/* Computing of the rank to blame or, if several are to blame, of the one that computed most. */
static uint64_t most_computed_ns(const struct account *a, const struct reason *r)
{
	return reason_computed_ns(r->process == FINDING_NOBODY ?
					  reason_most_computed(a, r->job, r->alone) :
					  account_of(a, r->process));
}

const struct account_rank *reason_may_be_late(const struct account *a, const struct findings *f,
					      const struct reason *r)
{
	const struct account_job *job = a->njob == 1 && a->job->n > 1 ? a->job : NULL;
	const struct account_rank *most = reason_most_computed(a, job, FINDING_NOBODY);
	uint64_t in_calls_ns = 0, of_ns;
	const struct call_place *p = reason_calls_place(f, r, &of_ns);

	if (!most || r->kind != REASON_TRANSFER || !p)
		return NULL;
	/* for collectives with known partners, the late ranks are known already */
	if ((p->at.func->group_bit & GROUP_COLL || arrivals_make_comm(p->at.func)) &&
	    !arrivals_unknown(&f->arrivals))
		return NULL;
	for (uint32_t i = 0; i < job->n; i++) {
		const struct account_rank *rank = &a->rank[job->first + i];
		uint64_t less_ns = reason_computed_ns(most) - reason_computed_ns(rank);

		/* known waiting explains a part of the difference */
		less_ns = u64_minus(less_ns, rank->row.ns[ACCOUNT_WAITING]);
		in_calls_ns += u64_min(less_ns, rank->row.ns[ACCOUNT_TRANSFER]);
	}
	return 2 * in_calls_ns > r->own_ns ? most : NULL;
}

bool reason_is_of_progress(const struct reason *r)
{
	return r->root && r->root->worst.how == CAUSE_EPOCH + EPOCH_NO_PROGRESS;
}

bool reason_is_of_lock(const struct reason *r)
{
	return r->root && r->root->worst.how == CAUSE_EPOCH + EPOCH_LOCKED;
}

/* True if the longest waiting was for a rank that computed less than the job's others. */
static bool root_computed_less(const struct account *a, const struct reason *r)
{
	uint32_t root;

	if (!r->root || r->process != FINDING_NOBODY || r->alone != FINDING_NOBODY)
		return false;
	root = r->root->process;
	return reason_computed_ns(account_of(a, root)) < reason_others_mean_ns(a, root);
}

bool reason_is_uneven(const struct account *a, const struct reason *r)
{
	uint64_t most_ns, explained_ns = 0;

	if (!r->job || reason_is_of_lock(r) || root_computed_less(a, r))
		return false;
	most_ns = most_computed_ns(a, r);
	if (r->process != FINDING_NOBODY)
		explained_ns = (r->job->n - 1) *
			       u64_minus(most_ns, reason_others_mean_ns(a, r->process));
	for (uint32_t i = 0; i < r->job->n && r->process == FINDING_NOBODY; i++)
		explained_ns += u64_minus(most_ns, reason_computed_ns(&a->rank[r->job->first + i]));
	return 2 * explained_ns >= r->waited_ns;
}

/*
 * Upper bound of the saving if all ranks computed at the same time and equally long. A wait may
 * have several causes, so this reason's share of the waiting may be less than the saving.
 */
static uint64_t computed_most_ns(const struct reasons *r, const struct reason *reason)
{
	const struct account_job *job = reason->job;
	uint64_t share_ns = reason_share_ns(r, reason), mean_ns, more_ns, most_ns;

	if (!job || job->n < 2)
		return share_ns;
	if (reason_is_uneven(r->account, reason)) {
		mean_ns = job_computed_ns(job) / job->n;
		more_ns = u64_minus(most_computed_ns(r->account, reason), mean_ns);
		return u64_max(share_ns, u64_min(more_ns, reason->ns));
	}
	/* If a rank is late without computing more, no other rank would take over its work. */
	if (reason->process != FINDING_NOBODY)
		share_ns = reason->ns / (job->n - 1);
	most_ns = reason_computed_ns(reason_most_computed(r->account, job, FINDING_NOBODY));
	return u64_min(share_ns, u64_minus(job->to_ns - job->from_ns, most_ns));
}

/*
 * Upper bound of the saving if only the victim were faster: the run still lasts as long as each
 * other rank of the job was busy. Returns the whole run if several ranks lost time.
 */
static uint64_t others_idle_ns(const struct reasons *r, const struct reason *reason)
{
	const struct account_job *job = account_job_of(r->account, reason->victim);
	uint64_t least_ns = r->run_ns;

	for (uint32_t i = 0; job && reason->own_ns == reason->victim_ns && i < job->n; i++) {
		const struct account_rank *rank = &r->account->rank[job->first + i];
		uint64_t busy_ns = reason_computed_ns(rank) + rank->row.ns[ACCOUNT_MPI_WORK];

		if (rank->process != reason->victim)
			least_ns = u64_min(least_ns, u64_minus(job->to_ns - job->from_ns, busy_ns));
	}
	return least_ns;
}

/*
 * *out: upper bound of the saving if MPI calls took no time; the longest path of computing remains.
 * If calls may wait for a rank that computes more than others, it is the saving if all computed
 * equally long. False: the path is unknown.
 */
static bool calls_most_ns(const struct reasons *r, const struct findings *f,
			  const struct reason *reason, uint64_t *out)
{
	const struct account_rank *late = reason_may_be_late(r->account, f, reason);
	uint64_t most_ns = 0;

	if (late) {
		most_ns = u64_minus(reason_computed_ns(late),
				    job_computed_ns(r->account->job) / r->account->job->n);
		*out = u64_min(most_ns, reason->ns);
		return true;
	}

	for (uint32_t i = 0; i < r->account->njob; i++) {
		const struct efficiency *e = &r->account->job[i].e;

		if (e->unknown)
			return false;
		most_ns = u64_max(most_ns, (uint64_t)((1 - e->transfer) * (double)e->span_ns));
	}
	*out = u64_min(most_ns, reason->ns);
	return true;
}

bool reason_is_of_calls(enum reason_kind kind)
{
	return kind == REASON_MPI_WORK || kind == REASON_TRANSFER || kind == REASON_FILE_IO;
}

/* Appends the changes that make all ranks of a job compute equally long. */
static void work_share(const struct reasons *r, const struct findings *f,
		       const struct account_job *job, struct whatif *w,
		       struct whatif_spared_list *list)
{
	uint64_t sum_ns = job_computed_ns(job);
	uint64_t *more_ns = xcalloc(model_thread_count(f->model) + 1, sizeof(*more_ns));

	for (uint32_t i = 0; i < job->n; i++) {
		const struct account_rank *rank = &r->account->rank[job->first + i];
		uint64_t ns = reason_computed_ns(rank), mean_ns = sum_ns / job->n;

		more_ns[rank->thread] = u64_minus(mean_ns, ns);
		if (ns > mean_ns)
			whatif_spare_work(w, rank->thread, job->from_ns, job->to_ns, ns - mean_ns,
					  list);
	}
	whatif_add_work(w, more_ns, job->from_ns, job->to_ns, list);
	free(more_ns);
}

/* True if the reason blames the process: it names no other, and none of its kind names this one. */
static bool is_to_blame(const struct reasons *r, const struct reason *reason, uint32_t process)
{
	if (reason->process != FINDING_NOBODY)
		return reason->process == process;
	for (uint32_t i = 0; i < r->n; i++)
		if (r->reason[i].kind == reason->kind && r->reason[i].process == process)
			return false;
	return true;
}

/*
 * Appends the sleeps of the ranks to blame: one rank, or several of a job. False: too many sleeps
 * occurred to keep them all.
 */
static bool sleeps_spare(const struct reasons *r, const struct reason *reason, struct whatif *w,
			 struct whatif_spared_list *list)
{
	const struct account_job *job = reason->job;
	bool known = true;

	for (uint32_t i = 0; i < job->n; i++) {
		const struct account_rank *rank = &r->account->rank[job->first + i];

		if (is_to_blame(r, reason, rank->process))
			known &= whatif_spare_sleeps(w, rank->thread, job->from_ns, job->to_ns,
						     list);
	}
	return known;
}

/* True if one rank is to blame, and mostly slept between polls that found nothing. */
static bool sleeps_polling(const struct reasons *r, const struct findings *f,
			   const struct reason *reason)
{
	const struct account_rank *rank = account_of(r->account, reason->process);
	uint64_t ns;

	return reason->kind == REASON_SLEPT && rank &&
	       sleeps_mostly(&f->sleeps, rank->thread, rank->row.ns[ACCOUNT_ASLEEP], &ns) ==
		       SLEEP_POLLING;
}

/*
 * *out: saving if the ranks to blame did not sleep, or if all ranks computed equally long. False:
 * unknown.
 */
static bool spared_ns(const struct reasons *r, const struct findings *f,
		      const struct reason *reason, struct whatif *w, uint64_t *out)
{
	struct whatif_spared_list list = {0};
	bool known = true;

	if (!reason->job || r->account->njob > 1 || !w || whatif_is_full(w))
		return false;
	if (reason->kind == REASON_COMPUTED)
		work_share(r, f, reason->job, w, &list);
	else
		known = sleeps_spare(r, reason, w, &list);
	*out = known ? whatif_run_spared(w, &list) : 0;
	free(list.v);
	/*
	 * If the replay finds much less than the ranks waited, it misses some waits, such as those
	 * in MPI_Iprobe. But a rank that slept between polls saves little: without sleep, it would
	 * wait for the same messages.
	 */
	return known &&
	       (sleeps_polling(r, f, reason) || 2 * *out >= reason->waited_ns / reason->job->n);
}

/*
 * True if a replay can tell what fixing the reason saves. A replay in which all ranks share the
 * work shows the gain of a rank with its own reason, not that of the reason of all others.
 */
static bool is_spared(const struct reasons *r, const struct reason *reason)
{
	if (reason->kind != REASON_COMPUTED)
		return reason->kind == REASON_SLEPT;
	return reason->alone == FINDING_NOBODY && !reason_is_of_progress(reason) &&
	       reason_is_uneven(r->account, reason);
}

void reason_gain_find(struct reasons *r, const struct findings *f, struct reason *reason,
		      struct whatif *w)
{
	struct mended d = {r, f, reason};
	struct whatif_change change = {.give_core = core_give, .ctx = &d};
	uint64_t first_ns, cores_ns;

	if (reason_is_held(reason->kind) && w && !whatif_is_full(w)) {
		first_ns = whatif_run(w, &change);
		change.with_others = true;
		reason->high_ns = whatif_run(w, &change);
		/* the run cannot be shorter by more than all ranks lost together */
		reason->low_ns = u64_min(u64_min(first_ns, reason->high_ns), reason->ns);
		reason->high_ns = u64_min(u64_max(first_ns, reason->high_ns), reason->ns);
		reason->known = GAIN_REPLAYED;
		return;
	}
	if (reason->kind == REASON_TRACING && f->untraced.gain_ns) {
		cores_ns = (uint64_t)(f->untraced.cores_share * (double)r->run_ns);
		reason->low_ns = u64_min(f->untraced.gain_ns, reason->ns);
		reason->high_ns = u64_min(u64_max(f->untraced.gain_ns, cores_ns), reason->ns);
		reason->known = GAIN_REPLAYED;
		return;
	}
	if (is_spared(r, reason) && spared_ns(r, f, reason, w, &first_ns)) {
		reason->low_ns = reason->high_ns = u64_min(first_ns, reason->ns);
		reason->known = GAIN_REPLAYED;
		return;
	}
	if (reason_is_of_calls(reason->kind)) {
		if (calls_most_ns(r, f, reason, &reason->high_ns))
			reason->known = GAIN_AT_MOST;
		return;
	}
	if (reason->kind == REASON_OPEN || reason->kind == REASON_UNKNOWN)
		return;
	reason->known = GAIN_AT_MOST;
	reason->high_ns = reason->kind == REASON_COMPUTED ? computed_most_ns(r, reason) :
							    reason_share_ns(r, reason);
	/* All ranks may have waited for one that slept or had no core, at the latest at the end. */
	if (reason->kind != REASON_COMPUTED && reason->kind != REASON_APART)
		reason->high_ns = u64_min(u64_max(reason->high_ns, reason->victim_ns),
					  others_idle_ns(r, reason));
}

uint64_t reason_most_ns(const struct reasons *r, const struct reason *reason)
{
	return reason->known == GAIN_UNKNOWN || reason_is_of_calls(reason->kind) ?
		       reason_share_ns(r, reason) :
		       reason->high_ns;
}

bool reason_matters(const struct reasons *r, const struct reason *reason, uint32_t min_pct)
{
	return reason->ns && reason_most_ns(r, reason) * 100 >= r->run_ns * min_pct;
}
