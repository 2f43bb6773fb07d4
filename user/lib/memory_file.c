/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "lib/memory_file.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static int grow(int fd, size_t bytes)
{
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	struct rlimit was, soft;
	bool lifted = false;
	int err = 0;

	if (!getrlimit(RLIMIT_FSIZE, &was) && was.rlim_cur < bytes) {
		soft = (struct rlimit){was.rlim_max, was.rlim_max};
		lifted = !setrlimit(RLIMIT_FSIZE, &none) || !setrlimit(RLIMIT_FSIZE, &soft);
	}
	if (ftruncate(fd, (off_t)bytes))
		err = -errno;
	if (lifted)
		setrlimit(RLIMIT_FSIZE, &was);
	return err;
}

int memory_file_make(size_t bytes)
{
	int fd = memfd_create("povtrace", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	err = grow(fd, bytes);
	if (!err)
		return fd;
	close(fd);
	return err;
}
