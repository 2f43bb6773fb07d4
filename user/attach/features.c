/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Tries each kernel feature with the smallest program that needs it. */
#include "attach/features.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

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

static bool try_tracing(const char *function, enum bpf_attach_type attach)
{
	int id = libbpf_find_vmlinux_btf_id(function, attach), fd, link;

	if (id <= 0)
		return false;
	fd = tiny_load(BPF_PROG_TYPE_TRACING, attach, id);
	if (fd < 0)
		return false;
	link = bpf_raw_tracepoint_open(NULL, fd);
	close(fd);
	if (link < 0)
		return false;
	close(link);
	return true;
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

/* Programs that may sleep are told by a flag, which uprobes take since 6.0 (commit 8c7dcb84e3b7). */
static bool try_wait(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "pov_try", "GPL", return_zero, 2, &opts);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool try_kprobe(void)
{
	return !access("/sys/bus/event_source/devices/kprobe/type", R_OK);
}

/* Parameters of a raw tracepoint, its context included; -1 if there is none. */
static int tracepoint_params(const struct btf *btf, const char *name)
{
	const struct btf_type *t;
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);

	if (id < 0)
		return -1;
	t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	if (!t || !btf_is_ptr(t))
		return -1;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? btf_vlen(t) : -1;
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
	struct btf *btf = btf__load_vmlinux_btf();
	int fd;

	memset(out, 0, sizeof(*out));
	fd = tiny_load(BPF_PROG_TYPE_KPROBE, 0, 0);
	out->root = fd >= 0;
	if (fd >= 0)
		close(fd);
	out->btf = btf != NULL;
	if (btf)
		out->switch_state = tracepoint_params(btf, "btf_trace_sched_switch") >= 5;
	btf__free(btf);
	out->ringbuf = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) == 1;
	out->cookie = libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie,
					      NULL) == 1;
	out->ma_write = try_tracing("ma_write", BPF_TRACE_RAW_TP);
	out->tracing = try_tracing("sched_switch", BPF_TRACE_RAW_TP);
	out->fentry = try_tracing(MAP_FUNCTION, BPF_TRACE_FENTRY);
	out->uprobe_multi = try_uprobe_multi();
	out->perf_uprobe = !access("/sys/bus/event_source/devices/uprobe/type", R_OK);
	out->kprobe = try_kprobe();
	out->wait = try_wait();
	if (out->fentry)
		out->image_way = IMAGE_FENTRY;
	else if (out->kprobe)
		out->image_way = IMAGE_KPROBE;
	else if (out->ma_write)
		out->image_way = IMAGE_TREE;
	libbpf_set_print(print);
}
