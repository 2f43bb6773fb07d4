/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Interface between the collector and the library that is preloaded into launched programs
 * (user/preload/), which records their MPI calls without probes. It consists of requests and
 * answers over a Unix socket, and of shared memory. The collector trusts nothing that a process can
 * write. Only the collector can write to the setup.
 */
#ifndef POV_ABI_PRELOAD_H
#define POV_ABI_PRELOAD_H

#include "config.h"
#include "thread.h"

#define POV_PRELOAD_DIR "/run/povtrace"
/*
 * Socket names continue with the collector's process number and ".sock". The same path is also a
 * name in the kernel's abstract namespace, for processes that have entered another root. Any user
 * can answer there before the collector does. So a process only sends PROGRAM there, and uses no
 * data from the answer.
 */
#define POV_PRELOAD_SOCKET "preload."
/*
 * In LD_PRELOAD, the library's path has a number between the folder and the name, which means
 * nothing to the kernel: for each bit, from the highest, POV_PRELOAD_BIT_1 or POV_PRELOAD_BIT_0,
 * and a slash at the end. The lowest bit: the process records nothing, and only waits until what it
 * has mapped has probes. The others: the process number of the collector that launched the command.
 * So a process knows what its own collector wants without a system call, whatever other collectors
 * are recording, even if a daemon started it.
 */
#define POV_PRELOAD_BIT_1 "/."
#define POV_PRELOAD_BIT_0 "/"
#define POV_PRELOAD_WAITS 1u
#define POV_PRELOAD_COLLECTOR_SHIFT 1
#define POV_PRELOAD_MAGIC 0x706f7672u
#define POV_PRELOAD_VERSION 17

enum pov_preload_wish {
	/*
	 * Asks what the process is to hook in what it has mapped. The answer comes once all of that
	 * has been inspected. The first answer brings descriptors of the setup and of the pool. The
	 * collector that launched the command also answers if a daemon has started the process.
	 * setup_bytes 0: this collector has no plan, and READY must not be sent.
	 */
	POV_PRELOAD_PLAN = 1,
	/*
	 * The process has mapped the pool with `number` slots at `address`; `missed` functions
	 * could not be hooked. Sent on the same connection. The answer comes once those
	 * functions have probes.
	 */
	POV_PRELOAD_READY = 2,
	/*
	 * The process is about to execute a program into which this library will not be loaded
	 * (struct pov_preload_program). The answer comes once that program has been inspected and
	 * its loader makes it wait.
	 */
	POV_PRELOAD_PROGRAM = 3,
	/* Another collector records the process's MPI calls. The process waits for no answer. */
	POV_PRELOAD_TAKEN = 4,
	/*
	 * The process is about to wait for probes. Only the collector that launched the command is
	 * asked. It then also records a process that a daemon has started. The answer comes at
	 * once; the process waits for its probes where the kernel half sees it.
	 */
	POV_PRELOAD_PROBES = 5,
};

struct pov_preload_request {
	pov_u32 magic;
	pov_u16 version;
	pov_u16 wish; /* enum pov_preload_wish */
	/* PLAN: 1 if the process has the pool of an earlier plan; READY: see there */
	pov_u32 number;
	pov_u32 missed;
	pov_u64 address;
	/* PLAN, PROBES: the collector that launched the process's command, from our path */
	pov_u32 collector;
	pov_u32 pad;
};
POV_ABI_SIZE(pov_preload_request, 32);

#define POV_PRELOAD_PATH_BYTES 512
struct pov_preload_program {
	struct pov_preload_request request;
	char path[POV_PRELOAD_PATH_BYTES]; /* as the process names it; NUL-terminated */
};

/* An MPI library in the process, and its hooks in the setup. */
struct pov_preload_library {
	pov_u64 bias; /* address in the process minus address in the file */
	/*
	 * mapping of its code, which is left out of core dumps; 0 bytes: it begins with the file's
	 * header, which dumps need
	 */
	pov_u64 code, code_bytes;
	pov_u32 first, cnt; /* range in pov_preload_hooks() */
	pov_u16 lib;	    /* the library's id */
	pov_u16 pad[3];
};
POV_ABI_SIZE(pov_preload_library, 40);

