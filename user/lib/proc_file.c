/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Read until there is no more, for the kernel makes them up while they are read. */
#include "lib/proc_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/log.h"

char *proc_file_read(pid_t pid, const char *name, size_t max, size_t *len)
{
	char path[64], *buf = NULL;
	size_t cap = 0, n = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	do {
		if (cap - n < 4096)
			buf = xrealloc(buf, cap = cap ? 2 * cap : 16384);
		got = read(fd, buf + n, cap - n - 1);
		if (got > 0)
			n += got;
	} while (got > 0 && n < max);
	close(fd);
	if (got < 0) {
		free(buf);
		return NULL;
	}
	buf[n] = '\0';
	*len = n;
	return buf;
}
