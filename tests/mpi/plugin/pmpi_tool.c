/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A PMPI tool that gives MPI_Pcontrol its own meaning: the second argument has the types of the
 * others. The tool prints them and passes on the call. d: int, l: long, f: double, F: long double,
 * s: string, p: struct pair by value.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

#include "pair.h"

static void argument_print(char kind, va_list *args)
{
	struct pair pair;

	switch (kind) {
	case 'd':
		printf(" %d", va_arg(*args, int));
		break;
	case 'l':
		printf(" %ld", va_arg(*args, long));
		break;
	case 'f':
		printf(" %.3f", va_arg(*args, double));
		break;
	case 'F':
		printf(" %.3Lf", va_arg(*args, long double));
		break;
	case 's':
		printf(" %s", va_arg(*args, const char *));
		break;
	case 'p':
		pair = va_arg(*args, struct pair);
		printf(" (%ld %.3f %ld)", pair.first, pair.middle, pair.last);
		break;
	}
}

int MPI_Pcontrol(const int level, ...)
{
	const char *kinds;
	va_list args;

	va_start(args, level);
	printf("level %d:", level);
	if (level > 1)
		for (kinds = va_arg(args, const char *); *kinds; kinds++)
			argument_print(*kinds, &args);
	va_end(args);
	putchar('\n');
	return PMPI_Pcontrol(level);
}
