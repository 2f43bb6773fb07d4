/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Records that a process has written itself: whether they can be what they say. */
#ifndef POV_RECORD_PRELOAD_PRELOAD_CHECK_H
#define POV_RECORD_PRELOAD_PRELOAD_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pov_hdr;

/* Longest record of a process. */
#define PRELOAD_RECORD_MAX 1024

/* Whose, and what it may speak of. */
struct preload_speaker {
	uint32_t tid, tgid;
	const bool *lib; /* by number: MPI libraries that it has, POV_LIB_NUMBERS of them */
	uint32_t first_row, rows;
	const bool *wanted; /* of these rows */
	uint32_t cpus;
	uint64_t since_ns, until_ns; /* its records are of this time */
};

/*
 * Checks a copy of a record, of `bytes` bytes by its head, and puts in whose it is. False: no thread of ours would have written it.
 */
bool preload_check(struct pov_hdr *rec, size_t bytes, const struct preload_speaker *who);

#endif
