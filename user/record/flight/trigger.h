/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls that took too long, each of which asks for what is kept of the recording to be written (record --when). What they ask for is
 * bounded: whatever matches between two writings is counted.
 */
#ifndef POV_RECORD_FLIGHT_TRIGGER_H
#define POV_RECORD_FLIGHT_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pov_call;
struct pov_hdr;

/* "MPI_Allreduce > 50ms" */
struct trigger_when {
	const char *text;
	uint64_t over_ns;
	bool *func; /* by row of the function table */
};

/* A call that matched. */
struct trigger_call {
	const struct trigger_when *when;
	uint32_t pid, tid;
	uint16_t func;
	uint64_t begin_ns, end_ns;
};

struct trigger {
	const struct trigger_when *when;
	size_t when_cnt, func_cnt;
	bool quiet;		/* a file has been asked for, and it is too early for another one */
	bool pending;		/* one is to be asked for … */
	uint64_t due_ns;	/* … when others' calls have ended, too */
	struct trigger_call by; /* by this call */
	uint64_t matches, written;
};

/* when is borrowed; func_cnt: rows of the function table. */
void trigger_init(struct trigger *t, const struct trigger_when *when, size_t cnt, size_t func_cnt);
/* A record of any kind. */
void trigger_record(struct trigger *t, const struct pov_hdr *rec);
/* Whether a file is to be written now; says so once. From then on it is quiet until trigger_rearm. */
bool trigger_due(struct trigger *t, uint64_t now_ns);
void trigger_rearm(struct trigger *t);

#endif
