/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The socket at which processes ask for their pages. Who asks is known from the kernel, and is given its own page, readable only;
 * nothing that it says is believed.
 */
#ifndef POV_CLOCK_SERVE_H
#define POV_CLOCK_SERVE_H

#include <poll.h>
#include <stdbool.h>

#include "clock/seats.h"

#define ASKING_MAX 64

struct server {
	struct seats *seats;
	const char *path;
	bool all;		/* anybody is served; else only who has a seat */
	int fd;			/* -1: none */
	int asking[ASKING_MAX]; /* connections whose request has not come */
	unsigned int asking_cnt;
};

/* At path, or if another one serves there and path_else is not NULL, at that. 0 or -errno (printed). */
int server_open(struct server *s, struct seats *seats, const char *path, const char *path_else,
		bool all);
void server_close(struct server *s);
/* Fills in what to poll, ASKING_MAX + 1 at most; returns how many. */
unsigned int server_poll(const struct server *s, struct pollfd *out);
void server_work(struct server *s, const struct pollfd *polled, unsigned int cnt);

#endif
