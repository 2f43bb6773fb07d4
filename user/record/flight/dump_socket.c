/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/flight/dump_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/run_socket.h"

#define BACKLOG 16

static void conn_close(struct dump_socket *s)
{
	if (s->conn >= 0)
		close(s->conn);
	s->conn = -1;
}

void dump_socket_open(struct dump_socket *s)
{
	struct sockaddr_un at;
	int err;

	*s = (struct dump_socket){.fd = -1, .conn = -1};
	run_socket_sweep(DUMP_SOCKET_DIR, DUMP_SOCKET_BEGIN);
	s->path = xasprintf(DUMP_SOCKET_DIR "/" DUMP_SOCKET_BEGIN "%d" DUMP_SOCKET_END, getpid());
	err = run_socket_place(s->path, &at);
	if (!err) {
		s->fd = run_socket_listen(&at, BACKLOG);
		err = s->fd < 0 ? s->fd : 0;
	}
	if (!err && chmod(s->path, 0600))
		err = -errno;
	if (!err)
		return;
	log_warn("`povtrace dump` cannot reach this recorder: %s: %s; SIGUSR1 does", s->path,
		 strerror(-err));
	dump_socket_close(s);
}

void dump_socket_close(struct dump_socket *s)
{
	conn_close(s);
	if (s->fd >= 0) {
		unlink(s->path);
		close(s->fd);
	}
	free(s->path);
	*s = (struct dump_socket){.fd = -1, .conn = -1};
}

/* Between bind and chmod others than root may connect. */
static bool is_root(int conn)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	return !getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && !peer.uid;
}

bool dump_socket_asked(struct dump_socket *s, struct dump_request *out)
{
	ssize_t n;

	if (s->fd < 0)
		return false;
	if (s->conn < 0)
		s->conn = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (s->conn >= 0 && !is_root(s->conn))
		conn_close(s);
	if (s->conn < 0)
		return false;
	n = recv(s->conn, out, sizeof(*out), MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n == (ssize_t)sizeof(*out) && out->magic == DUMP_MAGIC &&
	    memchr(out->path, 0, sizeof(out->path)))
		return true;
	conn_close(s); /* one who only looked whether somebody is here */
	return false;
}

void dump_socket_answer(struct dump_socket *s, const struct dump_answer *answer)
{
	if (s->conn >= 0)
		run_socket_send(s->conn, answer, sizeof(*answer), NULL, 0);
	conn_close(s);
}
