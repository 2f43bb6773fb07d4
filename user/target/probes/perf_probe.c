/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The event is opened disabled: programs run all the same (uprobe_perf_func), and perf itself does nothing. What sysfs says is read once, not for each of hundreds of probes.
 */
#include "target/probes/perf_probe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/log.h"

#define UPROBE_DIR "/sys/bus/event_source/devices/uprobe/"

static int number_read(const char *path, const char *format, unsigned int *out)
{
	FILE *f = fopen(path, "re");
	int err = 0;

	if (!f)
		return -errno;
	if (fscanf(f, format, out) != 1)
		err = -EINVAL;
	fclose(f);
	return err;
}

int perf_probe_kind_read(struct perf_probe_kind *out)
{
	unsigned int type, bit;
	int err;

	err = number_read(UPROBE_DIR "type", "%u", &type);
	if (!err)
		err = number_read(UPROBE_DIR "format/retprobe", "config:%u", &bit);
	if (err)
		return err;
	*out = (struct perf_probe_kind){.type = type, .ret_bit = 1ull << (bit & 63)};
	return 0;
}

/*
 * An event of a process filters by its memory (__uprobe_perf_filter), so the program runs for all threads on all CPUs. The CPU
 * only limits where the scheduler meets the event, which stays disabled.
 */
int perf_probe_attach(const struct perf_probe_kind *kind, int prog_fd, bool ret, pid_t pid,
		      const char *path, uint64_t offset, uint64_t cookie, struct perf_probe *out)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = kind->type,
		.config = ret ? kind->ret_bit : 0,
		.uprobe_path = (uintptr_t)path,
		.probe_offset = offset,
		.disabled = 1,
	};
	int event_fd, link_fd, err;

	event_fd = syscall(SYS_perf_event_open, &attr, pid ?: -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event_fd < 0)
		return -errno;
	link_fd = bpf_link_create(prog_fd, event_fd, BPF_PERF_EVENT, &opts);
	if (link_fd < 0) {
		err = -errno;
		close(event_fd);
		return err;
	}
	*out = (struct perf_probe){.event_fd = event_fd, .link_fd = link_fd};
	return 0;
}

void perf_probe_close(const struct perf_probe *probe)
{
	close(probe->link_fd);
	if (probe->event_fd >= 0)
		close(probe->event_fd);
}

void perf_probes_add(struct perf_probes *probes, const struct perf_probe *probe)
{
	if (probes->cnt == probes->cap) {
		probes->cap = probes->cap ? 2 * probes->cap : 16;
		probes->v = xrealloc(probes->v, probes->cap * sizeof(*probes->v));
	}
	probes->v[probes->cnt++] = *probe;
}
