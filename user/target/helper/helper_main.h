/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What runs in the helper process, and how messages go to and fro (helper.h is what others use). */
#ifndef POV_TARGET_HELPER_HELPER_MAIN_H
#define POV_TARGET_HELPER_HELPER_MAIN_H

#include <jansson.h>

#include "target/helper/inspect.h"

struct code_files;
struct links;

/* Sends a message with up to HELPER_FDS_MAX descriptors. 0 or -errno. */
#define HELPER_FDS_MAX 250
int helper_message_send(int sock, const json_t *message, const int *fds, size_t fd_cnt);
/* NULL if none is there (errno EAGAIN) or none will come (errno 0 or other). fds: room for HELPER_FDS_MAX. */
json_t *helper_message_receive(int sock, int flags, int *fds, size_t *fd_cnt);

/* Serves requests until the other end is closed. */
void helper_main(int sock, const struct inspect_options *opt, struct code_files *files);

#endif
