/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * `povtrace check --sites LIB`: prints where each MPI function of a library would be probed, and
 * why.
 */
#ifndef POV_RECORD_SITES_PRINT_H
#define POV_RECORD_SITES_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct elf_file;

struct site_function {
	const char *name;	 /* "MPI_Send" */
	unsigned int nargs_regs; /* as in probe_site_choose */
};

/*
 * Prints the given functions in their order, and counts those that the file lacks. With functions
 * NULL, prints all MPI functions that the file defines, by name. Text or JSON. path is only shown.
 * 0; -ENOENT after printing the reason if the file has no MPI function; or -errno of a failed
 * write.
 */
int sites_print(const struct elf_file *f, const char *path, const struct site_function *functions,
		size_t cnt, bool json, FILE *out);

#endif
