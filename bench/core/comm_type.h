/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI datatypes of message layouts. Each is made once, as that takes longer than a short message.
 */
#ifndef POVBENCH_COMM_TYPE_H
#define POVBENCH_COMM_TYPE_H

#include <limits.h>
#include <mpi.h>

#include "core/comm.h"

struct type_cache;

struct type_cache *type_cache_new(void);
void type_cache_free(struct type_cache *t);

/* Type and count of a message that is not plain data, or is too long for an int. */
void type_of_other(struct type_cache *t, const struct comm_msg *m, MPI_Datatype *type, int *cnt);

/*
 * Type and count of m, for each timed call. Ends the program if the size exceeds what a count can
 * express.
 */
static inline void type_of(struct type_cache *t, const struct comm_msg *m, MPI_Datatype *type,
			   int *cnt)
{
	if (m->layout == COMM_CONTIGUOUS && m->bytes <= INT_MAX) {
		*type = MPI_CHAR;
		*cnt = (int)m->bytes;
	} else {
		type_of_other(t, m, type, cnt);
	}
}

#endif
