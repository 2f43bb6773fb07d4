/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The steps of decoding one MPI call, in this order: learn what it made, show its arguments, report
 * what it moved and with whom, report what happened to requests, forget what it freed.
 */
#ifndef POV_LAYERS_MPI_MPI_DECODE_H
#define POV_LAYERS_MPI_MPI_DECODE_H

#include <jansson.h>

#include "abi/event.h"
#include "layers/call_parts.h"
#include "layers/layer.h"
#include "layers/mpi/mpi_process.h"
#include "layers/signature.h"

/* ---- the function (mpi_func.c) ---- */

/*
 * Properties of an MPI function that decoding needs, found once per row of the trace's table. Most
 * follow from the roles of its arguments. Only collectives, and the direction of one-sided and file
 * operations, are recognised by name.
 */

/* ROLE_sendbuf …: the roles of user/layers/mpi/mpi.def. */
enum mpi_role {
#define ROLE_NAME(type, kind, role) ROLE_##role,
#define POV_ROLES(type, kind, ...) SIG_EACH(ROLE_NAME, type, kind, __VA_ARGS__)
#include "layers/mpi/mpi.def"
	ROLE_CNT
};

/* Kind of transfer, and its direction. */
enum mpi_family {
	FAMILY_OTHER,
	FAMILY_SEND,
	FAMILY_RECV,
	FAMILY_SENDRECV,
	FAMILY_SENDRECV_REPLACE,
	FAMILY_PROBE,
	FAMILY_PUT,	/* one-sided to the target */
	FAMILY_GET,	/* one-sided from the target */
	FAMILY_GET_PUT, /* both */
	FAMILY_READ,
	FAMILY_WRITE,
	FAMILY_BARRIER,
	FAMILY_BCAST,
	FAMILY_GATHER,
	FAMILY_SCATTER,
	FAMILY_ALLGATHER,
	FAMILY_ALLTOALL,
	FAMILY_REDUCE,
	FAMILY_ALLREDUCE, /* and scan */
	FAMILY_EXSCAN,
	FAMILY_REDUCE_SCATTER,
	FAMILY_REDUCE_SCATTER_BLOCK,
	FAMILY_NEIGHBOR_ALLGATHER,
	FAMILY_NEIGHBOR_ALLTOALL,
	FAMILY_CNT
};

/* What the reader learns from a call. */
enum mpi_effect {
	EFFECT_NONE,
	EFFECT_TYPE_NEW,  /* made from oldtype by `count`, `blocklen`, … */
	EFFECT_TYPE_SIZE, /* reports the size of dtype */
	EFFECT_TYPE_FREE,
	EFFECT_COMM_SIZE,
	EFFECT_COMM_RANK,
	EFFECT_REMOTE_SIZE,
	EFFECT_COMM_NEW,   /* nothing known of it except that it is new */
	EFFECT_COMM_DUP,   /* has the same members */
	EFFECT_COMM_SPLIT, /* by colour or by kind of machine */
	EFFECT_COMM_CREATE,
	EFFECT_COMM_OF_GROUP, /* only the group's members call */
	EFFECT_INTERCOMM_NEW,
	EFFECT_INTERCOMM_OF_GROUPS,
	EFFECT_INTERCOMM_MERGE,
	EFFECT_CONNECT, /* the other side is another program */
	EFFECT_SPAWN,
	EFFECT_GET_PARENT,
	EFFECT_CART,
	EFFECT_CART_SUB,
	EFFECT_GRAPH,
	EFFECT_DIST_GRAPH, /* adjacent or not; with degrees if the call has them */
	EFFECT_DEGREES,
	EFFECT_COMM_FREE,
	EFFECT_COMM_GROUP, /* of a communicator or a window */
	EFFECT_REMOTE_GROUP,
	EFFECT_GROUP_INCL, /* by ranks or ranges */
	EFFECT_GROUP_EXCL,
	EFFECT_GROUP_UNION,
	EFFECT_GROUP_INTERSECTION,
	EFFECT_GROUP_DIFFERENCE,
	EFFECT_GROUP_OTHER,
	EFFECT_WIN_NEW,
	EFFECT_WIN_FREE,
	EFFECT_FILE_NEW,
	EFFECT_FILE_FREE,
	EFFECT_MATCHED, /* a probe that takes the message out of matching */
};

static inline bool mpi_effect_makes_comm(enum mpi_effect e)
{
	return e >= EFFECT_COMM_NEW && e <= EFFECT_DIST_GRAPH;
}

static inline bool mpi_effect_makes_group(enum mpi_effect e)
{
	return e >= EFFECT_COMM_GROUP && e <= EFFECT_GROUP_OTHER;
}

struct mpi_func {
	struct signature sig;
	struct func_attrs attrs;
	char base[64];	     /* "Alltoallv" of MPI_Ialltoallv_c */
	uint8_t family;	     /* enum mpi_family */
	uint8_t request;     /* enum request_event of its request argument */
	uint8_t effect;	     /* enum mpi_effect */
	uint8_t window;	     /* enum win_event */
	bool returns_error;  /* returns an int error code; else a value */
	int8_t at[ROLE_CNT]; /* index of the argument with a role, or -1 */
};

/* Implements func_init of struct layer; priv: struct mpi_func. */
void mpi_func_init(const json_t *row, void *priv, struct func_info *out);

/* ---- the call (mpi_call.c) ---- */

/*
 * A call's record taken apart, with access to the arguments by role. A record may come from a
 * damaged file, so all lengths in it are checked against its size.
 */
