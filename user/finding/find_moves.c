/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds threads that moved between CPUs all the time, and processes whose threads woke late though
 * their core was idle (analysis/moves.h).
 */
#include "analysis/label.h"
#include "lib/log.h"
#include "finding/find.h"

#define MOVES_MIN 100	/* moves of a thread */
#define MOVES_PER_S 100 /* moves per second that the thread ran or wanted to run */

static char *moves_text(const struct findings *f, const struct model_thread *t,
			const struct moves_thread *row, double seconds)
{
	char *text = words_process(f, xstrdup(""), t->proc);

	text = words(text, ": thread %u was moved to another CPU ", t->tid);
	text = words_count(text, row->moves, "time", "times");
	text = words(text, ", %.0f times a second that it ran or wanted to; ",
		     (double)row->moves / seconds);
	text = words_count(text, row->back, "time", "times");
	text = words(text, " back to where it was moved from last");
	text = words_ns(text, "; meanwhile it waited for a core for ", row->moves_wait_ns, "");
	text = words_ns(text, " (most ", row->worst_ns, "");
	return words(words_when(f, text, row->worst_from_ns),
		     "), and what it found cold there is not counted");
}

static char *moves_advice(const struct findings *f)
{
	char *text = advice_cores(f, "each rank", 1);

	return words(text ? text : xstrdup("bind it to a CPU (taskset -pc)"),
		     "; threads of OpenMP: OMP_PROC_BIND=close OMP_PLACES=cores");
}

static void moves_find(struct findings *f, const struct model_thread *t)
{
	const struct moves_thread *row = &f->moves.thread[t->idx];
	double seconds = (double)(t->times.ns[THREAD_RUNNING] + t->times.ns[THREAD_RUNNABLE]) / 1e9;

	if (row->moves < MOVES_MIN || (double)row->moves < MOVES_PER_S * seconds)
		return;
	finding_add(f, &(struct finding){
			       .kind = "ping_pong_migration",
			       .cost_ns = row->moves_wait_ns,
			       .text = moves_text(f, t, row, seconds),
			       .advice = moves_advice(f),
			       .process = t->proc->idx,
			       .from_ns = row->worst_from_ns,
			       .to_ns = row->worst_from_ns + row->worst_ns,
		       });
}

static char *wakeups_text(const struct findings *f, const struct model_process *p,
			  const struct moves_process *row)
{
	char *text = words_process(f, xstrdup(""), p), cpu[CPU_LABEL_BYTES];

	text = words_count(words(text, " was woken "), row->slow, "time", "times");
	text = words(text, " and ran late though the core was idle");
	text = words_ns(text, ", for ", row->slow_ns, "");
	text = words_ns(text, " (most ", row->worst_ns, "");
	text = words_when(f, text, row->worst_from_ns);
	text = words(text, " on cpu %s)", cpu_label(f->model, row->worst_cpu, cpu));
	text = words_count(words(text, "; of all "), row->wakeups.cnt, "wake-up", "wake-ups");
	text = words_ns(text, " half took up to ", histogram_quantile(&row->wakeups, 50), "");
	text = words_ns(text, ", 99 % up to ", histogram_quantile(&row->wakeups, 99), "");
	return words_ns(text, ", the longest ", row->wakeups.max, "");
}

static void wakeups_find(struct findings *f, const struct model_process *p)
{
	const struct moves_process *row = &f->moves.process[p->idx];

	/* A CPU time limit explains why a throttled process wakes late. */
	if (!row->slow || row->held_back || f->limited[p->idx])
		return;
	finding_add(f, &(struct finding){
			       .kind = "slow_wakeups",
			       .cost_ns = row->slow_ns,
			       .text = wakeups_text(f, p, row),
			       .advice = xstrdup(
				       "keep idle cores awake (a request on "
				       "/dev/cpu_dma_latency), or poll instead of sleeping; in a "
				       "virtual machine its host decides"),
			       .process = p->idx,
			       .from_ns = row->worst_from_ns,
			       .to_ns = row->worst_from_ns + row->worst_ns,
		       });
}

void find_moves(struct findings *f)
{
	for (uint32_t i = 0; i < model_thread_count(f->model); i++) {
		const struct model_thread *t = model_thread_get(f->model, i);

		if (finding_counts(f, t->proc))
			moves_find(f, t);
	}
	for (uint32_t i = 0; i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);

		if (finding_counts(f, p))
			wakeups_find(f, p);
	}
}
