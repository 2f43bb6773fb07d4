/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povbench's results (kmod-docs/BENCH_FORMAT.md): each launch's median time of a blocking
 * collective, by algorithm, ranks and message size. The files may come from anywhere. A member of
 * the wrong type counts as missing. Only what makes the whole file unusable is an error.
 */
#ifndef POV_ADVISE_MEASURED_H
#define POV_ADVISE_MEASURED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEASURED_DEFAULT "default" /* the library chooses */
/*
 * A result is busy if its ranks waited for a core for more than 1/MEASURED_BUSY_PART of its time.
 */
#define MEASURED_BUSY_PART 50

struct measured_launch {
	const char *library;	   /* first line of MPI_Get_library_version */
	const char *host;	   /* host of rank 0 */
	bool several_hosts;	   /* the ranks ran on several hosts */
	const json_t *environment; /* variables that configure MPI, as an object, or NULL */
};

struct measured_point {
	const struct measured_launch *launch;
	const char *collective; /* "allreduce" */
	/* As given to --algorithm; NULL: not given, so the environment decides. */
	const char *algorithm;
	const char *name; /* name of the algorithm; NULL: unknown */
	uint32_t ranks;
	bool busy;
	uint64_t bytes;
	double median_ns;
};

struct measured {
	json_t **root; /* one per file; owned, as are all texts */
	size_t nroot;
	struct measured_launch **launch; /* owned */
	size_t nlaunch;
	struct measured_point *point; /* owned */
	size_t npoint;
};

/* Returns 0, or -errno after printing the file and the error; then there is nothing to release. */
int measured_read(const char *const *path, size_t npath, struct measured *out);
void measured_release(struct measured *m);

#endif
