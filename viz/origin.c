/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a picture says about where its numbers are from, and the names that the papers give to the benchmarks. The factors
 * are povbench's; one that is missing is left out of the line.
 */
#include "data.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

static const char *const titles[][2] = {
	{"sender", "sender-side overlap"},
	{"receiver", "receiver-side overlap"},
	{"both_sides", "both-sides overlap"},
	{"noncontig", "non-contiguous sender-side"},
	{"cpu_overhead", "sender-side CPU overhead"},
	{"nload", "N threads load"},
};

char *data_title(const char *benchmark)
{
	char *title, *c;
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
		if (!strcmp(benchmark, titles[i][0]))
			return xstrdup(titles[i][1]);
	}
	title = xstrdup(*benchmark ? benchmark : "unnamed benchmark");
	for (c = title; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return title;
}

const char *data_factor(const struct data_file *f, const char *name)
{
	const json_t *factors = json_object_get(f->root, "factors");
	const char *text = json_string_value(json_object_get(factors, name));

	return text ? text : "";
}

/* "a, b": with no comma where one of them is empty. Frees a. */
static char *join(char *a, const char *b, int len)
{
	char *both;

	if (!len)
		return a;
	both = xasprintf("%s%s%.*s", a, *a ? ", " : "", len, b);
	free(a);
	return both;
}

static char *join_factor(char *line, const struct data_file *f, const char *name)
{
	const char *text = data_factor(f, name);

	return join(line, text, (int)strcspn(text, "\n"));
}

char *data_library(const struct data_file *f)
{
	return join_factor(join_factor(xstrdup(""), f, "mpi"), f, "transport");
}

char *data_origin(const struct data_file *f)
{
	char *line = join_factor(data_library(f), f, "host");

	/* The day is enough: "2026-11-21T12:00:00Z". */
	return join(line, data_factor(f, "date"), (int)strcspn(data_factor(f, "date"), "T \n"));
}
