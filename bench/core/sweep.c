/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Each value is computed from the exponent, not from the value before it. Otherwise rounding errors
 * would add up, and a step of √2 would miss the powers of two. Equal values are kept once.
 */
#include "core/sweep.h"

#include "lib/log.h"
#include "lib/table.h"
#include "core/stats.h"

#include <ctype.h>
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
	*table_append(s->value, s->cnt) = value;
}

void sweep_init(struct sweep *s, uint64_t min, uint64_t max, double step, uint64_t first,
		uint64_t unit)
{
	uint64_t value;
	double from;

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
	for (int i = 0;; i++) {
		value = round_to(from * pow(step, i), unit);
		if (value > max)
			break;
		/* A min below the unit rounds to 0, but only a min of 0 may yield 0. */
		if (value)
			sweep_add(s, value);
	}
}

size_t *sweep_shuffled(size_t cnt, uint64_t *random)
{
	size_t *order = xcalloc(cnt + 1, sizeof(*order)), k;

	for (size_t i = 0; i < cnt; i++) {
		k = (size_t)((random_step(random) >> 32) * (i + 1) >> 32);
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

/* ---- numbers of tasks ---- */

/* The short list is parsed again for each number, so that no state has to be kept. */

/* Parses the range at *at and moves *at past it and its comma; false if there is no valid range. */
static bool range_read(const char **at, long *from, long *to)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*from = *to = strtol(*at, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*to = strtol(end + 1, &end, 10);
	if (*from < 2 || *to < *from || *to > TASKS_MAX)
		return false;
	if (*end == ',' && end[1])
		end++;
	else if (*end)
		return false;
	*at = end;
	return true;
}

bool tasks_valid(const char *list)
{
	long from, to;

	while (range_read(&list, &from, &to)) {
		if (!*list)
			return true;
	}
	return false;
}

int tasks_most(const char *list)
{
	long from, to, most = 0;

	while (range_read(&list, &from, &to))
		most = to > most ? to : most;
	return (int)most;
}

static int doubled(int last, int all)
{
	if (last >= all || all < 2)
		return 0;
	if (!last)
		return 2;
	return last > all / 2 ? all : 2 * last;
}

int tasks_next(const char *list, int last, int all)
{
	long from, to, next = 0;

	if (!list)
		return doubled(last, all);
	while (range_read(&list, &from, &to)) {
		from = from > last ? from : last + 1L;
		if (from <= to && from <= all && (!next || from < next))
			next = from;
	}
	return (int)next;
}
