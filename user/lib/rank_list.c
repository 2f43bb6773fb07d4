/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads lists of ranks.
 */
#include "lib/rank_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/log.h"
#include "lib/table.h"

static bool number(const char **p, int32_t *out)
{
	char *end;
	long v = strtol(*p, &end, 10);

	if (!isdigit((unsigned char)**p) || v > INT32_MAX)
		return false;
	*p = end;
	*out = (int32_t)v;
	return true;
}

static bool range_parse(const char **p, struct rank_range *out)
{
	struct rank_range r = {.job = -1};

	if (!number(p, &r.first))
		return false;
	if (**p == ':') {
		(*p)++;
		r.job = r.first;
		if (!number(p, &r.first))
			return false;
	}
	r.last = r.first;
	if (**p == '-') {
		(*p)++;
		if (!number(p, &r.last) || r.last < r.first)
			return false;
	}
	*out = r;
	return true;
}

int rank_list_parse(const char *text, struct rank_list *out)
{
	const char *p = text;
	struct rank_range r;

	for (;;) {
		if (!range_parse(&p, &r) || (*p && *p != ',')) {
			log_error("--rank \"%s\": not a list of ranks; try 0,2,5-8 or, with "
				  "several jobs, 1:3",
				  text);
			return -EINVAL;
		}
		*table_append(out->range, out->n) = r;
		if (!*p++)
			return 0;
	}
}

bool rank_list_has(const struct rank_list *l, int32_t job, int32_t rank)
{
	for (uint32_t i = 0; i < l->n; i++)
		if ((l->range[i].job < 0 || l->range[i].job == job) && rank >= l->range[i].first &&
		    rank <= l->range[i].last)
			return true;
	return !l->n;
}

void rank_list_release(struct rank_list *l)
{
	free(l->range);
	l->range = NULL;
	l->n = 0;
}
