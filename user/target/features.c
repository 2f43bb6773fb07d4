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
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/log.h"

/* ---- the kernel's types ---- */

/*
 * The file has a header, the types one after another, and the strings (Documentation/bpf/btf.rst).
 * Each string exists once, so names are compared by their offset.
 */

/* Kinds that the oldest supported headers do not have. */
#define KIND_DECL_TAG 17
#define KIND_ENUM64 19

/* Reads in a loop, because the kernel returns the file in small pieces of 4 KiB. */
static int file_read(int fd, struct kernel_types *out)
{
	size_t have = 0;
	ssize_t n;

	out->data = mmap(NULL, out->bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (out->data == MAP_FAILED)
		return -ENOMEM;
	while (have < out->bytes) {
		n = read(fd, (uint8_t *)out->data + have, out->bytes - have);
		if (n <= 0)
			return n ? -errno : -EINVAL;
		have += n;
	}
	return 0;
}

/* Maps the file if the kernel allows it (Linux 6.16), else reads it. */
static int file_get(const char *path, struct kernel_types *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		err = -errno;
	} else {
		out->bytes = st.st_size;
		out->data = mmap(NULL, out->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (out->data == MAP_FAILED)
			err = file_read(fd, out);
	}
	close(fd);
	return err;
}

static bool section_fits(const struct kernel_types *t, uint32_t off, uint32_t len)
{
	return (uint64_t)t->header->hdr_len + off + len <= t->bytes;
}

int kernel_types_open(const char *path, struct kernel_types *out)
{
	const struct btf_header *h;
	int err;

	*out = (struct kernel_types){.data = MAP_FAILED};
	err = file_get(path, out);
	if (err)
		goto fail;
	h = out->header = (const struct btf_header *)out->data;
	err = -EINVAL;
	if (out->bytes < sizeof(*h) || h->magic != BTF_MAGIC || h->hdr_len % 4 || h->type_off % 4 ||
	    !section_fits(out, h->type_off, h->type_len) ||
	    !section_fits(out, h->str_off, h->str_len))
		goto fail;
	return 0;
fail:
	kernel_types_close(out);
	return err;
}

void kernel_types_close(struct kernel_types *t)
{
	if (t->data != MAP_FAILED)
		munmap((void *)t->data, t->bytes);
}

/* Returns the size of a type with its extra data and members. 0: unknown kind. */
static size_t type_bytes(const struct btf_type *type)
{
	static const struct {
		uint8_t fixed, member;
	} bytes[] = {
		[BTF_KIND_INT] = {4, 0},
		[BTF_KIND_ARRAY] = {sizeof(struct btf_array), 0},
		[BTF_KIND_STRUCT] = {0, sizeof(struct btf_member)},
		[BTF_KIND_UNION] = {0, sizeof(struct btf_member)},
		[BTF_KIND_ENUM] = {0, sizeof(struct btf_enum)},
		[BTF_KIND_FUNC_PROTO] = {0, sizeof(struct btf_param)},
		[BTF_KIND_VAR] = {4, 0},
		[BTF_KIND_DATASEC] = {0, sizeof(struct btf_var_secinfo)},
		[KIND_DECL_TAG] = {4, 0},
		[KIND_ENUM64] = {0, 12},
	};
	unsigned int kind = BTF_INFO_KIND(type->info);

	if (kind >= sizeof(bytes) / sizeof(*bytes))
		return 0;
	return sizeof(*type) + bytes[kind].fixed + bytes[kind].member * BTF_INFO_VLEN(type->info);
}

/*
 * Returns the first type with this name and kind and sets *id. name 0: returns the type *id. NULL:
 * none.
 */
static const struct btf_type *type_scan(const struct kernel_types *t, uint32_t name,
					unsigned int kind, uint32_t *id)
{
	const uint8_t *at = t->data + t->header->hdr_len + t->header->type_off;
	const uint8_t *end = at + t->header->type_len;
	const struct btf_type *type;
	size_t n;

	for (uint32_t i = 1; (size_t)(end - at) >= sizeof(*type); i++, at += n) {
		type = (const struct btf_type *)at;
		n = type_bytes(type);
		if (!n || n > (size_t)(end - at))
			return NULL;
		if (name ? type->name_off == name && BTF_INFO_KIND(type->info) == kind : i == *id) {
			*id = i;
			return type;
		}
	}
	return NULL;
}

static const struct btf_type *type_find(const struct kernel_types *t, const char *name,
					unsigned int kind, uint32_t *id)
{
	const uint8_t *strings = t->data + t->header->hdr_len + t->header->str_off, *at;
	size_t len = strlen(name) + 2;
	char *key;

	if (!*name)
		return NULL;
	key = xasprintf("%c%s", 1, name);
	key[0] = '\0';
	at = memmem(strings, t->header->str_len, key, len);
	free(key);
	return at ? type_scan(t, at + 1 - strings, kind, id) : NULL;
}

int kernel_types_find(const struct kernel_types *t, const char *name, unsigned int kind)
{
	uint32_t id;

	return type_find(t, name, kind, &id) ? (int)id : -ENOENT;
}

/* Returns the type that another one refers to, if it has this kind. NULL passes through. */
static const struct btf_type *type_referred(const struct kernel_types *t,
					    const struct btf_type *from, unsigned int kind)
{
	uint32_t id = from ? from->type : 0;
	const struct btf_type *type = type_scan(t, 0, 0, &id);

	return type && BTF_INFO_KIND(type->info) == kind ? type : NULL;
}

int kernel_types_params(const struct kernel_types *t, const char *name)
{
	uint32_t id;
	const struct btf_type *type = type_find(t, name, BTF_KIND_TYPEDEF, &id);

	type = type_referred(t, type, BTF_KIND_PTR);
	type = type_referred(t, type, BTF_KIND_FUNC_PROTO);
	return type ? (int)BTF_INFO_VLEN(type->info) : -ENOENT;
}

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

/* Only loads the program: attaching one that loads works, too, but takes the kernel 10 ms. */
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
 * Checks the version, because a test would need a thread and a probe of our own. A multi-uprobe
 * link for one process runs its program for only one thread before 46ba0e49b642 ("bpf: fix
 * multi-uprobe PID filtering logic", 6.10; also in some stable kernels).
 */
static bool kernel_is_from(unsigned int major, unsigned int minor)
{
	unsigned int have_major = 0, have_minor = 0;
	struct utsname u;

	return !uname(&u) && sscanf(u.release, "%u.%u", &have_major, &have_minor) == 2 &&
	       (have_major > major || (have_major == major && have_minor >= minor));
}

/*
 * Tests whether programs of uprobes may sleep (since 6.0, commit 8c7dcb84e3b7) and may then use
 * maps that grow on demand (since 6.1, commit 02cc5aa29e8c).
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

/* ---- trace events ---- */

/*
 * Reads events' numbers from files in tracefs. If tracefs is not mounted, mounts it for a moment
 * without a path (fsmount), so that no other process sees it.
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

/*
 * Returns the number of a kernel's trace event ("syscalls/sys_enter_read"), whether or not tracefs
 * is mounted here. Or -errno; -ENOENT: the kernel has no such event.
 */
static int trace_event_number(const char *name)
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
