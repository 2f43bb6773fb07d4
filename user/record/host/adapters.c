/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * RDMA adapters, as the kernel shows them in files of a line each. Without them calls say where they post to, but not
 * what the others call the port that they post from.
 */
#include "record/host/adapters.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/json_get.h"

/* The first line of a file below a directory, "" if there is none. */
static void line_read(int dir, const char *path, char *out, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, size - 1);

	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

/* Entries of a directory but hidden ones; NULL if it cannot be read. */
static DIR *dir_open(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

static const char *dir_next(DIR *d)
{
	struct dirent *e;

	do
		e = readdir(d);
	while (e && *e->d_name == '.');
	return e ? e->d_name : NULL;
}

/* Of a port's table of global identifiers those that are in use. */
static json_t *gids_describe(int port)
{
	json_t *gids = json_array();
	DIR *d = dir_open(port, "gids");
	const char *name;
	char gid[64];

	while (d && (name = dir_next(d))) {
		line_read(dirfd(d), name, gid, sizeof(gid));
		if (strspn(gid, "0:") == strlen(gid) ||
		    !strncmp(gid, "fe80:0000:0000:0000:0000:0000:0000:0000", 39))
			continue;
		json_array_append_new(gids,
				      json_pack("{s:i,s:s}", "index", atoi(name), "gid", gid));
	}
	if (d)
		closedir(d);
	return gids;
}

static json_t *port_describe(int port, const char *number)
{
	char link[32], lid[16];

	line_read(port, "link_layer", link, sizeof(link));
	line_read(port, "lid", lid, sizeof(lid));
	return json_pack("{s:i,s:s,s:i,s:o}", "port", atoi(number), "link", link, "lid",
			 (int)strtol(lid, NULL, 0), "gids", gids_describe(port));
}

static json_t *ports_describe(int device)
{
	json_t *ports = json_array();
	DIR *d = dir_open(device, "ports");
	const char *name;
	int port;

	while (d && (name = dir_next(d))) {
		port = openat(dirfd(d), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (port < 0)
			continue;
		json_array_append_new(ports, port_describe(port, name));
		close(port);
	}
	if (d)
		closedir(d);
	return ports;
}

json_t *adapters_describe(const char *root)
{
	DIR *d = dir_open(AT_FDCWD, root);
	json_t *devices = json_array();
	const char *name;
	int device;

	while (d && (name = dir_next(d))) {
		device = openat(dirfd(d), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (device < 0)
			continue;
		json_array_append_new(devices, json_pack("{s:o,s:o}", "name", json_text(name),
							 "ports", ports_describe(device)));
		close(device);
	}
	if (d)
		closedir(d);
	if (!json_array_size(devices)) {
		json_decref(devices);
		return NULL;
	}
	return json_pack("{s:s,s:o}", "type", "adapters", "devices", devices);
}
