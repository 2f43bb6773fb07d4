/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds ranks that compute more than the others of their job (analysis/app_time.h), or communicate
 * more (finding.h, analysis/causes.h).
 */
#include "analysis/finding.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/find.h"
#include "lib/log.h"
#include "lib/table.h"

/* Thresholds: how much the top rank must exceed the mean, in percent. */
#define COMPUTE_PCT 10
#define MOVED_PCT 50	   /* bytes moved */
#define COMMUNICATE_PCT 25 /* time that moving the bytes took */
/* If the extra bytes would need more ns per byte than this, they do not explain the extra time. */
#define NS_PER_BYTE 1000

/* Statistics of one figure over a job's ranks. Counts only ranks whose MPI_Init was recorded. */
struct job {
	uint32_t first, end; /* range of process indices */
	uint64_t (*of)(const struct findings *f, uint32_t idx);
	uint32_t n, most, least; /* number of ranks; process indices of the extremes */
	uint64_t sum, most_value, mean;
	uint64_t open_ns; /* time of the ranks other than `most` in calls that had not returned */
};

static bool is_known(const struct findings *f, uint32_t idx)
{
	return f->app.process[idx].init_ns;
}

static struct job job_sum(const struct findings *f, uint32_t first, uint32_t end,
			  uint64_t (*of)(const struct findings *f, uint32_t idx))
{
	struct job j = {.first = first, .end = end, .of = of};

	for (uint32_t i = first; i < end; i++) {
		if (!is_known(f, i))
			continue;
		j.most = !j.n || of(f, i) > of(f, j.most) ? i : j.most;
		j.least = !j.n || of(f, i) < of(f, j.least) ? i : j.least;
		j.sum += of(f, i);
		j.open_ns += f->app.process[i].open_ns;
		j.n++;
	}
	if (!j.n)
		return j;
	j.open_ns -= f->app.process[j.most].open_ns;
	j.most_value = of(f, j.most);
	j.mean = j.sum / j.n;
	return j;
}

static bool is_above(const struct job *j, uint64_t more, uint64_t pct)
{
	return j->n > 1 && j->sum &&
	       (double)j->most_value * j->n * 100 >= (double)(j->sum + more) * (double)(100 + pct);
}

/*
 * True if the top rank exceeds the mean by pct, even if the other ranks' time in open calls is
 * added to their figure.
 */
static bool is_above_in_time(const struct job *j, uint64_t pct)
{
	return is_above(j, j->open_ns, pct);
}

/*
 * Upper bound of the other ranks' waiting for the top one: the sum of how much less their figures
 * are. Time in open calls is added to their figures.
 */
static uint64_t saved_by(const struct findings *f, const struct job *j)
{
	uint64_t ns = 0;

	for (uint32_t i = j->first; i < j->end; i++) {
		uint64_t own_ns;

		if (!is_known(f, i) || !finding_counts(f, model_process_get(f->model, i)))
			continue;
		own_ns = j->of(f, i) + (i == j->most ? 0 : f->app.process[i].open_ns);
		ns += j->most_value > own_ns ? j->most_value - own_ns : 0;
	}
	return ns;
}

static char *words_times_mean(char *text, const struct job *j)
{
	return words(text, ", %.2f times the mean of its job's %u ranks",
		     (double)j->most_value / (double)j->mean, j->n);
}

static char *words_saved(char *text, const struct job *j, uint64_t saved_ns)
{
	return words(text,
		     ". Equal shares would make it %s shorter, and save the others up to %s of "
		     "waiting",
		     phrase_ns(j->most_value - j->mean).text, phrase_ns(saved_ns).text);
}

/* ---- computation ---- */

static uint64_t computed_ns(const struct findings *f, uint32_t idx)
{
	return f->app.process[idx].computed_ns;
}

static char *compute_text(const struct findings *f, const struct job *j, uint64_t saved_ns)
{
	char *text = xasprintf("%s computed %s",
			       phrase_process(f, model_process_get(f->model, j->most)).text,
			       phrase_ns(j->most_value).text);

	text = words(words_times_mean(text, j), " (%s; %s least: %s)", phrase_ns(j->mean).text,
		     phrase_process(f, model_process_get(f->model, j->least)).text,
		     phrase_ns(computed_ns(f, j->least)).text);
	return words_saved(text, j, saved_ns);
}

static void compute_find(struct findings *f, uint32_t first, uint32_t end)
{
	struct job j = job_sum(f, first, end, computed_ns);
	uint64_t saved_ns = saved_by(f, &j);

	if (is_above_in_time(&j, COMPUTE_PCT))
		finding_add(f, &(struct finding){
				       .kind = "compute_imbalance",
				       .cost_ns = saved_ns,
				       .text = compute_text(f, &j, saved_ns),
				       .process = j.most,
			       });
}

/* ---- communication ---- */

/*
 * Time in MPI without waiting for ranks or for a core. Excludes open calls: it is unknown for whom
 * they wait.
 */
