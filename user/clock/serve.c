/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Each connection carries one request and its answer. The server waits for nobody: a silent client
 * only occupies a place until others need it.
 */
#include "clock/serve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/proc.h"
#include "lib/log.h"
#include "lib/run_socket.h"

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
	if (!proc_same_clock(who.pid)) /* the page's times are in our CLOCK_MONOTONIC */
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

unsigned int server_poll(const struct server *s, struct pollfd *out)
{
	unsigned int cnt = 0;

	out[cnt++] = (struct pollfd){.fd = s->fd, .events = POLLIN};
	for (unsigned int i = 0; i < s->asking_cnt; i++)
		out[cnt++] = (struct pollfd){.fd = s->asking[i], .events = POLLIN};
	return cnt;
}

void server_work(struct server *s, const struct pollfd *polled, unsigned int cnt)
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

int server_open(struct server *s, struct clock_slots *slots, const char *path,
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

void server_close(struct server *s)
{
	while (s->asking_cnt)
		asking_drop(s, s->asking_cnt - 1);
	if (s->fd < 0)
		return;
	unlink(s->path);
	close(s->fd);
	s->fd = -1;
}
