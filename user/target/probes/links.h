/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Attaches the entry and return programs to a set of sites of one file: by two uprobe_multi links,
 * or, on kernels without such links, by two perf-event uprobes per site. A site that cannot be
 * probed is marked and left out; the others are attached all the same. The result is a set of
 * descriptors, which one process may make and another hold.
 *
 * Functions that may have to be detached later share links in small groups. To detach one, its
 * group gets a new link without it, and then the old one is closed. Each link costs time when it is
 * made, and far more when a recorder is killed: the kernel closes its links one after the other.
 */
#ifndef POV_TARGET_PROBES_LINKS_H
#define POV_TARGET_PROBES_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A site of a group. */
struct link_member {
	uint32_t site; /* index in the file's list (site_list.h) */
	uint16_t func; /* row of the function table */
};
#define LINK_GROUP 128

/*
 * A uprobe_multi link, or one uprobe as a perf event with a linked program. libbpf's own function
 * is not used, because it reads three files for each: 40 s instead of 2 s for 800 probes on an
 * emulated machine.
 */
struct perf_probe {
	int event_fd; /* -1: a uprobe_multi link */
	int link_fd;
	bool replaced;		    /* a link without some of its functions has been requested */
	uint16_t cnt;		    /* members; 0: none of its functions can be detached */
	struct link_member *member; /* freed when the descriptors are closed */
};

/* Zero-initialised, it is empty. */
struct perf_probes {
	struct perf_probe *v; /* owned; the descriptors are not closed with it */
	uint32_t cnt;
};

/* Numbers with which the kernel identifies uprobes as perf events. */
struct perf_probe_kind {
	uint32_t type;	  /* type of the perf event */
	uint64_t ret_bit; /* bit in the event's config: at return */
};

void perf_probes_add(struct perf_probes *probes, const struct perf_probe *probe);

/*
 * Perf-event uprobes that a finished recording leaves. Their programs do nothing any more; they
 * cost the traced processes little more than the trap. The kernel takes about 0.1 s to remove each
 * one, and nobody should have to wait for that.
 */
struct leftover_probes {
	struct perf_probes probes;
	/* array of rings; emptied first, so that the programs do not keep their memory */
	int rings_fd;
	unsigned int rings; /* number of rings; 0: none */
};

/*
 * Starts a background process that closes all probes, and forgets them here. Call this after
 * releasing the recording's other resources, because the process begins as a copy of this one. It
 * closes all descriptors but those of the probes.
 */
void leftover_probes_close(struct leftover_probes *leftover);

enum link_api { LINK_MULTI, LINK_PERF };

struct link_site {
	uint64_t offset; /* file offset */
	uint64_t cookie;
	uint32_t index; /* in the file's list */
	bool removable; /* its function may have to be detached */
	/* its return instructions have sites, too, for processes that unwind the stack */
	bool has_returns;
	bool failed; /* set by links_attach */
};

struct links {
	struct perf_probes entry, ret;
	/* > 0: a file of struct pov_hook, for functions that processes redirect by a jump */
	int hooks_fd;
};

struct link_programs {
	int entry_fd, ret_fd; /* ret_fd -1: no return program */
	enum link_api api;
	pid_t pid; /* the process that gets the probes; 0: all processes */
};

/*
 * Attaches sites. path is the file, possibly as /proc/PID/map_files/…; it is needed only during the
 * call. Sites must have different offsets; they are sorted. Returns the number of sites attached.
 * If some failed, *err is the errno of the last failure; ESRCH: the process has ended.
 */
size_t links_attach(struct links *links, const struct link_programs *programs, const char *path,
		    struct link_site *sites, size_t cnt, int *err);
/* Moves all probes of `from` to `to`, and hooks_fd if `to` has none. */
void links_move(struct links *to, struct links *from);
/*
 * Detaches these probes in a thread, which then subtracts 1 from *exchanges unless it is NULL, and
 * forgets them. Returns at once.
 */
void probes_close_behind(struct perf_probes *probes, uint64_t *exchanges);
/* Moves the probes for which wanted returns true to `to`. */
void probes_take(struct perf_probes *from, struct perf_probes *to,
		 bool (*wanted)(const struct perf_probe *probe, const void *ctx), const void *ctx);
/*
 * Detaches and forgets all probes, entries first. Slow with many perf-event uprobes, because the
 * kernel waits for each.
 */
void links_release(struct links *links);
/* Does the same in a thread, and returns at once. Perf-event uprobes move to leftover. */
void links_release_behind(struct links *links, struct leftover_probes *leftover);
/* Returns when the last of these threads ended, or UINT64_MAX while one is running. */
uint64_t links_closed_ns(void);
/*
 * Waits for all threads that detach probes: otherwise the kernel would close the remaining links
 * one by one when this process ends.
 */
void links_wait(void);
/*
 * Detaches several sets at once, in any order; their programs no longer do anything. The kernel
 * waits for RCU with each uprobe_multi link, so these are closed in parallel. Perf-event uprobes
 * move to leftover.
 */
void links_leave(struct links *const *links, size_t cnt, struct leftover_probes *leftover);

#endif
