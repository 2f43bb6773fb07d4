/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A small HTTP server for one file and a page that hands it over, on the loopback interface. Other
 * users of the machine and other web sites cannot read the file: its URL contains a random token,
 * requests must name this host, and only one foreign origin is allowed to read answers.
 */
#ifndef POV_CMD_VIEW_SERVE_H
#define POV_CMD_VIEW_SERVE_H

#include <stdint.h>

#define VIEW_ORIGIN "https://ui.perfetto.dev"
#define VIEW_TOKEN_BYTES 33 /* with the terminating 0 */

struct view_file {
	char token[VIEW_TOKEN_BYTES];
	const char *name; /* for URLs: percent-encoded; the file is at /token/name */
	const char *html; /* the page, at /token/ */
	int fd;
	uint64_t bytes;
	uint16_t port;
};

/* Makes a random token. */
void view_token(char token[VIEW_TOKEN_BYTES]);
/*
 * Listens on 127.0.0.1. Port 0: any free one. Sets *port. Returns the socket or -errno (printed).
 */
int view_listen(uint16_t *port);
/* Serves until somebody has fetched the whole file. 0 or -errno (printed). */
int view_serve(int listener, const struct view_file *f);

#endif
