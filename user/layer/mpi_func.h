/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What decoding wants to know of an MPI function, found once per row of the trace's table. Most of it
 * follows from the arguments' roles; only collectives and the direction of one-sided and file operations
 * are told by name.
 */
#ifndef POV_LAYER_MPI_FUNC_H
#define POV_LAYER_MPI_FUNC_H

#include <jansson.h>

#include "layer/layer.h"
#include "layer/mpi_table.h"
#include "layer/signature.h"

/* Arguments that decoding asks for. */
enum mpi_role {
	ROLE_BUF,
	ROLE_SENDBUF,
	ROLE_RECVBUF,
	ROLE_COUNT,
	ROLE_SCOUNT,
	ROLE_RCOUNT,
	ROLE_DTYPE,
	ROLE_SDTYPE,
	ROLE_RDTYPE,
	ROLE_DEST,
	ROLE_SOURCE,
	ROLE_TAG,
	ROLE_STAG,
	ROLE_RTAG,
	ROLE_ROOT,
	ROLE_COMM,
	ROLE_LOCAL_COMM,
	ROLE_NEWCOMM,
	ROLE_REQ,
	ROLE_STATUS,
	ROLE_FLAG,
	ROLE_INDEX,
	ROLE_OUTCOUNT,
	ROLE_INDICES,
	ROLE_MESSAGE,
	ROLE_PARTITIONS,
	ROLE_ORIGIN,
	ROLE_OCOUNT,
	ROLE_ODTYPE,
	ROLE_RESULT_BUF,
	ROLE_RESULT_COUNT,
	ROLE_RESULT_DTYPE,
	ROLE_TARGET,
	ROLE_OP,
	ROLE_FILE,
	ROLE_NEWTYPE,
	ROLE_OLDTYPE,
	ROLE_TYPES,
	ROLE_BLOCKLEN,
	ROLE_SUBSIZES,
	ROLE_SIZE,
	ROLE_DIMS,
	ROLE_REORDER,
	ROLE_INDEG,
	ROLE_OUTDEG,
	ROLE_NNODES,
	ROLE_RANK,
	ROLE_MARK,
	ROLE_N,
	ROLE_WIN,
	ROLE_GROUP,
	ROLE_GROUP1,
	ROLE_GROUP2,
	ROLE_LOCAL_GROUP,
	ROLE_REMOTE_GROUP,
	ROLE_NEWGROUP,
	ROLE_RANKS,
	ROLE_RANGES,
	ROLE_COLOR,
	ROLE_KEY,
	ROLE_SPLIT_TYPE,
	ROLE_LOCAL_LEADER,
	ROLE_REMOTE_LEADER,
	ROLE_PEER_COMM,
	ROLE_PARENT,
	ROLE_REMAIN_DIMS,
	ROLE_CNT,
};

/* What a call moves, and which way. */
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
};

/* What a call teaches the reader. */
enum mpi_lesson {
	LESSON_NONE,
	LESSON_TYPE_NEW,  /* by `count`, `blocklen`, … of oldtype */
	LESSON_TYPE_SIZE, /* size of dtype told */
	LESSON_TYPE_FREE,
	LESSON_COMM_SIZE,
	LESSON_COMM_RANK,
	LESSON_REMOTE_SIZE,
	LESSON_COMM_NEW,   /* nothing known of it but that it is new */
	LESSON_COMM_DUP,   /* the same members */
	LESSON_COMM_SPLIT, /* by colour or kind of machine */
	LESSON_COMM_CREATE,
	LESSON_COMM_OF_GROUP, /* only the group's members call */
	LESSON_INTERCOMM_NEW,
	LESSON_INTERCOMM_OF_GROUPS,
	LESSON_INTERCOMM_MERGE,
	LESSON_CONNECT, /* the other side is another program */
	LESSON_CART,
	LESSON_CART_SUB,
	LESSON_GRAPH,
	LESSON_DIST_GRAPH, /* adjacent or not: degrees if told */
	LESSON_DEGREES,
	LESSON_COMM_FREE,
	LESSON_COMM_GROUP,
	LESSON_REMOTE_GROUP,
	LESSON_GROUP_INCL,
	LESSON_GROUP_EXCL,
	LESSON_GROUP_RANGE_INCL,
	LESSON_GROUP_RANGE_EXCL,
	LESSON_GROUP_UNION,
	LESSON_GROUP_INTERSECTION,
	LESSON_GROUP_DIFFERENCE,
	LESSON_GROUP_OTHER,
	LESSON_WIN_NEW,
	LESSON_WIN_FREE,
	LESSON_WIN_GROUP,
	LESSON_MATCHED, /* a probe that takes the message */
};

struct mpi_func {
	struct signature sig;
	struct func_attrs attrs;
	char base[64];	     /* "Alltoallv" of MPI_Ialltoallv_c */
	uint8_t family;	     /* enum mpi_family */
	uint8_t request;     /* enum request_event of its request argument */
	uint8_t lesson;	     /* enum mpi_lesson */
	bool returns_error;  /* int error code; else a value */
	int8_t at[ROLE_CNT]; /* argument of a role, or -1 */
};

/* Parses a row {name, group, attrs, sig}. 0, or -EINVAL (printed). *out: free(). */
int mpi_func_parse(const json_t *row, struct mpi_func **out);

#endif
