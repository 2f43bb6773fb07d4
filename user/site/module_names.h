/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Names places in one file through a separate process (povtrace-lines). If that process ends or
 * takes too long, nothing more is known about the file.
 */
#ifndef POV_SITE_MODULE_NAMES_H
#define POV_SITE_MODULE_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "site/answer.h"

struct model_module;

struct module_names {
	int fd; /* -1: nothing is known about the file */
	pid_t pid;
};

/* program: path of povtrace-lines. */
void module_names_start(struct module_names *n, const char *program,
			const struct model_module *file);
/* Looks up the call that returns to this offset. Names end in 0. False: nothing is known. */
bool module_names_find(struct module_names *n, uint64_t offset, struct site_answer *out,
		       char function[SITE_NAME_BYTES + 1], char file[SITE_NAME_BYTES + 1]);
void module_names_stop(struct module_names *n);

#endif
