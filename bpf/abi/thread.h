/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * State the kernel half keeps per thread that calls traced functions: calls in flight and the spin under
 * way. In the ABI because the collector reads it at the end, so that open calls are not lost.
 */
#ifndef POV_ABI_THREAD_H
#define POV_ABI_THREAD_H

#include "event.h"

/* Fixed part, all arguments, all fields, and room for the last field's copy to run over. */
#define POV_FRAME_FULL (56 + 8 * POV_CALL_ARGS_MAX + POV_CALL_FIELD_BYTES)
#define POV_FRAME_BYTES (POV_FRAME_FULL + POV_CALL_FIELD_BYTES + 8)

/* A call in flight; rec holds its struct pov_call as far as it is known, hdr.ts_ns = its begin. */
struct pov_frame {
	pov_u64 sp;	  /* stack pointer at entry */
	pov_u32 used;	  /* bytes of rec that are filled */
	pov_u16 folded;	  /* wrapper entries of the same call within it, not yet returned */
	pov_u8 announced; /* its pov_call_begin has been written */
	pov_u8 pad;
	pov_u8 rec[POV_FRAME_BYTES] __attribute__((aligned(8)));
};

#define POV_SPIN_BYTES (40 + 32 * POV_SPIN_FUNCS_MAX)

/* Sizes of the datatypes the thread used last, so that not every call reads the library's object. */
#define POV_TYPES_KEPT 4
struct pov_type {
	pov_u64 handle; /* 0 = free slot */
	pov_u64 bytes;
	pov_u64 generation; /* of all datatypes when it was read; another one means stale */
};

/* Who tells what a thread has open: its own end, or the end of the recording, whichever comes first. */
enum pov_thread_closed {
	POV_THREAD_LIVE = 0,
	POV_THREAD_ENDED = 1,
	POV_THREAD_DUMPED = 2,
};

struct pov_thread {
	pov_u32 tid, tgid; /* tid 0: not set up yet */
	pov_u32 depth;	   /* frames in use */
	pov_u32 emitted;   /* records written, to look at the ring's filling only now and then */
	pov_u32 closed;	   /* enum pov_thread_closed */
	pov_u32 spin_busy; /* spin is being changed: not to be touched by a switch in between */
	struct pov_type type[POV_TYPES_KEPT];
	/* struct pov_spin under way; hdr.ts_ns = last return; nfuncs == 0: none */
	pov_u8 spin[POV_SPIN_BYTES] __attribute__((aligned(8)));
	/* scratch for a struct pov_more */
	pov_u8 more[32 + POV_MORE_BYTES] __attribute__((aligned(8)));
	struct pov_frame frame[POV_CALL_DEPTH_MAX];
};
_Static_assert(sizeof(struct pov_thread) < 4096, "fits the kernel's small allocator");

#endif