#define POV_PRELOAD_LIBRARIES 8
struct pov_preload_answer {
	pov_u32 magic;
	pov_s32 status; /* 0 or -errno; -ESRCH: this collector does not record the process */
	pov_u16 version;
	pov_u16 libraries;
	pov_u32 pad;
	pov_u64 setup_bytes;
	pov_u64 pool_bytes;
	struct pov_preload_library library[POV_PRELOAD_LIBRARIES];
	struct pov_bindings bindings;
};
POV_ABI_SIZE(pov_preload_answer, 32 + 40 * POV_PRELOAD_LIBRARIES + 16 * POV_BINDINGS_MAX);

/*
 * A function whose calls go through the preloaded library. A jump replaces its first instructions;
 * an equivalent copy of those runs elsewhere (target/elf/probe_site.h).
 */
#define POV_HOOK_CODE 24
#define POV_HOOK_MOVED 48
#define POV_HOOK_TARGETS 3
#define POV_HOOK_JUMP 5	       /* length of the jump, bytes */
#define POV_HOOK_GOES_ON 0x01  /* after the moved code, the function continues after the jump */
#define POV_HOOK_ANY_ARGS 0x02 /* it takes a variable number of arguments */
/* the moved code continues in its last target, which returns to the code after the jump */
#define POV_HOOK_CALLS 0x04
struct pov_hook {
	pov_u64 address;		  /* of the jump, in the file's address space */
	pov_u64 target[POV_HOOK_TARGETS]; /* addresses that moved code refers to, as in the file */
	pov_u16 row;			  /* of the function, counted from the setup's first_row */
	pov_u8 nargs;
	pov_u8 flags; /* POV_HOOK_* */
	pov_u8 bytes; /* length of code; the function is hooked only if it has this code there */
	pov_u8 moved_bytes;
	pov_u8 targets;
	pov_u8 skipped; /* bytes of the function before the jump */
	struct {
		pov_u8 at;  /* offset in moved of a target's 32-bit displacement */
		pov_u8 end; /* offset in moved of the end of that instruction */
	} ref[POV_HOOK_TARGETS];
	pov_u16 pad1;
	pov_u8 code[POV_HOOK_CODE];
	pov_u8 moved[POV_HOOK_MOVED];
};
POV_ABI_SIZE(pov_hook, 120);

