/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Between the collector and the library that is preloaded into launched programs (user/preload/), which records their MPI calls
 * without a probe: what is asked and answered over a Unix socket, and the memory that both have. Nothing that a process can write to
 * is trusted by the collector; the setup can be written to by the collector only.
 */
#ifndef POV_ABI_PRELOAD_H
#define POV_ABI_PRELOAD_H

#include "config.h"
#include "thread.h"

#define POV_PRELOAD_DIR "/run/povtrace"
/* Names go on with the collector's process number and ".sock". */
#define POV_PRELOAD_SOCKET "preload."
/*
 * LD_PRELOAD has this before the library's name where processes record nothing, and only wait until what they have mapped has probes.
 * So a process knows what its own collector wants, whoever else records at the time, and needs no system call for that.
 */
#define POV_PRELOAD_WAITS "/./"
#define POV_PRELOAD_MAGIC 0x706f7672u
#define POV_PRELOAD_VERSION 8

enum pov_preload_wish {
	/*
	 * What the process is to hook in what it has mapped. The answer comes when all of that has been looked at. The first one brings
	 * descriptors of the setup and of the pool; setup_bytes 0: this collector has no plan, and READY is not to be said.
	 */
	POV_PRELOAD_PLAN = 1,
	/*
	 * It has put the pool's slots at `address`, one every `number` bytes; `missed` functions could not be hooked. On the same connection. The answer comes when these
	 * have probes.
	 */
	POV_PRELOAD_READY = 2,
	/*
	 * The process is about to execute a program into which this library will not be loaded: struct pov_preload_program. The answer comes
	 * when that has been looked at, and its loader makes it wait.
	 */
	POV_PRELOAD_PROGRAM = 3,
};

struct pov_preload_request {
	pov_u32 magic;
	pov_u16 version;
	pov_u16 wish;	/* enum pov_preload_wish */
	pov_u32 number; /* PLAN: 1: it has the pool of an earlier one. */
	pov_u32 missed;
	pov_u64 address;
};
POV_ABI_SIZE(pov_preload_request, 24);

#define POV_PRELOAD_PATH_BYTES 512
struct pov_preload_program {
	struct pov_preload_request request;
	char path[POV_PRELOAD_PATH_BYTES]; /* as the process names it; NUL-terminated */
};

/* An MPI library in the process: where it lies, and its hooks in the setup. */
struct pov_preload_library {
	pov_u64 bias;	    /* address in the process − address in the file */
	pov_u32 first, cnt; /* of pov_preload_hooks() */
	pov_u16 lib;	    /* its number */
	pov_u16 pad[3];
};
POV_ABI_SIZE(pov_preload_library, 24);

#define POV_PRELOAD_LIBRARIES 8
struct pov_preload_answer {
	pov_u32 magic;
	pov_s32 status; /* 0, or -errno: -ESRCH: this collector does not record the process */
	pov_u16 version;
	pov_u16 libraries;
	pov_u32 pad;
	pov_u64 setup_bytes;
	pov_u64 pool_bytes;
	struct pov_preload_library library[POV_PRELOAD_LIBRARIES];
	struct pov_bindings bindings;
};
POV_ABI_SIZE(pov_preload_answer, 32 + 24 * POV_PRELOAD_LIBRARIES + 16 * POV_BINDINGS_MAX);

/*
 * A function that is entered by way of the library: a jump takes the place of its first instructions, which stand elsewhere in a form
 * that does the same there (target/elf/hook_site.h).
 */
#define POV_HOOK_CODE 24
#define POV_HOOK_MOVED 48
#define POV_HOOK_TARGETS 3
#define POV_HOOK_JUMP 5	       /* bytes of it */
#define POV_HOOK_GOES_ON 0x01  /* behind what was moved it goes on behind the jump */
#define POV_HOOK_ANY_ARGS 0x02 /* it takes a variable number of arguments */
#define POV_HOOK_CALLS \
	0x04 /* it goes on in its last target, which returns to what is behind the jump */
struct pov_hook {
	pov_u64 address;		  /* of the jump, in the file's terms */
	pov_u64 target[POV_HOOK_TARGETS]; /* the same, that moved code refers to */
	pov_u16 row;			  /* of the function, from the setup's first_row on */
	pov_u8 nargs;
	pov_u8 flags; /* POV_HOOK_* */
	pov_u8 bytes; /* of code: anything else there is not hooked */
	pov_u8 moved_bytes;
	pov_u8 targets;
	pov_u8 skipped; /* bytes of the function before the jump */
	struct {
		pov_u8 at,
			end; /* in moved: of the 32 bits for a target, and of their instruction */
	} ref[POV_HOOK_TARGETS];
	pov_u16 pad1;
	pov_u8 code[POV_HOOK_CODE];
	pov_u8 moved[POV_HOOK_MOVED];
};
POV_ABI_SIZE(pov_hook, 120);

/* Written by the collector only, read by all. Behind fn come the hooks of all libraries so far. */
struct pov_preload_setup {
	pov_u64 calls_until;  /* as the kernel half's: what begins later is not recorded */
	pov_u64 collector_ns; /* when the collector last said that it lives; 0: it has ended */
	pov_u64 spin_gap_ns;
	/* ns a cycle of the CPU's counter, with CYCLES_RATE_BITS (lib/cycles.h) behind the point; 0: not known, or not to be used */
	pov_u64 cycle_rate;
	pov_u32 first_row; /* of the top layer's functions, in the recording's table */
	pov_u32 rows;
	struct pov_lib lib[POV_LIB_NUMBERS];
	struct pov_step step[POV_STEPS];
	struct pov_fn fn[]; /* recipes, from first_row on */
};
#define POV_PRELOAD_HOOKS_MAX 16384 /* of all libraries */

