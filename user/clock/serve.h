/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The socket where processes ask for their pages. The kernel identifies the client, who gets its
 * own page, read-only. Nothing the client says about itself is trusted.
 */
#ifndef POV_CLOCK_SERVE_H
#define POV_CLOCK_SERVE_H

#include <poll.h>
#include <stdbool.h>

#include "clock/clock_slots.h"

#define ASKING_MAX 64

struct server {
	struct clock_slots *slots;
	const char *path;
	bool all;		/* anybody is served; else only processes with a slot */
	int fd;			/* -1: none */
	int asking[ASKING_MAX]; /* connections whose request has not arrived */
	unsigned int asking_cnt;
};

/*
 * Serves at path. If another server is there and path_else is not NULL, serves at path_else. 0 or
 * -errno (printed).
 */
int server_open(struct server *s, struct clock_slots *slots, const char *path,
		const char *path_else, bool all);
void server_close(struct server *s);
/* Fills in the descriptors to poll, at most ASKING_MAX + 1. Returns their number. */
unsigned int server_poll(const struct server *s, struct pollfd *out);
void server_work(struct server *s, const struct pollfd *polled, unsigned int cnt);

#endif
