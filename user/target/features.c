/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Tries each kernel feature with the smallest program that needs it. */
#include "target/features.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/log.h"

#define MAP_FUNCTION "perf_event_mmap"

static const struct bpf_insn return_zero[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
	{.code = BPF_JMP | BPF_EXIT},
};

/* Loads a two-instruction program of a type. Returns a descriptor or -errno. */
static int tiny_load(enum bpf_prog_type type, enum bpf_attach_type attach, int btf_id)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach,
		    .attach_btf_id = btf_id);
	int fd = bpf_prog_load(type, "pov_try", "GPL", return_zero, 2, &opts);

	return fd < 0 ? -errno : fd;
}

/* Closes a descriptor. Returns true if it was valid. */
static bool fd_drop(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* id is the BTF type of the place to attach to. */
static int tracing_load(int id, enum bpf_attach_type attach)
{
	return id < 0 ? id : tiny_load(BPF_PROG_TYPE_TRACING, attach, id);
}

/* Only loads the program: then attaching works, too, and takes the kernel 10 ms. */
static bool try_tracepoint(const struct kernel_types *types, const char *typedef_name)
{
	return fd_drop(tracing_load(kernel_types_find(types, typedef_name, BTF_KIND_TYPEDEF),
				    BPF_TRACE_RAW_TP));
}

/* Also attaches, because kernels of some machines load what they cannot attach. */
static bool try_fentry(const struct kernel_types *types, const char *function)
{
	int fd = tracing_load(kernel_types_find(types, function, BTF_KIND_FUNC), BPF_TRACE_FENTRY);
	bool attached = fd >= 0 && fd_drop(bpf_raw_tracepoint_open(NULL, fd));

	return fd_drop(fd) && attached;
}

/* Kernels that know the link type reject the path; others reject the type. */
static bool try_uprobe_multi(void)
{
	unsigned long offset = 0;
	LIBBPF_OPTS(bpf_link_create_opts, opts, .uprobe_multi.path = "/",
		    .uprobe_multi.offsets = &offset, .uprobe_multi.cnt = 1);
	int fd = tiny_load(BPF_PROG_TYPE_KPROBE, BPF_TRACE_UPROBE_MULTI, 0), link, err;

	if (fd < 0)
		return false;
	link = bpf_link_create(fd, -1, BPF_TRACE_UPROBE_MULTI, &opts);
	err = -errno;
	close(fd);
	if (link >= 0)
		close(link);
	return link < 0 && err == -EBADF;
}

bool features_map_serves(int map)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);
	const struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_DW | BPF_IMM, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map},
		{},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return fd_drop(bpf_prog_load(BPF_PROG_TYPE_KPROBE, "pov_try", "GPL", insns,
				     sizeof(insns) / sizeof(*insns), &opts));
}

/*
 * Checks the version, because a try would need a thread and a probe of our own. Such a link runs
 * the program for only one thread before 46ba0e49b642 ("bpf: fix multi-uprobe PID filtering logic",
 * 6.10; also in some stable kernels).
 */
static bool kernel_is_from(unsigned int major, unsigned int minor)
{
	unsigned int have_major = 0, have_minor = 0;
	struct utsname u;

	return !uname(&u) && sscanf(u.release, "%u.%u", &have_major, &have_minor) == 2 &&
	       (have_major > major || (have_major == major && have_minor >= minor));
}

/*
 * A flag makes programs sleepable; uprobes accept it since 6.0 (commit 8c7dcb84e3b7). Such programs
 * may use maps that grow on demand since 6.1 (commit 02cc5aa29e8c).
 */
static bool try_wait(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "pov_try", 4, 4, 1, &opts);
	bool serves = map >= 0 && features_map_serves(map);

	return fd_drop(map) && serves;
}

/* Finds features that only the kernel's types show. */
static void types_probe(struct features *out)
{
	struct kernel_types types;

	if (kernel_types_open(KERNEL_TYPES_PATH, &types))
		return;
	out->btf = true;
	out->switch_state = kernel_types_params(&types, "btf_trace_sched_switch") >= 5;
	out->tracing = try_tracepoint(&types, "btf_trace_sched_switch");
	out->ma_write = try_tracepoint(&types, "btf_trace_ma_write");
	out->fentry = try_fentry(&types, MAP_FUNCTION);
	kernel_types_close(&types);
}

static int quiet_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

void features_probe(struct features *out)
{
	libbpf_print_fn_t print = libbpf_set_print(quiet_print);

	memset(out, 0, sizeof(*out));
	out->root = fd_drop(tiny_load(BPF_PROG_TYPE_KPROBE, 0, 0));
	types_probe(out);
	out->ringbuf = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) == 1;
	out->cookie = libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie,
					      NULL) == 1;
	out->uprobe_multi = try_uprobe_multi();
	out->uprobe_multi_pid = out->uprobe_multi && kernel_is_from(6, 10);
	out->perf_uprobe = !access("/sys/bus/event_source/devices/uprobe/type", R_OK);
	out->kprobe = !access("/sys/bus/event_source/devices/kprobe/type", R_OK);
	out->wait = try_wait();
	if (out->fentry)
		out->image_way = IMAGE_FENTRY;
	else if (out->kprobe)
		out->image_way = IMAGE_KPROBE;
	else if (out->ma_write)
		out->image_way = IMAGE_TREE;
	libbpf_set_print(print);
}

/* The test program contains the call that reads a function's return value. */
static bool try_function(const struct kernel_types *types, const char *name)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .imm = -8},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_func_ret},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int id = kernel_types_find(types, name, BTF_KIND_FUNC);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FEXIT,
		    .attach_btf_id = id);

	return id >= 0 && fd_drop(bpf_prog_load(BPF_PROG_TYPE_TRACING, "pov_try", "GPL", insns,
						sizeof(insns) / sizeof(*insns), &opts));
}

static bool try_event(const struct kernel_types *types, const char *name)
{
	char *type = xasprintf("btf_trace_%s", name);
	bool can = try_tracepoint(types, type);

	free(type);
	return can;
}

bool features_place(const struct kernel_types *types, const char *place)
{
	const char *name = strchr(place, '/') + 1;
	libbpf_print_fn_t print;
	bool can;

	if (!strncmp(place, "tracepoint/", name - place))
		return trace_event_number(name) >= 0;
	print = libbpf_set_print(quiet_print);
	can = strncmp(place, "tp_btf/", name - place) ? try_function(types, name) :
							try_event(types, name);
	libbpf_set_print(print);
	return can;
}

/* ---- trace events ---- */

/*
 * Reads events' numbers from files in tracefs. If it is not mounted, it is mounted for a moment
 * without a path, so nobody else sees it.
 */

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
