/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "collect/unserved.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "abi/event.h"
#include "attach/code_file.h"
#include "attach/helper.h"
#include "attach/proc.h"
#include "base/json_get.h"
#include "base/log.h"
#include "collect/library_place.h"
#include "collect/questions.h"

static bool is_loaded(const struct unserved *u, pid_t pid)
{
	uint32_t key = pid, value;

	return !bpf_map_lookup_elem(u->loaded_fd, &key, &value);
}

struct asking {
	struct unserved *u;
	uint64_t ts_ns;
};

static void left_probe(void *ctx, pid_t pid, const struct proc_map *map, struct code_file *file)
{
	struct library *lib = file->lib;
	struct asking *a = ctx;

	if (!lib->left)
		return;
	if (!lib->left_asked)
		log_info("process %d uses %s, but not by way of what is preloaded: it gets probes",
			 pid, map->path);
	lib->left_asked = true;
	if (a->ts_ns)
		questions_open(a->u->questions, pid, a->ts_ns);
	helper_ask(a->u->helper,
		   json_pack("{s:s,s:i,s:I,s:I,s:i,s:b}", "do", "left", "pid", pid, "start",
			     (json_int_t)map->start, "end", (json_int_t)map->end, "lib", lib->id,
			     "asked", a->ts_ns != 0));
}

/* asked_ns: since when it waits; 0: it does not. */
static void probe(struct unserved *u, pid_t pid, uint64_t asked_ns)
{
	struct asking a = {u, asked_ns};

	if (asked_ns)
		questions_open(u->questions, pid, asked_ns);
	library_place_each(u->files, pid, left_probe, &a);
	if (asked_ns)
		questions_close(u->questions, pid);
}

void unserved_mapped(struct unserved *u, pid_t pid, const struct code_file *file, uint64_t ts_ns)
{
	uint32_t key = pid, one = 1;

	if (file->is_preload && bpf_map_update_elem(u->loaded_fd, &key, &one, BPF_ANY))
		log_debug("process %d: %s", pid, strerror(errno));
	if (file->lib && file->lib->left && !is_loaded(u, pid))
		probe(u, pid, ts_ns);
}

void unserved_asks(struct unserved *u, const struct pov_caller *r)
{
	probe(u, (pid_t)r->tgid, r->hdr.ts_ns);
}

static struct library *library_of(const struct unserved *u, const json_t *request)
{
	return u->files->lib[json_get_int(request, "lib")];
}

static void answered(struct unserved *u, const json_t *request)
{
	if (json_get_bool(request, "asked"))
		questions_close(u->questions, (pid_t)json_get_int(request, "pid"));
}

bool unserved_known(struct unserved *u, const json_t *request)
{
	if (library_of(u, request)->left)
		return false;
	answered(u, request);
	return true;
}

void unserved_reply(struct unserved *u, const json_t *request, const json_t *reply)
{
	struct library *lib = library_of(u, request);
	const char *failed = json_get_text(reply, "failed");

	if (failed[0])
		log_warn("process %lld: %s gets no probes (%s): its calls are not recorded",
			 (long long)json_get_int(request, "pid"), json_get_text(lib->meta, "path"),
			 failed);
	lib->left = failed[0] != '\0';
	answered(u, request);
}
