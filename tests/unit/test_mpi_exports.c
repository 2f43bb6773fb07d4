/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The table holds every function that the MPI libraries of this machine export. Without one the test is
 * skipped (77). More libraries: POV_TEST_MPI_LIBS=path:path.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "elf/elf_file.h"
#include "layer/func_table.h"

#define CNT(a) (sizeof(a) / sizeof((a)[0]))

/* Exported code that is no function of the interface. */
static const char *const others[] = {
	/* predefined callbacks, passed by address and called by the library itself */
	"MPI_DUP_FN",
	"MPI_COMM_DUP_FN",
	"MPI_COMM_NULL_COPY_FN",
	"MPI_COMM_NULL_DELETE_FN",
	"MPI_CONVERSION_FN_NULL",
	"MPI_NULL_COPY_FN",
	"MPI_NULL_DELETE_FN",
	"MPI_TYPE_DUP_FN",
	"MPI_TYPE_NULL_COPY_FN",
	"MPI_TYPE_NULL_DELETE_FN",
	"MPI_WIN_DUP_FN",
	"MPI_WIN_NULL_COPY_FN",
	"MPI_WIN_NULL_DELETE_FN",
	/* Fortran's way to functions without an error argument */
	"MPI_AINT_ADD_F90",
	"MPI_AINT_DIFF_F90",
	"MPI_WTICK_F90",
	"MPI_WTIME_F90",
};

static const char *const patterns[] = {
	"/usr/lib/*/libmpi.so.*",	    "/usr/lib/*/libmpich.so.*",
	"/usr/lib/*/libmpi_abi.so.*",	    "/usr/lib64/openmpi/lib/libmpi.so.*",
	"/usr/lib64/mpich/lib/libmpi.so.*", "/usr/local/lib/libmpi.so.*",
	"/opt/*/lib/libmpi.so.*",	    "/opt/*/lib/libmpich.so.*",
};

static glob_t libs;

static bool is_other(const char *name)
{
	for (size_t i = 0; i < CNT(others); i++)
		if (!strcmp(others[i], name))
			return true;
	return false;
}

static bool is_mpi(const char *name)
{
	return !strncmp(name, "MPI_", 4) || !strncmp(name, "MPIX_", 5);
}

static size_t missing_cnt(const char *path, size_t *functions)
{
	const struct elf_symbol *syms;
	struct elf_file *f;
	size_t n, missing = 0;

	if (elf_file_open(path, &f)) {
		print_message("cannot read %s\n", path);
		return 1;
	}
	n = elf_file_symbols(f, &syms);
	for (size_t i = 0; i < n; i++) {
		if (!syms[i].is_func || !is_mpi(syms[i].name) || is_other(syms[i].name))
			continue;
		++*functions;
		if (func_table_find(syms[i].name) >= 0)
			continue;
		print_message("%s exports %s, which bpf/mpi.def lacks\n", path, syms[i].name);
		missing++;
	}
	elf_file_close(f);
	return missing;
}

static void libs_find(void)
{
	char *more = getenv("POV_TEST_MPI_LIBS"), *list = more ? xstrdup(more) : NULL, *save = NULL;
	int flags = 0;

	for (size_t i = 0; i < CNT(patterns); i++, flags = GLOB_APPEND)
		glob(patterns[i], flags, NULL, &libs);
	for (char *p = list ? strtok_r(list, ":", &save) : NULL; p; p = strtok_r(NULL, ":", &save))
		glob(p, GLOB_APPEND | GLOB_NOCHECK, NULL, &libs);
	free(list);
}

TEST(exports)
{
	size_t missing = 0;

	libs_find();
	if (!libs.gl_pathc) {
		puts("SKIP: no MPI library on this machine to compare bpf/mpi.def with");
		skip();
	}
	for (size_t i = 0; i < libs.gl_pathc; i++) {
		size_t functions = 0;

		missing += missing_cnt(libs.gl_pathv[i], &functions);
		print_message("%s: %zu functions\n", libs.gl_pathv[i], functions);
		assert_true(functions > 300);
	}
	globfree(&libs);
	assert_int_equal(missing, 0);
}
