/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What povbench measured (kmod-docs/BENCH_FORMAT.md): of blocking collectives the median time of each launch, by algorithm, ranks and size.
 * Files come from anywhere: what is not of the type that it should be of counts as not there; only what makes the whole file unusable is an
 * error.
 */
#ifndef POV_ADVISE_MEASURED_H
#define POV_ADVISE_MEASURED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEASURED_DEFAULT "default" /* the library's own choice */
#define MEASURED_BUSY_PART \
	50 /* busy: its ranks waited for a core for one part in so many of the time */

struct measured_launch {
	const char *library;	   /* as MPI_Get_library_version has it, the first line */
	const char *host;	   /* rank 0's */
	bool several_hosts;	   /* its ranks were on */
	const json_t *environment; /* object of variables that set MPI; or NULL */
};

struct measured_point {
	const struct measured_launch *launch;
	const char *collective; /* "allreduce" */
	const char *
		algorithm; /* as --algorithm had it; NULL: not given, so it is as the environment has it */
	const char *name; /* of the algorithm; NULL: it is not known */
	uint32_t ranks;
	bool busy;
	uint64_t bytes;
	double median_ns;
};

struct measured {
	json_t **root; /* of each file; owned, as all texts are */
	size_t nroot;
	struct measured_launch **launch; /* owned */
	size_t nlaunch;
	struct measured_point *point; /* owned */
	size_t npoint;
};

/* 0, or -errno after printing what is wrong with which file; then nothing is to be released. */
int measured_read(const char *const *path, size_t npath, struct measured *out);
void measured_release(struct measured *m);

#endif
