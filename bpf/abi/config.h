/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the collector passes to the kernel half: constants set before loading (rodata), the recipe
 * of each traced function, and the memory layout of each MPI library found. The kernel half knows
 * no function by name: it follows recipes.
 */
#ifndef POV_ABI_CONFIG_H
#define POV_ABI_CONFIG_H

#include "event.h"

#define POV_LIBS_MAX 255	    /* traced libraries and executables in one recording */
#define POV_LIB_KERNEL POV_LIBS_MAX /* id of the kernel, which counts as one more library */
#define POV_LIB_NUMBERS (POV_LIBS_MAX + 1)
#define POV_FETCH_MAX 8	    /* memory reads of one call */
#define POV_REGIONS_MAX 256 /* functions that the user declared regions */
#define POV_RINGS_MAX 128   /* CPU-group rings, the last one being the rescue ring */

/* Attach cookie of a probe: function, library. */
#define POV_COOKIE(func, lib) ((pov_u64)(func) | (pov_u64)(lib) << 16)
#define POV_COOKIE_FUNC(cookie) ((pov_u16)(cookie))
#define POV_COOKIE_LIB(cookie) ((pov_u16)((cookie) >> 16))

/*
 * The upper half of a cookie describes the place of its probe: bits of enum pov_place, and the
 * condition under which a jump at that place is taken (x86 condition code).
 */
enum pov_place {
	POV_PLACE_BEGINS = 1, /* the function begins here */
	POV_PLACE_ENDS = 2,   /* the function returns here, or jumps to another one */
};
#define POV_CONDITION_NONE 0xff
#define POV_COOKIE_PLACE(place, condition) ((pov_u64)(place) << 32 | (pov_u64)(condition) << 40)
#define POV_PLACE(cookie) ((pov_u8)((cookie) >> 32))
#define POV_PLACE_CONDITION(cookie) ((pov_u8)((cookie) >> 40))

/*
 * The cookie of a return probe has no place. If the probe is a perf event of one process, the
 * cookie's upper half is that process's id, otherwise 0.
 */
#define POV_COOKIE_PROCESS(cookie, tgid) ((pov_u32)(cookie) | (pov_u64)(tgid) << 32)
#define POV_COOKIE_TGID(cookie) ((pov_u32)((cookie) >> 32))

/*
 * Bindings are libraries between a program and MPI's C functions. For a return address inside a
 * binding, a step gives the distance from the stack pointer there to the binding's own return
 * address. The steps form a hash table: a step lies at index POV_STEP_PLACE of its place, or up to
 * POV_STEP_TRIES - 1 further on.
 */
#define POV_BINDINGS_MAX 4 /* in one process */
#define POV_STEPS 16384	   /* size of the table; a power of two */
#define POV_STEP_TRIES 16
#define POV_STEP_DEPTH 4 /* bindings that call each other */
struct pov_step {
	pov_u32 offset; /* of the return address, from the start of the file's code */
	pov_u16 file;	/* number of the binding, from 1 on */
	pov_u16 words;	/* distance in 8-byte words; 0: this entry is free */
};
POV_ABI_SIZE(pov_step, 8);
#define POV_STEP_PLACE(file, offset) (((offset) ^ (pov_u32)(file) << 24) * 0x9e3779b1u >> 18)

/* A binding in a process's address space. */
struct pov_binding {
	pov_u64 start;
	pov_u32 bytes; /* 0: this entry is free */
	pov_u16 file;  /* see struct pov_step */
	pov_u16 pad;
};
struct pov_bindings {
	struct pov_binding v[POV_BINDINGS_MAX];
};
POV_ABI_SIZE(pov_bindings, 16 * POV_BINDINGS_MAX);

/* Element types that an argument can point to; struct pov_lib gives their width per library. */
enum pov_elem {
	POV_ELEM_INT = 0,    /* int: 4 bytes */
	POV_ELEM_WIDE = 1,   /* MPI_Aint, MPI_Count, MPI_Offset, size_t, pointers: 8 bytes */
	POV_ELEM_HANDLE = 2, /* an MPI handle */
	POV_ELEM_STATUS = 3, /* MPI_Status */
	POV_ELEM_BLOCK = 4,  /* a struct; its first POV_BLOCK_BYTES are kept */
	POV_ELEM_RANGE = 5,  /* three ints, as MPI_Group_range_incl takes them */
	POV_ELEM_CNT = 8,    /* a power of two */
};

