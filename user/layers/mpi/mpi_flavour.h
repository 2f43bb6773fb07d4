/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Differences between MPI implementations in the numbers that a process uses: special values,
 * layout of a status, error classes. Sources: each implementation's mpi.h; the MPI standard's ABI.
 */
#ifndef POV_LAYERS_MPI_MPI_FLAVOUR_H
#define POV_LAYERS_MPI_MPI_FLAVOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numberings of error classes. */
enum mpi_errors { MPI_ERRORS_OPENMPI, MPI_ERRORS_MPICH, MPI_ERRORS_ABI, MPI_ERRORS_CNT };

/* "MPI_ERR_TRUNCATE", …; NULL if the number has no name; 0 is no error. */
const char *mpi_error_name(enum mpi_errors of, uint32_t class);

#define MPI_LEVELS 4 /* levels of thread support */

struct mpi_status {
	int32_t source, tag, error;
	int64_t bytes;	/* BYTES_UNKNOWN if the layout does not have it */
	bool cancelled; /* false if the layout does not have it */
};

struct mpi_flavour_info {
	const char *name; /* name in the library's meta object */
	uint32_t handle_bytes, status_bytes;
	bool handles_are_addresses; /* handles are addresses of objects in the library's image */
	bool handles_are_standard;  /* predefined handles are the numbers of the standard's ABI */
	int32_t any_source, any_tag, proc_null, root, undefined, comm_type_shared;
	int32_t lock_exclusive;
	uint64_t in_place, request_null, type_null, comm_null;
	int32_t levels[MPI_LEVELS]; /* MPI_THREAD_SINGLE … */
	uint32_t error_mask;	    /* bits of a return value that hold its class; 0: unknown */
	int32_t err_in_status, err_pending;
	enum mpi_errors errors; /* numbering of its error classes */
	void (*status_decode)(const uint8_t *raw, struct mpi_status *out);
};

/*
 * Finds a flavour by name; never NULL: an unknown name gives "unknown", which has no special
 * values.
 */
const struct mpi_flavour_info *mpi_flavour_find(const char *name);

/* "MPI_ERR_TRUNCATE", or NULL. */
const char *mpi_flavour_error_name(const struct mpi_flavour_info *f, int32_t code);
/* "MPI_THREAD_MULTIPLE", or NULL. */
const char *mpi_flavour_level_name(const struct mpi_flavour_info *f, int32_t level);
/* Bytes of a predefined datatype, if its handle encodes them, or -1. */
int64_t mpi_flavour_type_bytes(const struct mpi_flavour_info *f, uint64_t handle);
/* True if the handle stands for a predefined object, shared by all who get it. */
bool mpi_flavour_is_builtin(const struct mpi_flavour_info *f, uint64_t handle);

#endif
