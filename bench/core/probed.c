/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The kernel puts a probe's breakpoint into the process's private copy of the page, and the file
 * still has the original code. Probes are at the beginning of a function or shortly after it.
 */
#include "core/probed.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CODE_BYTES 24
#define LINE_BYTES 4352 /* a path and the fields before it */

/*
 * Opens the file that an address is mapped from and returns the offset in it; -1 if there is none.
 */
static int open_mapped(uintptr_t address, off_t *at)
{
	char line[LINE_BYTES], path[LINE_BYTES];
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t begin, end;
	uint64_t offset;
	int fd = -1;

	while (maps && fd < 0 && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNx64 " %*s %*s %4095[^\n]",
			   &begin, &end, &offset, path) != 4 ||
		    address < begin || address >= end)
			continue;
		*at = (off_t)(offset + (address - begin));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			break;
	}
	if (maps)
		fclose(maps);
	return fd;
}

static bool differs_from_file(const void *code)
{
	unsigned char there[CODE_BYTES];
	bool differs;
	off_t at = 0;
	int fd = open_mapped((uintptr_t)code, &at);

	if (fd < 0)
		return false;
	differs = pread(fd, there, sizeof(there), at) == (ssize_t)sizeof(there) &&
		  memcmp(there, code, sizeof(there)) != 0;
	close(fd);
	return differs;
}

bool probed_mpi(void)
{
	static const char *const timed[] = {"MPI_Send", "MPI_Isend", "MPI_Wait", "MPI_Recv"};
	const void *code;
	size_t i;

	for (i = 0; i < sizeof(timed) / sizeof(timed[0]); i++) {
		code = dlsym(RTLD_DEFAULT, timed[i]);
		if (code && differs_from_file(code))
			return true;
	}
	return false;
}
