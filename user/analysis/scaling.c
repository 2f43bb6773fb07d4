/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See scaling.h. */
#include "analysis/scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

struct scaling_run *scaling_add(struct scaling *s)
{
	s->run = xrealloc(s->run, (s->n + 1) * sizeof(*s->run));
	s->run[s->n] = (struct scaling_run){.order = s->n};
	return &s->run[s->n++];
}

static int run_compare(const void *va, const void *vb)
{
	const struct scaling_run *a = va, *b = vb;
	bool a_unknown = a->unknown != SCALING_KNOWN, b_unknown = b->unknown != SCALING_KNOWN;

	if (a_unknown != b_unknown)
		return a_unknown ? 1 : -1;
	if (a->e.ranks != b->e.ranks)
		return a->e.ranks < b->e.ranks ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

static void run_relate(struct scaling_run *run, const struct scaling_run *first, bool weak)
{
	double work = weak ? (double)run->e.ranks / (double)first->e.ranks : 1;

	if (run->unknown != SCALING_KNOWN) {
		run->computation = run->global = run->speedup = NAN;
		return;
	}
	run->computation = work * ratio((double)first->e.outside_ns, (double)run->e.outside_ns);
	run->global = run->e.parallel * run->computation;
	run->speedup = work * ratio((double)first->e.span_ns, (double)run->e.span_ns);
}

void scaling_make(struct scaling *s)
{
	s->nknown = 0;
	if (s->n)
		qsort(s->run, s->n, sizeof(*s->run), run_compare);
	for (uint32_t i = 0; i < s->n; i++) {
		s->nknown += s->run[i].unknown == SCALING_KNOWN;
		run_relate(&s->run[i], s->run, s->weak);
	}
}

bool scaling_same_program(const struct scaling *s)
{
	for (uint32_t i = 1; i < s->nknown; i++)
		if (strcmp(s->run[i].program, s->run[0].program) != 0)
			return false;
	return true;
}

uint32_t scaling_lost(const struct scaling *s, const struct scaling_run *run)
{
	return run->lost | s->run[0].lost;
}

void scaling_release(struct scaling *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->run[i].name);
		free(s->run[i].program);
		free(s->run[i].command);
	}
	free(s->run);
	*s = (struct scaling){0};
}
