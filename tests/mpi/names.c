/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which MPI functions a program can see, and where. Reads names of MPI functions from standard
 * input, one per line. Prints each name that dlsym(RTLD_DEFAULT) finds, with its file. It also
 * copes with functions that the library lacks: weak references, and one by lazy binding, which ends
 * the program if it is called. Usage: names [FILE of tests/mpi/plugin/unfinished.c]
 */
#include <dlfcn.h>

#include "expect.h"

#pragma weak MPI_Isendrecv_replace
#pragma weak MPI_Comm_create_from_group
#pragma weak MPI_Abi_get_version
int MPI_Isendrecv_replace(void *buf, int cnt, MPI_Datatype type, int dest, int stag, int source,
			  int rtag, MPI_Comm comm, MPI_Request *req);
int MPI_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info,
			       MPI_Errhandler handler, MPI_Comm *comm);
#if MPI_VERSION < 5
int MPI_Abi_get_version(int *major, int *minor);
#endif

static const char *file_of(void *fn)
{
	Dl_info info;
	const char *slash;

	if (!dladdr(fn, &info))
		return "no file";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

static void names_print(void)
{
	void *self = dlopen(NULL, RTLD_NOW);
	char name[128];

	while (scanf("%127s", name) == 1) {
		void *fn = dlsym(RTLD_DEFAULT, name);

		if (fn)
			printf("%s %s\n", name, file_of(fn));
		MUST(fn == dlsym(self, name));
	}
}

/* The program's address of a library function must be that in the library. */
static void weak_print(void)
{
	printf("weak: MPI_Isendrecv_replace %d, MPI_Comm_create_from_group %d, MPI_Abi_get_version %d\n",
	       MPI_Isendrecv_replace != NULL, MPI_Comm_create_from_group != NULL,
	       MPI_Abi_get_version != NULL);
	printf("MPI_Init in %s, PMPI_Init in %s\n", file_of((void *)MPI_Init),
	       file_of((void *)PMPI_Init));
}

static void swap_with_self(void)
{
	int out = 41;
	MPI_Request req;

	if (MPI_Isendrecv_replace) {
		DO(MPI_Isendrecv_replace, &out, 1, MPI_INT, 0, 1, 0, 1, MPI_COMM_SELF, &req);
		DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	} else {
		DO(MPI_Sendrecv_replace, &out, 1, MPI_INT, 0, 1, 0, 1, MPI_COMM_SELF,
		   MPI_STATUS_IGNORE);
	}
	MUST(out == 41);
}

static int unfinished_call(const char *path)
{
	void *lib = dlopen(path, RTLD_LAZY);
	int (*finished)(int n), (*unfinished)(void);

	MUST(lib);
	*(void **)&finished = dlsym(lib, "finished");
	*(void **)&unfinished = dlsym(lib, "unfinished");
	printf("finished: %d\n", finished(1));
	fflush(stdout);
	return unfinished();
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	names_print();
	weak_print();
	REPEAT(7, (swap_with_self(), 0));
	expect_finish();
	fflush(stdout);
	return argc > 1 ? unfinished_call(argv[1]) : 0;
}