static uint64_t communicated_ns(const struct findings *f, uint32_t idx)
{
	const struct blame *b = causes_blame(&f->causes, idx);
	uint64_t ns = f->app.process[idx].in_mpi_ns, waited_ns = 0;

	for (int how = 0; how < CAUSE_WAITS; how++)
		for (int s = 0; s < THREAD_STATE_CNT; s++)
			waited_ns += s == THREAD_RUNNABLE ? 0 : b->waited[how].ns[s];
	waited_ns += f->app.process[idx].open_ns;
	return ns > waited_ns ? ns - waited_ns : 0;
}

static uint64_t moved_bytes(const struct findings *f, uint32_t idx)
{
	return f->volumes.bytes[idx];
}

/* False if the rank moved so few extra bytes that it must be in MPI for another reason. */
static bool bytes_explain(const struct job *bytes, const struct job *j)
{
	return (bytes->most_value - bytes->mean) * NS_PER_BYTE >= j->most_value - j->mean;
}

static char *communicate_text(const struct findings *f, const struct job *bytes,
			      const struct job *j, uint64_t saved_ns)
{
	char *text = xasprintf("%s sent and received %s",
			       phrase_process(f, model_process_get(f->model, j->most)).text,
			       phrase_bytes(bytes->most_value).text);

	text = words(words_times_mean(text, bytes),
		     ", and was in MPI for %s beside waiting for ranks and cores (mean: %s)",
		     phrase_ns(j->most_value).text, phrase_ns(j->mean).text);
	return words_saved(text, j, saved_ns);
}

static void communicate_find(struct findings *f, uint32_t first, uint32_t end)
{
	struct job bytes = job_sum(f, first, end, moved_bytes),
		   j = job_sum(f, first, end, communicated_ns);
	uint64_t saved_ns = saved_by(f, &j);

	if (bytes.most == j.most && is_above(&bytes, 0, MOVED_PCT) &&
	    is_above_in_time(&j, COMMUNICATE_PCT) && bytes_explain(&bytes, &j))
		finding_add(f, &(struct finding){
				       .kind = "communication_imbalance",
				       .cost_ns = saved_ns,
				       .text = communicate_text(f, &bytes, &j, saved_ns),
				       .advice = xstrdup(
					       "spread what this rank sends and receives over "
					       "several, or let a collective do it, which goes by "
					       "way of other ranks"),
				       .process = j.most,
			       });
}

/* Relies on ranks being sorted by job. */
void find_balance(struct findings *f)
{
	uint32_t n = model_process_count(f->model), end;

	for (uint32_t i = 0; i < n && model_process_get(f->model, i)->is_rank; i = end) {
		for (end = i; end < n; end++) {
			const struct model_process *p = model_process_get(f->model, end);

			if (!p->is_rank || p->job_idx != model_process_get(f->model, i)->job_idx)
				break;
		}
		if (f->app.lost)
			continue;
		compute_find(f, i, end);
		communicate_find(f, i, end);
	}
}

static void volume_add(struct volumes *a, const struct model_process *p, int64_t bytes)
{
	uint64_t *row = table_row(a->bytes, a->nprocess, p->idx);

	*row += bytes > 0 ? (uint64_t)bytes : 0;
}

static void on_message(void *ctx, const struct model_message *msg)
{
	const struct model_operation *o = msg->operation;
	const struct model_process *self = o->thread->proc, *peer = NULL;
	struct volumes *a = ctx;

	if (msg->sends && msg->why == PEER_KNOWN && o->roles->has_peer && func_is_top(o->func))
		peer = model_peer(a->model, self, msg->peer_job, msg->peer_world);
	if (!peer)
		return;
	volume_add(a, self, msg->bytes);
	volume_add(a, peer, msg->bytes);
}

static void on_operation(void *ctx, const struct model_call *c, const struct func_info *func,
			 const struct call_roles *roles)
{
	if (func->group_bit & (GROUP_COLL | GROUP_NEIGH | GROUP_RMA)) {
		volume_add(ctx, c->thread->proc, roles->send_bytes);
		volume_add(ctx, c->thread->proc, roles->recv_bytes);
	}
}

static void on_call(void *ctx, const struct model_call *c)
{
	if (!c->nested && !c->open && !c->view->roles.error && func_is_top(c->func))
		model_call_operations(c, on_operation, ctx);
}

static void on_finish(void *ctx, const struct model *m)
{
	struct volumes *a = ctx;

	/* makes all rows valid */
	(void)table_row(a->bytes, a->nprocess, model_process_count(m));
}

void volumes_init(struct volumes *a)
{
	*a = (struct volumes){.sink = {.ctx = a,
				       .model = &a->model,
				       .call = on_call,
				       .message = on_message,
				       .finish = on_finish}};
}

void volumes_release(struct volumes *a)
{
	free(a->bytes);
}
