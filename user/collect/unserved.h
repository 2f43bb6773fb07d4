/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Processes that were to record their calls themselves, but do not: the library that does it was not loaded into them (more
 * rights than their user, another environment), or they call MPI past it. What they call gets probes, and they wait for these.
 */
#ifndef POV_COLLECT_UNSERVED_H
#define POV_COLLECT_UNSERVED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct code_file;
struct code_files;
struct helper;
struct pov_caller;
struct questions;

/* All borrowed. */
struct unserved {
	const struct code_files *files;
	struct helper *helper;
	struct questions *questions;
	int loaded_fd; /* map of the kernel half: processes that have loaded the library */
};

/*
 * A process has mapped a file that the kernel half did not know at that moment. What records calls has been loaded, or should have been
 * before: then the process's question stays open until there are probes.
 */
void unserved_mapped(struct unserved *u, pid_t pid, const struct code_file *file, uint64_t ts_ns);
/* It has mapped an MPI library: all that it has mapped gets probes; it waits since the record. */
void unserved_asks(struct unserved *u, const struct pov_caller *r);
/* The helper's request "left": its answer has become known meanwhile (helper_known_fn); and its reply. */
bool unserved_known(struct unserved *u, const json_t *request);
void unserved_reply(struct unserved *u, const json_t *request, const json_t *reply);

#endif
