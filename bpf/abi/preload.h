/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Between the collector and the library that is preloaded into launched programs (user/preload/), which records their MPI calls
 * without a probe: what is asked and answered over a Unix socket, and the memory that both have. Nothing in a thread's area can be
 * trusted by the collector; the setup cannot be written to but by the collector.
 */
#ifndef POV_ABI_PRELOAD_H
#define POV_ABI_PRELOAD_H

#include "config.h"
#include "thread.h"

#define POV_PRELOAD_ENV "POVTRACE_PRELOAD" /* the socket's path, for launched programs */
#define POV_PRELOAD_MAGIC 0x706f7672u
#define POV_PRELOAD_VERSION 5
#define POV_PRELOAD_RING_BYTES (4u << 20) /* a power of two, and of whole pages */

enum pov_preload_wish {
	/* An area for a thread. Answered with descriptors of the setup and of the area. */
	POV_PRELOAD_AREA = 1,
	/* It has it at `address`: what is written there counts. On the same connection. */
	POV_PRELOAD_READY = 2,
	/* The process opens a library that may call MPI past this one, from now on unseen. */
	POV_PRELOAD_BYPASSED = 3,
};

struct pov_preload_request {
	pov_u32 magic;
	pov_u16 version;
	pov_u16 wish;	 /* enum pov_preload_wish */
	pov_u32 tid;	 /* as the thread sees it */
	pov_u32 rows;	 /* functions that the library knows */
	pov_u64 address; /* AREA: of a function of the MPI library; READY: of the area */
};
POV_ABI_SIZE(pov_preload_request, 24);

struct pov_preload_answer {
	pov_u32 magic;
	pov_s32 status; /* 0, or -errno: -EAGAIN: ask again later; others are final */
	pov_u16 version;
	pov_u16 lib; /* the MPI library's number */
	pov_u32 pad;
	pov_u64 setup_bytes;
};
POV_ABI_SIZE(pov_preload_answer, 24);

/* Written by the collector only, read by all. */
struct pov_preload_setup {
	pov_u64 calls_until;  /* as the kernel half's: what begins later is not recorded */
	pov_u64 collector_ns; /* when the collector last said that it lives; 0: it has ended */
	pov_u64 spin_gap_ns;
	/* ns a cycle of the CPU's counter, with CYCLES_RATE_BITS (base/cycles.h) behind the point; 0: not known, or not to be used */
	pov_u64 cycle_rate;
	pov_u32 first_row; /* of the functions that the library knows, in the recording's table */
	pov_u32 rows;
	struct pov_lib lib[POV_LIB_NUMBERS];
	struct pov_fn fn[]; /* recipes, from first_row on */
};

/*
 * A thread's. Behind it, from POV_PRELOAD_AREA_BYTES on, its ring: records one behind the other, byte n at n modulo the ring's size
 * (both sides map it twice, one behind the other, so that every record is in one piece).
 */
struct pov_preload_area {
	pov_u64 head; /* bytes written so far; the thread's */
	pov_u64 pad0[7];
	pov_u64 tail; /* bytes taken so far; the collector's */
	pov_u64 pad1[7];
	/* The thread's, growing. */
	pov_u64 lost[POV_CLASS_CNT];
	pov_u64 no_area; /* of these, calls of other threads of the process, which could get none */
	pov_u64 miss[POV_MISS_CNT];
	pov_u64 folded;
	pov_u64 waits_ns; /* for room in the ring */
	pov_u64 cost_ps; /* what recording adds to a call, as the thread has measured it; 0: it has not */
	pov_u64 counted_ps; /* the same of calls that are counted only */
	struct pov_thread state;
};
#define POV_PRELOAD_AREA_BYTES 16384
#define POV_PRELOAD_THREADS_MAX 65536

/* What the kernel half knows of a thread that has one. */
struct pov_preloaded {
	pov_u64 address; /* of its area, in its process */
	pov_u64 announced_ns; /* begin of the innermost call that a struct pov_call_begin has been written of */
};
_Static_assert(sizeof(struct pov_preload_area) <= POV_PRELOAD_AREA_BYTES, "room for it");

#endif
