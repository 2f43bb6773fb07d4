/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shared by the helper's parts and helper.c. Other code uses helper.h. */
#ifndef POV_TARGET_HELPER_HELPER_SERVICE_H
#define POV_TARGET_HELPER_HELPER_SERVICE_H

#include <jansson.h>
#include <stdint.h>

#include "lib/map.h"
#include "target/helper/inspect.h"
#include "target/mpi_world.h"

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
void service_send(struct service *s, json_t *message);
void service_links_send(struct service *s, const struct links *links);
/*
 * Inspects the file behind a mapping and replies. Returns its descriptor, or -errno. link receives
 * the path by which we can open it.
 */
int service_map_look(struct service *s, json_int_t pid, uint64_t start, uint64_t end,
		     char link[MAP_LINK_BYTES], struct code_id *id);

/* Serve the requests "process", "functions" and "handed_ops" (target/helper/helper.h). */
void service_process(struct service *s, const json_t *request);
void service_functions(struct service *s, const json_t *request);
void service_handed_ops(struct service *s, const json_t *request);

/* Sends a message with up to HELPER_FDS_MAX descriptors. 0 or -errno. */
#define HELPER_FDS_MAX 250
int helper_message_send(int sock, const json_t *message, const int *fds, size_t fd_cnt);
/*
 * Receives a message. NULL: there is none now (errno EAGAIN), or none will come (errno 0 or other).
 * fds has room for HELPER_FDS_MAX.
 */
json_t *helper_message_receive(int sock, int flags, int *fds, size_t *fd_cnt);

/* Serves requests until the other side closes the socket. */
void helper_main(int sock, const struct inspect_options *opt, struct code_files *files);

#endif
