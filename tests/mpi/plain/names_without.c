/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A program that is not linked with MPI sees nothing of it: no weak reference is resolved, and no
 * name from standard input is found in any scope. It prints what it finds nevertheless.
 */
#include <dlfcn.h>
#include <stdio.h>

extern int MPI_Init(int *argc, char ***argv) __attribute__((weak));
extern int PMPI_Comm_rank(void) __attribute__((weak));
extern int MPI_Pcontrol(int level, ...) __attribute__((weak));
extern int MPI_Initialized(int *flag) __attribute__((weak));

static int found(void *scope, const char *text, const char *name)
{
	void *fn = dlsym(scope, name);
	Dl_info info;

	if (fn && dladdr(fn, &info))
		printf("%s: %s in %s\n", text, name, info.dli_fname);
	return fn != NULL;
}

static int names_find(void)
{
	void *self = dlopen(NULL, RTLD_NOW);
	char name[128];
	int cnt = 0;

	while (scanf("%127s", name) == 1)
		cnt += found(RTLD_DEFAULT, "default", name) + found(RTLD_NEXT, "next", name) +
		       found(self, "self", name);
	return cnt;
}

int main(void)
{
	printf("weak references: %d\n",
	       !!MPI_Init + !!PMPI_Comm_rank + !!MPI_Pcontrol + !!MPI_Initialized);
	printf("names found: %d\n", names_find());
	return 0;
}
