/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Whose an end of a connection is: the process whose posts name it as their local end. "pid N" is
 * that process; of several hosts, on the others "pid N on host H". Ends may be learned later than they are led to, so they are looked for when all is known.
 */
#ifndef POV_ANALYSIS_ENDS_H
#define POV_ANALYSIS_ENDS_H

#include "lib/names.h"
#include "model/model.h"

struct end_owner {
	uint32_t end;	  /* its text's number */
	uint32_t process; /* idx */
};

struct ends {
	struct map known;	 /* pairs that are in the list */
	struct end_owner *owner; /* owned; sorted by ends_close */
	uint32_t n, cap;
};

void ends_own(struct ends *e, uint32_t end, uint32_t process);
/* All ends are known. */
void ends_close(struct ends *e, const struct model *m, struct names *names);
/*
 * The process, by its idx, that an end belongs to, as seen from another one; -1 if that is not known, or not only one. After
 * ends_close.
 */
int32_t ends_find(const struct ends *e, const struct model *m, uint32_t end,
		  const struct model_process *from, enum post_carrier carrier);
void ends_release(struct ends *e);

#endif
