/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Pages by which `povtrace clock` shows running processes how long they have been on a CPU. The
 * kernel half (clock/clock.bpf.c) writes them at each switch. libpov (user/libpov) and the table of
 * `povtrace clock` read them. All times are CLOCK_MONOTONIC nanoseconds; all arithmetic is modulo
 * 2^64.
 *
 * A time that grows while something runs is stored as one sum: the durations of completed stints,
 * minus the start time of each open one. Its current value is that sum plus `now` for each open
 * stint. So a reader also counts the time since the last switch.
 */
#ifndef POV_ABI_CLOCK_H
#define POV_ABI_CLOCK_H

#include "event.h"

#define POV_CLOCK_VERSION 1
#define POV_CLOCK_THREADS 256 /* threads per process with a clock of their own; a power of two */
#define POV_CLOCK_SLOTS 4096  /* processes */
#define POV_CLOCK_COSTS 4096  /* buckets of 1 ns in the histogram of the work at a switch */
#define POV_CLOCK_PROBES 8    /* entries searched for a thread, from its hash position on */

struct pov_clock_thread {
	pov_u64 sum; /* time on a CPU; the thread itself, which runs when it reads this, adds now */
	pov_u64 section_in; /* the process's time in its section when the thread last got a CPU */
	pov_u64 runnable_since; /* start of its wait for a CPU; 0: it does not wait */
	pov_u32 tid;		/* 0: this entry is free */
	pov_u32 cpu;		/* CPU where it runs or last ran */
};

/*
 * A page that only its own process may read. The upper 48 bits of begun and ended count changes of
 * sum, at the start and the end of each change. Members belong together if they were read while
 * `ended` and `begun` were equal and did not change.
 */
struct pov_clock_process {
	pov_u32 version; /* 0: not ready */
	pov_u32 tgid;
	pov_u64 begun;	    /* lowest 16 bits: threads on a CPU */
	pov_u64 ended;	    /* lowest 16 bits: 0 */
	pov_u64 sum;	    /* time on a CPU, summed over all threads */
	pov_u64 alive_ns;   /* the server's last sign of life; 0: it has ended */
	pov_u64 runnable;   /* total time of completed waits for a CPU */
	pov_u64 preempted;  /* times a thread lost its CPU while it was still runnable */
	pov_u64 migrations; /* times a thread resumed on another CPU than before */
	pov_u32 threads;    /* threads alive */
	/* non-zero: the process has a struct pov_clock_section, and its group is known */
	pov_u32 sections;
	pov_u32 group;
	pov_u32 unused[13];
	struct pov_clock_thread thread[POV_CLOCK_THREADS];
};

#define POV_CLOCK_CHANGE (1ull << 16)
#define POV_CLOCK_RUNNING 0xffffull

/*
 * Written by the process itself: the time it has spent in its section, between
 * MPIX_Start_processor_timer and MPIX_Stop_processor_timer (Nigay et al. 2020, 3.4). The upper 63
 * bits hold that time, stored like the other sums of this file. The lowest bit is set while the
 * process is in its section.
 */
struct pov_clock_section {
	pov_u64 word;
};

/* Per CPU: time it ran processes of one group while in their sections, up to the last switch. */
struct pov_clock_core {
	pov_u64 sum;
	pov_u64 unused[7]; /* pads to a cache line */
};

/*
 * A section's time at a given moment. Differences of such times are valid in their lowest 63 bits.
 */
static inline __attribute__((always_inline)) pov_u64 pov_clock_section_at(pov_u64 word, pov_u64 now)
{
	return (word >> 1) + (word & 1 ? now : 0);
}

/* Difference of two such times; 0 if the second is not later. */
static inline __attribute__((always_inline)) pov_u64 pov_clock_section_since(pov_u64 then,
									     pov_u64 now)
{
	pov_u64 ns = (now - then) & ~(1ull << 63);

	return ns >> 62 ? 0 : ns;
}

/* ---- kernel half to server ---- */

/* Work done at a switch: one half, both halves, or a change of thread within one process. */
enum pov_clock_work {
	POV_CLOCK_WORK_SUSPEND,
	POV_CLOCK_WORK_RESUME,
	POV_CLOCK_WORK_BOTH,
	POV_CLOCK_WORK_SAME,
	/* added to the above if there were sections */
	POV_CLOCK_WORK_SECTION,
	POV_CLOCK_WORK_NONE = 2 * POV_CLOCK_WORK_SECTION, /* an empty measurement */
	POV_CLOCK_WORKS
};

enum pov_clock_news_kind { POV_CLOCK_JOINED = 1, POV_CLOCK_LEFT, POV_CLOCK_FULL };

struct pov_clock_news {
	pov_u32 kind;
	pov_u32 slot; /* the process's slot: the number of its pages */
	pov_u32 tgid;
	pov_u32 unused;
};

/* ---- server to kernel half ---- */

#define POV_CLOCK_ORDER_SLOTS 256

struct pov_clock_order {
	pov_u64 alive_ns; /* new value for cnt slots from slot on, at most POV_CLOCK_ORDER_SLOTS */
	pov_u32 slot, cnt;
	pov_u32 group; /* group of slot's process, whose sections count from now on */
	pov_u32 unused;
};

/* ---- the socket: SOCK_SEQPACKET, one request, one answer ---- */

#define POV_CLOCK_MAGIC 0x43564f50u /* "POVC" */

enum pov_clock_wish {
	POV_CLOCK_WISH_CLOCK = 1, /* answered with the struct pov_clock_process */
	/* answered with the struct pov_clock_section and the group's struct pov_clock_core */
	POV_CLOCK_WISH_SECTION = 2,
};

struct pov_clock_request {
	pov_u32 magic, version;
	pov_u32 wish;
};

struct pov_clock_answer {
	pov_u32 magic, version;
	pov_s32 status; /* 0 or -errno */
	pov_u32 cpus;
};

#endif
