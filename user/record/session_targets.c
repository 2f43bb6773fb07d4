/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the targets of a recording at its begin: the requested processes with all that they have
 * started, the command, or all processes. At the end, finds the targets that are still running.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/event.h"
#include "lib/clock.h"
#include "lib/table.h"
#include "target/code_file.h"
#include "target/proc.h"
#include "lib/log.h"
#include "record/session_priv.h"

static void hooked_refuse(pid_t pid, const char *what_not)
{
	log_error("process %d was launched by povtrace: its MPI functions begin with jumps, which "
		  "breakpoints would break; %s",
		  pid, what_not);
}

static int hooked_visit(void *ctx, pid_t pid, pid_t parent)
{
	if (!*(pid_t *)ctx && proc_is_hooked(pid))
		*(pid_t *)ctx = pid;
	return 0;
}

int session_targets_check_all(const struct session_options *o)
{
	pid_t hooked = 0;

	proc_for_each(hooked_visit, &hooked);
	if (hooked)
		hooked_refuse(
			hooked,
			o->all ? "use --all after it has ended" :
				 "this recording would put probes into all processes: begin it "
				 "after that process has ended");
	return hooked ? -EBUSY : 0;
}

int session_targets_check(const struct session_options *o)
{
	for (size_t i = 0; i < o->pid_cnt; i++)
		if (!proc_alive(o->pids[i])) {
			log_error("no process %d to attach to", o->pids[i]);
			return -ESRCH;
		} else if (proc_is_hooked(o->pids[i])) {
			hooked_refuse(o->pids[i], "-p cannot record it");
			return -EBUSY;
		}
	return 0;
}

/* The requested processes, and those that they have started. */
struct family {
	struct session *s;
	pid_t *pid;
	size_t cnt;
	bool grew;
};

static int target_add(struct family *f, pid_t pid)
{
	int err = kernel_add_target(&f->s->kernel, pid);

	if (err)
		return err;
	*table_append(f->pid, f->cnt) = pid;
	session_meta_target(f->s, pid);
	return 0;
}

/* Adds a process whose parent is a target. */
static int family_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct family *f = ctx;
	unsigned int v, child = pid, mother = parent;

	if (proc_is_hooked(pid)) /* from a command that another povtrace launched */
		return 0;
	if (bpf_map_lookup_elem(f->s->kernel.targets_fd, &mother, &v) ||
	    !bpf_map_lookup_elem(f->s->kernel.targets_fd, &child, &v))
		return 0;
	f->grew = true;
	target_add(f, pid);
	return 0;
}

/* Counts a process that is left out although its parent is a target. */
static int left_out_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct family *f = ctx;
	unsigned int v, mother = parent;

	if (bpf_map_lookup_elem(f->s->kernel.targets_fd, &mother, &v) || !proc_is_hooked(pid))
		return 0;
	images_unprobed_note(f->s->images);
	log_warn("process %d is not recorded: another povtrace launched it, and its MPI functions "
		 "begin with jumps, which breakpoints would break",
		 pid);
	return 0;
}

static int all_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct session *s = ctx;

	if (pid != getpid())
		images_scan(s->images, pid);
	return 0;
}

/* Inspects the files of all targets, once all targets are known. */
static int family_scan(struct family *f)
{
	int err = 0;

	images_scan_begin(f->s->images, f->cnt);
	for (size_t i = 0; i < f->cnt && !err; i++) {
		err = images_scan(f->s->images, f->pid[i]);
		if (err > 0 ||
		    i >= f->s->opt->pid_cnt) /* a process that was not requested may have ended */
			err = 0;
		if (err)
			log_error("no process %d to attach to: %s", f->pid[i], strerror(-err));
	}
	images_scan_end(f->s->images);
	return err;
}

static int pids_find(struct session *s)
{
	struct family f = {.s = s};
	int err = 0;

	for (size_t i = 0; i < s->opt->pid_cnt && !err; i++)
		err = target_add(&f, s->opt->pids[i]);
	do {
		f.grew = false;
		if (!err)
			proc_for_each(family_visit, &f);
	} while (f.grew);
	if (!err)
		proc_for_each(left_out_visit, &f);
	if (!err && s->opt->sched == POV_SCHED_RANKS) /* the snapshot has only current targets */
		err = session_snapshot(s);
	if (!err)
		err = family_scan(&f);
	free(f.pid);
	return err;
}