#define POV_BLOCK_BYTES 32

/* Source of a fetch's number of elements. */
enum pov_len {
	POV_LEN_ONE = 0,
	POV_LEN_ARG = 1,       /* by-value argument len_arg */
	POV_LEN_COMM_SIZE = 2, /* members of the call's communicator (remote group if inter) */
	POV_LEN_ROOT_SIZE = 3, /* as COMM_SIZE, but only at the root (argument len_arg) */
	POV_LEN_IN_DEGREE = 4, /* in-neighbours in the call's communicator */
	POV_LEN_OUT_DEGREE = 5,
	POV_LEN_OUT_ARG = 6,	/* *(int *)argument len_arg, read at return (outcount) */
	POV_LEN_DIMS = 7,	/* dimensions of the call's Cartesian communicator */
	POV_LEN_RETURN = 8,	/* the call's return value, an int */
	POV_LEN_LOCAL_SIZE = 9, /* as COMM_SIZE, but of the local group if inter */
};

enum pov_fetch_op {
	POV_FETCH_NONE = 0,
	POV_FETCH_IN = 1,  /* copy at entry  -> POV_FIELD_IN */
	POV_FETCH_OUT = 2, /* copy at return -> POV_FIELD_OUT */
	POV_FETCH_SUM = 3, /* sum at entry   -> POV_FIELD_SUM */
	/*
	 * Size of a datatype handle -> POV_FIELD_TYPE_SIZE. len: ONE, or ROOT_SIZE if only the root
	 * uses it. With ONE, len_arg is the argument with the peer's rank, or POV_ARG_NONE. The
	 * datatype is not used, and so not read, if the peer is MPI_PROC_NULL, or if it is MPI_ROOT
	 * and there is a buf_arg.
	 */
	POV_FETCH_TYPE_SIZE = 4,
	/*
	 * List of work requests at entry -> POV_FIELD_WORK. len_arg: the queue, or POV_ARG_NONE.
	 * Runs only if it is the sole fetch at entry.
	 */
	POV_FETCH_WORK = 5,
	/* total length of a list of pieces, at entry -> POV_FIELD_SUM; elem: enum pov_iov */
	POV_FETCH_IOV = 6,
	/*
	 * After a failed call: number of work requests that were accepted -> POV_FIELD_SUM. Counts
	 * those in the list of argument len_arg before the one whose address the call wrote. Runs
	 * only if it is the sole fetch at return.
	 */
	POV_FETCH_ACCEPTED = 7,
	/* message passed to the call, at entry: pov_lib.message_* -> POV_FIELD_MESSAGE */
	POV_FETCH_MESSAGE = 8,
	/*
	 * Memory reached through a pointer at `off` in what the argument points to, at return ->
	 * POV_FIELD_MEMBER. By then the function has read it, so its pages are present.
	 */
	POV_FETCH_MEMBER = 12,
	/*
	 * Like IOV, for a struct of the list's address, a word, and the number of pieces (elem:
	 * enum pov_iov).
	 */
	POV_FETCH_IOV_LIST = 14,
};

/*
 * Layouts of a list of pieces of memory. Each piece is a struct of `words` words. One word is its
 * length; another may say how often the piece repeats.
 */
enum pov_iov {
	POV_IOV_PLAIN = 0, /* struct iovec: base, length */
	POV_IOV_UCT = 1,   /* uct_iov_t: buffer, length, memh, stride, count */
	POV_IOV_CNT = 2,   /* a power of two */
};
#define POV_IOV_WORDS_MAX 5
#define POV_IOV_ONCE 0xff
struct pov_iov_shape {
	pov_u8 words;
	pov_u8 length; /* index of the word with the length */
	/* index of the word whose lower half is the repeat count, or POV_IOV_ONCE */
	pov_u8 repetition;
};
#define POV_IOV_SHAPES                                                                             \
	{                                                                                          \
		[POV_IOV_PLAIN] = {2, 1, POV_IOV_ONCE}, [POV_IOV_UCT] = {POV_IOV_WORDS_MAX, 1, 4}, \
	}

#define POV_FETCH_ONE_BYTES 32 /* single elements up to this size take the fast path */

