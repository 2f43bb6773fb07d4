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

static int target_add(struct session *s, pid_t pid)
{
	int err;

	err = kernel_add_target(&s->kernel, pid);
	if (err)
		return err;
	session_meta_target(s, pid);
	err = images_scan(s->images, pid);
	return err < 0 ? err : 0;
}

/* Adds the processes whose parent is a target, until there are no more. */
struct family {
	struct session *s;
	bool grew;
};

static int family_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct family *f = ctx;
	unsigned int v, child = pid, mother = parent;

	if (bpf_map_lookup_elem(f->s->kernel.targets_fd, &mother, &v) ||
	    !bpf_map_lookup_elem(f->s->kernel.targets_fd, &child, &v))
		return 0;
	f->grew = true;
	target_add(f->s, pid);
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

int session_targets_find(struct session *s)
{
	struct family f = {.s = s};
	int err;

	for (size_t i = 0; i < s->opt->pid_cnt; i++) {
		err = target_add(s, s->opt->pids[i]);
		if (err) {
			log_error("no process %d to attach to: %s", s->opt->pids[i],
				  strerror(-err));
			return err;
		}
	}
	if (s->opt->pid_cnt) {
		do {
			f.grew = false;
			proc_for_each(family_visit, &f);
		} while (f.grew);
	}
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
