/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A BPF program is named after its row and its part in recording it. The program for the end of a
 * call is attached before the one for its begin. So a call in between is not seen at all, rather
 * than begun and never ended.
 */
#include "record/kernel_functions.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "abi/config.h"
#include "target/features.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "layers/func_table.h"
#include "povtrace.skel.h"

/* In order of preference. */
static const struct way {
	const char *begin; /* suffix of the program's name; NULL: only the end is seen */
	const char *end;   /* suffix of the program's name */
	const char *text;
} ways[] = {
	{"entry", "return", "fentry"},
	{"sys_enter", "sys_exit", "syscall events"},
	{NULL, "seen", "events at return"},
};

struct kernel_function {
	const char *name;
	const struct way *way;	   /* NULL: this kernel has none */
	struct bpf_program *begin; /* may be NULL */
	struct bpf_program *end;
	bool attached;
};

static struct bpf_program *program_find(struct bpf_object *obj, const char *row, const char *part)
{
	char *name = xasprintf("%s_%s", row, part);
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, name);

	free(name);
	return prog;
}

static bool is_place(const struct kernel_types *types, const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	return features_place(types, *section == '?' ? section + 1 : section);
}

static void way_choose(struct kernel_function *f, struct bpf_object *obj,
		       const struct kernel_types *types)
{
	struct bpf_program *begin, *end;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && !f->way; i++) {
		begin = ways[i].begin ? program_find(obj, f->name, ways[i].begin) : NULL;
		end = program_find(obj, f->name, ways[i].end);
		if (!end || !is_place(types, end) || (begin && !is_place(types, begin)))
			continue;
		f->way = &ways[i];
		f->begin = begin;
		f->end = end;
	}
}

/* Finds how to record each wanted function. wanted NULL: all functions. */
static void functions_find(struct kernel_functions *k, struct bpf_object *obj, const bool *wanted)
{
	struct kernel_types types;
	bool open;

	*k = (struct kernel_functions){
		.function = xcalloc(func_table_count(), sizeof(*k->function)),
	};
	for (size_t i = 0; i < func_table_count(); i++)
		if (func_table_layer(i)->in_kernel && (!wanted || wanted[i]))
			k->function[k->cnt++].name = func_table_get(i)->name;
	open = k->cnt && !kernel_types_open(KERNEL_TYPES_PATH, &types);
	for (size_t i = 0; open && i < k->cnt; i++)
		way_choose(&k->function[i], obj, &types);
	if (open)
		kernel_types_close(&types);
}

void kernel_functions_choose(struct kernel_functions *k, struct bpf_object *obj, const bool *wanted)
{
	functions_find(k, obj, wanted);
	for (size_t i = 0; i < k->cnt; i++) {
		const struct kernel_function *f = &k->function[i];

		if (!f->way)
			log_warn("this kernel cannot record %s; see `povtrace check`", f->name);
		if (f->begin)
			bpf_program__set_autoload(f->begin, true);
		if (f->end)
			bpf_program__set_autoload(f->end, true);
	}
}

/* Returns "GROUP/NAME" for the section of a program on a trace event, else NULL. */
static const char *event_name(const char *section)
{
	static const char event[] = "tracepoint/";

	section += *section == '?';
	return strncmp(section, event, sizeof(event) - 1) ? NULL : section + sizeof(event) - 1;
}

static struct bpf_link *event_attach(struct bpf_program *prog, const char *name)
{
	int fd = trace_event_open(name), err;
	struct bpf_link *link = NULL;

	if (fd >= 0)
		link = bpf_program__attach_perf_event(prog, fd); /* keeps fd open */
	err = errno;
	if (fd >= 0 && !link)
		close(fd);
	errno = fd < 0 ? -fd : err;
	return link;
}

static struct bpf_link *program_attach(const struct kernel_function *f, struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);
	struct bpf_link *link = event_name(section) ? event_attach(prog, event_name(section)) :
						      bpf_program__attach(prog);

	if (!link)
		log_warn("%s is not recorded: cannot attach %s: %s", f->name, section,
			 strerror(errno));
	return link;
}

static bool function_attach(struct kernel_functions *k, const struct kernel_function *f)
{
	struct bpf_link *end = program_attach(f, f->end), *begin = NULL;

	if (end && f->begin)
		begin = program_attach(f, f->begin);
	if (!end || (f->begin && !begin)) {
		bpf_link__destroy(end);
		return false;
	}
	k->link[k->link_cnt++] = end;
	if (begin)
		k->link[k->link_cnt++] = begin;
	return true;
}

void kernel_functions_attach(struct kernel_functions *k)
{
	k->link = xcalloc(2 * k->cnt + 1, sizeof(struct bpf_link *));
	for (size_t i = 0; i < k->cnt; i++)
		k->function[i].attached = k->function[i].way && function_attach(k, &k->function[i]);
}

/* Joins texts: "fentry; tracepoints". */
static json_t *links_text(const json_t *texts)
{
	char *joined = xstrdup(""), *longer;
	json_t *out;

	for (size_t i = 0; i < json_array_size(texts); i++) {
		longer = xasprintf("%s%s%s", joined, i ? "; " : "",
				   json_string_value(json_array_get(texts, i)));
		free(joined);
		joined = longer;
	}
	out = json_string(joined);
	free(joined);
	return out;
}

json_t *kernel_functions_describe(const struct kernel_functions *k)
{
	json_t *missing = json_array(), *failed = json_array(), *used = json_array(), *o;
	struct utsname u;
	int attached = 0;

	for (size_t i = 0; i < k->cnt; i++) {
		const struct kernel_function *f = &k->function[i];

		attached += f->attached;
		if (!f->attached)
			json_array_append_new(f->way ? failed : missing, json_string(f->name));
		else if (!json_has_text(used, f->way->text))
			json_array_append_new(used, json_string(f->way->text));
	}
	uname(&u);
	o = json_pack("{s:s,s:i,s:s,s:s,s:s,s:o,s:i,s:o,s:o,s:i,s:i}", "type", "library", "id",
		      POV_LIB_KERNEL, "path", "the kernel", "flavour", u.sysname, "version",
		      u.release, "link", links_text(used), "attached", attached, "missing", missing,
		      "failed", failed, "emulated", 0, "stepped", 0);
	json_decref(used);
	return o;
}

void kernel_functions_detach(struct kernel_functions *k)
{
	for (size_t i = 0; i < k->link_cnt; i++)
		bpf_link__destroy(k->link[i]);
	k->link_cnt = 0;
}

void kernel_functions_release(struct kernel_functions *k)
{
	kernel_functions_detach(k);
	free(k->link);
	free(k->function);
	*k = (struct kernel_functions){0};
}

uint32_t kernel_functions_row(void)
{
	for (size_t i = 0; i < func_table_count(); i++)
		if (func_table_layer(i)->in_kernel)
			return i;
	return 0;
}

json_t *kernel_functions_list(void)
{
	struct povtrace *skel = povtrace__open();
	json_t *list = json_array();
	struct kernel_functions k;

	if (!skel)
		return list;
	functions_find(&k, skel->obj, NULL);
	for (size_t i = 0; i < k.cnt; i++) {
		const struct way *way = k.function[i].way;

		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:b}", "name", k.function[i].name, "way",
						way ? way->text : "", "whole", way && way->begin));
	}
	kernel_functions_release(&k);
	povtrace__destroy(skel);
	return list;
}
