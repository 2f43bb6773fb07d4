/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The main loop of `povtrace clock`: events from the kernel half, requests, periodic work.
 *
 * At a socket, processes ask for their pages. The kernel identifies the client, who gets its own
 * page, read-only. Nothing the client says about itself is trusted. Each connection carries one
 * request and its answer. The server waits for nobody: a silent client only occupies a place until
 * others need it.
 */
#include "clock/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "record/launch/launch.h"
#include "target/proc.h"
#include "lib/log.h"
#include "lib/run_socket.h"
#include "clock.skel.h"
#include "clock/clock_slots.h"
#include "record/kernel.h"

#define TEND_NS 250000000ull
#define FIND_NS 1000000000ull
#define NS_PER_MS 1000000

#define ASKING_MAX 64

struct server {
	struct clock_slots *slots;
	const char *path;
	bool all;		/* anybody is served; else only processes with a slot */
	int fd;			/* -1: none */
	int asking[ASKING_MAX]; /* connections whose request has not arrived */
	unsigned int asking_cnt;
};

/* ---- answers ---- */

struct answer {
	struct pov_clock_answer head;
	int fd[RUN_SOCKET_FDS];
	unsigned int fd_cnt;
};

static void answer_clock(struct server *s, int idx, struct answer *a)
{
	a->fd[a->fd_cnt++] = s->slots->slot[idx].page_fd;
}

static int answer_section(struct server *s, int idx, struct answer *a)
{
	int group_fd, err = clock_slots_section(s->slots, idx, &group_fd);

	if (err)
		return err;
	a->fd[a->fd_cnt++] = s->slots->slot[idx].section_fd;
	a->fd[a->fd_cnt++] = group_fd;
	return 0;
}

/* ---- requests ---- */

/* The slot of the process at the other end. Index or -errno. */
static int slot_of(struct server *s, int conn)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);
	char path[64];
	struct stat st;

	if (getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d", who.pid);
	if (stat(path, &st) || st.st_uid != who.uid)
		/* the process has ended, or the pid belongs to another user */
		return -ESRCH;
	if (!proc_same_namespace(who.pid, "time")) /* the page's times are in our CLOCK_MONOTONIC */
		return -EXDEV;
	if (s->all)
		return clock_slots_adopt(s->slots, who.pid);
	clock_slots_news(s->slots);
	return clock_slots_find(s->slots, who.pid);
}

static void request_answer(struct server *s, int conn, const struct pov_clock_request *r)
{
	struct answer a = {.head = {.magic = POV_CLOCK_MAGIC,
				    .version = POV_CLOCK_VERSION,
				    .cpus = s->slots->cpus}};
	int idx;

	if (r->version != POV_CLOCK_VERSION) {
		a.head.status = -EPROTONOSUPPORT;
	} else {
		idx = slot_of(s, conn);
		if (idx < 0)
			a.head.status = idx;
		else if (r->wish == POV_CLOCK_WISH_CLOCK)
			answer_clock(s, idx, &a);
		else if (r->wish == POV_CLOCK_WISH_SECTION)
			a.head.status = answer_section(s, idx, &a);
		else
			a.head.status = -EINVAL;
	}
	run_socket_send(conn, &a.head, sizeof(a.head), a.fd, a.fd_cnt);
}

static void asking_drop(struct server *s, unsigned int i)
{
	close(s->asking[i]);
	memmove(&s->asking[i], &s->asking[i + 1], (--s->asking_cnt - i) * sizeof(*s->asking));
}

static void asking_accept(struct server *s)
{
	int conn;

	while ((conn = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (s->asking_cnt == ASKING_MAX)
			asking_drop(s, 0);
		s->asking[s->asking_cnt++] = conn;
	}
}

static void asking_read(struct server *s, int conn)
{
	struct pov_clock_request r;
	ssize_t n = recv(conn, &r, sizeof(r), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n == (ssize_t)sizeof(r) && r.magic == POV_CLOCK_MAGIC)
		request_answer(s, conn, &r);
	for (unsigned int i = 0; i < s->asking_cnt; i++)
		if (s->asking[i] == conn) {
			asking_drop(s, i);
			return;
		}
}

/* Fills in the descriptors to poll, at most ASKING_MAX + 1. Returns their number. */
static unsigned int server_poll(const struct server *s, struct pollfd *out)
{
	unsigned int cnt = 0;

	out[cnt++] = (struct pollfd){.fd = s->fd, .events = POLLIN};
	for (unsigned int i = 0; i < s->asking_cnt; i++)
		out[cnt++] = (struct pollfd){.fd = s->asking[i], .events = POLLIN};
	return cnt;
}

static void server_work(struct server *s, const struct pollfd *polled, unsigned int cnt)
{
	for (unsigned int i = 1; i < cnt; i++)
		if (polled[i].revents)
			asking_read(s, polled[i].fd);
	if (polled[0].revents)
		asking_accept(s);
}

/* ---- the socket ---- */

static int path_check(const char *path, struct sockaddr_un *at)
{
	int err = run_socket_place(path, at);

	if (err == -ENAMETOOLONG)
		log_error("clock: %s: too long for a socket's name", path);
	else if (err)
		log_error("clock: %s: its directory must exist, and only root may write to it: %s",
			  path, strerror(-err));
	return err;
}

/*
 * Serves at path. If another server is there and path_else is not NULL, serves at path_else. 0 or
 * -errno (printed).
 */
static int server_open(struct server *s, struct clock_slots *slots, const char *path,
		       const char *path_else, bool all)
{
	struct sockaddr_un at;
	int err;

	*s = (struct server){.slots = slots, .path = path, .all = all, .fd = -1};
	err = path_check(path, &at);
	if (!err && run_socket_is_served(&at)) {
		if (!path_else) {
			log_error("clock: another `povtrace clock` serves at %s already", path);
			return -EADDRINUSE;
		}
		s->path = path_else;
		err = path_check(path_else, &at);
	}
	if (err)
		return err;
	s->fd = run_socket_listen(&at, ASKING_MAX);
	if (s->fd >= 0)
		return 0;
	log_error("clock: cannot serve at %s: %s", s->path, strerror(-s->fd));
	return s->fd;
}

static void server_close(struct server *s)
{
	while (s->asking_cnt)
		asking_drop(s, s->asking_cnt - 1);
	if (s->fd < 0)
		return;
	unlink(s->path);
	close(s->fd);
	s->fd = -1;
}

/* ---- the session ---- */

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
	uint64_t now = clock_now_ns();

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
	uint64_t now = clock_now_ns(), next = now + TEND_NS;

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

	while (!*stop && !err && (!c->end_ns || clock_now_ns() < c->end_ns)) {
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
	now = clock_now_ns();
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
