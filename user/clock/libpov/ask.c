/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "clock/libpov/ask.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock/libpov/served.h"

#define SOCKET_USUAL "/run/povtrace/clock.sock"
#define SOCKET_VARIABLE "POVTRACE_CLOCK"

/* Only root serves. */
static int server_check(int conn)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	if (getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return -errno;
	return who.uid ? -EPERM : 0;
}

static int server_connect(void)
{
	const char *path = secure_getenv(SOCKET_VARIABLE);
	int conn = served_connect(path ? path : SOCKET_USUAL), err;

	if (conn < 0)
		return conn;
	err = server_check(conn);
	if (!err)
		return conn;
	close(conn);
	return err;
}

static int answer_take(int conn, struct pov_clock_answer *answer, int fd[ASK_FDS])
{
	int err = served_receive(conn, answer, sizeof(*answer), fd);

	if (err)
		return err;
	if (answer->magic != POV_CLOCK_MAGIC || answer->version != POV_CLOCK_VERSION)
		return -EPROTO;
	return answer->status;
}

/* Not in a child: it would see its parent's. */
static void *map(int fd, size_t bytes, bool writable)
{
	void *page = mmap(NULL, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return NULL;
	madvise(page, bytes, MADV_DONTFORK);
	return page;
}

static int pages_map(enum pov_clock_wish wish, const int fd[ASK_FDS], struct asked *out)
{
	size_t cores = out->cpus * sizeof(struct pov_clock_core);

	if (wish == POV_CLOCK_WISH_CLOCK) {
		out->page[0] = map(fd[0], sizeof(struct pov_clock_process), false);
		return out->page[0] ? 0 : -errno;
	}
	out->page[0] = map(fd[0], sizeof(struct pov_clock_section), true);
	out->page[1] = out->page[0] ? map(fd[1], cores, false) : NULL;
	if (out->page[1])
		return 0;
	if (out->page[0])
		munmap(out->page[0], sizeof(struct pov_clock_section));
	return -errno;
}

int ask(enum pov_clock_wish wish, struct asked *out)
{
	struct pov_clock_request request = {
		.magic = POV_CLOCK_MAGIC, .version = POV_CLOCK_VERSION, .wish = wish};
	struct pov_clock_answer answer;
	int fd[ASK_FDS], conn, err;

	conn = server_connect();
	if (conn < 0)
		return conn;
	err = served_send(conn, &request, sizeof(request));
	if (err) {
		close(conn);
		return err;
	}
	err = answer_take(conn, &answer, fd);
	close(conn);
	if (!err) {
		*out = (struct asked){.cpus = answer.cpus};
		err = pages_map(wish, fd, out);
	}
	for (int i = 0; i < ASK_FDS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return err;
}
