/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls that took too long and so request a file of what is kept (record --when). Matching calls
 * between two files are only counted, which bounds the number of files.
 */
#ifndef POV_RECORD_FLIGHT_TRIGGER_H
#define POV_RECORD_FLIGHT_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pov_hdr;

/* A condition such as "MPI_Allreduce > 50ms". */
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
	bool quiet;		/* a file was requested; it is too early for another one */
	bool pending;		/* a file will be requested at due_ns */
	uint64_t due_ns;	/* when calls of other ranks have ended, too */
	struct trigger_call by; /* the call that matched */
	uint64_t matches, written;
};

/* when is borrowed. func_cnt is the number of rows of the function table. */
void trigger_init(struct trigger *t, const struct trigger_when *when, size_t cnt, size_t func_cnt);
/* Looks at a record of any kind. */
void trigger_record(struct trigger *t, const struct pov_hdr *rec);
/* Returns true, once, if a file must be written now. Then it stays quiet until trigger_rearm. */
bool trigger_due(struct trigger *t, uint64_t now_ns);
void trigger_rearm(struct trigger *t);

#endif
