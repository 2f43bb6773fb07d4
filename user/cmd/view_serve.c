/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One thread waits for requests on several connections, as browsers open some that they do not use.
 * An answer is sent whole before the next request is looked at. Each answer ends its connection.
 */
#include "cmd/view_serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/log.h"

#define CLIENTS_MAX 16
#define REQUEST_BYTES 8192
#define SEND_SECONDS 30 /* limit for a client that no longer reads */

struct client {
	int fd;
	size_t used;
	char request[REQUEST_BYTES + 1];
};

struct request {
	char *method, *path;
	const char *host, *origin; /* NULL: not sent */
};

/* ---- requests ---- */

/* Splits a request in place. False if it is not HTTP. */
static bool request_parse(char *text, struct request *r)
{
	char *line = text, *next = strstr(text, "\r\n"), *end;

	*r = (struct request){.method = text};
	if (!next)
		return false;
	*next = 0;
	r->path = strchr(line, ' ');
	end = r->path ? strchr(r->path + 1, ' ') : NULL;
	if (!end || strncmp(end, " HTTP/1.", 8) != 0)
		return false;
	*r->path++ = *end = 0;
	for (line = next + 2; (next = strstr(line, "\r\n")) && next != line; line = next + 2) {
		*next = 0;
		if (!strncasecmp(line, "host:", 5))
			r->host = line + 5 + strspn(line + 5, " \t");
		else if (!strncasecmp(line, "origin:", 7))
			r->origin = line + 7 + strspn(line + 7, " \t");
	}
	return true;
}

static bool host_is(const char *host, const char *name)
{
	size_t n = strlen(name);

	return !strncasecmp(host, name, n) && (!host[n] || host[n] == ':');
}

/*
 * The host is checked because a site's own name may be made to resolve to 127.0.0.1, and then its
 * scripts could read everything. Any port is allowed, because ssh may forward another one.
 */
static bool request_allowed(const struct request *r)
{
	return r->host && (host_is(r->host, "127.0.0.1") || host_is(r->host, "localhost")) &&
	       (!r->origin || !strcmp(r->origin, VIEW_ORIGIN));
}

/* ---- answers ---- */

static int client_send(int fd, const char *data, size_t bytes)
{
	ssize_t n;

	for (; bytes; data += n, bytes -= (size_t)n) {
		n = send(fd, data, bytes, MSG_NOSIGNAL);
		if (n < 0)
			return -errno;
	}
	return 0;
}

static int head_send(int fd, const char *status, const char *type, uint64_t bytes)
{
	char head[768];
	int n = snprintf(head, sizeof(head),
			 "HTTP/1.1 %s\r\n"
			 "Content-Type: %s\r\n"
			 "Content-Length: %llu\r\n"
			 "Access-Control-Allow-Origin: " VIEW_ORIGIN "\r\n"
			 "Access-Control-Allow-Methods: GET, HEAD, OPTIONS\r\n"
			 "Access-Control-Allow-Headers: *\r\n"
			 "Access-Control-Allow-Private-Network: true\r\n"
			 "X-Content-Type-Options: nosniff\r\n"
			 "Referrer-Policy: no-referrer\r\n"
			 "Cache-Control: no-store\r\n"
			 "Connection: close\r\n\r\n",
			 status, type, (unsigned long long)bytes);

	return client_send(fd, head, (size_t)n);
}

static int file_send(int fd, const struct view_file *f)
{
	off_t at = 0;
	ssize_t n;

	while ((uint64_t)at < f->bytes) {
		n = sendfile(fd, f->fd, &at, f->bytes - (uint64_t)at);
		if (n <= 0)
			return n ? -errno : -ENODATA;
	}
	return 0;
}

/*
 * Waits until the client has received everything. Closing earlier might discard data on their way.
 */
static int client_finish(int fd)
{
	char rest[256];
	ssize_t n;

	shutdown(fd, SHUT_WR);
	while ((n = recv(fd, rest, sizeof(rest), 0)) > 0)
		;
	return n ? -errno : 0;
}

/* Answers a request for the file or the page. True if the whole file has been fetched. */
static bool found_answer(int fd, const struct view_file *f, const struct request *r, bool page)
{
	const char *type = page ? "text/html; charset=utf-8" : "application/octet-stream";
	uint64_t bytes = page ? strlen(f->html) : f->bytes;
	bool get = !strcmp(r->method, "GET");

	if (!strcmp(r->method, "OPTIONS")) {
		head_send(fd, "200 OK", type, 0);
		return false;
	}
	if (!get && strcmp(r->method, "HEAD") != 0) {
		head_send(fd, "405 Method Not Allowed", type, 0);
		return false;
	}
	if (head_send(fd, "200 OK", type, bytes) || !get)
		return false;
	if (page) {
		client_send(fd, f->html, bytes);
		return false;
	}
	return !file_send(fd, f) && !client_finish(fd);
}

