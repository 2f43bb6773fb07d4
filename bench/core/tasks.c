/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The short list is parsed again for each number, so that no state has to be kept. */
#include "core/tasks.h"

#include <ctype.h>
#include <stdlib.h>

/* Parses the range at *at and moves *at past it and its comma; false if there is no valid range. */
static bool range_read(const char **at, long *from, long *to)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*from = *to = strtol(*at, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*to = strtol(end + 1, &end, 10);
	if (*from < 2 || *to < *from || *to > TASKS_MAX)
		return false;
	if (*end == ',' && end[1])
		end++;
	else if (*end)
		return false;
	*at = end;
	return true;
}

bool tasks_valid(const char *list)
{
	long from, to;

	while (range_read(&list, &from, &to)) {
		if (!*list)
			return true;
	}
	return false;
}

int tasks_most(const char *list)
{
	long from, to, most = 0;

	while (range_read(&list, &from, &to))
		most = to > most ? to : most;
	return (int)most;
}

static int doubled(int last, int all)
{
	if (last >= all || all < 2)
		return 0;
	if (!last)
		return 2;
	return last > all / 2 ? all : 2 * last;
}

int tasks_next(const char *list, int last, int all)
{
	long from, to, next = 0;

	if (!list)
		return doubled(last, all);
	while (range_read(&list, &from, &to)) {
		from = from > last ? from : last + 1L;
		if (from <= to && from <= all && (!next || from < next))
			next = from;
	}
	return (int)next;
}
