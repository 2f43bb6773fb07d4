/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Whether output arrived is known only when it is flushed; the C library does that at exit, and keeps what it learns to
 * itself.
 */
#include "lib/flush.h"

#include "lib/log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <unistd.h>

int flush_stdout(int status)
{
	bool some = __fpending(stdout) > 0;
	bool bad = ferror(stdout) != 0;
	int err = 0;

	/* The C library forgot why an earlier write failed. What stands in its way stands in the way of another one. */
	if (bad && write(STDOUT_FILENO, "\n", 1) < 0)
		err = errno;
	errno = 0;
	/* A stdout that was closed from the start matters only if something was to be said. */
	if (fclose(stdout) && (some || errno != EBADF))
		bad = true;
	if (!bad)
		return status;
	if (errno)
		err = errno;
	log_error("stdout: %s", err ? log_unwritten(err) : "could not be written");
	return status ? status : 1;
}
