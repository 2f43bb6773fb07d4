/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the collector tells the kernel half: constants set before loading (rodata), the recipe of each
 * traced function, and the memory layout of each MPI library found. The kernel half knows no function
 * by name: it follows recipes.
 */
#ifndef POV_ABI_CONFIG_H
#define POV_ABI_CONFIG_H

#include "event.h"

#define POV_LIBS_MAX 255	    /* traced libraries and executables in one recording */
#define POV_LIB_KERNEL POV_LIBS_MAX /* the kernel counts as one more */
#define POV_LIB_NUMBERS (POV_LIBS_MAX + 1)
#define POV_FETCH_MAX 8	    /* memory reads of one call */
#define POV_REGIONS_MAX 256 /* functions that are regions */
#define POV_RINGS_MAX 128   /* CPU-group rings, the last one being the rescue ring */

/* Attach cookie of a probe: function, library. */
#define POV_COOKIE(func, lib) ((pov_u64)(func) | (pov_u64)(lib) << 16)
#define POV_COOKIE_FUNC(cookie) ((pov_u16)(cookie))
#define POV_COOKIE_LIB(cookie) ((pov_u16)((cookie) >> 16))

/*
 * What a cookie says of its probe's place besides: bits of enum pov_place, and the condition under which a jump there is taken (as
 * x86 numbers them).
 */
enum pov_place {
	POV_PLACE_BEGINS = 1, /* the function begins */
	POV_PLACE_ENDS = 2,   /* it returns, or jumps to another function */
};
#define POV_CONDITION_NONE 0xff
#define POV_COOKIE_PLACE(place, condition) ((pov_u64)(place) << 32 | (pov_u64)(condition) << 40)
#define POV_PLACE(cookie) ((pov_u8)((cookie) >> 32))
#define POV_PLACE_CONDITION(cookie) ((pov_u8)((cookie) >> 40))

/*
 * Bindings: libraries between a program and MPI's C functions. A step says of the place in one that a call returns to how many words above the
 * stack pointer, as it is there, the binding's own return address lies. A table of them: a step lies at POV_STEP_PLACE of its place, or up to
 * POV_STEP_TRIES - 1 further on.
 */
#define POV_BINDINGS_MAX 4 /* in one process */
#define POV_STEPS 16384	   /* a power of two */
#define POV_STEP_TRIES 16
#define POV_STEP_DEPTH 4 /* bindings that call each other */
struct pov_step {
	pov_u32 offset; /* of the place, from the begin of the file's code */
	pov_u16 file;	/* number of the binding, from 1 on */
	pov_u16 words;	/* 0: there is no step here */
};
POV_ABI_SIZE(pov_step, 8);
#define POV_STEP_PLACE(file, offset) (((offset) ^ (pov_u32)(file) << 24) * 0x9e3779b1u >> 18)

/* Where a process has a binding. */
struct pov_binding {
	pov_u64 start;
	pov_u32 bytes; /* 0: none */
	pov_u16 file;  /* as in struct pov_step */
	pov_u16 pad;
};
struct pov_bindings {
	struct pov_binding v[POV_BINDINGS_MAX];
};
POV_ABI_SIZE(pov_bindings, 16 * POV_BINDINGS_MAX);

/* Widths of what an argument points to; resolved per library through struct pov_lib. */
enum pov_elem {
	POV_ELEM_INT = 0,    /* int: 4 bytes */
	POV_ELEM_WIDE = 1,   /* MPI_Aint, MPI_Count, MPI_Offset, size_t, pointers: 8 bytes */
	POV_ELEM_HANDLE = 2, /* an MPI handle */
	POV_ELEM_STATUS = 3, /* MPI_Status */
	POV_ELEM_BLOCK = 4,  /* a struct of which the first POV_BLOCK_BYTES are kept */
	POV_ELEM_RANGE = 5,  /* three ints: of MPI_Group_range_incl */
	POV_ELEM_CNT = 8,    /* a power of two */
};

#define POV_BLOCK_BYTES 32

/* Where the number of elements of a fetch comes from. */
enum pov_len {
	POV_LEN_ONE = 0,
	POV_LEN_ARG = 1,       /* by-value argument len_arg */
	POV_LEN_COMM_SIZE = 2, /* members of the call's communicator (remote group if inter) */
	POV_LEN_ROOT_SIZE = 3, /* the same, and only at the root (argument root_arg) */
	POV_LEN_IN_DEGREE = 4, /* neighbours of the call's communicator */
	POV_LEN_OUT_DEGREE = 5,
	POV_LEN_OUT_ARG = 6, /* *(int *)argument len_arg, read at return (outcount) */
	POV_LEN_DIMS = 7,    /* dimensions of the call's Cartesian communicator */
	POV_LEN_RETURN = 8,  /* as many as the call returned, an int */
};

