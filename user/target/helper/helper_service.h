/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shared by the helper's parts (helper_main.c, helper_functions.c). No other file includes it. */
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
	/* files known to this process, and to the collector when it started us */
	struct code_files *files;
	struct mpi_worlds worlds;
	/* hash of program and library → list of copies, reused for other ranks */
	struct map copied;
};

#define MAP_LINK_BYTES 96

/* Sends a message, and takes it over. */
void service_say(struct service *s, json_t *message);
void service_links_say(struct service *s, const struct links *links);
/*
 * Inspects the file behind a mapping and replies. Returns its descriptor, or -errno. link receives
 * the path by which we can open it.
 */
int service_map_look(struct service *s, json_int_t pid, uint64_t start, uint64_t end,
		     char link[MAP_LINK_BYTES], struct code_id *id);

/* Serve the requests "functions" and "held" (target/helper/helper.h). */
void service_functions(struct service *s, const json_t *request);
void service_held(struct service *s, const json_t *request);

#endif
