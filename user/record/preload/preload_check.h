/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Checks records that a process has written itself for values that cannot be true. */
#ifndef POV_RECORD_PRELOAD_PRELOAD_CHECK_H
#define POV_RECORD_PRELOAD_PRELOAD_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pov_hdr;

/* The longest record that a process writes. */
#define PRELOAD_RECORD_MAX 1024

/* The writer of a record, and what its records may contain. */
struct preload_speaker {
	uint32_t tid, tgid;
	/* by library number, POV_LIB_NUMBERS of them; true: an MPI library of the process */
	const bool *lib;
	uint32_t first_row, rows;
	const bool *wanted; /* by row from first_row on */
	uint32_t cpus;
	uint64_t since_ns, until_ns; /* time range of its records */
};

/*
 * Checks a copy of a record, whose size is `bytes`, and sets its thread and process. False: our
 * library would never have written it.
 */
bool preload_check(struct pov_hdr *rec, size_t bytes, const struct preload_speaker *who);

#endif