struct mpi_field {
	const uint8_t *data; /* not aligned */
	uint32_t bytes;
	uint32_t cnt; /* true number of elements; bytes may hold fewer */
	uint8_t type; /* enum pov_field_type; 0: no field */
};

struct mpi_call {
	const struct mpi_func *fn;
	struct call_parts parts;
	struct mpi_process *process;
	struct mpi_known_comm *comm_known; /* result of mpi_call_comm, once it has run */
	struct arena *arena;
	bool ok; /* it returned without an error */
	struct mpi_field field[POV_CALL_ARGS_MAX];
	struct pov_field_comm comm; /* data on the communicator in argument comm_arg */
	int comm_arg;		    /* -1: the record has no such data */
};

/* Takes the record apart and joins continuation records. */
void mpi_call_open(struct mpi_call *c, const struct call_parts *parts, struct mpi_process *process,
		   struct layer_decoder *d);

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
/* Number of elements that an argument's field holds. */
uint32_t mpi_call_kept(const struct mpi_call *c, uint32_t arg);
/* True if an argument's field holds all elements. */
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

/* ---- the steps ---- */

void mpi_learn(struct mpi_call *c);
/*
 * Step of mpi_learn for communicators, also for calls that failed or have not returned.
 * (mpi_learn_comm.c)
 */
void mpi_learn_comm(struct mpi_call *c);
void mpi_values(struct mpi_call *c, struct call_view *out);
void mpi_roles(struct mpi_call *c, struct call_view *out);
void mpi_requests(struct mpi_call *c, struct call_view *out);
void mpi_forget(struct mpi_call *c);
/* Key of an object's origin. In Fortran, a file and a window may have the same handle. */
static inline uint64_t mpi_origin_key(enum mpi_role role, int64_t handle)
{
	return role == ROLE_file ? ~(uint64_t)handle : (uint64_t)handle;
}

/* Sets the call's effect on a window. (mpi_requests.c) */
void mpi_window(struct mpi_call *c, struct call_view *out);
/*
 * For a call that has not returned: members of its communicator, its window, requests it waits for.
 * (mpi_requests.c)
 */
void mpi_open(struct mpi_call *c, struct call_view *out);
/* Sets the mark if the call marks a phase of the program. */
void mpi_mark(const struct mpi_call *c, struct call_view *out);

/* The process's knowledge of the call's communicator, or NULL. */
struct mpi_known_comm *mpi_call_comm(struct mpi_call *c);
/* The group in an argument; NULL if unknown; not a reference. */
struct mpi_group *mpi_call_group(const struct mpi_call *c, enum mpi_role role);
/* The communicator that the members of a group made by themselves; a reference. */
struct mpi_communicator *mpi_call_made_of_group(struct mpi_call *c);
/*
 * Joins a call that makes communicators to its making as it begins, before any member has returned.
 */
void mpi_announce(struct mpi_call *c);
/* Own rank in a communicator, or -1. */
int32_t mpi_comm_rank(const struct mpi_call *c, struct mpi_known_comm *comm);
/*
 * The communicator to which the call's ranks refer, also through a window or a matched message; or
 * NULL.
 */
struct mpi_communicator *mpi_call_ranks(struct mpi_call *c);
/* Origin of the call's window or message; NULL: unknown, or it has none. */
const struct mpi_origin *mpi_call_origin(const struct mpi_call *c);
/*
 * Sets the world rank of a rank, or -1 and the reason (enum peer_unknown). PEER_* have no world
 * rank, which needs no reason.
 */
void mpi_world_rank(struct mpi_communicator *comm, int32_t rank, int32_t *world, int32_t *job,
		    uint8_t *why);
/*
 * Number of members by which arrays are indexed: remote ones of an intercommunicator; -1: unknown.
 */
int32_t mpi_comm_peers(const struct mpi_known_comm *comm);

/*
 * Maps a rank or tag; wildcards become PEER_*, TAG_ANY. False, and *out untouched, if v is neither.
 */
bool mpi_peer_map(const struct mpi_flavour_info *fl, int64_t v, int32_t *out);
bool mpi_tag_map(const struct mpi_flavour_info *fl, int64_t v, int32_t *out);

/* Bytes of one element of a datatype passed by value, or -1. */
int64_t mpi_call_type_bytes(const struct mpi_call *c, enum mpi_role role);
/* Bytes of all elements of an array, or -1. */
int64_t mpi_call_product(const struct mpi_call *c, enum mpi_role role);
/* Σ counts[i] × size of types[i], for two arguments that are arrays; or -1. */
int64_t mpi_call_pairs_bytes(const struct mpi_call *c, int counts, int types);
/* A datatype's name, or how it was made, or its number. */
const char *mpi_call_type_text(const struct mpi_call *c, uint64_t handle);

/* a × b, or -1 if either is negative or the product does not fit. */
static inline int64_t times(int64_t a, int64_t b)
{
	int64_t r;

	return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r) ? -1 : r;
}

static inline int64_t scaled(int64_t count, int64_t bytes)
{
	return count ? times(count, bytes) : 0;
}

/* a + b, or -1 if either is negative or the sum does not fit. */
static inline int64_t plus(int64_t a, int64_t b)
{
	int64_t r;

	return a < 0 || b < 0 || __builtin_add_overflow(a, b, &r) ? -1 : r;
}

/* Adds status_bytes and, for a message, status_source and status_tag. */
void mpi_status_show(const struct mpi_call *c, const struct mpi_status *st, bool message,
		     struct call_view *out);

#endif
