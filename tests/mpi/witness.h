/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A section of a test program, marked as a phase for the tracer, and what clocks that the program reads itself say of it: MPI_Wtime,
 * and the CPU time of the thread (CLOCK_THREAD_CPUTIME_ID).
 */
#ifndef TESTS_MPI_WITNESS_H
#define TESTS_MPI_WITNESS_H

#include <time.h>

#include "../../bpf/abi/mark.h"
#include "expect.h"

enum { WITNESS_INSIDE, WITNESS_OUTSIDE }; /* of the marks: the section lies between */

struct witness {
	const char *name;
	int level;		    /* of the phase */
	double wall_s[2], cpu_s[2]; /* over all times that it was begun and ended */
};

static inline double witness_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void witness_read(struct witness *w, int where, int sign)
{
	w->wall_s[where] += sign * MPI_Wtime();
	w->cpu_s[where] += sign * witness_cpu_s();
}

static inline void witness_begin(struct witness *w)
{
	unsigned long long name[POV_MARK_WORDS] = {0};

	memcpy(name, w->name, strlen(w->name));
	witness_read(w, WITNESS_OUTSIDE, -1);
	DO(MPI_Pcontrol, POV_MARK_BEGIN + w->level, name[0], name[1], name[2], name[3]);
	witness_read(w, WITNESS_INSIDE, -1);
}

static inline void witness_end(struct witness *w)
{
	witness_read(w, WITNESS_INSIDE, 1);
	DO(MPI_Pcontrol, POV_MARK_END + w->level);
	witness_read(w, WITNESS_OUTSIDE, 1);
}

/* One line a section, of one rank: times from inside and from outside. */
static inline void witness_write(const struct witness *w, int n, int rank)
{
	FILE *f = expect_open("witness", rank);

	for (int i = 0; i < n; i++)
		fprintf(f,
			"{\"section\":\"%s\",\"rank\":%d,\"wall_ns\":[%.0f,%.0f],\"cpu_ns\":[%.0f,%.0f]}\n",
			w[i].name, rank, w[i].wall_s[0] * 1e9, w[i].wall_s[1] * 1e9,
			w[i].cpu_s[0] * 1e9, w[i].cpu_s[1] * 1e9);
	if (f != stdout)
		fclose(f);
}

#endif
