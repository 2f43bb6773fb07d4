/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Each value is computed from the exponent, not from the value before: rounding must not add up, or a step of √2
 * would miss the powers of two. What rounds to the same value is kept once.
 */
#include "core/sweep.h"

#include "lib/log.h"

#include <math.h>
#include <stdlib.h>

static uint64_t round_to(double value, uint64_t unit)
{
	return (uint64_t)llround(value / (double)unit) * unit;
}

static void sweep_add(struct sweep *s, uint64_t value)
{
	if (s->cnt && s->value[s->cnt - 1] >= value)
		return;
	s->value = xrealloc(s->value, (s->cnt + 1) * sizeof(*s->value));
	s->value[s->cnt++] = value;
}

void sweep_init(struct sweep *s, uint64_t min, uint64_t max, double step, uint64_t first,
		uint64_t unit)
{
	uint64_t value;
	double from;
	int i;

	s->value = NULL;
	s->cnt = 0;
	if (!unit)
		unit = 1;
	if (!min)
		sweep_add(s, 0);
	from = (double)(min ? min : first);
	if (from <= 0 || step <= 1) {
		if (min)
			sweep_add(s, round_to(from, unit));
		return;
	}
	for (i = 0;; i++) {
		value = round_to(from * pow(step, i), unit);
		if (value > max)
			break;
		/* A min below the unit has no multiple of it; 0 is for a min of 0 only. */
		if (value)
			sweep_add(s, value);
	}
}

size_t *sweep_shuffled(size_t cnt, uint64_t *random)
{
	size_t *order = xcalloc(cnt + 1, sizeof(*order)), i, k;

	for (i = 0; i < cnt; i++) {
		/* Knuth's MMIX generator; its high bits are the good ones. */
		*random = *random * 6364136223846793005u + 1442695040888963407u;
		k = (size_t)((*random >> 32) * (i + 1) >> 32);
		order[i] = order[k];
		order[k] = i;
	}
	return order;
}

void sweep_release(struct sweep *s)
{
	if (!s)
		return;
	free(s->value);
	s->value = NULL;
	s->cnt = 0;
}
