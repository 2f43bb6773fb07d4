/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See record_temporary.h. */
#include "cmd/record_temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"

static int nameless_open(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	char *path;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	path = xasprintf("%s/povtrace.XXXXXX", dir); /* a file system that cannot do that */
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

/* /var/tmp is for what may be large. */
int record_temporary_open(const char *command, const char **dir)
{
	const char *const dirs[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	int fd = -1;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs) && fd < 0; i++) {
		if (!dirs[i] || !*dirs[i])
			continue;
		*dir = dirs[i];
		fd = nameless_open(*dir);
		if (fd < 0)
			log_warn("%s: cannot make a temporary file in %s: %s", command, *dir,
				 strerror(errno));
	}
	if (fd < 0)
		log_error("%s: nowhere to record to; TMPDIR may name a place", command);
	else if (fd <= STDERR_FILENO) /* which whoever started us had closed */
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return fd;
}
