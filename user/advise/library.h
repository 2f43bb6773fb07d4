/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The MPI library of a job: its family and version, its transports, its settings and how they are
 * written. The library itself reports its variables through MPI_T, to the program povtrace-mpi-t.
 * That program runs with the recorded library, launcher and settings. Without its report, a value
 * comes from the recorded ranks' environment or is unknown. No list of defaults is used.
 */
#ifndef POV_ADVISE_LIBRARY_H
#define POV_ADVISE_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

struct model;
struct library;

#define MPI_T_SECONDS 10 /* time limit of povtrace-mpi-t: after it, the library counts as hung */

enum library_family {
	LIBRARY_OTHER,
	LIBRARY_OPENMPI,
	LIBRARY_MPICH, /* MPICH, or a derivative that is not recognized */
	LIBRARY_INTEL,
	LIBRARY_MVAPICH,
};

/* The transport between two ranks. */
enum library_path {
	PATH_UNKNOWN,
	/* Within a host: the library's own shared memory (Open MPI's vader/sm, MPICH's posix). */
	PATH_SHM,
	PATH_TCP, /* Open MPI's BTL tcp */
	PATH_UCX,
	PATH_OFI,
};

/* Source of a value. */
enum library_source {
	LIBRARY_VALUE_UNKNOWN,
	LIBRARY_VALUE_MPI_T, /* reported by the library */
	/* The ranks' environment. It includes what was given to the launcher. */
	LIBRARY_VALUE_ENVIRONMENT,
	/* Inferred from the messages; used by strategy_threshold.c for thresholds. */
	LIBRARY_VALUE_MESSAGES,
};

struct library_value {
	enum library_source by;
	const char *name; /* name of the variable; owned by the library */
	int64_t value;
};

/* ask: permits running povtrace-mpi-t. Never returns NULL. */
struct library *library_new(const struct model *m, bool ask);
void library_free(struct library *l);

enum library_family library_family(const struct library *l);
const char *library_name(const struct library *l); /* "Open MPI 4.1.4"; "" if unknown */
/*
 * Returns why the library did not report its variables by MPI_T: one sentence without a full stop.
 * NULL: it did, or nothing was asked yet.
 */
const char *library_not_asked(const struct library *l);
/* Returns the transport of messages within a host or between hosts. */
enum library_path library_path(const struct library *l, bool between_hosts);
/*
 * Returns an integer variable by its MPI_T or environment name ("btl_vader_eager_limit",
 * "UCX_RNDV_THRESH").
 */
struct library_value library_variable(const struct library *l, const char *name);
/*
 * Returns the largest message, in bytes of data, that is sent eagerly. Headers that count against
 * the library's limit are subtracted. LIBRARY_VALUE_UNKNOWN: the library has no fixed threshold
 * (UCX's "auto") or does not report it.
 */
struct library_value library_threshold(const struct library *l, bool between_hosts);
/*
 * Like library_threshold(), for sends that end while the receiver is outside MPI. Open MPI's shared
 * memory copies larger messages into a fragment as well. Such a send ends only once the receiver
 * has taken the fragment, in any MPI call.
 */
struct library_value library_threshold_alone(const struct library *l, bool between_hosts);
/*
 * Returns the setting for a threshold of at least `bytes` bytes of data, as typed: "mpirun --mca
 * btl_vader_eager_limit 65592". NULL: unknown. Caller frees.
 */
char *library_threshold_setting(const struct library *l, bool between_hosts, uint64_t bytes);
/*
 * Returns the memory that eager messages of up to `bytes` bytes may take in each rank: buffers ×
 * size, as libraries that report their number of buffers share them among all peers. 0: unknown.
 * *text is the formula, "512 buffers of 64.1 KiB"; caller frees.
 */
uint64_t library_threshold_memory(const struct library *l, bool between_hosts, uint64_t bytes,
				  char **text);

/*
 * Returns the setting that makes data move while no rank calls MPI. NULL: none is known for this
 * transport. free_cores: each rank has a spare core. Caller frees.
 */
char *library_progress_setting(const struct library *l, bool between_hosts, bool free_cores);
/*
 * Returns a variable of the ranks' environment, such as OMP_NUM_THREADS; NULL: not set or not
 * recorded.
 */
const char *library_environment(const struct library *l, const char *name);

#endif
