/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Files that a command will load, and processes that run before the recording. See images.c. */
#include <bpf/bpf.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/clock.h"
#include "record/images_internal.h"
#include "record/kernel.h"
#include "record/launch/launch.h"
#include "target/code_file.h"
#include "target/proc.h"

/*
 * From this many targets on, a file that no other process maps gets one set of probes for all. With
 * a set for each process, every call of every process would pass through all sets.
 */
#define MANY_MULTI 8
#define MANY_PERF 2 /* the kernel takes 0.1 s to remove one */

/* Waits until the helper has answered every request. */
static void helper_settle(struct images *im)
{
	struct pollfd p = {.events = POLLIN};

	while (!helper_is_idle(im->helper)) {
		kernel_say_alive(im->kernel, true);
		p.fd = helper_fd(im->helper);
		poll(&p, 1, 100);
		images_poll(im);
	}
}

/*
 * The helper takes no message of more than some 200 KiB. A program comes before its thousands of
 * input files.
 */
#define PREDICT_WORDS_BYTES_MAX 32768

void images_predict(struct images *im, const struct launch_plan *plan)
{
	static const char *const names[] = {"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD"};
	json_t *words = json_array(), *env = json_object(), *libraries = NULL;
	char *cwd = getcwd(NULL, 0);
	size_t bytes = 0;

	if (plan) {
		/* The programs to come mostly use the same loader and C library as the shell. */
		json_array_append_new(words, json_string("/bin/sh"));
		json_array_append_new(words, json_string(plan->program));
		for (char *const *arg = plan->argv + 1;
		     *arg && (bytes += strlen(*arg)) < PREDICT_WORDS_BYTES_MAX; arg++)
			json_array_append_new(words, json_string(*arg));
	}
	for (size_t i = 0; plan && i < sizeof(names) / sizeof(*names); i++)
		if (launch_env_get(plan->envp, names[i]))
			json_object_set_new(env, names[i],
					    json_string(launch_env_get(plan->envp, names[i])));
	if (!plan) /* no process will wait for their inspection */
		libraries = json_pack("[s,s,s]", "libmpi.so.40", "libmpi.so.12", "libmpich.so.12");
	helper_ask(im->helper,
		   json_pack("{s:s,s:o,s:o,s:s,s:o*}", "do", "command", "argv", words, "env", env,
			     "cwd", cwd ? cwd : "/", "libraries", libraries));
	free(cwd);
}

static void image_record_write(struct images *im, pid_t pid, const struct proc_map *map)
{
	struct pov_image r = {
		.hdr = {.size = sizeof(r),
			.kind = POV_KIND_IMAGE,
			.tid = pid,
			.ts_ns = clock_now_ns()},
		.tgid = pid,
		.dev = map->dev,
		.ino = map->ino,
		.start = map->start,
		.len = map->end - map->start,
		.off = map->off,
	};

	im->record(im->record_ctx, &r.hdr);
}

static struct code_file *scanned_file(const struct images *im, const struct proc_map *map)
{
	struct code_file *f = map_get(&im->scanned, process_links_file_key(map->dev, map->ino));

	return f && f->described.dev == map->dev && f->described.ino == map->ino ? f : NULL;
}

static json_t *map_request(pid_t pid, const struct proc_map *map)
{
	return json_pack("{s:s,s:i,s:I,s:I,s:I,s:I,s:I,s:I}", "do", "map", "pid", pid, "start",
			 (json_int_t)map->start, "end", (json_int_t)map->end, "off",
			 (json_int_t)map->off, "dev", (json_int_t)map->dev, "ino",
			 (json_int_t)map->ino, "ts", (json_int_t)clock_now_ns());
}

/*
 * Inspects a mapping without attaching probes, so that the process's bindings are known before its
 * first call is recorded.
 */
static void map_look(struct images *im, pid_t pid, const struct proc_map *map)
{
	struct code_file *f = scanned_file(im, map);
	json_t *request;

	if (f) {
		bindings_map(&im->bindings, pid, f, map->start, map->end - map->start, map->off);
		return;
	}
	request = map_request(pid, map);
	json_object_set_new(request, "look", json_true());
	helper_ask(im->helper, request);
	helper_settle(im);
}

static void map_scan(struct images *im, pid_t pid, const struct proc_map *map)
{
	struct code_file *f = scanned_file(im, map);

	if (f && !process_links_lack(&im->links, pid, f)) {
		library_users_map(&im->users, pid, f, map->start, map->off, clock_now_ns());
		return;
	}
	if (f)
		process_links_ask(&im->links, f, map_request(pid, map));
	else
		helper_ask(im->helper, map_request(pid, map));
	helper_settle(im);
}

/* Collects the files that processes map which are not recorded. */
static int others_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct images *im = ctx;
	uint32_t key = (uint32_t)pid, state;
	struct proc_maps maps;

	if (proc_is_hooked(pid)) /* its code must not get breakpoints */
		im->links.many = 0;
	if (!bpf_map_lookup_elem(im->kernel->targets_fd, &key, &state) ||
	    proc_maps_read(pid, &maps))
		return 0;
	for (size_t i = 0; i < maps.cnt; i++)
		map_set(&im->links.others, process_links_file_key(maps.map[i].dev, maps.map[i].ino),
			im);
	proc_maps_release(&maps);
	return 0;
}

void images_scan_begin(struct images *im, size_t targets)
{
	im->links.many = im->links.each ? targets : 0;
	im->links.many_min = im->inspect.calls.api == LINK_MULTI ? MANY_MULTI : MANY_PERF;
	if (im->links.many >= im->links.many_min)
		proc_for_each(others_visit, im);
}

void images_scan_end(struct images *im)
{
	im->links.many = 0;
	map_release(&im->links.others);
}

int images_scan(struct images *im, pid_t pid)
{
	struct proc_maps maps;
	bool uses_mpi;
	int err = proc_maps_read(pid, &maps);

	if (err)
		return err;
	for (size_t i = 0; i < maps.cnt; i++)
		map_look(im, pid, &maps.map[i]);
	for (size_t i = 0; i < maps.cnt; i++)
		map_scan(im, pid, &maps.map[i]);
	uses_mpi = library_users_have(&im->users, pid);
	if (uses_mpi) {
		for (size_t i = 0; i < maps.cnt; i++)
			image_record_write(im, pid, &maps.map[i]);
		helper_ask(im->helper, json_pack("{s:s,s:i}", "do", "handed_ops", "pid", pid));
		library_users_ran(&im->users, pid);
		library_users_describe(&im->users, pid);
		helper_settle(im);
	}
	proc_maps_release(&maps);
	return uses_mpi;
}
