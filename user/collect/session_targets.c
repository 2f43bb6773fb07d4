/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Whom a recording is about when it begins: the processes that were asked for with all that they have started, the command, or all. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "attach/proc.h"
#include "base/log.h"
#include "collect/session_priv.h"

int session_targets_check(const struct session_options *o)
{
	for (size_t i = 0; i < o->pid_cnt; i++)
		if (!proc_alive(o->pids[i])) {
			log_error("no process %d to attach to", o->pids[i]);
			return -ESRCH;
		}
	return 0;
}

/* The processes that were asked for, and those that they have started. */
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
	f->pid = xrealloc(f->pid, (f->cnt + 1) * sizeof(*f->pid));
	f->pid[f->cnt++] = pid;
	session_meta_target(f->s, pid);
	return 0;
}

/* Adds the processes whose parent is a target. */

static int family_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct family *f = ctx;
	unsigned int v, child = pid, mother = parent;

	if (bpf_map_lookup_elem(f->s->kernel.targets_fd, &mother, &v) ||
	    !bpf_map_lookup_elem(f->s->kernel.targets_fd, &child, &v))
		return 0;
	f->grew = true;
	target_add(f, pid);
	return 0;
}

static int all_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct session *s = ctx;

	(void)parent;
	if (pid != getpid())
		images_scan(s->images, pid);
	return 0;
}

/* What they map is looked at once it is known who they all are. */
static int family_scan(struct family *f)
{
	int err = 0;

	images_scan_begin(f->s->images, f->cnt);
	for (size_t i = 0; i < f->cnt && !err; i++) {
		err = images_scan(f->s->images, f->pid[i]);
		if (err > 0 || i >= f->s->opt->pid_cnt) /* one that was not asked for may have ended */
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
		err = family_scan(&f);
	free(f.pid);
	return err;
}

int session_targets_find(struct session *s)
{
	int err = s->opt->pid_cnt ? pids_find(s) : 0;

	if (err)
		return err;
	if (s->opt->all)
		proc_for_each(all_visit, s);
	if (s->launch.pid) {
		err = kernel_add_target(&s->kernel, s->launch.pid);
		if (err)
			return err;
		session_meta_command(s);
	}
	return 0;
}
