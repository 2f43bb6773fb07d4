/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The origin of a picture's numbers, and the papers' names of benchmarks. The factors are
 * povbench's; missing ones are left out.
 */
#include "data.h"

#include "lib/log.h"
#include "lib/text.h"

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
	char *title;

	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
		if (!strcmp(benchmark, titles[i][0]))
			return xstrdup(titles[i][1]);
	}
	title = xstrdup(*benchmark ? benchmark : "unnamed benchmark");
	for (char *c = title; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return title;
}

/* A factor, or a member of a factor that is an object; "" if missing. */
static const char *factor_text(const struct data_file *f, const char *name, const char *member)
{
	const json_t *value = json_object_get(f->factors, name);
	const char *text;

	if (member && json_is_object(value))
		value = json_object_get(value, member);
	text = json_string_value(value);
	return text ? text : "";
}

/* Joins to "a, b" with the first len bytes of b, without a comma if one is empty. Frees a. */
static char *line_join(char *a, const char *b, size_t len)
{
	return text_joined(a, ", ", xasprintf("%.*s", (int)len, b));
}

/*
 * "Open MPI v4.1.4" from "Open MPI v4.1.4, package: …"; "MPICH 4.0.2" from "MPICH
 * Version:\t4.0.2".
 */
static char *library_name(const struct data_file *f)
{
	const char *text = factor_text(f, "mpi", "library");
	size_t len = strcspn(text, ",\n");
	const char *label = strstr(text, " Version:"), *rest;

	if (!label || label >= text + len)
		return xasprintf("%.*s", (int)len, text);
	rest = label + strlen(" Version:");
	rest += strspn(rest, " \t");
	return xasprintf("%.*s %.*s", (int)(label - text), text, (int)strcspn(rest, ",\n"), rest);
}

/*
 * Appends the names of a list, except "self", Open MPI's transfers of a rank to itself. Frees
 * line.
 */
static char *join_list(char *line, const char *list)
{
	size_t len;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		if (len != 4 || memcmp(list, "self", 4))
			line = line_join(line, list, len);
	}
	return line;
}

/* The loaded byte transfer layers of Open MPI; "" with another library. Caller frees. */
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
 * Appends the transport, as far as it is known. With Open MPI these are the layers that the user
 * chose, or those from which the library chose. With MPICH it is the device.
 */
static char *join_transport(char *line, const struct data_file *f)
{
	const char *btl = factor_text(f, "transport", "btl"),
		   *device = factor_text(f, "mpi", "device");
	char *names, *choice;

	/* "^tcp" only excludes a layer. */
	if (*btl && *btl != '^')
		return join_list(line, btl);
	names = btl_names(f);
	choice = *names ? xasprintf("default transport (%s)", names) : xstrdup(device);
	line = line_join(line, choice, strlen(choice));
	free(choice);
	free(names);
	return line;
}

char *data_library(const struct data_file *f)
{
	return join_transport(library_name(f), f);
}

/* launch: a launch, or a whole file of version 1, which has the same members. */
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

/* Frees line. */
static char *join_disturbed(char *line, const struct data_file *f)
{
	static const char disturbed[] = "DISTURBED (see the result's sentence)";

	return is_disturbed(f) ? line_join(line, disturbed, strlen(disturbed)) : line;
}

char *data_origin(const struct data_file *f)
{
	const char *host = factor_text(f, "host", NULL), *date = factor_text(f, "date", NULL);
	const char *trace = json_string_value(json_object_get(f->root, "trace"));
	char *line;

	if (trace) /* from a report */
		return xstrdup(trace);
	line = line_join(data_library(f), host, strcspn(host, "\n"));

	/* Only the day of "2026-11-21T12:00:00Z". */
	return join_disturbed(line_join(line, date, strcspn(date, "T \n")), f);
}

char *data_row_name(const struct data_file *f)
{
	char *name;

	if (f->row)
		return join_disturbed(line_join(library_name(f), f->row, strlen(f->row)), f);
	name = data_origin(f);
	if (*name)
		return name;
	free(name);
	return xstrdup(f->path);
}
