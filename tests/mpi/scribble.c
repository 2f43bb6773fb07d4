/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * scribble SEED: a rank that writes nonsense to where its calls are recorded without probes,
 * repeatedly between calls, and ends normally. It writes pages of noise, single words, and records
 * with changed sizes and kinds. Prints how much it wrote.
 */
#include <stdint.h>

#include "expect.h"

#define ROUNDS 2000

static uint64_t state;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 16;
}

/* Returns where the recorder's memory is mapped, and its length; NULL: nowhere. */
static uint64_t *target_find(size_t *words)
{
	unsigned long long from, to;
	uint64_t *found = NULL;
	char line[4096];
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (!strstr(line, " rw-s ") || !strstr(line, "memfd:povtrace") ||
		    sscanf(line, "%llx-%llx", &from, &to) != 2)
			continue;
		found = (uint64_t *)(uintptr_t)from;
		*words = (to - from) / 8;
	}
	if (f)
		fclose(f);
	return found;
}

static void scribble(uint64_t *p, size_t words)
{
	size_t at = draw() % words, i;

	switch (draw() % 4) {
	case 0: /* a record's length, kind and flags */
		p[at] = (p[at] & ~0xffffull) | (draw() & 0xffff);
		break;
	case 1: /* written or taken position, or anything else at the front */
		p[draw() % 32] = draw() % 2 ? draw() : p[0] + draw() % 100000;
		break;
	case 2:
		p[at] = draw() << 32 ^ draw();
		break;
	default: /* after the state of calls in flight, which this process itself uses */
		for (i = 0; i < 512 && at + i < words; i++)
			if (at + i >= 16384 / 8)
				p[at + i] = draw() << 32 ^ draw();
	}
}

int main(int argc, char **argv)
{
	uint64_t *p;
	size_t words = 0, done = 0;

	expect_init(&argc, &argv);
	state = argc > 1 ? strtoull(argv[1], NULL, 10) + (uint64_t)rank : 1;
	MPI_Barrier(MPI_COMM_WORLD);
	p = target_find(&words);
	for (int i = 0; i < ROUNDS; i++) {
		if (p && rank == 0) {
			scribble(p, words);
			done++;
		}
		MPI_Iprobe(rank, 5, MPI_COMM_WORLD, &(int){0}, MPI_STATUS_IGNORE);
		if (i % 100 == 0)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("scribble %d %zu\n", rank, done);
	MPI_Finalize();
	return 0;
}
