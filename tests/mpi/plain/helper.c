/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A helper of a job script, for C libraries other than the job's: it allocates, starts a thread and
 * prints.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *fill(void *arg)
{
	return memset(arg, 'x', 100000);
}

int main(void)
{
	char *buf = malloc(100000);
	pthread_t t;

	if (!buf || pthread_create(&t, NULL, fill, buf) || pthread_join(t, NULL))
		return 1;
	printf("helper: %c\n", buf[99999]);
	return 0;
}
