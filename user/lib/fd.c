/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Ranges between those that are kept, in order, so that it costs a call for each of them only. */
#include "lib/fd.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void fd_close_others(const int *keep, size_t cnt)
{
	int *fd = xcalloc(cnt + 1, sizeof(*fd));
	unsigned int next = 0;

	if (cnt)
		memcpy(fd, keep, cnt * sizeof(*fd));
	qsort(fd, cnt, sizeof(*fd), by_number);
	for (size_t i = 0; i < cnt; i++) {
		if (fd[i] < 0 || (unsigned int)fd[i] < next)
			continue;
		if ((unsigned int)fd[i] > next)
			close_range(next, (unsigned int)fd[i] - 1, 0);
		next = (unsigned int)fd[i] + 1;
	}
	close_range(next, UINT_MAX, 0);
	free(fd);
}