struct pov_fetch {
	pov_u8 op;   /* enum pov_fetch_op */
	pov_u8 arg;  /* index of the argument */
	pov_u8 elem; /* enum pov_elem; for POV_FETCH_IOV and _IOV_LIST enum pov_iov */
	pov_u8 len;  /* enum pov_len */
	pov_u8 len_arg;
	/*
	 * argument with the buffer that this one describes, or POV_ARG_NONE; if the buffer is
	 * MPI_IN_PLACE, nothing is read
	 */
	pov_u8 buf_arg;
	pov_u8 off;   /* offset of the data in the memory that the argument points to */
	pov_u8 bytes; /* width of an element; 0: the width of elem */
};

/* True if the fetch runs when the call returns, false if it runs when the call begins. */
static inline int pov_fetch_at_return(const struct pov_fetch *fe)
{
	return (1u << POV_FETCH_OUT | 1u << POV_FETCH_ACCEPTED | 1u << POV_FETCH_MEMBER) >>
		       (fe->op & 31) &
	       1;
}

/* True for a single element of up to POV_FETCH_ONE_BYTES; false for arrays and larger elements. */
static inline int pov_fetch_is_one(const struct pov_fetch *fe)
{
	return fe->op == POV_FETCH_WORK || fe->op == POV_FETCH_ACCEPTED ||
	       (fe->op != POV_FETCH_SUM && fe->op != POV_FETCH_IOV_LIST && fe->len == POV_LEN_ONE &&
		fe->bytes <= POV_FETCH_ONE_BYTES);
}

/* Facts that the kernel half learns from a successful call of the function. */
enum pov_learn {
	POV_LEARN_NONE = 0,
	POV_LEARN_COMM_SIZE = 1,   /* (comm, int *size) */
	POV_LEARN_COMM_RANK = 2,   /* (comm, int *rank) */
	POV_LEARN_REMOTE_SIZE = 3, /* (comm, int *size) */
	POV_LEARN_CART = 4,	/* (comm, ndims, …, newcomm = learn_arg): 2 × ndims neighbours */
	POV_LEARN_DIST_ADJ = 5, /* (comm, indegree, …, outdegree, …, newcomm = learn_arg) */
	POV_LEARN_DEGREES = 6,	/* MPI_Dist_graph_neighbors_count(comm, int *in, int *out, …) */
	POV_LEARN_GRAPH_DEGREE = 7, /* MPI_Graph_neighbors_count(comm, rank, int *n) */
	POV_LEARN_COMM_FREE = 8,    /* (comm *): the communicator is forgotten */
	POV_LEARN_TYPE_FREE = 9,    /* (type *): sizes read before may be stale */
	/*
	 * Nothing for the kernel half; the reader needs the call to know communicators, groups,
	 * windows and their members.
	 */
	POV_LEARN_MEMBERS = 10,
	/*
	 * (comm, …, newcomm = learn_arg): as MEMBERS; what is known of comm also holds for newcomm
	 */
	POV_LEARN_COPY = 11,
	/* it initialises MPI: the collector asks the library for the process's identity */
	POV_LEARN_WORLD = 12,
	/* it finalises MPI: waits until the collector has asked the library (WORLD) */
	POV_LEARN_FINAL = 13,
	/* (…, newcomm = learn_arg): as MEMBERS; newcomm is an intercommunicator */
	POV_LEARN_INTER = 14,
	/*
	 * (comm, …, newcomm = learn_arg): as INTER if comm is an intercommunicator, else as MEMBERS
	 */
	POV_LEARN_ALIKE = 15,
};
/* Functions that are recorded even if they were not chosen (POV_KIND_UNSHOWN). */
#define POV_LEARN_RECORDED(learn)                                       \
	((learn) == POV_LEARN_MEMBERS || (learn) == POV_LEARN_COPY ||   \
	 (learn) == POV_LEARN_INTER || (learn) == POV_LEARN_ALIKE ||    \
	 (learn) == POV_LEARN_COMM_FREE || (learn) == POV_LEARN_CART || \
	 (learn) == POV_LEARN_DIST_ADJ)

/* A poll: it may find nothing, and is then merged into a spin. Kernel functions return -EAGAIN. */
#define POV_FN_POLL 0x01
#define POV_FN_SILENT 0x02	/* not chosen: it has a probe only for what its calls reveal */
#define POV_FN_BY_COUNT 0x04	/* a poll that found nothing sets *poll_arg to 0 or MPI_UNDEFINED */
#define POV_FN_FETCH_ENTRY 0x08 /* it has fetches at entry */
#define POV_FN_FETCH_RETURN 0x10 /* it has fetches at return */
#define POV_FN_BY_RETURN 0x20	 /* a poll that found nothing returns poll_arg */
/* A nested call with the same first argument is the same call (MPI_X calls PMPI_X). */
#define POV_FN_WRAPPED 0x40
/*
 * It makes a communicator. Recorded also at entry; at return with the library's data on it
 * (argument learn_arg).
 */
