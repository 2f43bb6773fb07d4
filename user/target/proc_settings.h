/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Settings of a rank: the variables of its initial environment that configure an MPI library, the
 * layers below it, or its threads. Other variables are none of our business and may be secrets.
 */
#ifndef POV_TARGET_PROC_SETTINGS_H
#define POV_TARGET_PROC_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#define SETTINGS_MAX 256	       /* variables per rank; the rest is left out and counted */
#define SETTING_VALUE_BYTES_MAX 1024   /* longest value */
#define SETTINGS_BYTES_MAX (16u << 10) /* all values of a rank; the rest is left out and counted */

/*
 * Returns NAME → value, sorted by name; the caller owns it. *left_out is the number of variables
 * left out. NULL: they cannot be read.
 */
json_t *proc_settings_read(pid_t pid, unsigned int *left_out);
/* Does the same for an environment of len bytes: NAME=value, each ended by a zero byte. */
json_t *proc_settings_of(const char *env, size_t len, unsigned int *left_out);

#endif