static bool request_answer(int fd, const struct view_file *f, char *text)
{
	const size_t token = VIEW_TOKEN_BYTES - 1;
	struct request r;
	bool page;

	if (!request_parse(text, &r)) {
		head_send(fd, "400 Bad Request", "text/plain", 0);
		return false;
	}
	if (!request_allowed(&r)) {
		head_send(fd, "403 Forbidden", "text/plain", 0);
		return false;
	}
	page = strlen(r.path) == token + 2; /* "/token/" */
	if (*r.path != '/' || strncmp(r.path + 1, f->token, token) != 0 ||
	    r.path[token + 1] != '/' || (!page && strcmp(r.path + token + 2, f->name) != 0)) {
		head_send(fd, "404 Not Found", "text/plain", 0);
		return false;
	}
	return found_answer(fd, f, &r, page);
}

/* ---- connections ---- */

void view_token(char token[VIEW_TOKEN_BYTES])
{
	uint8_t bits[(VIEW_TOKEN_BYTES - 1) / 2];

	if (getrandom(bits, sizeof(bits), 0) != sizeof(bits))
		die("view: no random numbers: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bits); i++)
		snprintf(token + 2 * i, 3, "%02x", bits[i]);
}

int view_listen(uint16_t *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(*port)};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, err;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	/* an answer that was sent a minute ago does not keep the port */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, CLIENTS_MAX) ||
	    getsockname(fd, (struct sockaddr *)&at, &len)) {
		err = errno;
		if (err == EADDRINUSE)
			log_error("view: port %u of 127.0.0.1 is taken: another povtrace view, or "
				  "a trace_processor, is running; end it, or use --port 0",
				  *port);
		else
			log_error("view: cannot listen on 127.0.0.1: %s", strerror(err));
		if (fd >= 0)
			close(fd);
		return -err;
	}
	*port = ntohs(at.sin_port);
	return fd;
}

/* Reads from a client. Returns true if it is done: it has been answered or has gone away. */
static bool client_read(struct client *c, const struct view_file *f, bool *fetched)
{
	ssize_t n = recv(c->fd, c->request + c->used, REQUEST_BYTES - c->used, 0);

	if (n <= 0)
		return true;
	c->used += (size_t)n;
	c->request[c->used] = 0;
	if (strstr(c->request, "\r\n\r\n")) {
		*fetched = request_answer(c->fd, f, c->request);
		return true;
	}
	return c->used == REQUEST_BYTES;
}

/* Drops the oldest client if there are too many. */
static void client_accept(struct client *client, size_t *n, int listener)
{
	const struct timeval patience = {.tv_sec = SEND_SECONDS};
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (*n == CLIENTS_MAX) {
		close(client[0].fd);
		memmove(client, client + 1, --*n * sizeof(*client));
	}
	client[*n].fd = fd;
	client[(*n)++].used = 0;
}

int view_serve(int listener, const struct view_file *f)
{
	struct client *client = xcalloc(CLIENTS_MAX, sizeof(*client));
	struct pollfd p[CLIENTS_MAX + 1];
	bool fetched = false, knocks;
	size_t n = 0;
	int err = 0;

	while (!fetched && !err) {
		for (size_t i = 0; i < n; i++)
			p[i] = (struct pollfd){.fd = client[i].fd, .events = POLLIN};
		p[n] = (struct pollfd){.fd = listener, .events = POLLIN};
		if (poll(p, n + 1, -1) < 0 && errno != EINTR)
			err = -errno;
		knocks = !err && p[n].revents;
		for (size_t i = n; !err && !fetched && i-- > 0;) {
			if (!p[i].revents || !client_read(&client[i], f, &fetched))
				continue;
			close(client[i].fd);
			memmove(client + i, client + i + 1, (--n - i) * sizeof(*client));
		}
		if (knocks && !fetched)
			client_accept(client, &n, listener);
	}
	while (n)
		close(client[--n].fd);
	free(client);
	if (err)
		log_error("view: cannot wait for requests: %s", strerror(-err));
	return err;
}
