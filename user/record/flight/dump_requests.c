/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/flight/dump_requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/event.h"
#include "lib/log.h"
#include "lib/run_socket.h"

/* ---- `povtrace dump` ---- */

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
	log_warn("`povtrace dump` cannot reach this recorder: %s: %s; use SIGUSR1 instead", s->path,
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

/* Checks the peer, because other users can connect between bind and chmod. */
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
	conn_close(s); /* a client that only checked that a recorder is here */
	return false;
}

void dump_socket_answer(struct dump_socket *s, const struct dump_answer *answer)
{
	if (s->conn >= 0)
		run_socket_send(s->conn, answer, sizeof(*answer), NULL, 0);
	conn_close(s);
}

/* ---- calls that took too long ---- */

/*
 * Delay from the end of the matching call to the file. Calls of other ranks that were open at that
 * time end at about the same time. The delay is less than a quarter of the shortest span, so that
 * the file has the events before the call, too.
 */
#define DELAY_NS 200000000ull

void trigger_init(struct trigger *t, const struct trigger_when *when, size_t cnt, size_t func_cnt)
{
	*t = (struct trigger){.when = when, .when_cnt = cnt, .func_cnt = func_cnt};
}

static const struct trigger_when *when_match(const struct trigger *t, const struct pov_call *c)
{
	for (size_t i = 0; i < t->when_cnt && c->func < t->func_cnt; i++)
		if (t->when[i].func[c->func] && c->dur_ns > t->when[i].over_ns)
			return &t->when[i];
	return NULL;
}

void trigger_record(struct trigger *t, const struct pov_hdr *rec)
{
	const struct pov_call *c = (const struct pov_call *)rec;
	const struct trigger_when *when;

	if (!t->when_cnt || rec->kind != POV_KIND_CALL || rec->flags & POV_CALL_END_ONLY)
		return;
	when = when_match(t, c);
	if (!when)
		return;
	t->matches++;
	if (t->pending || t->quiet)
		return;
	t->pending = true;
	t->due_ns = rec->ts_ns + DELAY_NS;
	t->by = (struct trigger_call){
		.when = when,
		.pid = c->tgid,
		.tid = rec->tid,
		.func = c->func,
		.begin_ns = rec->ts_ns - c->dur_ns,
		.end_ns = rec->ts_ns,
	};
}

bool trigger_due(struct trigger *t, uint64_t now_ns)
{
	if (!t->pending || now_ns < t->due_ns)
		return false;
	t->pending = false;
	t->quiet = true;
	return true;
}

void trigger_rearm(struct trigger *t)
{
	t->quiet = false;
}
