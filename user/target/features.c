/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Tries each kernel feature with the smallest program that needs it. */
#include "target/features.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "target/kernel_types.h"
#include "target/trace_event.h"
#include "lib/log.h"

#define MAP_FUNCTION "perf_event_mmap"

static const struct bpf_insn return_zero[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
	{.code = BPF_JMP | BPF_EXIT},
};

/* A two-instruction program of a type; fd or -errno. */
static int tiny_load(enum bpf_prog_type type, enum bpf_attach_type attach, int btf_id)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach,
		    .attach_btf_id = btf_id);
	int fd = bpf_prog_load(type, "pov_try", "GPL", return_zero, 2, &opts);

	return fd < 0 ? -errno : fd;
}

/* Whether a descriptor was to be had, which is all that is wanted of it. */
static bool had(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* id: of the type by which the kernel knows the place to attach to */
static int tracing_load(int id, enum bpf_attach_type attach)
{
	return id < 0 ? id : tiny_load(BPF_PROG_TYPE_TRACING, attach, id);
}

/* A program that loads can be attached to a tracepoint; trying takes the kernel 10 ms. */
static bool try_tracepoint(const struct kernel_types *types, const char *typedef_name)
{
	return had(tracing_load(kernel_types_find(types, typedef_name, BTF_KIND_TYPEDEF),
				BPF_TRACE_RAW_TP));
}

/* Some machines' kernels load what they cannot attach. */
static bool try_fentry(const struct kernel_types *types, const char *function)
{
	int fd = tracing_load(kernel_types_find(types, function, BTF_KIND_FUNC), BPF_TRACE_FENTRY);
	bool attached = fd >= 0 && had(bpf_raw_tracepoint_open(NULL, fd));

	return had(fd) && attached;
}

/* The kernel that knows the link type objects to the path, the other to the type. */
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

	return had(bpf_prog_load(BPF_PROG_TYPE_KPROBE, "pov_try", "GPL", insns,
				 sizeof(insns) / sizeof(*insns), &opts));
}

/*
 * By version, for to try it would take a thread and a probe of our own: such a link runs the program for one thread only, until 46ba0e49b642
 * ("bpf: fix multi-uprobe PID filtering logic", 6.10; some stable kernels have it, too).
 */
static bool kernel_is_from(unsigned int major, unsigned int minor)
{
	unsigned int have_major = 0, have_minor = 0;
	struct utsname u;

	return !uname(&u) && sscanf(u.release, "%u.%u", &have_major, &have_minor) == 2 &&
	       (have_major > major || (have_major == major && have_minor >= minor));
}

/*
 * Programs that may sleep are told by a flag, which uprobes take since 6.0 (commit 8c7dcb84e3b7); they may use maps that
 * grow on demand since 6.1 (commit 02cc5aa29e8c).
 */
static bool try_wait(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "pov_try", 4, 4, 1, &opts);
	bool serves = map >= 0 && features_map_serves(map);

	return had(map) && serves;
}

/* What can be told only from the kernel's types. */
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
	out->root = had(tiny_load(BPF_PROG_TYPE_KPROBE, 0, 0));
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

/* With what a program asks for a function's return value by. */
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

	return id >= 0 && had(bpf_prog_load(BPF_PROG_TYPE_TRACING, "pov_try", "GPL", insns,
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
