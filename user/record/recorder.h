/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The commands' interface to the recording half, which finds processes, attaches probes and
 * collects records. Only this half needs libbpf, libelf, Zydis and hwloc. It is a shared object,
 * loaded on demand, so that machines without these libraries can read traces.
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
	/* version of the program that it was built with; first member in any version */
	const char *version;
	int (*session_run)(const struct session_options *opt, const volatile int *stop,
			   struct session_result *out);
	/* clock/clock.h */
	int (*clock_run)(const struct clock_options *opt, const volatile int *stop,
			 struct clock_result *out);
	void (*features_probe)(struct features *out);
	json_t *(*kernel_functions_list)(void); /* record/kernel_functions.h */
	/* Prints where functions of a file would be probed. 0 or -errno (printed). */
	int (*sites_print)(const char *path, bool json, FILE *out);
	json_t *(*library_list)(void); /* target/helper/library_kind.h */
};

/* Defined in the shared object. */
extern const struct recorder recorder;
#define RECORDER_SYMBOL "recorder"

/*
 * Loads the shared object. NULL: this failed; the reason and the remedy are printed in the
 * command's name.
 */
const struct recorder *recorder_load(const char *command);

#endif
