/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Only a flush shows whether output arrived. The C library flushes at exit, but does not report the
 * result.
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

	/*
	 * the C library does not keep the error of an earlier write; another write meets the same
	 * obstacle
	 */
	if (bad && write(STDOUT_FILENO, "\n", 1) < 0)
		err = errno;
	errno = 0;
	/* a stdout that was closed from the start matters only if there is output */
	if (fclose(stdout) && (some || errno != EBADF))
		bad = true;
	if (!bad)
		return status;
	if (errno)
		err = errno;
	log_error("stdout: %s", err ? log_unwritten(err) : "could not be written");
	return status ? status : 1;
}
