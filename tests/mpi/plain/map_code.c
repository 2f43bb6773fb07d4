/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Maps files as code without running them. Then it asks its dynamic loader for a library, which
 * first waits for unknown code if that is necessary. map_code [-s SECONDS] LIBRARY FILE…; prints
 * how long that took. -s: stays that long.
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	int arg = 1, stay = 0, mapped = 0;
	unsigned long long begin = now_ns();

	if (argc > 2 && !strcmp(argv[1], "-s")) {
		stay = atoi(argv[2]);
		arg = 3;
	}
	if (arg >= argc)
		return 2;
	for (int i = arg + 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);

		if (fd >= 0 &&
		    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED)
			mapped++;
		close(fd);
	}
	if (!dlopen(argv[arg], RTLD_NOW)) {
		fprintf(stderr, "map_code: %s\n", dlerror());
		return 1;
	}
	printf("mapped %d files in %llu ms\n", mapped, (now_ns() - begin) / 1000000);
	fflush(stdout);
	sleep((unsigned int)stay);
	return 0;
}