int session_targets_find(struct session *s)
{
	int err = s->opt->pid_cnt ? pids_find(s) : 0;

	if (err)
		return err;
	if (s->opt->all) {
		proc_for_each(all_visit, s);
		if (s->opt->sched == POV_SCHED_RANKS)
			err = session_snapshot(s);
		if (err)
			return err;
	}
	if (s->launch.pid) {
		err = kernel_add_target(&s->kernel, s->launch.pid);
		if (err)
			return err;
		session_meta_command(s);
	}
	return 0;
}

/* ---- a process that a daemon started ---- */

struct adoption {
	struct session *s;
	pid_t pid;
};

static void task_adopt(void *ctx, const void *task)
{
	const struct adoption *a = ctx;

	if (((const struct pov_task *)task)->tgid != (uint32_t)a->pid)
		return;
	if (a->s->opt->sched == POV_SCHED_RANKS)
		session_control(a->s, task);
	else
		session_preload_identity(a->s, task);
}

/* Does what the kernel half does when a target maps code. */
static void image_adopt(const struct adoption *a, const struct proc_map *map)
{
	struct pov_image r = {
		.hdr = {.size = sizeof(r),
			.kind = POV_KIND_IMAGE,
			.tid = (uint32_t)a->pid,
			.ts_ns = clock_now_ns()},
		.tgid = (uint32_t)a->pid,
		.dev = map->dev,
		.ino = map->ino,
		.start = map->start,
		.len = map->end - map->start,
		.off = map->off,
	};
	char file[64];
	struct stat st;

	if (!session_preload_records(a->s)) { /* a question: the process waits for its probes */
		r.hdr.flags = POV_IMAGE_NEW;
		bpf_map_update_elem(a->s->kernel.asked_fd, &r.tgid, &r.hdr.ts_ns, BPF_ANY);
	}
	snprintf(file, sizeof(file), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, a->pid, map->start,
		 map->end);
	if (!stat(file, &st))
		r.stamp = code_id_of(&st).stamp;
	session_control(a->s, &r.hdr);
}

int session_targets_adopt(struct session *s, pid_t pid)
{
	uint32_t key = (uint32_t)pid, one = 1;
	uint64_t now_ns = clock_now_ns();
	struct adoption a = {s, pid};
	struct proc_maps maps;
	int err = proc_maps_read(pid, &maps);

	if (err)
		return err;
	/* the process that asked may be gone, and another may have its number */
	if (!proc_is_launched(pid))
		err = -ESRCH;
	if (!err)
		err = kernel_add_target(&s->kernel, pid);
	if (!err && session_preload_records(s))
		err = bpf_map_update_elem(s->kernel.preload_loaded_fd, &key, &one, BPF_ANY);
	else if (!err) /* it has run no code of MPI before it waits */
		err = bpf_map_update_elem(s->kernel.waiting_fd, &key, &now_ns, BPF_ANY);
	if (!err && s->opt->sched != POV_SCHED_ALL) /* else all forks were recorded */
		err = kernel_snapshot(&s->kernel, task_adopt, &a);
	for (size_t i = 0; i < maps.cnt && !err; i++)
		image_adopt(&a, &maps.map[i]);
	proc_maps_release(&maps);
	return err;
}

/* ---- at the end ---- */

TABLE_ORDER(pid_compare, pid_t, table_compare(*a, *b))

/* Returns the living targets, sorted. The caller frees them. */
static pid_t *targets_alive(const struct session *s, uint32_t *cnt)
{
	uint32_t key, state, n = 0, *last = NULL;
	int fd = s->kernel.targets_fd;
	pid_t *alive = NULL;

	while (!bpf_map_get_next_key(fd, last, &key)) {
		last = &key;
		if (bpf_map_lookup_elem(fd, &key, &state) || state != POV_TARGET_ALIVE ||
		    !proc_alive((pid_t)key)) /* it has ended since the probes were removed */
			continue;
		*table_append(alive, n) = (pid_t)key;
	}
	table_sort(alive, n, pid_compare);
	*cnt = n;
	return alive;
}

void session_targets_left(struct session *s)
{
	uint32_t cnt, named = 0;
	pid_t *alive = targets_alive(s, &cnt), parent;

	s->res->left_cnt = cnt;
	for (uint32_t i = 0; i < cnt && named < SESSION_LEFT_MAX; i++) {
		parent = proc_parent(alive[i]);
		if (!bsearch(&parent, alive, cnt, sizeof(*alive), pid_compare))
			s->res->left[named++] = alive[i];
	}
	free(alive);
}
