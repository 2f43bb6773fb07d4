/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What the parts of the helper's side share (helper_main.c, helper_functions.c); nobody else includes it. */
#ifndef POV_TARGET_HELPER_HELPER_SERVICE_H
#define POV_TARGET_HELPER_HELPER_SERVICE_H

#include <jansson.h>
#include <stdint.h>

#include "target/mpi_world.h"
#include "lib/map.h"

struct code_files;
struct code_id;
struct inspect_options;
struct links;

struct service {
	int sock;
	const struct inspect_options *opt;
	struct code_files *files; /* what this process and, when it was started, the collector know */
	struct mpi_worlds worlds;
	struct map copied; /* hash of program and library → list of copies, kept from rank to rank */
};

#define MAP_LINK_BYTES 96

/* Takes over the message. */
void service_say(struct service *s, json_t *message);
void service_links_say(struct service *s, const struct links *links);
/* Looks at the file behind a mapping and replies. Its descriptor, and link: by which it can be opened here; or -errno. */
int service_map_look(struct service *s, json_int_t pid, uint64_t start, uint64_t end,
		     char link[MAP_LINK_BYTES], struct code_id *id);

/* The requests "functions" and "held" (target/helper/helper.h). */
void service_functions(struct service *s, const json_t *request);
void service_held(struct service *s, const json_t *request);

#endif
