/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See library.h. */
#include "advise/library.h"

#include <stdlib.h>

#include "base/json_get.h"
#include "base/log.h"
#include "model/model.h"
#include "trace/trace_read.h"

struct library {
	const struct model *model;
};

struct library *library_new(const struct model *m, bool ask)
{
	struct library *l = xcalloc(1, sizeof(*l));

	(void)ask;
	l->model = m;
	return l;
}

void library_free(struct library *l)
{
	free(l);
}

enum library_family library_family(const struct library *l)
{
	(void)l;
	return LIBRARY_OTHER;
}

const char *library_name(const struct library *l)
{
	(void)l;
	return "";
}

enum library_path library_path(const struct library *l, bool between_hosts)
{
	(void)l;
	(void)between_hosts;
	return PATH_UNKNOWN;
}

struct library_value library_variable(const struct library *l, const char *name)
{
	(void)l;
	(void)name;
	return (struct library_value){.by = TOLD_NOT};
}

struct library_value library_threshold(const struct library *l, bool between_hosts)
{
	(void)l;
	(void)between_hosts;
	return (struct library_value){.by = TOLD_MPI_T, .value = 65536 - 64, .name = "x"};
}

char *library_threshold_setting(const struct library *l, bool between_hosts, uint64_t bytes)
{
	(void)l;
	(void)between_hosts;
	return xasprintf("TEST %d", (int)bytes);
}

uint64_t library_threshold_memory(const struct library *l, bool between_hosts, uint64_t bytes,
				  uint32_t peers, char **text)
{
	(void)l;
	(void)between_hosts;
	(void)bytes;
	(void)peers;
	*text = xstrdup("");
	return 0;
}

char *library_binding_setting(const struct library *l, uint32_t cores)
{
	(void)l;
	return xasprintf("the launcher's binding to %u cores each, or taskset -c", cores);
}

char *library_yield_setting(const struct library *l)
{
	(void)l;
	return NULL;
}

char *library_progress_setting(const struct library *l, bool between_hosts, bool free_cores)
{
	(void)l;
	(void)between_hosts;
	(void)free_cores;
	return NULL;
}

/* Of the first rank that has it. */
const char *library_environment(const struct library *l, const char *name)
{
	struct trace *t = model_get_trace(l->model);

	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i);
		const char *value;

		if (!json_is_type(meta, "process"))
			continue;
		value = json_string_value(
			json_object_get(json_object_get(meta, "settings"), name));
		if (value)
			return value;
	}
	return NULL;
}