enum pov_fetch_op {
	POV_FETCH_NONE = 0,
	POV_FETCH_IN = 1,	 /* copy at entry  -> POV_FIELD_IN */
	POV_FETCH_OUT = 2,	 /* copy at return -> POV_FIELD_OUT */
	POV_FETCH_SUM = 3,	 /* sum at entry   -> POV_FIELD_SUM */
	POV_FETCH_TYPE_SIZE = 4, /* size of a datatype handle -> POV_FIELD_TYPE_SIZE */
	/* WORK and ACCEPTED are carried out only if no other is at entry, or at return. */
	/* list of work requests at entry -> POV_FIELD_WORK; len_arg: the queue, or POV_ARG_NONE */
	POV_FETCH_WORK = 5,
	POV_FETCH_IOV =
		6, /* bytes that a list of pieces names, at entry -> POV_FIELD_SUM; elem: enum pov_iov */
	/* of a call that failed: how many of the list of work requests in argument len_arg stand before the one whose address it has
	   written -> POV_FIELD_SUM */
	POV_FETCH_ACCEPTED = 7,
	POV_FETCH_MESSAGE =
		8, /* at entry, what the library is handed: pov_lib.message_* -> POV_FIELD_MESSAGE */
	/*
	 * Bytes that a pointer leads to, which is at off in what the argument points to -> POV_FIELD_MEMBER. At return: then the
	 * function has read them, so that their pages are there.
	 */
	POV_FETCH_MEMBER = 12,
	/* struct that begins with the address of a list of pieces (elem: enum pov_iov) and has their number in its third word: as IOV */
	POV_FETCH_IOV_LIST = 14,
};

/* A list of pieces of memory: structs of so many words, one of which is a length, and one may say how often it counts. */
enum pov_iov {
	POV_IOV_PLAIN = 0, /* struct iovec: base, length */
	POV_IOV_UCT = 1,   /* uct_iov_t: buffer, length, memh, stride, count */
	POV_IOV_CNT = 2,   /* a power of two */
};
#define POV_IOV_WORDS_MAX 5
#define POV_IOV_ONCE 0xff
struct pov_iov_shape {
	pov_u8 words;
	pov_u8 length;	   /* index of a word … */
	pov_u8 repetition; /* … of which the lower half is meant, or POV_IOV_ONCE */
};
#define POV_IOV_SHAPES                                                                             \
	{                                                                                          \
		[POV_IOV_PLAIN] = {2, 1, POV_IOV_ONCE}, [POV_IOV_UCT] = {POV_IOV_WORDS_MAX, 1, 4}, \
	}

#define POV_FETCH_ONE_BYTES 32 /* a single element up to here is read the short way */

struct pov_fetch {
	pov_u8 op;   /* enum pov_fetch_op */
	pov_u8 arg;  /* the argument */
	pov_u8 elem; /* enum pov_elem; of POV_FETCH_IOV enum pov_iov */
	pov_u8 len;  /* enum pov_len */
	pov_u8 len_arg;
	pov_u8 root_arg;
	pov_u8 off;   /* where in the memory that the argument points to it begins */
	pov_u8 bytes; /* width of an element if not 0, instead of elem's */
};

/* Whether it is carried out when the call returns, or when it begins. */
static inline int pov_fetch_at_return(const struct pov_fetch *fe)
{
	return fe->op == POV_FETCH_OUT || fe->op == POV_FETCH_ACCEPTED ||
	       fe->op == POV_FETCH_MEMBER;
}

/* Whether it is not an array, nor an element as large as one. */
static inline int pov_fetch_is_one(const struct pov_fetch *fe)
{
	return fe->op == POV_FETCH_TYPE_SIZE || fe->op == POV_FETCH_WORK ||
	       fe->op == POV_FETCH_ACCEPTED ||
	       (fe->op != POV_FETCH_SUM && fe->op != POV_FETCH_IOV_LIST && fe->len == POV_LEN_ONE &&
		fe->bytes <= POV_FETCH_ONE_BYTES);
}

