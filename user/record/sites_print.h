/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* `povtrace check --sites LIB`: where each MPI function of a library would be probed, and why there. */
#ifndef POV_RECORD_SITES_PRINT_H
#define POV_RECORD_SITES_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct elf_file;

struct site_function {
	const char *name;	 /* "MPI_Send" */
	unsigned int nargs_regs; /* as for probe_site_choose */
};

/*
 * The functions asked for (in that order; those the file lacks are counted), or, with functions NULL, all MPI
 * functions the file defines, by name. Text or JSON; path is only shown. 0, or -ENOENT after printing why if the
 * file holds none, or -errno of a failed write.
 */
int sites_print(const struct elf_file *f, const char *path, const struct site_function *functions,
		size_t cnt, bool json, FILE *out);

#endif
