/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The MPI library of a job: which it is, what moves its messages, what was set, and how its settings are written. Its variables are those
 * that the library itself tells by MPI_T (a program of its own, povtrace-mpi-t, that runs with the recorded library, launcher and settings),
 * else what the recorded ranks' environment says, else unknown: nothing is taken from a list of defaults.
 */
#ifndef POV_ADVISE_LIBRARY_H
#define POV_ADVISE_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

struct model;
struct library;

enum library_family {
	LIBRARY_OTHER,
	LIBRARY_OPENMPI,
	LIBRARY_MPICH, /* and what is not known to be one of its relatives */
	LIBRARY_INTEL,
	LIBRARY_MVAPICH,
};

/* What moves the messages between two ranks. */
enum library_path {
	PATH_UNKNOWN,
	PATH_SHM, /* of one host: the library's own shared memory (Open MPI's vader/sm, MPICH's posix) */
	PATH_TCP, /* Open MPI's btl tcp */
	PATH_UCX,
	PATH_OFI,
};

/* Where a value is from. */
enum library_told {
	TOLD_NOT,	  /* not known */
	TOLD_MPI_T,	  /* the library itself */
	TOLD_ENVIRONMENT, /* the ranks' environment, which holds what was given to the launcher, too */
	TOLD_SEEN,	  /* by what messages did (of thresholds, by strategy_threshold.c) */
};

struct library_value {
	enum library_told by;
	const char *name; /* of the variable; owned by the library */
	int64_t value;
};

/* ask: whether povtrace-mpi-t may be run. Never NULL. */
struct library *library_new(const struct model *m, bool ask);
void library_free(struct library *l);

enum library_family library_family(const struct library *l);
const char *library_name(const struct library *l); /* "Open MPI 4.1.4"; "" if not known */
/* Why its variables are not known by MPI_T, one sentence without an end mark; NULL: they are, or nothing was asked of it yet. */
const char *library_not_asked(const struct library *l);
/* Of messages within a host, or between hosts. */
enum library_path library_path(const struct library *l, bool between_hosts);
/* An integer variable by its MPI_T or environment name ("btl_vader_eager_limit", "UCX_RNDV_THRESH"). */
struct library_value library_variable(const struct library *l, const char *name);
/*
 * Largest message, in bytes of data, that is sent eagerly: a variable's value less the header that counts against it. by TOLD_NOT: the
 * library has no fixed one (UCX's "auto"), or does not tell.
 */
struct library_value library_threshold(const struct library *l, bool between_hosts);
/*
 * The same of what is sent while the receiver is not in MPI: Open MPI's shared memory copies larger messages into a fragment, too, but
 * the send is over only when the receiver has taken that, in any call of MPI.
 */
struct library_value library_threshold_alone(const struct library *l, bool between_hosts);
/* What to type for a threshold of at least that many bytes of data: "mpirun --mca btl_vader_eager_limit 65592"; NULL: not known. Caller frees. */
char *library_threshold_setting(const struct library *l, bool between_hosts, uint64_t bytes);
/*
 * Memory that eager messages of up to that size may take in each rank, with so many peers: buffers × size (× peers where each peer has its
 * own). 0: not known. *text: how it is reckoned, "512 buffers of 64.1 KiB"; caller frees.
 */
uint64_t library_threshold_memory(const struct library *l, bool between_hosts, uint64_t bytes,
				  uint32_t peers, char **text);

/* How data moves while nobody calls MPI, or NULL: no setting is known for this path. free_cores: each rank has one to spare. Caller frees. */
char *library_progress_setting(const struct library *l, bool between_hosts, bool free_cores);
/* OMP_NUM_THREADS and the like, as the ranks' environment has them; NULL: not set or not recorded. */
const char *library_environment(const struct library *l, const char *name);

#endif