/* What a function does to the kernel half's own small tables. */
enum pov_learn {
	POV_LEARN_NONE = 0,
	POV_LEARN_COMM_SIZE = 1,   /* (comm, int *size) */
	POV_LEARN_COMM_RANK = 2,   /* (comm, int *rank) */
	POV_LEARN_REMOTE_SIZE = 3, /* (comm, int *size) */
	POV_LEARN_CART = 4,	/* (comm, ndims, …, newcomm = learn_arg): 2 × ndims neighbours */
	POV_LEARN_DIST_ADJ = 5, /* (comm, indegree, …, outdegree, …, newcomm = learn_arg) */
	POV_LEARN_DEGREES = 6,	/* MPI_Dist_graph_neighbors_count(comm, int *in, int *out, …) */
	POV_LEARN_GRAPH_DEGREE = 7, /* MPI_Graph_neighbors_count(comm, rank, int *n) */
	POV_LEARN_COMM_FREE = 8,    /* (comm *): forget it */
	POV_LEARN_TYPE_FREE = 9,    /* (type *): sizes read before may be stale */
	/* Nothing for itself, but the reader must know: of communicators, groups, windows and their members. */
	POV_LEARN_MEMBERS = 10,
	/* (comm, …, newcomm = learn_arg): the same, and what is known of one holds for the other. */
	POV_LEARN_COPY = 11,
	POV_LEARN_WORLD =
		12, /* it initialises MPI: the collector asks the library who the process is … */
	POV_LEARN_FINAL = 13, /* … before it is finalised by this one */
};
/* Functions of which a record is written even if they were not chosen (POV_KIND_UNSHOWN). */
#define POV_LEARN_RECORDED(learn)                                       \
	((learn) == POV_LEARN_MEMBERS || (learn) == POV_LEARN_COPY ||   \
	 (learn) == POV_LEARN_COMM_FREE || (learn) == POV_LEARN_CART || \
	 (learn) == POV_LEARN_DIST_ADJ)

/* may find nothing; then it is merged into a spin. Functions of the kernel say so by -EAGAIN */
#define POV_FN_POLL 0x01
#define POV_FN_SILENT 0x02   /* not chosen: the probe is there for what is learned from it only */
#define POV_FN_BY_COUNT 0x04 /* a poll that found nothing is *poll_arg == 0 or MPI_UNDEFINED */
#define POV_FN_FETCH_ENTRY 0x08	 /* has fetches for entry, … */
#define POV_FN_FETCH_RETURN 0x10 /* … for return */
#define POV_FN_BY_RETURN 0x20	 /* a poll that found nothing returns poll_arg */
/* Called with the same first argument from within itself, it is one call (MPI_X, PMPI_X). */
#define POV_FN_WRAPPED 0x40
/* Makes a communicator: also recorded at entry, and at return with what the library's object says of it (argument learn_arg). */
#define POV_FN_MAKES_COMM 0x80

#define POV_ARG_NONE 0xff
/* Below what a call takes within which its thread leaves the CPU: whoever reads the trace knows of each such call as it begins. */
#define POV_BRIEF_NS 2000

struct pov_fn {
	pov_u8 nargs; /* argument words to keep, ≤ POV_CALL_ARGS_MAX */
	pov_u8 flags; /* POV_FN_* */
	/* int *flag or *outcount that tells whether a poll found something; BY_RETURN: a value, as a signed byte */
	pov_u8 poll_arg;
	pov_u8 comm_arg; /* the communicator by value, or POV_ARG_NONE */
	pov_u8 learn;	 /* enum pov_learn */
	pov_u8 learn_arg;
	pov_u8 nfetch;
	pov_u8 spin_arg; /* argument kept in pov_spin_func.arg, or POV_ARG_NONE */
	pov_u8 entry_one; /* index of the only fetch at entry if it is of one element, else POV_FETCH_MAX */
	pov_u8 return_one; /* the same at return */
	pov_u8 poll_bytes; /* BY_RETURN: width of what it returns, 1, 4 or 8 */
	pov_u8 unused; /* not recorded at all, nor learned from: of the preloaded library, which is called nevertheless; the collector changes it */
	pov_u8 counted; /* its calls are counted, and not recorded; the collector changes it */
	/* Bytes that a counted call moves: argument count_arg (POV_ARG_NONE: one) times the size of the datatype that type_arg is. */
	pov_u8 count_arg;
	pov_u8 count_bytes; /* width of the count, 4 or 8; 0: its arguments do not tell the bytes in this way */
	pov_u8 type_arg;
	pov_u8 peer_arg; /* nothing is moved if this is MPI_PROC_NULL; or POV_ARG_NONE */
	pov_u8 brief;	 /* calls that succeed within POV_BRIEF_NS are counted */
	/* A datatype that it makes is *made_arg, of the one that old_arg is; POV_ARG_NONE: it makes none, or of none. */
	pov_u8 made_arg;
	pov_u8 old_arg;
	pov_u8 pad[4];
	struct pov_fetch fetch[POV_FETCH_MAX];
};
POV_ABI_SIZE(pov_fn, 24 + 8 * POV_FETCH_MAX);

