/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Functions to record as regions, and the program's own counts of their calls. */
#ifndef TESTS_MPI_REGIONS_H
#define TESTS_MPI_REGIONS_H

#include "expect.h"

#define REGION __attribute__((noinline, noclone))

static struct region {
	const char *name;
	unsigned int calls, nested, unwound, open;
} regions[10];
static volatile int sink;

/* Counts a call. */
static struct region *called(const char *name)
{
	struct region *r = regions;

	while (r->name && strcmp(r->name, name))
		r++;
	r->name = name;
	r->calls++;
	return r;
}

static void regions_print(void)
{
	for (struct region *r = regions; r < &regions[ARRAY_SIZE(regions)] && r->name; r++)
		printf("%d %s %u %u %u %u\n", rank, r->name, r->calls, r->nested, r->unwound,
		       r->open);
	fflush(stdout);
}

#endif
