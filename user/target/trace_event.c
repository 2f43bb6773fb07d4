/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Events' numbers are told by files of tracefs. Where that is not mounted it is mounted for a moment at no place: nobody else sees it. */
#include "target/trace_event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/log.h"

static int mounted_open(void)
{
	static const char *const events[] = {"/sys/kernel/tracing/events",
					     "/sys/kernel/debug/tracing/events"};
	int fd = -1;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events) && fd < 0; i++)
		fd = open(events[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd;
}

static int unmounted_open(void)
{
	int fs = fsopen("tracefs", FSOPEN_CLOEXEC), root, fd = -1;

	if (fs < 0)
		return -1;
	if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0)) {
		root = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
		if (root >= 0) {
			fd = openat(root, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			close(root);
		}
	}
	close(fs);
	return fd;
}

static int number_read(int events, const char *name)
{
	char *path = xasprintf("%s/id", name), text[16] = "";
	int fd = openat(events, path, O_RDONLY | O_CLOEXEC), number = fd < 0 ? -errno : -ENOENT;

	free(path);
	if (fd < 0)
		return number;
	if (read(fd, text, sizeof(text) - 1) > 0)
		number = atoi(text);
	close(fd);
	return number;
}

int trace_event_number(const char *name)
{
	int events = mounted_open(), number;

	if (events < 0)
		events = unmounted_open();
	if (events < 0)
		return -errno;
	number = number_read(events, name);
	close(events);
	return number;
}

int trace_event_open(const char *name)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr)};
	int number = trace_event_number(name), fd;

	if (number < 0)
		return number;
	attr.config = (uint64_t)number;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