/*
 * Memory layout of one library's objects; an offset of POV_OFF_NONE means unknown, do not read.
 * Special pointer values that must not be followed are listed in skip[] (STATUS_IGNORE, IN_PLACE …);
 * null never is.
 */
#define POV_OFF_NONE 0xffff
#define POV_LIB_HANDLE_PTR 0x01	    /* handles are pointers to objects (Open MPI) */
#define POV_LIB_TYPE_IN_HANDLE 0x02 /* builtin datatype size = (handle >> 8) & 0xff (MPICH) */
struct pov_lib {
	pov_u8 elem_bytes[POV_ELEM_CNT]; /* by enum pov_elem */
	pov_u16 flags;			 /* POV_LIB_* */
	pov_u16 type_size_off;		 /* datatype object: size_t size */
	pov_u16 comm_context_off;	 /* communicator object: context id … */
	pov_u8 comm_context_bytes;	 /* 4 or 8 */
	pov_u8 pad0;
	pov_u16 comm_rank_off;	 /* int my_rank */
	pov_u16 comm_group_off;	 /* local group pointer */
	pov_u16 comm_remote_off; /* remote group pointer */
	pov_u16 group_count_off; /* in a group: int size */
	pov_u64 skip[4];	 /* pointer arguments that are not memory */
	pov_s32 undefined;	 /* MPI_UNDEFINED */
	pov_s32 root;		 /* MPI_ROOT */
	/*
	 * Functions that are handed a message: where in the struct that argument message_arg points to the list of the message's
	 * parts is, a pointer to pairs (address, length) and their number.
	 */
	pov_u16 message_off;
	pov_u8 message_arg;
	pov_u8 pad1;
	pov_s32 proc_null; /* MPI_PROC_NULL */
};
POV_ABI_SIZE(pov_lib, 72);

/*
 * A function by whose argument others are handed over, as members of an object that it points to. Known by the attach cookie of the
 * function's probe: number within the library, library.
 */
#define POV_HANDOVERS_MAX 1024
#define POV_HANDOVER_COOKIE(number, lib) POV_COOKIE(number, lib)
struct pov_handover {
	pov_u32 arg; /* 0 or 1 */
	pov_u32 cnt;
	struct {
		pov_u16 offset; /* of a pointer in the object */
		pov_u16 row;	/* of the function table */
	} member[POV_HANDED_MAX];
};
POV_ABI_SIZE(pov_handover, 8 + 4 * POV_HANDED_MAX);

/*
 * A static probe (USDT) that is recorded as a call: where each of its arguments is. Known by the attach cookie of the probe: row,
 * library, number among the notes of that library.
 */
#define POV_NOTES_MAX 1024
#define POV_NOTE_ARGS 4
#define POV_NOTE_COOKIE(row, lib, number) (POV_COOKIE(row, lib) | (pov_u64)(number) << 32)
enum pov_note_kind {
	POV_NOTE_UNKNOWN = 0,
	POV_NOTE_CONSTANT = 1, /* value */
	POV_NOTE_REGISTER = 2,
	POV_NOTE_MEMORY = 3, /* at value bytes behind where the register points to */
};
struct pov_note_arg {
	pov_s64 value;
	pov_u16 reg;  /* where in struct pt_regs it is kept */
	pov_u8 kind;  /* enum pov_note_kind */
	pov_u8 bytes; /* 1, 2, 4 or 8 */
	pov_u8 is_signed;
	pov_u8 pad[3];
};
struct pov_note {
	struct pov_note_arg arg[POV_NOTE_ARGS];
};
POV_ABI_SIZE(pov_note, 16 * POV_NOTE_ARGS);

/* Of a library of which nothing is known. No rank can be that root, or peer. */
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

/* Values of the map targets. */
enum pov_target_state {
	POV_TARGET_ALIVE = 1,
	POV_TARGET_ENDING = 2, /* its last thread has exited, and may still be on a CPU */
};

enum pov_sched_mode {
	POV_SCHED_OFF = 0,
	POV_SCHED_RANKS = 1, /* only events that touch a target's thread */
	POV_SCHED_ALL = 2,
};

/* A collector that has not said anything for this long is not waited for. */
#define POV_ALIVE_NS 2000000000ull

