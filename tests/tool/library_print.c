/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints what povtrace knows of a recording's MPI library (advise/library.h). Tests compare it with
 * the library's behaviour.
 *
 *	library_print FILE within|between BYTES [no-ask]
 *
 * One line each: name, path, threshold and alone ("-" if unknown, else the bytes, their source and
 * the variable), the setting for BYTES, the memory that it takes with one peer, the progress
 * setting, and why the library was not asked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/library.h"
#include "lib/human.h"
#include "model/model.h"
#include "trace/trace_read.h"

static void value_print(const char *what, struct library_value v)
{
	static const char *const by[] = {"not", "MPI_T", "environment", "seen"};

	if (v.by == LIBRARY_VALUE_UNKNOWN)
		printf("%s -\n", what);
	else
		printf("%s %" PRId64 " %s %s\n", what, v.value, by[v.by], v.name);
}

static void library_print(const struct library *l, bool between_hosts, uint64_t bytes)
{
	static const char *const paths[] = {"unknown", "shm", "tcp", "ucx", "ofi"};
	char *text, *how;
	uint64_t memory;

	printf("name %s\n", library_name(l));
	printf("path %s\n", paths[library_path(l, between_hosts)]);
	value_print("threshold", library_threshold(l, between_hosts));
	value_print("alone", library_threshold_alone(l, between_hosts));
	text = library_threshold_setting(l, between_hosts, bytes);
	printf("setting %s\n", text ? text : "-");
	free(text);
	memory = library_threshold_memory(l, between_hosts, bytes, &how);
	printf("memory %" PRIu64 " %s\n", memory, how);
	free(how);
	text = library_progress_setting(l, between_hosts, true);
	printf("progress %s\n", text ? text : "-");
	free(text);
	printf("not asked: %s\n", library_not_asked(l) ? library_not_asked(l) : "-");
}

int main(int argc, char **argv)
{
	struct library *l;
	struct trace *t;
	struct model *m;
	uint64_t bytes;

	if (argc < 4 || human_parse_u64(argv[3], &bytes)) {
		fputs("usage: library_print FILE within|between BYTES [no-ask]\n", stderr);
		return 2;
	}
	if (trace_open(argv[1], &t))
		return 1;
	if (model_open(t, &(struct model_options){.roles_only = true}, &m)) {
		trace_close(t);
		return 1;
	}
	l = library_new(m, argc < 5);
	library_print(l, !strcmp(argv[2], "between"), bytes);
	library_free(l);
	model_close(m);
	trace_close(t);
	return 0;
}
