/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A sample costs two words to every rank, one word back, and the wait for the start. That wait is
 * as long as the words take, plus a margin for late ranks. The margin grows fast and shrinks
 * slowly. On a noisy machine about one sample in twenty is late, instead of all waits being as
 * long as the longest disturbance.
 */
#include "core/start_window.h"

#include "lib/log.h"

#include <stdlib.h>
#include <string.h>

#define MARGIN_MIN_NS 20000
#define MARGIN_MAX_NS 50000000
#define PROBES 3
#define LAST_NS 5000 /* before the start, during which the wait only reads the clock */
#define TRIES_MAX 4  /* of start_window_longest */
/* Words that rank 0 sends instead of a start time. */
enum { WORD_OVER = 0, WORD_CLOCKS = 1 };

/*
 * An upper limit of the time in which a word reaches all ranks: that of a whole synchronisation.
 * The least of several counts, because the first ones establish connections.
 */
static uint64_t first_margin_ns(struct comm *c)
{
	uint64_t least = UINT64_MAX, begin, ns;

	for (int i = 0; i < PROBES; i++) {
		begin = c->ops->now_ns(c);
		comm_sync(c, 0);
		comm_tell(c, 0);
		ns = c->ops->now_ns(c) - begin;
		least = ns < least ? ns : least;
	}
	return least > MARGIN_MIN_NS ? least : MARGIN_MIN_NS;
}

void start_window_init(struct comm *c, struct start_window *w)
{
	memset(w, 0, sizeof(*w));
	w->all = xcalloc((size_t)c->size, sizeof(*w->all));
	node_clock_measure(c, &w->clock);
	w->least_ns = w->margin_ns = first_margin_ns(c);
}

void start_window_release(struct start_window *w)
{
	free(w->all);
	w->all = NULL;
}

static uint64_t next_word(struct comm *c, const struct start_window *w, bool more)
{
	if (c->rank)
		return 0; /* only rank 0's word is sent */
	if (!more)
		return WORD_OVER;
	if (node_clock_is_old(c, &w->clock))
		return WORD_CLOCKS;
	return c->ops->now_ns(c) + w->margin_ns;
}

/* Computes until shortly before the start, as computation checks the clock rarely, then polls. */
static void wait_until(struct comm *c, uint64_t start_ns)
{
	static const struct compute wait = {COMPUTE_DEADLINE, COMPUTE_ONE};
	uint64_t last_ns = c->features & COMM_VIRTUAL_TIME ? 0 : LAST_NS;
	uint64_t now_ns = c->ops->now_ns(c);

	if (now_ns + last_ns < start_ns)
		c->ops->compute(c, &wait, start_ns - last_ns - now_ns);
	while (last_ns && c->ops->now_ns(c) < start_ns)
		;
}

uint64_t start_window_begin(struct comm *c, struct start_window *w, bool more)
{
	uint64_t word, start;

	while ((word = comm_tell(c, next_word(c, w, more))) == WORD_CLOCKS)
		node_clock_measure(c, &w->clock);
	if (word == WORD_OVER)
		return 0;
	start = node_clock_own(&w->clock, word);
	wait_until(c, start);
	return start;
}

uint64_t start_window_clock_error_ns(struct comm *c, struct start_window *w)
{
	return comm_most(c, w->clock.error_ns);
}

bool start_window_missed(struct comm *c, uint64_t start_ns)
{
	return c->ops->now_ns(c) > start_ns + WINDOW_LATE_NS;
}

void start_window_note(struct start_window *w, bool late)
{
	w->late_cnt += late;
	if (late && w->margin_ns < MARGIN_MAX_NS)
		w->margin_ns += w->margin_ns / 4 + 1;
	else if (!late && w->margin_ns > w->least_ns)
		w->margin_ns -= (w->margin_ns - w->least_ns) / 64;
}

/* Evaluates each rank's word: its time, and in bit 0 whether it was late. */
static double longest_of(const struct start_window *w, int cnt, bool *late)
{
	uint64_t longest = 0;

	*late = false;
	for (int i = 0; i < cnt; i++) {
		*late = *late || w->all[i] & 1;
		longest = w->all[i] >> 1 > longest ? w->all[i] >> 1 : longest;
	}
	return (double)longest;
}

double start_window_longest(struct comm *c, struct start_window *w, uint64_t (*once)(void *ctx),
			    void *ctx)
{
	bool more = true, late;
	uint64_t start, ns;
	double longest = 0;
	int tries = 0;

	while ((start = start_window_begin(c, w, more))) {
		late = start_window_missed(c, start);
		ns = once(ctx);
		comm_collect(c, ns << 1 | late, w->all);
		if (c->rank)
			continue;
		longest = longest_of(w, c->size, &late);
		more = late && ++tries < TRIES_MAX;
		w->kept_cnt += late && !more;
		start_window_note(w, late);
	}
	return longest;
}
