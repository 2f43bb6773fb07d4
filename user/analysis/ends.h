/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The process that an end of a connection belongs to: the one whose posts name it as their local
 * end. "pid N" is the process with that pid; with several hosts, other hosts name it "pid N on host
 * H". An end may be used before its owner is known, so owners are looked up once all ends are
 * known.
 */
#ifndef POV_ANALYSIS_ENDS_H
#define POV_ANALYSIS_ENDS_H

#include "lib/names.h"
#include "model/model.h"

struct end_owner {
	uint32_t end;	  /* number of its text in the names */
	uint32_t process; /* idx */
};

struct ends {
	struct map known;	 /* pairs that are already in the list */
	struct end_owner *owner; /* owned; sorted by ends_close */
	uint32_t n, cap;
};

void ends_own(struct ends *e, uint32_t end, uint32_t process);
/* Call this once all ends are known. Sorts the list. */
void ends_close(struct ends *e, const struct model *m, struct names *names);
/*
 * The process (idx) that owns an end, as seen from another process. -1: unknown or ambiguous. Call
 * after ends_close.
 */
int32_t ends_find(const struct ends *e, const struct model *m, uint32_t end,
		  const struct model_process *from, enum post_carrier carrier);
void ends_release(struct ends *e);

#endif
