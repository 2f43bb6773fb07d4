/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* It is written into a temporary file beside the wanted one, which takes that one's place at the end. */
#include "replace.h"

#include "lib/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const char *path)
{
	int err = errno;

	log_error("%s: cannot be written: %s", path, strerror(err));
	return -err;
}

int replace_file(const char *path, replace_write write, void *ctx)
{
	char *temp = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temp, O_CLOEXEC), err;
	mode_t mask = umask(0);

	umask(mask);
	if (fd < 0) {
		err = refuse(path);
		free(temp);
		return err;
	}
	fchmod(fd, 0666 & ~mask);
	close(fd);
	err = write(ctx, temp);
	if (!err && rename(temp, path))
		err = refuse(path);
	if (err)
		unlink(temp);
	free(temp);
	return err;
}
