/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints the addresses of the functions that it has as pointers, and calls them as often as each
 * line of its input states (tests/tool/met_functions.c).
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *send_fn(void *, const void *, size_t, long, const void *);
typedef void *recv_fn(void *, void *, size_t, long, long, const void *);

static void *own(void *a, const void *b, size_t c, long d, const void *e)
{
	return a;
}

int main(int argc, char **argv)
{
	char path[4096], *slash;
	send_fn *const *table;
	recv_fn *named;
	void *lib;
	int n;

	snprintf(path, sizeof(path), "%s", argv[0]);
	slash = strrchr(path, '/');
	if (!slash)
		return 2;
	strcpy(slash, "/met_library.so");
	lib = dlopen(path, RTLD_NOW);
	table = lib ? dlsym(lib, "met_table") : NULL;
	*(void **)&named = lib ? dlsym(lib, "ucp_tag_recv_nbx") : NULL;
	if (!table || !named)
		return 2;
	printf("%lx %lx %lx\n", (unsigned long)table[0], (unsigned long)table[0] + 1,
	       (unsigned long)own);
	fflush(stdout);
	while (scanf("%d", &n) == 1) {
		for (int i = 0; i < n; i++) {
			table[0](NULL, NULL, 1, 0, NULL);
			named(NULL, NULL, 1, 0, 0, NULL);
		}
		printf("%d\n", n);
		fflush(stdout);
	}
	return 0;
}
