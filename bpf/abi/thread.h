/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * State that the kernel half keeps for each thread that calls traced functions: its calls and spins
 * in flight. It is part of the ABI because the collector reads it at the end, so that open calls
 * are not lost.
 */
#ifndef POV_ABI_THREAD_H
#define POV_ABI_THREAD_H

#include "config.h"
#include "event.h"

/* The fixed part, all arguments and all fields. */
#define POV_FRAME_FULL (56 + 8 * POV_CALL_ARGS_MAX + POV_CALL_FIELD_BYTES)

#define POV_COUNTED_UNSIZED (~0ull)

/* A call in flight. rec holds its struct pov_call as far as it is known; hdr.ts_ns = its start. */
struct pov_frame {
	pov_u64 sp; /* stack pointer at entry (frame.bpf.h) */
	/* return address stored at sp; 0: unknown, or replaced by the kernel's return trampoline */
	pov_u64 ret;
	pov_u32 used;	  /* bytes of rec that are filled */
	pov_u16 folded;	  /* entries by a wrapper of the same call that have not returned yet */
	pov_u8 announced; /* its pov_call_begin has been written */
	pov_u8 counted;	  /* the call is counted and leaves no record */
	pov_u64 bytes;	  /* counted: bytes it moves, or POV_COUNTED_UNSIZED */
	pov_u8 rec[POV_FRAME_FULL] __attribute__((aligned(8)));
};

/*
 * Progress of the spin in flight at one depth when the enclosing call began. Polls of an inner
 * layer are merged, and so are the polls of the outer layer that make them. If an outer poll then
 * finds something, the polls within it become a spin of their own. This mark tells where to split.
 */
struct pov_spin_mark {
	/* first poll within the enclosing call; 0: the whole spin is in that call, or none of it */
	pov_u64 begin_ns;
	pov_u64 end_ns;			     /* end of the last poll before begin_ns */
	pov_u64 cnt[POV_SPIN_FUNCS_MAX];     /* polls up to end_ns, by function */
	pov_u64 busy_ns[POV_SPIN_FUNCS_MAX]; /* their durations, by function */
};

#define POV_SPIN_BYTES (40 + 32 * POV_SPIN_FUNCS_MAX)
struct pov_spin_open {
	/* struct pov_spin; hdr.ts_ns = last return; nfuncs == 0: no spin */
	pov_u8 rec[POV_SPIN_BYTES] __attribute__((aligned(8)));
	struct pov_spin_mark mark;
};

/* Sizes of the datatypes that the thread used last, which saves most reads of library objects. */
#define POV_TYPES_KEPT 4
struct pov_type {
	pov_u64 handle; /* 0 = free slot */
	pov_u64 bytes;
	/* type_generation_of(handle) when the size was read; if that differs, it is stale */
	pov_u64 generation;
};

/* Calls that were counted and not yet reported. */
#define POV_COUNTING_MAX 16 /* functions at once */
struct pov_counting {
	pov_u64 begin_ns; /* begin of the first call */
	pov_u64 end_ns;	  /* end of the last call */
	pov_u64 calls;	  /* 0: this entry and all later ones are free */
	pov_u64 busy_ns;
	pov_u64 bytes, sized; /* see struct pov_counted */
	pov_u16 func;
	pov_u16 lib;
	pov_u32 nested; /* POV_COUNTED_NESTED or 0 */
};
/* The thread's next call reports counts older than this. */
#define POV_COUNTING_NS 10000000ull

/* Event that has ended the thread's open calls: its end or the recording's, whichever is first. */
enum pov_thread_closed {
	POV_THREAD_LIVE = 0,
	POV_THREAD_ENDED = 1,
	POV_THREAD_DUMPED = 2,
};

struct pov_thread {
	pov_u32 tid, tgid; /* tid 0: not set up yet */
	pov_u32 depth;	   /* frames in use */
	/*
	 * Function and begin of the call in frame 0, next to depth: a switch reads all three at
	 * once from a thread that records its own calls. Set by the preloaded library only.
	 */
	pov_u32 outer_func;
	pov_u64 outer_begin_ns;
	pov_u32 emitted;   /* records written; the ring's fill level is checked every few of them */
	pov_u32 closed;	   /* enum pov_thread_closed */
	pov_u16 spin_busy; /* a spin is being changed: a switch in between must not touch it */
	pov_u16 spinning;  /* bit d: there is a spin at depth d */
	pov_u32 announced; /* the collector knows that the thread's program makes traced calls */
	pov_u32 hit_period; /* upper half of `exchanges` at the last hit */
	pov_u64 hit;	    /* the last entry or return seen then (call.bpf.c); 0: seen twice */
	pov_u64 regs; /* address on its kernel stack where probes find its registers; 0: unknown */
	pov_u64 task; /* its struct task_struct */
	pov_u64 bindings_seen;	      /* bindings_changes when `bindings` was copied */
	struct pov_bindings bindings; /* the process's; used by the kernel half only */
	struct pov_type type[POV_TYPES_KEPT];
	struct pov_spin_open spin[POV_CALL_DEPTH_MAX];
	pov_u64 counting_ns; /* begin of the oldest call in `counting`; 0: there is none */
	struct pov_counting counting[POV_COUNTING_MAX];
	/* scratch space for a struct pov_more */
	pov_u8 more[32 + POV_MORE_BYTES] __attribute__((aligned(8)));
	struct pov_frame frame[POV_CALL_DEPTH_MAX];
	/* unused room: a copy into the last field of the innermost frame may run past that frame */
	pov_u8 behind[POV_CALL_FIELD_BYTES + 8];
};
/* User registers of a thread, numbered as in DWARF for x86-64. */
struct pov_regs {
	pov_u32 tid, tgid;
	pov_u64 run_cnt; /* how often the thread has got a CPU; 0: it runs, or this is unknown */
	pov_u64 pc;
	pov_u64 reg[16];
};

/* A thread's registers at a sample, and a copy of its stack from the stack pointer on. */
#define POV_STACK_PAGES 4
struct pov_stack {
	struct pov_hdr hdr;
	struct pov_regs regs;
	pov_u64 bytes; /* of data */
	pov_u8 data[POV_STACK_PAGES * 4096];
};

_Static_assert(__builtin_offsetof(struct pov_thread, outer_begin_ns) ==
		       __builtin_offsetof(struct pov_thread, depth) + 8,
	       "read at once");
_Static_assert(sizeof(struct pov_thread) < 8000, "one piece of the kernel's allocator");

#endif
