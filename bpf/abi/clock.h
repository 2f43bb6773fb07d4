/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Pages by which `povtrace clock` tells processes how long they have been on a CPU, while they run. The kernel half
 * (clock/clock.bpf.c) writes them at each switch, libpov (user/libpov) and the table of `povtrace clock` read them.
 * All times are ns of CLOCK_MONOTONIC, all arithmetic is modulo 2^64.
 *
 * A time that grows while something runs is kept as one sum: the stints that are over, less the begin of each that is not. At
 * any moment it is the sum, plus now for each stint that is not over. So a reader adds what has passed since the last switch.
 */
#ifndef POV_ABI_CLOCK_H
#define POV_ABI_CLOCK_H

#include "event.h"

#define POV_CLOCK_VERSION 1
#define POV_CLOCK_THREADS 256 /* of one process that have a clock of their own; a power of two */
#define POV_CLOCK_SEATS 4096  /* processes */
#define POV_CLOCK_COSTS 4096  /* ns of work at a switch that are told apart */
#define POV_CLOCK_PROBES 8    /* places to look at for a thread, from its number on */

struct pov_clock_thread {
	pov_u64 sum; /* time on a CPU; the thread itself, which runs when it looks, adds now */
	pov_u64 section_in; /* the process's time in its section when the thread last got a CPU */
	pov_u64 runnable_since; /* 0: it is not waiting for a CPU */
	pov_u32 tid;		/* 0: the place is free */
	pov_u32 cpu;		/* where it runs, or last ran */
};

/*
 * What its own process may read, and nobody else. begun and ended count the changes of sum in their upper 48 bits, at the begin and
 * the end of each: what is read between an `ended` and a `begun` that are equal, and stay so, belongs together.
 */
struct pov_clock_process {
	pov_u32 version; /* 0: not ready */
	pov_u32 tgid;
	pov_u64 begun;	    /* lowest 16 bits: threads on a CPU */
	pov_u64 ended;	    /* lowest 16 bits: 0 */
	pov_u64 sum;	    /* time on a CPU, of all threads together */
	pov_u64 alive_ns;   /* when the server last said that it lives; 0: it has ended */
	pov_u64 runnable;   /* time threads waited for a CPU, of the waits that are over */
	pov_u64 preempted;  /* times a thread lost its CPU though it wanted to go on */
	pov_u64 migrations; /* times a thread got another CPU than it had had */
	pov_u32 threads;    /* alive */
	pov_u32 sections; /* not 0: the process has a struct pov_clock_section, and its group is known */
	pov_u32 group;
	pov_u32 unused[13];
	struct pov_clock_thread thread[POV_CLOCK_THREADS];
};

#define POV_CLOCK_CHANGE (1ull << 16)
#define POV_CLOCK_RUNNING 0xffffull

/*
 * What the process itself writes: time that it has spent in its section (Nigay et al. 2020, 3.4: between MPIX_Start_processor_timer
 * and MPIX_Stop_processor_timer), kept as all sums here, in the upper 63 bits. Lowest bit: it is in there.
 */
struct pov_clock_section {
	pov_u64 word;
};

/* One for each CPU: how long it ran processes of one group that were in their sections, up to the last switch. */
struct pov_clock_core {
	pov_u64 sum;
	pov_u64 unused[7]; /* a cache line of its own */
};

/* The time of a section at a moment. Of differences only the lowest 63 bits are to be used. */
static inline __attribute__((always_inline)) pov_u64 pov_clock_section_at(pov_u64 word, pov_u64 now)
{
	return (word >> 1) + (word & 1 ? now : 0);
}

/* From one such time to a later one; 0 if it is not later. */
static inline __attribute__((always_inline)) pov_u64 pov_clock_section_since(pov_u64 then,
									     pov_u64 now)
{
	pov_u64 ns = (now - then) & ~(1ull << 63);

	return ns >> 62 ? 0 : ns;
}

/* ---- what the kernel half tells the server ---- */

/* What a switch had to do: only one half, both, or to go from one thread to another of the same process. */
enum pov_clock_work {
	POV_CLOCK_WORK_SUSPEND,
	POV_CLOCK_WORK_RESUME,
	POV_CLOCK_WORK_BOTH,
	POV_CLOCK_WORK_SAME,
	POV_CLOCK_WORK_SECTION,				  /* to be added: for sections, too */
	POV_CLOCK_WORK_NONE = 2 * POV_CLOCK_WORK_SECTION, /* a measurement of nothing */
	POV_CLOCK_WORKS
};

enum pov_clock_news_kind { POV_CLOCK_SEATED = 1, POV_CLOCK_LEFT, POV_CLOCK_FULL };

struct pov_clock_news {
	pov_u32 kind;
	pov_u32 seat; /* of the process: the number of its pages */
	pov_u32 tgid;
	pov_u32 unused;
};

/* ---- what the server tells the kernel half ---- */

#define POV_CLOCK_ORDER_SEATS 256

struct pov_clock_order {
	pov_u64 alive_ns; /* for cnt seats from seat on, POV_CLOCK_ORDER_SEATS at most */
	pov_u32 seat, cnt;
	pov_u32 group; /* of the sections of seat's process, which count from now on */
	pov_u32 unused;
};

/* ---- the socket: SOCK_SEQPACKET, a request, an answer ---- */

#define POV_CLOCK_MAGIC 0x43564f50u /* "POVC" */

enum pov_clock_wish {
	POV_CLOCK_WISH_CLOCK = 1, /* answered with the struct pov_clock_process */
	POV_CLOCK_WISH_SECTION =
		2, /* with the struct pov_clock_section and the group's struct pov_clock_core */
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