/* Written by the collector only, read by all. The hooks of all libraries so far follow fn. */
struct pov_preload_setup {
	pov_u64 calls_until;  /* as in the kernel half: calls that begin later are not recorded */
	pov_u64 collector_ns; /* the collector's last sign of life; 0: it has ended */
	pov_u64 spin_gap_ns;
	/*
	 * ns per cycle of the CPU's counter, in fixed point with CYCLES_RATE_BITS fraction bits
	 * (lib/cycles.h); 0: unknown, or not to be used
	 */
	pov_u64 cycle_rate;
	pov_u32 first_row; /* row of the top layer's first function in the recording's table */
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
 * Durations of one half of a call's recording, from its reading of the clock to its end. Only one
 * in POV_HALF_EVERY is measured, because that takes another reading of the clock.
 */
#define POV_HALF_EVERY 64
struct pov_half {
	pov_u64 calls; /* measured or not */
	pov_u64 cnt;   /* measured */
	pov_u64 ns;    /* sum of those measured */
};
enum pov_half_of {
	POV_HALF_BEGIN = 0, /* a recorded call begins */
	POV_HALF_END = 1,
	POV_HALF_BRIEF_BEGIN = 2, /* a brief call begins */
	POV_HALF_BRIEF_END = 3,
	POV_HALF_CNT = 4,
};

/*
 * A process's pool begins with POV_PRELOAD_SLOTS slots of POV_PRELOAD_SLOT_BYTES, one for each
 * calling thread. A thread without a slot takes the one whose owner had the same thread pointer,
 * because that owner must be gone. Otherwise it takes a free slot.
 *
 * A slot begins with this struct. It has rings, each larger than the one before
 * (pov_preload_ring_at). Its thread writes to one ring. It moves to the next ring once its own is
 * nearly full and the collector has made the next. Byte n of the thread's stream lies in the last
 * ring begun at or before n, at n modulo the ring's size. A record that reaches past a ring's end
 * continues in the room after it.
 */
#define POV_PRELOAD_RINGS 3

/*
 * Most calls differ little from an earlier one. Functions are in POV_PRELOAD_KEPT groups, by their
 * numbers. Both sides keep the last call of each group that has at most POV_PRELOAD_KEPT_WORDS
 * words. If the next one has the same size, the ring has only its words that differ: this record
 * instead of struct pov_call. Bit n of `changed` means word n of the call.
 */
#define POV_PRELOAD_LIKE 0xff /* its kind; POV_KIND_* has no such value */
#define POV_PRELOAD_KEPT 16
#define POV_PRELOAD_KEPT_WORDS 32
struct pov_preload_like {
	pov_u16 size; /* as in struct pov_hdr */
	pov_u8 kind;
	pov_u8 group;
	pov_u32 changed;
	pov_u64 word[];
};
typedef pov_u64 pov_preload_kept[POV_PRELOAD_KEPT][POV_PRELOAD_KEPT_WORDS];

static inline pov_u32 pov_preload_group(pov_u32 func)
{
	return func % POV_PRELOAD_KEPT;
}

struct pov_preload_area {
	pov_u64 head; /* bytes written so far; set by the thread */
	pov_u64 pad0[7];
	pov_u64 tail;  /* bytes taken so far; set by the collector */
	pov_u32 rings; /* rings made so far; set by the collector */
	/* not 0: the collector has asked the MPI library for the rank; set by the collector */
	pov_u32 world_answered;
	/*
	 * when the collector last saw, while the ring filled, that the thread has no filter of
	 * system calls; 0: never
	 */
	pov_u64 unconfined_ns;
	pov_u64 pad1[5];
	pov_u32 slots_used; /* slots used in the pool; valid in the first slot */
	pov_u32 pad2;
	/* thread that has the slot; 0: free; POV_PRELOAD_BUSY: the collector is ending it */
	pov_u32 owner;
	pov_u32 ring;			      /* ring that was begun last; set by the thread */
	pov_u64 ring_from[POV_PRELOAD_RINGS]; /* by ring: number of its first byte in the stream */
	pov_u64 thread_pointer;
	/* lost records by class; this and the following counters only grow, and threads set them */
	pov_u64 lost[POV_CLASS_CNT];
	pov_u64 no_area; /* the part of `lost` that is calls of threads without a slot */
	pov_u64 miss[POV_MISS_CNT];
	pov_u64 folded;
	pov_u64 waits_ns; /* time spent waiting for room in the ring */
	/*
	 * Overhead per recorded call when many are made in a row, measured by the process before
	 * its first call; 0: not measured. hot_ps is the part of it that `sample` measures, too.
	 */
	pov_u64 cost_ps;
	pov_u64 counted_ps; /* likewise, per call that record --max-overhead only counts */
	pov_u64 brief_ps;   /* likewise, per brief call */
	pov_u64 hot_ps[POV_HALF_CNT];
	struct pov_half sample[POV_HALF_CNT];
	pov_u64 world_ns;    /* time of the last change of world_state */
	pov_u32 world_state; /* enum pov_preload_world; set by the thread */
	struct pov_thread state;
	pov_preload_kept kept; /* kept calls, as the thread sees them; a first word of 0: none */
};
enum pov_preload_world {
	POV_PRELOAD_WORLD_NONE = 0,
	POV_PRELOAD_WORLD_BEGINS = 1, /* the thread has called a function that initialises MPI */
	POV_PRELOAD_WORLD_DONE = 2,   /* that function has succeeded */
};
#define POV_PRELOAD_BUSY 0xffffffffu
#define POV_PRELOAD_AREA_BYTES 16384
#define POV_PRELOAD_RING_LEAST (64u << 10) /* first ring of each slot but the first */
#define POV_PRELOAD_RING_MORE (1u << 20)   /* second ring of some slots */
/* Rings of the first slot. */
#define POV_PRELOAD_RING_FIRST (2u << 20)
#define POV_PRELOAD_RING_SECOND (4u << 20)
#define POV_PRELOAD_RING_THIRD (64u << 20)
#define POV_PRELOAD_BEHIND 4096 /* room after a ring for the end of a record */
#define POV_PRELOAD_SLOT_BYTES \
	(POV_PRELOAD_AREA_BYTES + POV_PRELOAD_RING_LEAST + POV_PRELOAD_BEHIND)
#define POV_PRELOAD_SLOTS 1024
#define POV_PRELOAD_SLOTS_MORE 128 /* number of slots that have larger rings, too: the first ones */
/* Slots of a process with a small address space (ulimit -v), which maps nothing after them. */
#define POV_PRELOAD_SLOTS_FEW 48
/*
 * A page that forked processes inherit until they execute a program. Those without a pool of their
 * own count their calls here.
 */
struct pov_preload_forks {
	pov_u64 lost;
};
#define POV_PRELOAD_FORKS_BYTES 4096
#define POV_PRELOAD_FORKS_AT ((pov_u64)POV_PRELOAD_SLOTS * POV_PRELOAD_SLOT_BYTES)
/* The larger rings: first those of the first slot, then one of each other slot that has one. */
#define POV_PRELOAD_FIRST_AT (POV_PRELOAD_FORKS_AT + POV_PRELOAD_FORKS_BYTES)
#define POV_PRELOAD_MORE_AT                                                       \
	(POV_PRELOAD_FIRST_AT + 3 * POV_PRELOAD_BEHIND + POV_PRELOAD_RING_FIRST + \
	 POV_PRELOAD_RING_SECOND + POV_PRELOAD_RING_THIRD)
#define POV_PRELOAD_POOL_BYTES \
	(POV_PRELOAD_MORE_AT + \
	 (POV_PRELOAD_SLOTS_MORE - 1) * (POV_PRELOAD_RING_MORE + POV_PRELOAD_BEHIND))

/*
 * Size of a ring in bytes, a power of two; 0: the slot has no such ring. few: the process has
 * POV_PRELOAD_SLOTS_FEW slots.
 */
static inline pov_u32 pov_preload_ring_bytes(pov_u32 slot, int few, pov_u32 ring)
{
	if (few || slot >= POV_PRELOAD_SLOTS_MORE)
		return ring ? 0 : POV_PRELOAD_RING_LEAST;
	switch (ring) {
	case 0:
		return slot ? POV_PRELOAD_RING_LEAST : POV_PRELOAD_RING_FIRST;
	case 1:
		return slot ? POV_PRELOAD_RING_MORE : POV_PRELOAD_RING_SECOND;
	case 2:
		return slot ? 0 : POV_PRELOAD_RING_THIRD;
	default:
		return 0;
	}
}
/* Offset of a ring from the start of the pool. */
static inline pov_u64 pov_preload_ring_at(pov_u32 slot, int few, pov_u32 ring)
{
	pov_u64 at = POV_PRELOAD_FIRST_AT;

	if (!ring && (slot || few))
		return (pov_u64)slot * POV_PRELOAD_SLOT_BYTES + POV_PRELOAD_AREA_BYTES;
	if (slot)
		return POV_PRELOAD_MORE_AT +
		       (slot - 1ull) * (POV_PRELOAD_RING_MORE + POV_PRELOAD_BEHIND);
	while (ring--)
		at += pov_preload_ring_bytes(0, 0, ring) + POV_PRELOAD_BEHIND;
	return at;
}
#define POV_PRELOAD_THREADS_MAX 65536 /* of all processes */

/* The kernel half's data on a thread that has a slot. */
struct pov_preloaded {
	pov_u64 address;      /* of its area, in its process */
	pov_u64 announced_ns; /* start of the innermost call with a pov_call_begin record */
	pov_u64 mask_ns;      /* when its CPU mask was last looked at */
};
_Static_assert(sizeof(struct pov_preload_area) <= POV_PRELOAD_AREA_BYTES, "room for it");

#endif
