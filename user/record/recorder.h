/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The recording half as the commands see it: what finds, attaches and collects, with the libraries that only this
 * needs (libbpf, libelf, Zydis, hwloc). It is a file of its own, loaded when it is needed, so that traces can be read
 * where none of these is installed.
 */
#ifndef POV_RECORD_RECORDER_H
#define POV_RECORD_RECORDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct clock_options;
struct clock_result;
struct features;
struct session_options;
struct session_result;

struct recorder {
	const char *version; /* of the program that it was built with; first in any version */
	int (*session_run)(const struct session_options *opt, const volatile int *stop,
			   struct session_result *out);
	/* clock/clock.h */
	int (*clock_run)(const struct clock_options *opt, const volatile int *stop,
			 struct clock_result *out);
	void (*features_probe)(struct features *out);
	json_t *(*kernel_functions_list)(void); /* record/kernel_functions.h */
	/* Prints where functions of a file would be probed. 0 or -errno (printed). */
	int (*sites_print)(const char *path, bool json, FILE *out);
	json_t *(*library_list)(void); /* target/helper/library_list.h */
};

/* In the file that is loaded. */
extern const struct recorder recorder;
#define RECORDER_SYMBOL "recorder"

/* Loads it. NULL: it cannot be, and command `command` has said why and what to do. */
const struct recorder *recorder_load(const char *command);

#endif
