/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a picture says about where its numbers are from, and the names that the papers give to the benchmarks. The factors
 * are povbench's; one that is missing is left out of the line.
 */
#include "data.h"

#include "lib/log.h"

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

/* A factor, or a member of one that is an object; "" if it is not there. */
static const char *factor(const struct data_file *f, const char *name, const char *member)
{
	const json_t *value = json_object_get(f->factors, name);
	const char *text;

	if (member && json_is_object(value))
		value = json_object_get(value, member);
	text = json_string_value(value);
	return text ? text : "";
}

/* "a, b": with no comma where one of them is empty. Frees a. */
static char *join(char *a, const char *b, size_t len)
{
	char *both;

	if (!len)
		return a;
	both = xasprintf("%s%s%.*s", a, *a ? ", " : "", (int)len, b);
	free(a);
	return both;
}

/* "Open MPI v4.1.4, package: …" up to the comma; "MPICH Version:\t4.0.2" without the word between. */
static char *library_name(const struct data_file *f)
{
	const char *text = factor(f, "mpi", "library");
	size_t len = strcspn(text, ",\n");
	const char *label = strstr(text, " Version:"), *rest;

	if (!label || label >= text + len)
		return xasprintf("%.*s", (int)len, text);
	rest = label + strlen(" Version:");
	rest += strspn(rest, " \t");
	return xasprintf("%.*s %.*s", (int)(label - text), text, (int)strcspn(rest, ",\n"), rest);
}

/* The names of a list but Open MPI's transfers of a rank to itself. Frees line. */
static char *join_list(char *line, const char *list)
{
	size_t len;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (len != 4 || memcmp(list, "self", 4))
			line = join(line, list, len);
	}
	return line;
}

/* Open MPI's byte transfer layers that are there to choose from; "" with another library. Caller frees. */
static char *btl_names(const struct data_file *f)
{
	const json_t *list = json_object_get(f->factors, "components");
	const json_t *component;
	char *names = xstrdup("");
	size_t i;

	json_array_foreach(list, i, component)
	{
		const char *name = json_string_value(component);

		if (name && !strncmp(name, "mca_btl_", 8))
			names = join_list(names, name + 8);
	}
	return names;
}

/*
 * What the messages go through, as far as it is known: the layers that the user chose, or among which the library chose by
 * itself, with Open MPI; the device with MPICH.
 */
static char *join_transport(char *line, const struct data_file *f)
{
	const char *btl = factor(f, "transport", "btl"), *device = factor(f, "mpi", "device");
	char *names, *choice;

	/* "^tcp" is a choice of what not to take. */
	if (*btl && *btl != '^')
		return join_list(line, btl);
	names = btl_names(f);
	choice = *names ? xasprintf("default transport (%s)", names) : xstrdup(device);
	line = join(line, choice, strlen(choice));
	free(choice);
	free(names);
	return line;
}

char *data_library(const struct data_file *f)
{
	return join_transport(library_name(f), f);
}

/* launch: or a file of the first version, which is one. */
static bool launch_is_disturbed(const json_t *launch)
{
	const json_t *results = json_object_get(launch, "results"), *r;
	size_t i;

	json_array_foreach(results, i, r)
	{
		if (json_is_string(json_object_get(r, "disturbed")))
			return true;
	}
	return false;
}

static bool is_disturbed(const struct data_file *f)
{
	const json_t *launches = json_object_get(f->root, "launches"), *launch;
	bool disturbed = launch_is_disturbed(f->root);
	size_t i;

	json_array_foreach(launches, i, launch) disturbed |= launch_is_disturbed(launch);
	return disturbed;
}

char *data_origin(const struct data_file *f)
{
	const char *host = factor(f, "host", NULL), *date = factor(f, "date", NULL);
	static const char disturbed[] = "DISTURBED (see the result's sentence)";
	const char *trace = json_string_value(json_object_get(f->root, "trace"));
	char *line;

	if (trace) /* of a report */
		return xstrdup(trace);
	line = join(data_library(f), host, strcspn(host, "\n"));

	/* The day is enough: "2026-11-21T12:00:00Z". */
	line = join(line, date, strcspn(date, "T \n"));
	return is_disturbed(f) ? join(line, disturbed, strlen(disturbed)) : line;
}
