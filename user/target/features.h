/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What this kernel and these privileges allow, found by trying, not by version. Used by record to
 * choose its ways, and by `povtrace check` to explain them.
 */
#ifndef POV_TARGET_FEATURES_H
#define POV_TARGET_FEATURES_H

#include <stdbool.h>

enum image_way { IMAGE_NONE, IMAGE_FENTRY, IMAGE_KPROBE, IMAGE_TREE };

struct features {
	bool root;    /* may load programs and attach probes */
	bool btf;     /* /sys/kernel/btf/vmlinux: the kernel half can be fitted to this kernel */
	bool tracing; /* typed tracepoints (tp_btf) load */
	bool fentry;  /* fentry/fexit programs load and attach */
	bool uprobe_multi;	  /* one link for many probes (6.6) */
	bool uprobe_multi_pid;	  /* the same for one process (6.10) */
	bool perf_uprobe;	  /* uprobes through perf events */
	bool kprobe;		  /* kprobes through perf events */
	bool ringbuf;		  /* BPF ring buffer (5.8) */
	bool cookie;		  /* attach cookies (5.15) */
	bool ma_write;		  /* tracepoint in the tree that holds the mappings (6.1) */
	bool wait;		  /* threads can wait in a uprobe for files to be looked at (6.1) */
	bool switch_state;	  /* sched_switch tells prev_state (5.18) */
	enum image_way image_way; /* how new code mappings of targets are seen */
};

/* Never fails: what cannot be tried is false. Prints nothing. */
void features_probe(struct features *out);

/* Whether programs on uprobes that may sleep can use a map, by descriptor. */
bool features_map_serves(int map);

/*
 * Whether a program can be attached to a place of the kernel: "fentry/FUNCTION", "fexit/FUNCTION" (Linux 5.17, for the value that
 * is returned), "tp_btf/TRACEPOINT", "tracepoint/GROUP/NAME". It is loaded, not attached: that takes the kernel some 10 ms each.
 */
struct kernel_types;
bool features_place(const struct kernel_types *types, const char *place);

#endif
