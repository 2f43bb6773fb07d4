/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What this kernel and these privileges allow. Features are found by trying them, not by version.
 * record uses them to choose its methods, and `povtrace check` explains them.
 */
#ifndef POV_TARGET_FEATURES_H
#define POV_TARGET_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum image_way { IMAGE_NONE, IMAGE_FENTRY, IMAGE_KPROBE, IMAGE_TREE };

struct features {
	bool root; /* we may load programs and attach probes */
	/* /sys/kernel/btf/vmlinux exists: the kernel half can be adapted to this kernel */
	bool btf;
	bool tracing;		  /* typed tracepoints (tp_btf) load */
	bool fentry;		  /* fentry/fexit programs load and attach */
	bool uprobe_multi;	  /* one link for many probes (6.6) */
	bool uprobe_multi_pid;	  /* a multi-probe link for one process works (6.10) */
	bool perf_uprobe;	  /* uprobes through perf events */
	bool kprobe;		  /* kprobes through perf events */
	bool ringbuf;		  /* BPF ring buffer (5.8) */
	bool cookie;		  /* attach cookies (5.15) */
	bool ma_write;		  /* tracepoint in the tree that holds mappings (6.1) */
	bool wait;		  /* threads can wait in a uprobe until files are inspected (6.1) */
	bool switch_state;	  /* sched_switch reports prev_state (5.18) */
	enum image_way image_way; /* how new code mappings of targets are noticed */
};

/* Never fails: features that cannot be tried are false. Prints nothing. */
void features_probe(struct features *out);

/* Returns true if sleepable programs on uprobes can use a map, given by descriptor. */
bool features_map_serves(int map);

/*
 * Returns true if a program can be attached to a place in the kernel: "fentry/FUNCTION",
 * "fexit/FUNCTION" (Linux 5.17, for the return value), "tp_btf/TRACEPOINT" or
 * "tracepoint/GROUP/NAME". A test program is loaded but not attached, because attaching takes some
 * 10 ms.
 */
struct kernel_types;
bool features_place(const struct kernel_types *types, const char *place);

/*
 * Opens a perf event for a trace event of the kernel ("syscalls/sys_enter_read"). A BPF program
 * that is attached to it runs on all CPUs. Returns the descriptor, which the caller closes, or
 * -errno.
 */
int trace_event_open(const char *name);

/*
 * Finds a few kernel types by name, with one pass over the file for each. libbpf builds an index of
 * all types for any lookup and takes ten times as long.
 */
struct btf_header;

#define KERNEL_TYPES_PATH "/sys/kernel/btf/vmlinux"

struct kernel_types {
	const uint8_t *data; /* contents of the file */
	size_t bytes;
	const struct btf_header *header;
};

/* Reads a file in the kernel's type format. 0 or -errno. */
int kernel_types_open(const char *path, struct kernel_types *out);
void kernel_types_close(struct kernel_types *t);
/* Returns the id of the type with this name and kind (BTF_KIND_*), or -ENOENT. */
int kernel_types_find(const struct kernel_types *t, const char *name, unsigned int kind);
/* Returns the number of parameters of the function type that a typedef points to, or -ENOENT. */
int kernel_types_params(const struct kernel_types *t, const char *name);

#endif