#define POV_FN_MAKES_COMM 0x80

#define POV_ARG_NONE 0xff
/*
 * Longest duration of a brief call. A call in which its thread leaves the CPU takes longer. So
 * every call that a reader sees announced (pov_call_begin) also gets its own record.
 */
#define POV_BRIEF_NS 2000

struct pov_fn {
	pov_u8 nargs; /* argument words to keep, ≤ POV_CALL_ARGS_MAX */
	pov_u8 flags; /* POV_FN_* */
	/*
	 * Argument with int *flag or *outcount, by which a poll reports success. With
	 * POV_FN_BY_RETURN: the value that a poll returns if it found nothing, as a signed byte.
	 */
	pov_u8 poll_arg;
	pov_u8 comm_arg; /* the communicator by value, or POV_ARG_NONE */
	pov_u8 learn;	 /* enum pov_learn */
	pov_u8 learn_arg;
	pov_u8 nfetch;
	pov_u8 spin_arg; /* argument kept in pov_spin_func.arg, or POV_ARG_NONE */
	/* index of the sole fetch at entry if it reads one element, else POV_FETCH_MAX */
	pov_u8 entry_one;
	/* index of the sole fetch at return if it reads one element, else POV_FETCH_MAX */
	pov_u8 return_one;
	pov_u8 poll_bytes; /* BY_RETURN: width of the return value, 1, 4 or 8 */
	/*
	 * The function is neither recorded nor learned from, although its calls still enter the
	 * preloaded library. Changed by the collector.
	 */
	pov_u8 unused;
	pov_u8 counted; /* calls are counted and not recorded; changed by the collector */
	/* argument with the number of elements that a counted call moves, or POV_ARG_NONE: one */
	pov_u8 count_arg;
	/* width of the count, 4 or 8; 0: bytes are not count_arg times type_arg */
	pov_u8 count_bytes;
	pov_u8 type_arg; /* datatype of the elements that a counted call moves */
	pov_u8 peer_arg; /* if it equals MPI_PROC_NULL, the call moves nothing; or POV_ARG_NONE */
	pov_u8 brief;	 /* calls that succeed within POV_BRIEF_NS are counted */
	/* the call stores a new datatype at *made_arg; POV_ARG_NONE: it makes none */
	pov_u8 made_arg;
	pov_u8 old_arg; /* datatype from which the new one is derived, or POV_ARG_NONE */
	pov_u8 pad[4];
	struct pov_fetch fetch[POV_FETCH_MAX];
};
POV_ABI_SIZE(pov_fn, 24 + 8 * POV_FETCH_MAX);

/*
 * Memory layout of one library's objects. The offset POV_OFF_NONE means unknown: do not read.
 * skip[] lists special pointer values that must not be followed (STATUS_IGNORE, IN_PLACE, …); null
 * is never followed.
 */
#define POV_OFF_NONE 0xffff
#define POV_LIB_HANDLE_PTR 0x01	    /* handles are pointers to objects (Open MPI) */
#define POV_LIB_TYPE_IN_HANDLE 0x02 /* builtin datatype size = (handle >> 8) & 0xff (MPICH) */
struct pov_lib {
	pov_u8 elem_bytes[POV_ELEM_CNT]; /* by enum pov_elem */
	pov_u16 flags;			 /* POV_LIB_* */
	pov_u16 type_size_off;		 /* datatype object: size_t size */
	pov_u16 comm_context_off;	 /* communicator object: context id */
	pov_u8 comm_context_bytes;	 /* width of the context id, 4 or 8 */
	pov_u8 pad0;
	pov_u16 comm_rank_off;	 /* communicator object: int my_rank */
	pov_u16 comm_group_off;	 /* communicator object: pointer to the local group */
	pov_u16 comm_remote_off; /* communicator object: pointer to the remote group */
	pov_u16 group_count_off; /* group object: int size */
	pov_u64 skip[4];	 /* values of pointer arguments that are not addresses */
	pov_s32 undefined;	 /* MPI_UNDEFINED */
	pov_s32 root;		 /* MPI_ROOT */
	/*
	 * For functions that are passed a message: offset of the list of its parts in the struct
	 * that argument message_arg points to. There lie a pointer to pairs (address, length) and
	 * their number.
	 */
	pov_u16 message_off;
	pov_u8 message_arg;
	pov_u8 pad1;
	pov_s32 proc_null; /* MPI_PROC_NULL */
};
POV_ABI_SIZE(pov_lib, 72);