/* Memory that threads give back pages of, so that others run: BPF_MAP_TYPE_ARENA, which older headers do not name. */
#define POV_MAP_ARENA 33
#define POV_YIELD_PAGES 3

struct pov_config {
	pov_u64 spin_gap_ns; /* polls further apart than this are not one spin */
	pov_u64 wake_bytes;  /* wake the collector when a ring holds this much */
	pov_u64 wait_ns;     /* no thread waits longer than this for an answer of the collector */
	pov_u32 self_tgid;   /* the tracer: never a target */
	pov_u32 rings;	     /* CPU-group rings; the rescue ring is number `rings` */
	pov_u32 cpus_per_ring;
	pov_u8 sched_mode; /* enum pov_sched_mode */
	pov_u8 all;	   /* every process is a target */
	pov_u8 multi;	   /* the probes of calls are uprobe_multi links */
	pov_u8 preload; /* some threads' calls are recorded in their process: those in the map preloaded */
	pov_u32 cpus;	    /* possible CPUs: bits of a CPU mask that mean something */
	pov_u32 kernel_row; /* of the function table, the first of the kernel's own functions */
	pov_u8 regions;	    /* functions of the program are regions */
	pov_u8 pad[7];
};
POV_ABI_SIZE(pov_config, 56);

/* Why something was not recorded although no ring was full. Index of the miss counters. */
enum pov_miss {
	POV_MISS_DEPTH = 0,    /* more than POV_CALL_DEPTH_MAX traced calls nested */
	POV_MISS_THREADS = 1,  /* no room for another thread's state */
	POV_MISS_NO_ENTRY = 2, /* a return without its entry (began before attaching) */
	POV_MISS_WAIT = 3,     /* a file was not looked at before a target went on */
	POV_MISS_CNT = 4,
};

/* Kernel-half counters besides drops and misses; index of the stat counters. */
enum pov_stat {
	POV_STAT_RESCUED = 0, /* records that went to the rescue ring */
	POV_STAT_FOLDED = 1,  /* wrapper entries folded into their caller (MPI_X calling PMPI_X) */
	POV_STAT_QUESTIONS =
		2, /* files mapped that nobody had looked at, and files about to be executed */
	POV_STAT_WAIT_NS = 3, /* time that threads waited for such files, together */
	POV_STAT_CNT = 4,
};

/*
 * Drops by ring and class since the collector looked last, a word each: their number, and the time that the first of
 * what they would have told began at, in units, rounded down. What does not fit (too many at once, or too many CPUs at
 * it) is counted in the counters, without a time.
 */
#define POV_DROPS (POV_RINGS_MAX * POV_CLASS_CNT)
#define POV_DROP_CNT_BITS 24
#define POV_DROP_CNT_MASK ((1ull << POV_DROP_CNT_BITS) - 1)
#define POV_DROP_UNIT_BITS 18 /* of nanoseconds */
#define POV_DROP_UNIT_MASK ((1ull << (64 - POV_DROP_CNT_BITS)) - 1)

/* One array of counters: drops [ring][class] without a time, then misses, then stats. */
#define POV_COUNT_DROP(ring, class) ((ring)*POV_CLASS_CNT + (class))
#define POV_COUNT_MISS(miss) (POV_RINGS_MAX * POV_CLASS_CNT + (miss))
#define POV_COUNT_STAT(stat) (POV_COUNT_MISS(POV_MISS_CNT) + (stat))
#define POV_COUNTERS POV_COUNT_STAT(POV_STAT_CNT)

/*
 * Files of executable code, by what the collector has found in them. The stamp changes with the contents, so that a
 * file that is rebuilt, or gets the number of one that was deleted, is looked at again.
 */
#define POV_FILE_STAMP(ctime_sec, ctime_nsec, bytes) \
	(((pov_u64)(ctime_sec)*1000000000u + (ctime_nsec)) * 31u + (pov_u64)(bytes))
struct pov_file_key {
	pov_u64 ino;
	pov_u64 stamp;
	pov_u32 dev; /* as the kernel has it: major << 20 | minor */
	pov_u32 pad;
};
/* Attach cookies of the probes in what processes preload (user/preload/begin.c). */
#define POV_WAIT_UNREACHED 1
#define POV_WAIT_FORKED 2

enum pov_file_state {
	POV_FILE_PLAIN = 1,  /* looked at: nothing to trace */
	POV_FILE_TRACED = 2, /* probes are in it */
	POV_FILE_PRELOAD =
		3, /* processes that load it record their calls themselves, or wait by themselves */
	POV_FILE_EACH =
		4, /* each process that maps it gets probes of its own, and waits for them */
};

#endif
