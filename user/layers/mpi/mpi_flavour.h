/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What differs between MPI implementations in the numbers a process uses: special values, layout of a
 * status, error classes. Sources: each implementation's mpi.h; the MPI standard's ABI.
 */
#ifndef POV_LAYERS_MPI_MPI_FLAVOUR_H
#define POV_LAYERS_MPI_MPI_FLAVOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layers/mpi/mpi_errors.h"

#define MPI_LEVELS 4 /* of support for threads */

struct mpi_status {
	int32_t source, tag, error;
	int64_t bytes;	/* BYTES_UNKNOWN if the layout does not tell */
	bool cancelled; /* false where the layout does not tell */
};

struct mpi_flavour_info {
	const char *name; /* as in the library's meta object */
	uint32_t handle_bytes, status_bytes;
	bool handles_are_addresses; /* of objects in the library's image */
	bool handles_are_standard;  /* predefined ones: numbers that the standard's ABI says */
	int32_t any_source, any_tag, proc_null, root, undefined, comm_type_shared;
	int32_t lock_exclusive;
	uint64_t in_place, request_null, type_null, comm_null;
	int32_t levels[MPI_LEVELS]; /* MPI_THREAD_SINGLE … */
	uint32_t error_mask;	    /* bits of a return value that are its class; 0: not known */
	int32_t err_in_status, err_pending;
	enum mpi_errors errors; /* whose numbers */
	void (*status_decode)(const uint8_t *raw, struct mpi_status *out);
};

/* By name; never NULL: an unknown name gives the flavour "unknown", which has no special values. */
const struct mpi_flavour_info *mpi_flavour_find(const char *name);

/* "MPI_ERR_TRUNCATE", or NULL. */
const char *mpi_flavour_error_name(const struct mpi_flavour_info *f, int32_t code);
/* "MPI_THREAD_MULTIPLE", or NULL. */
const char *mpi_flavour_level_name(const struct mpi_flavour_info *f, int32_t level);
/* Bytes of a predefined datatype that its handle itself tells, or -1. */
int64_t mpi_flavour_type_bytes(const struct mpi_flavour_info *f, uint64_t handle);
/* The handle stands for a predefined object, shared by whoever gets it. */
bool mpi_flavour_is_builtin(const struct mpi_flavour_info *f, uint64_t handle);

#endif
