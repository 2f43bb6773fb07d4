/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The main loop of `povtrace clock`: events from the kernel half, requests, periodic work. */
#include "clock/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/launch/launch.h"
#include "target/proc.h"
#include "lib/log.h"
#include "clock.skel.h"
#include "clock/clock_slots.h"
#include "clock/serve.h"
#include "record/kernel.h"

#define TEND_NS 250000000ull
#define FIND_NS 1000000000ull
#define NS_PER_MS 1000000

struct clock_session {
	const struct clock_options *opt;
	struct clock_result *res;
	struct clock_slots slots;
	struct server server;
	struct launch launch;
	int launch_fd; /* becomes readable when the command ends; -1: no command */
	struct clock_row *rows;
	uint64_t tend_ns, find_ns, show_ns, end_ns; /* time of the next action; 0: never */
};

/* ---- processes to serve ---- */

struct family {
	struct clock_session *c;
	bool grew;
};

static int family_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct family *f = ctx;
	struct clock_slots *s = &f->c->slots;

	if (pid != getpid() && clock_slots_find(s, parent) >= 0 && clock_slots_find(s, pid) < 0 &&
	    clock_slots_adopt(s, pid) >= 0)
		f->grew = true;
	return 0;
}

static int pids_adopt(struct clock_session *c)
{
	struct family f = {.c = c};
	int err;

	for (size_t i = 0; i < c->opt->pid_cnt; i++) {
		err = clock_slots_adopt(&c->slots, c->opt->pids[i]);
		if (err < 0) {
			log_error("clock: process %d: %s", c->opt->pids[i], strerror(-err));
			return err;
		}
	}
	do {
		f.grew = false;
		proc_for_each(family_visit, &f);
	} while (f.grew);
	return 0;
}

/*
 * With --all: adopts the node's MPI processes, which it recognises by their launcher's variables.
 */
static int rank_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct clock_session *c = ctx;
	struct proc_rank r;

	(void)parent;
	if (pid != getpid() && clock_slots_find(&c->slots, pid) < 0 &&
	    !proc_rank_read(pid, NULL, &r, NULL) && r.rank >= 0 && strcmp(r.launcher, "singleton"))
		clock_slots_adopt(&c->slots, pid);
	return 0;
}

/* ---- the loop ---- */

static void rows_show(struct clock_session *c, bool last)
{
	size_t cnt;

	if (!c->opt->show)
		return;
	c->rows = xrealloc(c->rows, (c->slots.end + 1) * sizeof(*c->rows));
	cnt = clock_slots_rows(&c->slots, c->rows);
	c->opt->show(c->opt->ctx, c->rows, cnt, last);
}

static bool is_due(uint64_t *when, uint64_t now, uint64_t interval)
{
	if (!*when || now < *when)
		return false;
	*when += interval;
	if (*when <= now)
		*when = now + interval;
	return true;
}

static void work_due(struct clock_session *c)
{
	uint64_t now = kernel_now_ns();

	if (is_due(&c->tend_ns, now, TEND_NS))
		clock_slots_tend(&c->slots);
	if (is_due(&c->find_ns, now, FIND_NS))
		proc_for_each(rank_visit, c);
	if (is_due(&c->show_ns, now, c->opt->interval_ns))
		rows_show(c, false);
}

static int wait_ms(const struct clock_session *c)
{
	const uint64_t due[] = {c->tend_ns, c->find_ns, c->show_ns, c->end_ns};
	uint64_t now = kernel_now_ns(), next = now + TEND_NS;

	for (size_t i = 0; i < sizeof(due) / sizeof(*due); i++)
		if (due[i] && due[i] < next)
			next = due[i];
	return next <= now ? 0 : (int)((next - now + NS_PER_MS - 1) / NS_PER_MS);
}

/* 0: continue; 1: the command has ended; -errno (printed). */
static int command_check(struct clock_session *c)
{
	if (c->launch_fd < 0)
		return 0;
	if (launch_executed(&c->launch, c->opt->launch, 0) < 0) {
		c->launch.pid = 0;
		return -ENOEXEC;
	}
	if (waitpid(c->launch.pid, &c->res->child_status, WNOHANG) != c->launch.pid)
		return 0;
	c->launch.pid = 0;
	return 1;
}

static int clock_loop(struct clock_session *c, const volatile int *stop)
{
	struct pollfd p[ASKING_MAX + 3];
	unsigned int cnt;
	int err = 0;

	while (!*stop && !err && (!c->end_ns || kernel_now_ns() < c->end_ns)) {
		p[0] = (struct pollfd){.fd = clock_slots_fd(&c->slots), .events = POLLIN};
		p[1] = (struct pollfd){.fd = c->launch_fd, .events = POLLIN};
		cnt = server_poll(&c->server, &p[2]);
		if (poll(p, cnt + 2, wait_ms(c)) < 0) {
			if (errno != EINTR)
				err = -errno;
			continue;
		}
		if (p[0].revents)
			clock_slots_news(&c->slots);
		server_work(&c->server, &p[2], cnt);
		work_due(c);
		err = command_check(c);
	}
	return err < 0 ? err : 0;
}

/* ---- begin and end ---- */

static int clock_start(struct clock_session *c)
{
	const struct clock_options *o = c->opt;
	uint64_t now;
	int err;

	c->slots.keep = o->launch != NULL;
	err = server_open(&c->server, &c->slots, o->socket, o->socket_else, o->all);
	if (!err)
		err = pids_adopt(c);
	if (!err && o->launch)
		err = launch_start(o->launch, &c->launch);
	if (err)
		return err;
	if (c->launch.pid) {
		err = clock_slots_adopt(&c->slots, c->launch.pid);
		if (err >= 0)
			c->slots.slot[err].named = true;
		c->launch_fd = (int)syscall(SYS_pidfd_open, c->launch.pid, 0);
		if (err >= 0)
			err = launch_open_gate(&c->launch, o->launch);
		if (err < 0)
			return err;
	}
	now = kernel_now_ns();
	c->tend_ns = now;
	c->find_ns = o->all ? now : 0;
	c->show_ns = o->interval_ns ? now + o->interval_ns : 0;
	c->end_ns = o->duration_ns ? now + o->duration_ns : 0;
	return 0;
}

static void result_take(struct clock_session *c)
{
	c->res->without_slot = c->slots.skel->bss->without_slot;
	c->res->missed = c->slots.skel->bss->missed;
	c->res->settled = c->slots.skel->bss->settled;
	memcpy(c->res->cost, c->slots.skel->bss->cost, sizeof(c->res->cost));
}

int clock_run(const struct clock_options *opt, const volatile int *stop, struct clock_result *out)
{
	struct clock_session *c = xcalloc(1, sizeof(*c));
	int err;

	memset(out, 0, sizeof(*out));
	out->child_status = -1;
	*c = (struct clock_session){.opt = opt, .res = out, .launch_fd = -1};
	c->server.fd = -1;
	c->launch.gate_fd = c->launch.error_fd = -1;
	err = clock_slots_init(&c->slots, opt->cost);
	if (!err)
		err = clock_start(c);
	if (err)
		launch_cancel(&c->launch);
	else
		err = clock_loop(c, stop);
	if (!err) {
		clock_slots_news(&c->slots);
		rows_show(c, true);
		result_take(c);
	}
	out->child_pid = c->launch.pid;
	server_close(&c->server);
	clock_slots_release(&c->slots);
	if (c->launch_fd >= 0)
		close(c->launch_fd);
	free(c->rows);
	free(c);
	return err;
}
