/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The code files of the targets: each is looked at once; one that defines MPI functions (a shared library,
 * or a program they are linked into) gets probes. Several MPI libraries at once are several entries.
 */
#ifndef POV_ATTACH_LIBRARY_H
#define POV_ATTACH_LIBRARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/config.h"
#include "attach/links.h"
#include "elf/mpi_library.h"

struct elf_file;
struct proc_map;

struct library {
	uint16_t id;	   /* in cookies and in the trace */
	char *path;	   /* as the first process that used it saw it */
	uint64_t dev, ino; /* by fstat */
	struct elf_file *elf;
	struct mpi_library mpi;
	struct links links;
	size_t attached; /* probes */
	json_t *meta;	 /* its meta object "library" */
};

/* Which rows of the function table to attach, and how. Borrowed by library_set. */
struct library_options {
	const struct link_programs *programs;
	const bool *wanted;  /* by row: attach (recorded ones, and those that teach) */
	int libs_fd;	     /* map of struct pov_lib by id */
	struct spent *spent; /* takes what detaching leaves */
};

struct library_set;

struct library_set *library_set_new(const struct library_options *opt);
/*
 * Looks at the file behind a mapping of a process. 1: it is traced, *out tells (attached now or before).
 * 0: nothing to trace in it. -errno: it could not be looked at, or not be attached.
 * *is_new: the file was not known before.
 */
int library_set_look(struct library_set *set, pid_t pid, const struct proc_map *map,
		     struct library **out, bool *is_new);
struct library *library_set_get(struct library_set *set, size_t i); /* NULL behind the last */
size_t library_set_count(const struct library_set *set);
/* Probes attached in all of them. */
size_t library_set_probe_count(const struct library_set *set);
/* Build id of a mapped file that has been looked at; "" if unknown. */
const char *library_set_build_id(struct library_set *set, pid_t pid, const struct proc_map *map);
/* Detaches all probes, or leaves them to spent; the entries stay. */
void library_set_detach(struct library_set *set);
void library_set_free(struct library_set *set);

/* Load bias of a library given one of its executable mappings: run-time address = file address + bias. */
int library_bias(const struct library *lib, const struct proc_map *map, uint64_t *bias);
/*
 * Predefined objects that the program holds instead of the library (copy relocations): [[name, address]].
 * exe_map: an executable mapping of the program itself. Never NULL.
 */
json_t *library_copied(const struct library *lib, pid_t pid, const struct proc_map *exe_map);

#endif
