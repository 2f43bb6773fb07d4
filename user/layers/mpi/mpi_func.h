/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Properties of an MPI function that decoding needs, found once per row of the trace's table. Most
 * follow from the roles of its arguments. Only collectives, and the direction of one-sided and file
 * operations, are recognised by name.
 */
#ifndef POV_LAYERS_MPI_MPI_FUNC_H
#define POV_LAYERS_MPI_MPI_FUNC_H

#include <jansson.h>

#include "layers/layer.h"
#include "layers/signature.h"

/* ROLE_sendbuf …: the roles of user/layers/mpi/mpi.def. */
enum mpi_role {
#define POV_ROLE(role, type, kind) ROLE_##role,
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

#endif
