/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* MPI datatypes of message layouts; made once a size, as making one takes longer than sending a small message. */
#ifndef POVBENCH_COMM_TYPE_H
#define POVBENCH_COMM_TYPE_H

#include <limits.h>
#include <mpi.h>

#include "core/comm.h"

struct type_cache;

struct type_cache *type_cache_new(void);
void type_cache_free(struct type_cache *t);

/* How MPI is told of a message that is not plain data, or too long. */
void type_of_other(struct type_cache *t, const struct comm_msg *m, MPI_Datatype *type, int *cnt);

/* How MPI is told of m, in each call that is timed. Ends the program if the size is beyond what a count can say. */
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
