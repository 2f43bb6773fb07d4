/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What was set for a rank: those variables of the environment it was started with that set an MPI library, what is below it, or its threads.
 * Other variables are none of our business, and may be secrets.
 */
#ifndef POV_TARGET_PROC_SETTINGS_H
#define POV_TARGET_PROC_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#define SETTINGS_MAX 256	     /* variables of a rank, … */
#define SETTING_VALUE_BYTES_MAX 1024 /* … each at most so long, … */
#define SETTINGS_BYTES_MAX \
	(16u << 10) /* … and all together; what is beyond is left out, and counted */

/* NAME → value, by name; the caller owns it. left_out: how many others there are. NULL: they cannot be read. */
json_t *proc_settings_read(pid_t pid, unsigned int *left_out);
/* The same of an environment of len bytes: NAME=value, each ended with a zero byte. */
json_t *proc_settings_of(const char *env, size_t len, unsigned int *left_out);

#endif
