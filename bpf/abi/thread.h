/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * State the kernel half keeps per thread that calls traced functions: calls in flight and the spins under
 * way. In the ABI because the collector reads it at the end, so that open calls are not lost.
 */
#ifndef POV_ABI_THREAD_H
#define POV_ABI_THREAD_H

#include "config.h"
#include "event.h"

/* Fixed part, all arguments, all fields. */
#define POV_FRAME_FULL (56 + 8 * POV_CALL_ARGS_MAX + POV_CALL_FIELD_BYTES)

#define POV_COUNTED_UNSIZED (~0ull)

/* A call in flight; rec holds its struct pov_call as far as it is known, hdr.ts_ns = its begin. */
struct pov_frame {
	pov_u64 sp; /* stack pointer at entry (frame.bpf.h) */
	pov_u64 ret; /* the return address, which lies there; 0: not known, or the kernel has put its own in its place */
	pov_u32 used;	  /* bytes of rec that are filled */
	pov_u16 folded;	  /* wrapper entries of the same call within it, not yet returned */
	pov_u8 announced; /* its pov_call_begin has been written */
	pov_u8 counted;	  /* it is to be counted, and leaves no record */
	pov_u64 bytes;	  /* counted: what it moves, or POV_COUNTED_UNSIZED */
	pov_u8 rec[POV_FRAME_FULL] __attribute__((aligned(8)));
};

/*
 * The spin under way at one depth. While the polls of an inner layer are merged, those of the outer one that make them
 * are, too; should an outer one find something, what was polled within it is a spin of its own. So it is kept how far the
 * spin had come when the enclosing call began.
 */
struct pov_spin_mark {
	pov_u64 begin_ns; /* of the first poll within the enclosing call; 0: the spin began in it, or has none there */
	pov_u64 end_ns; /* of the last poll before that */
	pov_u64 cnt[POV_SPIN_FUNCS_MAX], busy_ns[POV_SPIN_FUNCS_MAX]; /* up to there */
};

#define POV_SPIN_BYTES (40 + 32 * POV_SPIN_FUNCS_MAX)
struct pov_spin_open {
	/* struct pov_spin; hdr.ts_ns = last return; nfuncs == 0: none */
	pov_u8 rec[POV_SPIN_BYTES] __attribute__((aligned(8)));
	struct pov_spin_mark mark;
};

/* Sizes of the datatypes the thread used last, so that not every call reads the library's object. */
#define POV_TYPES_KEPT 4
struct pov_type {
	pov_u64 handle; /* 0 = free slot */
	pov_u64 bytes;
	pov_u64 generation; /* of all datatypes when it was read; another one means stale */
};

/* Calls that were counted and not yet told. */
#define POV_COUNTING_MAX 16 /* functions at once */
struct pov_counting {
	pov_u64 begin_ns, end_ns; /* of the first one, of the last one */
	pov_u64 calls;		  /* 0: free, and so are all behind it */
	pov_u64 busy_ns;
	pov_u64 bytes, sized; /* as of struct pov_counted */
	pov_u16 func;
	pov_u16 lib;
	pov_u32 nested; /* POV_COUNTED_NESTED or 0 */
};
#define POV_COUNTING_NS \
	10000000ull /* they are told when they are so old, with the thread's next call */

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
	pov_u16 spin_busy; /* a spin is being changed: not to be touched by a switch in between */
	pov_u16 spinning;  /* bit d: there is a spin at depth d */
	pov_u32 told;	   /* the collector knows that the thread's program makes traced calls */
	pov_u32 pad;
	pov_u64 regs; /* where on its stack in the kernel probes find its registers; 0: not known */
	pov_u64 task; /* its struct task_struct */
	pov_u64 bindings_seen; /* how often those of any process had changed when these were read */
	struct pov_bindings bindings; /* of its process; the kernel half's */
	struct pov_type type[POV_TYPES_KEPT];
	struct pov_spin_open spin[POV_CALL_DEPTH_MAX];
	pov_u64 counting_ns; /* when the oldest of these began; 0: there are none */
	struct pov_counting counting[POV_COUNTING_MAX];
	/* scratch for a struct pov_more */
	pov_u8 more[32 + POV_MORE_BYTES] __attribute__((aligned(8)));
	struct pov_frame frame[POV_CALL_DEPTH_MAX];
	/* A copy into the last field of the innermost call may run over its frame: what lies behind is not in use. */
	pov_u8 behind[POV_CALL_FIELD_BYTES + 8];
};
/* Registers of a thread's program while it is not on a CPU, numbered as DWARF does on x86-64. */
struct pov_regs {
	pov_u32 tid, tgid;
	pov_u64 pc;
	pov_u64 reg[16];
};

_Static_assert(sizeof(struct pov_thread) < 8000, "one piece of the kernel's allocator");

#endif
