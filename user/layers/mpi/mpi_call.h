/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One call while it is decoded: its record taken apart, with access to its arguments by role. A
 * record may come from a damaged file; all that it claims is checked against its size here.
 */
#ifndef POV_LAYERS_MPI_MPI_CALL_H
#define POV_LAYERS_MPI_MPI_CALL_H

#include "abi/event.h"
#include "layers/arena.h"
#include "layers/call_parts.h"
#include "layers/layer.h"
#include "layers/mpi/mpi_func.h"
#include "layers/mpi/mpi_process.h"

struct mpi_field {
	const uint8_t *data; /* not aligned */
	uint32_t bytes;
	uint32_t cnt; /* true number of elements; bytes may hold fewer */
	uint8_t type; /* enum pov_field_type; 0: no field */
};

struct mpi_call {
	const struct mpi_func *fn;
	const struct func_info *info;
	struct call_parts parts;
	struct mpi_process *process;
	struct mpi_known_comm *comm_known; /* result of mpi_call_comm, once it has run */
	struct arena *arena;
	uint64_t begin_ns;
	bool ok; /* it returned without an error */
	struct mpi_field field[POV_CALL_ARGS_MAX];
	struct pov_field_comm comm; /* data on the communicator in argument comm_arg */
	int comm_arg;		    /* -1: the record has no such data */
};

/* Takes the record apart and joins continuation records. False if it is not a call. */
bool mpi_call_open(struct mpi_call *c, const struct func_info *info, const struct pov_call *rec,
		   struct mpi_process *process, struct continuations *more, struct arena *arena);

/* A word by its type: an int is truncated and sign-extended, a handle cut to its width. */
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

/* Bytes of one element of what an argument points to; 0 if unknown. */
uint32_t mpi_call_width(const struct mpi_call *c, uint32_t arg);
/* Number of elements that its field holds. */
uint32_t mpi_call_kept(const struct mpi_call *c, uint32_t arg);
/* True if its field holds all elements. */
bool mpi_call_whole(const struct mpi_call *c, uint32_t arg);
/* Element i < mpi_call_kept; in an array of ranges, integer i < 3 × mpi_call_kept. */
int64_t mpi_call_elem(const struct mpi_call *c, uint32_t arg, uint32_t i);
bool mpi_call_status(const struct mpi_call *c, uint32_t i, struct mpi_status *out);

/*
 * Value of the argument with a role if it is passed by value. False if there is no such argument,
 * or the record lacks its value.
 */
static inline bool mpi_call_value(const struct mpi_call *c, enum mpi_role role, int64_t *out)
{
	int arg = c->fn->at[role];

	if (arg < 0 || !call_parts_known(&c->parts, (uint32_t)arg) ||
	    c->fn->sig.arg[arg].dir != SIG_VALUE)
		return false;
	*out = mpi_call_typed(c, arg);
	return true;
}
/* As mpi_call_value, for the first element that the argument points to. */
bool mpi_call_first(const struct mpi_call *c, enum mpi_role role, int64_t *out);
/* As mpi_call_value, for the sum over the elements that the argument points to. */
bool mpi_call_sum(const struct mpi_call *c, enum mpi_role role, int64_t *out);

#endif