/*
 * A function that hands over other functions, as pointers in an object that one of its arguments
 * points to. Keyed by the attach cookie of its probe: number within the library, library.
 */
#define POV_HANDOVERS_MAX 1024
#define POV_HANDOVER_COOKIE(number, lib) POV_COOKIE(number, lib)
struct pov_handover {
	pov_u32 arg; /* 0 or 1 */
	pov_u32 cnt;
	struct {
		pov_u16 offset; /* of the pointer in the object */
		pov_u16 row;	/* index in the function table */
	} member[POV_HANDED_MAX];
};
POV_ABI_SIZE(pov_handover, 8 + 4 * POV_HANDED_MAX);

/*
 * A static probe (USDT) that is recorded as a call, with the locations of its arguments. Keyed by
 * the attach cookie of the probe: row, library, number among the notes of that library.
 */
#define POV_NOTES_MAX 1024
#define POV_NOTE_ARGS 4
#define POV_NOTE_COOKIE(row, lib, number) (POV_COOKIE(row, lib) | (pov_u64)(number) << 32)
enum pov_note_kind {
	POV_NOTE_UNKNOWN = 0,
	POV_NOTE_CONSTANT = 1, /* value */
	POV_NOTE_REGISTER = 2,
	POV_NOTE_MEMORY = 3, /* memory at the register's value plus `value` bytes */
};
struct pov_note_arg {
	pov_s64 value;
	pov_u16 reg;  /* offset of the register in struct pt_regs */
	pov_u8 kind;  /* enum pov_note_kind */
	pov_u8 bytes; /* 1, 2, 4 or 8 */
	pov_u8 is_signed;
	pov_u8 pad[3];
};
struct pov_note {
	struct pov_note_arg arg[POV_NOTE_ARGS];
};
POV_ABI_SIZE(pov_note, 16 * POV_NOTE_ARGS);

/* Layout of an unknown library. No rank equals this root, nor this proc_null. */
#define POV_LIB_UNKNOWN                                                                    \
	{                                                                                  \
		.elem_bytes = {[POV_ELEM_INT] = sizeof(int),                               \
			       [POV_ELEM_WIDE] = sizeof(void *),                           \
			       [POV_ELEM_BLOCK] = POV_BLOCK_BYTES,                         \
			       [POV_ELEM_RANGE] = 3 * sizeof(int)},                        \
		.type_size_off = POV_OFF_NONE, .comm_context_off = POV_OFF_NONE,           \
		.comm_rank_off = POV_OFF_NONE, .comm_group_off = POV_OFF_NONE,             \
		.comm_remote_off = POV_OFF_NONE, .group_count_off = POV_OFF_NONE,          \
		.message_off = POV_OFF_NONE, .undefined = -32766, .root = -2147483647 - 1, \
		.proc_null = -2147483647 - 1,                                              \
	}

/* Values of the map `targets`. */
enum pov_target_state {
	POV_TARGET_ALIVE = 1,
	POV_TARGET_ENDING = 2, /* its last thread has exited but may still be on a CPU */
};

enum pov_sched_mode {
	POV_SCHED_OFF = 0,
	POV_SCHED_RANKS = 1, /* only events that touch a target's thread */
	POV_SCHED_ALL = 2,
};

/* Threads do not wait for a collector that has been silent for this long. */
#define POV_ALIVE_NS 2000000000ull

/*
 * BPF_MAP_TYPE_ARENA, which older headers lack. Waiting threads free pages of such a map in order
 * to yield their CPU.
 */
#define POV_MAP_ARENA 33
#define POV_YIELD_PAGES 3