static inline const struct pov_hook *pov_preload_hooks(const struct pov_preload_setup *setup)
{
	return (const struct pov_hook *)&setup->fn[setup->rows];
}

/*
 * A process's pool has POV_PRELOAD_SLOTS pieces of POV_PRELOAD_SLOT_BYTES, one for each thread that calls. A thread without one takes
 * the slot that the thread had whose thread pointer is its own now, which must be gone, or a free one.
 *
 * A slot begins with this, and has rings, each larger than the one before. Its threads write to one, and begin the next one when that is rather
 * full and the collector has made the next. Byte n of all that they have written stands in the ring that was begun last up to n, at n modulo its
 * size; the rest of a record that begins before a ring's end follows behind that.
 */
#define POV_PRELOAD_RINGS 3
struct pov_preload_area {
	pov_u64 head; /* bytes written so far; the thread's */
	pov_u64 pad0[7];
	pov_u64 tail;		/* bytes taken so far; the collector's */
	pov_u32 rings;		/* the collector's: that it has made */
	pov_u32 world_answered; /* the collector's: the process's library has been asked who it is */
	pov_u64 pad1[6];
	pov_u32 slots_used; /* in the first slot: of the pool */
	pov_u32 pad2;
	pov_u32 owner; /* thread that has it; 0: free, POV_PRELOAD_BUSY: the collector is just ending it */
	pov_u32 ring;			      /* the thread's: that it has begun last */
	pov_u64 ring_from[POV_PRELOAD_RINGS]; /* the first byte that stands in it */
	pov_u64 thread_pointer;
	/* The threads', growing. */
	pov_u64 lost[POV_CLASS_CNT];
	pov_u64 no_area; /* of these, calls of threads for which there was no slot */
	pov_u64 miss[POV_MISS_CNT];
	pov_u64 folded;
	pov_u64 waits_ns; /* for room in the ring */
	pov_u64 cost_ps; /* what recording adds to a call, as the process has measured it; 0: it has not */
	pov_u64 counted_ps;  /* the same of calls that are counted by record --max-overhead, … */
	pov_u64 brief_ps;    /* … and of brief ones */
	pov_u64 world_ns;    /* when world_state became what it is */
	pov_u32 world_state; /* enum pov_preload_world; the thread's */
	pov_u32 pad4;
	struct pov_thread state;
};
enum pov_preload_world {
	POV_PRELOAD_WORLD_NONE = 0,
	POV_PRELOAD_WORLD_BEGINS = 1, /* the thread has called a function that initialises MPI */
	POV_PRELOAD_WORLD_DONE = 2,   /* … and that has succeeded */
};
#define POV_PRELOAD_BUSY 0xffffffffu
#define POV_PRELOAD_AREA_BYTES 16384
#define POV_PRELOAD_RING_LEAST (64u << 10) /* a slot's first ring, and … */
#define POV_PRELOAD_RING_FIRST (2u << 20)  /* … the first slot's, … */
#define POV_PRELOAD_RING_SECOND (4u << 20)
#define POV_PRELOAD_RING_THIRD (64u << 20) /* … which alone has a third, behind all slots */
#define POV_PRELOAD_BEHIND 4096		   /* room behind a ring for the end of a record */
#define POV_PRELOAD_SLOT_BYTES                                                       \
	(POV_PRELOAD_AREA_BYTES + POV_PRELOAD_RING_FIRST + POV_PRELOAD_RING_SECOND + \
	 2 * POV_PRELOAD_BEHIND)
#define POV_PRELOAD_SLOTS 256
#define POV_PRELOAD_POOL_BYTES                                                          \
	((pov_u64)POV_PRELOAD_SLOTS * POV_PRELOAD_SLOT_BYTES + POV_PRELOAD_RING_THIRD + \
	 POV_PRELOAD_BEHIND)
/* Of a process that has few addresses (ulimit -v), each with the smallest ring only. */
#define POV_PRELOAD_SLOTS_FEW 48
#define POV_PRELOAD_SLOT_BYTES_FEW \
	(POV_PRELOAD_AREA_BYTES + POV_PRELOAD_RING_LEAST + POV_PRELOAD_BEHIND)

/* A ring of a slot: its bytes, a power of two, and where it is from the slot's begin on. 0 bytes: it has none. */
static inline pov_u32 pov_preload_ring_bytes(int first_slot, int few, pov_u32 ring)
{
	switch (ring) {
	case 0:
		return first_slot && !few ? POV_PRELOAD_RING_FIRST : POV_PRELOAD_RING_LEAST;
	case 1:
		return few ? 0 : POV_PRELOAD_RING_SECOND;
	case 2:
		return first_slot && !few ? POV_PRELOAD_RING_THIRD : 0;
	default:
		return 0;
	}
}
static inline pov_u64 pov_preload_ring_at(pov_u32 ring)
{
	switch (ring) {
	case 0:
		return POV_PRELOAD_AREA_BYTES;
	case 1:
		return POV_PRELOAD_AREA_BYTES + POV_PRELOAD_RING_FIRST + POV_PRELOAD_BEHIND;
	default:
		return (pov_u64)POV_PRELOAD_SLOTS * POV_PRELOAD_SLOT_BYTES;
	}
}
#define POV_PRELOAD_THREADS_MAX 65536 /* of all processes */

/* What the kernel half knows of a thread that has one. */
struct pov_preloaded {
	pov_u64 address; /* of its area, in its process */
	pov_u64 announced_ns; /* begin of the innermost call that a struct pov_call_begin has been written of */
};
_Static_assert(sizeof(struct pov_preload_area) <= POV_PRELOAD_AREA_BYTES, "room for it");

#endif
