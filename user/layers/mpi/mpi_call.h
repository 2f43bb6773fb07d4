/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One call while it is decoded: its record taken apart, and access to its arguments by role. A record
 * may come from a damaged file; whatever it claims is checked against its size here.
 */
#ifndef POV_LAYERS_MPI_MPI_CALL_H
#define POV_LAYERS_MPI_MPI_CALL_H

#include "abi/event.h"
#include "layers/arena.h"
#include "layers/call_parts.h"
#include "layers/layer.h"
#include "layers/mpi/mpi_func.h"
#include "layers/continuation.h"
#include "layers/mpi/mpi_process.h"

struct mpi_field {
	const uint8_t *data; /* not aligned */
	uint32_t bytes;
	uint32_t cnt; /* true number of elements; bytes may hold fewer */
	uint8_t type; /* enum pov_field_type, 0: there is none */
};

struct mpi_call {
	const struct mpi_func *fn;
	const struct func_info *info;
	struct call_parts parts;
	struct mpi_process *process;
	struct mpi_known_comm *comm_known; /* of mpi_call_comm, once that has been asked */
	struct arena *arena;
	uint64_t begin_ns;
	bool ok; /* it returned, and no error */
	struct mpi_field field[POV_CALL_ARGS_MAX];
	struct pov_field_comm comm; /* of the communicator in argument comm_arg; -1: there is none */
	int comm_arg;
};

/* Takes the record apart, joining continuation records. False if it is no call at all. */
bool mpi_call_open(struct mpi_call *c, const struct func_info *info, const struct pov_call *rec,
		   struct mpi_process *process, struct continuations *more, struct arena *arena);

/* A word as its type has it: int truncated and sign-extended, handle cut to its width. */
static inline int64_t mpi_call_typed(const struct mpi_call *c, uint32_t arg)
{
	uint64_t word = call_parts_word(&c->parts, arg);

	if (arg >= c->parts.nargs)
		return 0;
	switch (c->fn->sig.arg[arg].type) {
	case SIG_INT:
		return (int32_t)word;
	case SIG_HANDLE:
		return c->process->handle_bytes == 4 ? (uint32_t)word : word;
	default:
		return word;
	}
}

/* Bytes of one element of what an argument points to; 0 if not known. */
uint32_t mpi_call_width(const struct mpi_call *c, uint32_t arg);
/* Elements of its field that are there. */
uint32_t mpi_call_kept(const struct mpi_call *c, uint32_t arg);
/* All of them are. */
bool mpi_call_whole(const struct mpi_call *c, uint32_t arg);
/* i < kept; of an array of ranges the i-th integer, three to a range: i < 3 × kept. */
int64_t mpi_call_elem(const struct mpi_call *c, uint32_t arg, uint32_t i);
bool mpi_call_status(const struct mpi_call *c, uint32_t i, struct mpi_status *out);

/* By role: passed by value, pointed to, as a sum. False: no such argument, or its value is not in the record. */
static inline bool mpi_call_value(const struct mpi_call *c, enum mpi_role role, int64_t *out)
{
	int arg = c->fn->at[role];

	if (arg < 0 || !call_parts_known(&c->parts, (uint32_t)arg) ||
	    c->fn->sig.arg[arg].dir != SIG_VALUE)
		return false;
	*out = mpi_call_typed(c, arg);
	return true;
}
bool mpi_call_first(const struct mpi_call *c, enum mpi_role role, int64_t *out);
bool mpi_call_sum(const struct mpi_call *c, enum mpi_role role, int64_t *out);

#endif