struct pov_config {
	pov_u64 spin_gap_ns; /* polls further apart than this are not one spin */
	pov_u64 wake_bytes;  /* wake the collector when a ring holds this much */
	pov_u64 wait_ns;     /* longest time that a thread waits for an answer from the collector */
	pov_u32 self_tgid;   /* the tracer, which is never a target */
	pov_u32 rings;	     /* number of CPU-group rings, and so the index of the rescue ring */
	pov_u32 cpus_per_ring;
	pov_u8 sched_mode; /* enum pov_sched_mode */
	pov_u8 all;	   /* every process is a target */
	pov_u8 multi;	   /* call probes are uprobe_multi links */
	/* some threads record their calls in their process: those in the map `preloaded` */
	pov_u8 preload;
	pov_u32 cpus;	    /* possible CPUs: number of valid bits in a CPU mask */
	pov_u32 kernel_row; /* first of the kernel's own functions in the function table */
	pov_u8 regions;	    /* the user declared functions of the program regions */
	pov_u8 stacks;	    /* samples have stacks */
	pov_u8 pad[2];
	pov_u32 fetches; /* bits: each enum pov_fetch_op that some recipe has */
};
POV_ABI_SIZE(pov_config, 56);

/* Reasons why something was not recorded although no ring was full. Index of the miss counters. */
enum pov_miss {
	POV_MISS_DEPTH = 0,    /* more than POV_CALL_DEPTH_MAX traced calls nested */
	POV_MISS_THREADS = 1,  /* no room for another thread's state */
	POV_MISS_NO_ENTRY = 2, /* a return without its entry (began before attaching) */
	POV_MISS_WAIT = 3,     /* a target went on before a file had been inspected */
	/* calls of a signal handler, while its thread was recording another call */
	POV_MISS_BUSY = 4,
	POV_MISS_CNT = 5,
};

/* Other counters of the kernel half; index of the stat counters. */
enum pov_stat {
	POV_STAT_RESCUED = 0, /* records that went to the rescue ring */
	POV_STAT_FOLDED = 1,  /* wrapper entries folded into their caller (MPI_X calling PMPI_X) */
	/* files mapped that the collector had not inspected, and files about to be executed */
	POV_STAT_QUESTIONS = 2,
	POV_STAT_WAIT_NS = 3, /* total time that threads waited for such files */
	/* context switches whose recording was timed, and the total time */
	POV_STAT_SWITCHES_TIMED = 4,
	POV_STAT_SWITCH_NS = 5,
	POV_STAT_CNT = 6,
};

/*
 * Drops by ring and class since the collector's last look, one word each. Low bits: their number.
 * High bits: start of the first lost record in units of 2^POV_DROP_UNIT_BITS ns, rounded down. What
 * does not fit goes to the counters, without a time: too many at once, or too many CPUs updating a
 * word.
 */
#define POV_DROPS (POV_RINGS_MAX * POV_CLASS_CNT)
#define POV_DROP_CNT_BITS 24
#define POV_DROP_CNT_MASK ((1ull << POV_DROP_CNT_BITS) - 1)
#define POV_DROP_UNIT_BITS 18 /* a unit is 2^18 ns */
#define POV_DROP_UNIT_MASK ((1ull << (64 - POV_DROP_CNT_BITS)) - 1)

/* One array of counters: drops [ring][class] without a time, then misses, then stats. */
#define POV_COUNT_DROP(ring, class) ((ring)*POV_CLASS_CNT + (class))
#define POV_COUNT_MISS(miss) (POV_RINGS_MAX * POV_CLASS_CNT + (miss))
#define POV_COUNT_STAT(stat) (POV_COUNT_MISS(POV_MISS_CNT) + (stat))
#define POV_COUNTERS POV_COUNT_STAT(POV_STAT_CNT)

/*
 * Key of a file of executable code, for what the collector has found in it. The stamp changes with
 * the contents. So a file that is rebuilt, or reuses the inode of a deleted one, is inspected
 * again.
 */
#define POV_FILE_STAMP(ctime_sec, ctime_nsec, bytes) \
	(((pov_u64)(ctime_sec)*1000000000u + (ctime_nsec)) * 31u + (pov_u64)(bytes))
struct pov_file_key {
	pov_u64 ino;
	pov_u64 stamp;
	pov_u32 dev; /* in the kernel's encoding: major << 20 | minor */
	pov_u32 pad;
};
/* Attach cookies of the probes in the preloaded library (user/preload/begin.c). */
#define POV_WAIT_UNREACHED 1
#define POV_WAIT_FORKED 2

enum pov_file_state {
	POV_FILE_PLAIN = 1,  /* inspected: nothing to trace */
	POV_FILE_TRACED = 2, /* it has probes */
	/* processes that load it record their calls themselves, or wait of their own accord */
	POV_FILE_PRELOAD = 3,
	/* each process that maps it gets probes of its own, and waits for them */
	POV_FILE_EACH = 4,
};

#endif
