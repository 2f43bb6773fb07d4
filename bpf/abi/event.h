/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The event ABI: every record that crosses from the kernel half to the collector. The event blocks
 * of a .pov file hold the same records, losslessly coded. Both halves include this file; it
 * includes nothing.
 *
 * Rules: fixed-width types, explicit padding, explicit enum values. Records are multiples of
 * 8 bytes and start with struct pov_hdr. Append only; a reader skips an unknown kind by its size.
 * All times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef POV_ABI_EVENT_H
#define POV_ABI_EVENT_H

typedef __UINT8_TYPE__ pov_u8;
typedef __UINT16_TYPE__ pov_u16;
typedef __UINT32_TYPE__ pov_u32;
typedef __UINT64_TYPE__ pov_u64;
typedef __INT32_TYPE__ pov_s32;
typedef __INT64_TYPE__ pov_s64;

#define POV_COMM_LEN 16
#define POV_CPUMASK_WORDS 16	 /* affinity masks cover CPUs 0..1023 */
#define POV_CALL_ARGS_MAX 16	 /* argument words kept of one call */
#define POV_CALL_DEPTH_MAX 8	 /* nested traced calls followed per thread */
#define POV_CALL_FIELD_BYTES 256 /* fields that fit in the call's own record */
#define POV_MORE_BYTES 512	 /* payload of one continuation record */
#define POV_SPIN_FUNCS_MAX 4	 /* different polling functions merged into one spin */

enum pov_kind {
	POV_KIND_SWITCH = 1,	  /* struct pov_switch */
	POV_KIND_WAKING = 2,	  /* struct pov_waking */
	POV_KIND_MIGRATE = 3,	  /* struct pov_migrate */
	POV_KIND_IRQ = 4,	  /* struct pov_irq */
	POV_KIND_SAMPLE = 5,	  /* struct pov_sample */
	POV_KIND_CALL = 16,	  /* struct pov_call, written at return */
	POV_KIND_CALL_BEGIN = 17, /* struct pov_call_begin */
	POV_KIND_SPIN = 18,	  /* struct pov_spin */
	POV_KIND_MORE = 19,	  /* struct pov_more */
	POV_KIND_UNSHOWN = 20,	  /* struct pov_call, recorded only for the objects it reveals */
	POV_KIND_REGION = 21,	  /* struct pov_region, written at entry and at return */
	POV_KIND_COUNTED = 22,	  /* struct pov_counted */
	POV_KIND_ROOM = 23,	  /* struct pov_room */
	/* Identity: who is who. These travel on the control ring and lie in the task stream. */
	POV_KIND_TASK = 32,	/* struct pov_task: a thread that existed when recording began */
	POV_KIND_FORK = 33,	/* struct pov_fork */
	POV_KIND_EXEC = 34,	/* struct pov_task: the task as it is after exec */
	POV_KIND_EXIT = 35,	/* struct pov_exit */
	POV_KIND_RENAME = 36,	/* struct pov_task */
	POV_KIND_AFFINITY = 37, /* struct pov_affinity */
	POV_KIND_IMAGE = 38,	/* struct pov_image: a target mapped executable code */
	POV_KIND_CALLER = 39,	/* struct pov_caller: a thread makes its first traced call */
	POV_KIND_PATH = 40,	/* struct pov_path: for the collector only, never in a file */
	POV_KIND_HANDED = 41,	/* struct pov_handed: for the collector only */
	/*
	 * struct pov_caller, for the collector only: a process waits for probes; flags: POV_WAIT_…
	 */
	POV_KIND_UNREACHED = 42,
	POV_KIND_SIGNAL = 43, /* struct pov_signal: a target was sent a signal that ends it */
	/* struct pov_caller, for the collector only: a process initialises MPI */
	POV_KIND_INIT = 44,
	POV_KIND_WRITTEN = 45, /* struct pov_written */
	/* struct pov_stack (thread.h), for the collector only, which makes a sample from it */
	POV_KIND_STACK = 46,
	/* Written by the collector, never by the kernel half. */
	POV_KIND_LOST = 64,  /* struct pov_lost */
	POV_KIND_LIMIT = 67, /* struct pov_limit */
	/* Inserted while a file is read (trace/trace_read.h); never stored in a file. */
	POV_KIND_LOSS_BEGIN = 65, /* struct pov_lost */
	POV_KIND_LOSS_END = 66,	  /* struct pov_lost */
};

/* Classes by which lost records are counted; index of the drop counters. */
enum pov_class {
	POV_CLASS_CALL = 0, /* with pov_region and pov_counted */
	POV_CLASS_SPIN = 1,
	POV_CLASS_MORE = 2,
	POV_CLASS_SCHED = 3, /* with pov_call_begin, which belongs to its switch */
	POV_CLASS_IRQ = 4,
	POV_CLASS_TASK = 5,
	POV_CLASS_CNT = 6,
};

struct pov_hdr {
	pov_u16 size;  /* bytes of the whole record, a multiple of 8 */
	pov_u8 kind;   /* enum pov_kind */
	pov_u8 flags;  /* depend on the kind, see below */
	pov_u32 tid;   /* global (initial namespace) thread id; its role depends on the kind */
	pov_u64 ts_ns; /* when it happened (a call or spin: when it ended) */
};

/* ---- scheduler ---- */

/* hdr.tid = the thread that left the CPU. */
#define POV_SWITCH_PREEMPTED 0x01 /* it was still runnable */
struct pov_switch {
	struct pov_hdr hdr;
	pov_u32 next_tid;
	pov_u32 prev_state; /* task state bits as sched_switch reports them (1 S, 2 D, ...) */
	pov_u16 cpu;
	pov_u16 prev_prio; /* kernel priority, 0..139 */
	pov_u16 next_prio;
	pov_u16 pad;
};

/* hdr.tid = the thread that was current: the waker, or the one hit by the waking interrupt. */
#define POV_WAKING_NEW 0x01	  /* first wake-up of a new thread (sched_wakeup_new) */
#define POV_WAKING_INTERRUPT 0x02 /* from an interrupt or softirq that hit the current thread */
struct pov_waking {
	struct pov_hdr hdr;
	pov_u32 target_tid;
	pov_u16 cpu;	    /* where the waker ran */
	pov_u16 target_cpu; /* where the target is to run */
	pov_u16 prio;
	pov_u16 pad[3];
};

/* hdr.tid = the thread that migrates. */
struct pov_migrate {
	struct pov_hdr hdr;
	pov_u16 orig_cpu;
	pov_u16 dest_cpu;
	pov_u16 cpu; /* CPU that decided the migration */
	pov_u16 pad;
};

/* An interrupt or softirq, written at its end. hdr.tid = the interrupted thread. */
#define POV_IRQ_SOFT 0x01
struct pov_irq {
	struct pov_hdr hdr;
	pov_u64 dur_ns;
	pov_u16 cpu;
	pov_u16 pad;
	pov_u32 vec; /* irq number, or softirq vector */
};

/*
 * Instruction pointer of a target's thread at a tick of its CPU's clock, POV_SAMPLES_HZ times a
 * second. Threads inside traced calls are not sampled.
 */
#define POV_SAMPLES_HZ 97
/*
 * The sample is a return address found on the thread's stack when the recording ended, not at a
 * tick. Set by the collector.
 */
#define POV_SAMPLE_STACK 0x01
/* There are more callers, which could not be found. Set by the collector. */
#define POV_SAMPLE_CUT 0x02
#define POV_SAMPLE_CALLERS_MAX 120
struct pov_sample {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 pad;
	pov_u64 ip; /* user-space address, even if the thread was in the kernel */
	/*
	 * Return addresses, innermost first, as many as the record's size tells; at most
	 * POV_SAMPLE_CALLERS_MAX. Set by the collector, if the user asked for stacks.
	 */
	pov_u64 caller[];
};

static inline pov_u32 pov_sample_callers(const struct pov_sample *s)
{
	return (s->hdr.size - (pov_u32)sizeof(*s)) / 8;
}

/* ---- calls ---- */

#define POV_CALL_OPEN 0x01    /* had not returned when the thread or the recording ended */
#define POV_CALL_UNWOUND 0x02 /* left without returning (longjmp, exception, exit) */
#define POV_CALL_FAULT 0x04   /* some memory could not be read: a field is missing or short */
#define POV_CALL_MORE 0x08    /* struct pov_more records with this call's key precede it */
/* An array was too long to be kept (or summed) whole; element counts are still exact. */
#define POV_CALL_PARTIAL 0x10
/* Recorded by its process itself, without a probe. Set by the collector. */
#define POV_CALL_PRELOADED 0x40
#define POV_CALL_END_ONLY 0x20 /* only its end was seen: dur_ns is 0 and means nothing */
/*
 * UNSHOWN: the call was made before the recorded interval. Its times give only the order of such
 * calls. Set by the collector.
 */
#define POV_CALL_EARLIER 0x80
/*
 * One call of a traced function, written when it returns. Begin = hdr.ts_ns - dur_ns.
 * After the fixed part: nargs argument words, then fields, each a struct pov_field with its data
 * padded to 8 bytes, until hdr.size.
 *
 * POV_KIND_UNSHOWN has the same layout, for a function that the user did not select. With
 * POV_CALL_OPEN, it also marks the start of a call that makes a communicator. No member returns
 * from such a call before all have entered it. So a reader has these records from all members
 * before the communicator is used.
 */
struct pov_call {
	struct pov_hdr hdr;
	pov_u64 dur_ns;
	pov_u32 tgid;
	pov_u16 func; /* row of the trace's function table */
	pov_u8 depth; /* 0 = called by the program, n = from within n traced calls */
	pov_u8 nargs;
	pov_u64 ret;  /* return register, raw; 0 if OPEN or UNWOUND */
	pov_u64 site; /* return address: the call site; 0: unknown */
	pov_u16 cpu;  /* at return */
	pov_u16 lib;  /* id of the library's meta block */
	/*
	 * one bit per argument: its value was not seen, because the call began before its process
	 * was recorded
	 */
	pov_u32 unknown;
	pov_u64 args[]; /* raw words in ABI order */
};

/* True if the record is laid out as struct pov_call. */
static inline int pov_is_call(const struct pov_hdr *rec)
{
	return rec->kind == POV_KIND_CALL || rec->kind == POV_KIND_UNSHOWN;
}

/* Content of a field. The widths of elements (handles, statuses) are those of the library's ABI. */
enum pov_field_type {
	POV_FIELD_IN = 1,  /* memory the argument points to, copied at entry */
	POV_FIELD_OUT = 2, /* memory the argument points to, copied at return */
	/*
	 * one u64: sum at entry over an array of integers or of piece lengths; cnt = array length
	 */
	POV_FIELD_SUM = 3,
	POV_FIELD_TYPE_SIZE = 4, /* one u64: bytes of one element of the datatype argument */
	POV_FIELD_COMM = 5, /* struct pov_field_comm, read from the library's communicator object */
	POV_FIELD_WORK = 6, /* struct pov_work: requests of the list that the argument points to */
	/* struct pov_field_ends: the two ends between which the kernel moves data */
	POV_FIELD_ENDS = 7,
	/* struct pov_field_message: the message passed to the call; cnt = number of its parts */
	POV_FIELD_MESSAGE = 8,
	/*
	 * memory reached through a pointer that lies cnt bytes into the memory the argument points
	 * to
	 */
	POV_FIELD_MEMBER = 12,
};

struct pov_field {
	pov_u8 type;  /* enum pov_field_type */
	pov_u8 arg;   /* index of the argument it belongs to */
	pov_u16 size; /* data bytes in this record, before padding */
	pov_u32 cnt;  /* true number of elements (may exceed what is stored) */
};

struct pov_field_comm {
	pov_u64 context_id; /* library's id; ~0 if unknown */
	pov_s32 rank;	    /* this process's rank in it; -1 if unknown */
	pov_s32 size;	    /* -1 if unknown */
};

#define POV_MESSAGE_HEAD_BYTES 64
struct pov_field_message {
	pov_u64 bytes;			     /* length of its first two parts */
	pov_u8 head[POV_MESSAGE_HEAD_BYTES]; /* first bytes of part 1, zero-padded */
};

/* A work request of RDMA verbs (struct ibv_send_wr, ibv_recv_wr) at the time it was posted. */
#define POV_WORK_BYTES_UNKNOWN 0xffffffffu
struct pov_work {
	pov_u64 id;    /* wr_id */
	pov_u64 ah;    /* wr.ud.ah; means nothing unless the queue pair is a datagram (UD) one */
	pov_u32 bytes; /* total length of its pieces of memory, or POV_WORK_BYTES_UNKNOWN */
	pov_u32 remote_qp; /* wr.ud.remote_qpn; means nothing unless the queue pair is a UD one */
	pov_u32 qp;	   /* number of the queue pair it was posted to; 0: none or unknown */
	pov_u8 qp_type;	   /* enum ibv_qp_type; 0: no queue pair, or unknown */
	pov_u8 opcode;	   /* enum ibv_wr_opcode; 0 for a receive */
	pov_u8 flags;	   /* enum ibv_send_flags; 0 for a receive */
	pov_u8 npieces;	   /* num_sge; 255 means 255 or more */
};

/*
 * The two ends of a connection, or two processes. A member that is 0 is unknown. Addresses are in
 * network order, with IPv4 in the first 4 bytes. Ports are in host order.
 */
struct pov_field_ends {
	/* AF_* of the socket and the addresses; AF_UNSPEC: the ends are processes */
	pov_u16 family;
	pov_u16 local_port, remote_port;
	pov_u16 pad;
	/* inode numbers of the sockets, or process ids in the initial pid namespace */
	pov_u64 local_id, remote_id;
	pov_u8 local[16], remote[16];
};

/*
 * Elements of a field that did not fit, in order. They precede their call's record.
 * Key: hdr.tid and begin_ns (the call's start).
 */
struct pov_more {
	struct pov_hdr hdr;
	pov_u64 begin_ns;
	pov_u32 first; /* element index of data[0] */
	pov_u16 size;  /* data bytes */
	pov_u8 type;   /* enum pov_field_type */
	pov_u8 arg;
	pov_u8 data[];
};

/*
 * A call that was in flight when its thread first left the CPU. The record is written just before
 * that pov_switch, so that a one-pass reader knows of the call. Its pov_call follows at return.
 */
struct pov_call_begin {
	struct pov_hdr hdr; /* ts_ns = the switch's */
	pov_u64 begin_ns;
	pov_u32 tgid;
	pov_u16 func;
	pov_u8 depth;
	pov_u8 pad;
};

/*
 * A run of polls that found nothing, by one thread, with no other traced call between and no gap
 * longer than the configured one. hdr.ts_ns = return of the last poll.
 */
struct pov_spin_func {
	pov_u64 cnt;
	pov_u64 busy_ns; /* sum of the calls' own durations */
	pov_u64 arg;	 /* argument word 0 of the first poll: a request, a communicator, … */
	pov_u16 func;
	pov_u16 lib;
	pov_u32 pad;
};

#define POV_SPIN_OPEN 0x01
#define POV_SPIN_PRELOADED 0x02 /* see POV_CALL_PRELOADED */
struct pov_spin {
	struct pov_hdr hdr;
	pov_u64 dur_ns; /* first entry to last return */
	pov_u64 site;	/* call site of the first poll */
	pov_u32 tgid;
	pov_u8 depth;
	pov_u8 nfuncs;
	pov_u16 cpu;
	struct pov_spin_func func[];
};

/*
 * Calls by one thread of one function that are counted rather than recorded. Either the function
 * is only counted (struct pov_limit), or these are the brief calls of a cheap one (pov_fn.brief).
 * The first call began at hdr.ts_ns - dur_ns; the last one returned at hdr.ts_ns. The thread may
 * have made other calls in between.
 */
#define POV_COUNTED_NESTED 0x01	   /* the calls were made from within traced calls */
#define POV_COUNTED_PRELOADED 0x02 /* see POV_CALL_PRELOADED */
struct pov_counted {
	struct pov_hdr hdr;
	pov_u64 dur_ns;
	pov_u64 calls;
	pov_u64 busy_ns; /* sum of the calls' own durations */
	pov_u32 tgid;
	pov_u16 func;
	pov_u16 lib;
	/* bytes that the `sized` calls passed or had room for; missing in older traces */
	pov_u64 bytes;
	pov_u64 sized; /* calls whose arguments give their bytes; missing in older traces */
};

/*
 * hdr.tid waited until hdr.ts_ns for room to record a poll or a call that had returned. The tracer
 * caused this wait, not the program.
 */
struct pov_room {
	struct pov_hdr hdr;
	pov_u64 dur_ns;
	pov_u32 tgid;
	pov_u32 pad;
};

/*
 * A thread enters or leaves a function that the user declared a region (a phase) of the program.
 * Regions are not calls: they have no depth and may last as long as the program. The two records of
 * a region have the same stack pointer. A region whose stack pointer is below that of a later
 * record was left without returning. The same holds if it equals that of a later begin that is not
 * CHAINED.
 */
#define POV_REGION_END 0x01
/* begin: reached by a jump from a function that will return, too. Only in older traces. */
#define POV_REGION_CHAINED 0x02
#define POV_REGION_EARLIER 0x04 /* begun before the recorded interval; set by the collector */
#define POV_REGION_UNWOUND 0x08 /* end: the region was left without returning, some time before */
struct pov_region {
	struct pov_hdr hdr;
	pov_u64 sp; /* stack pointer at entry */
	pov_u32 tgid;
	pov_u16 region; /* index in the trace's list of regions */
	pov_u16 cpu;
};

/* ---- identity ---- */

struct pov_task {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 ppid;
	pov_u32 state; /* TASK: task state bits at ts_ns, 0 = runnable or running */
	pov_u16 cpu;
	pov_u8 on_cpu; /* TASK: 1 = running at ts_ns */
	pov_u8 kthread;
	char comm[POV_COMM_LEN];
	pov_u64 start_ns; /* when the thread was created (CLOCK_MONOTONIC) */
};

/* hdr.tid = the parent thread. */
struct pov_fork {
	struct pov_hdr hdr;
	pov_u32 child_tid;
	pov_u32 child_tgid;
	pov_u32 parent_tgid;
	pov_u32 pad;
	char comm[POV_COMM_LEN];
};

/* Older traces have neither flag: there, a process's status is that of its first thread. */
#define POV_EXIT_PROCESS 0x01 /* code is the status of the whole process */
#define POV_EXIT_OOM 0x02     /* the kernel's OOM killer chose the process */
struct pov_exit {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_s32 code; /* wait(2) status */
};

/*
 * Bytes and calls that a target's thread has written since it was created: write(2) and its
 * relatives, to files, pipes, terminals and sockets. The counts are the kernel's (wchar and syscw
 * of /proc/PID/task/TID/io). Emitted when the thread exits or, if it still runs, when the recording
 * ends. Threads other than the first are reported only if they wrote.
 */
/* Baseline of a thread that ran when the recording began: later values count from these. */
#define POV_WRITTEN_BEGIN 0x01
struct pov_written {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 pad;
	pov_u64 bytes;
	pov_u64 calls; /* system calls, including failed ones */
};

enum pov_signal_from {
	POV_SIGNAL_FROM_OTHER = 0, /* a timer, or a device */
	POV_SIGNAL_FROM_PROCESS = 1,
	POV_SIGNAL_FROM_KERNEL = 2,
	/*
	 * sent by the kernel because of the instruction at ip, or re-raised by the thread's handler
	 */
	POV_SIGNAL_FROM_FAULT = 3,
};

/*
 * A signal that will end the target: it has no handler for it, though it may block the signal.
 * hdr.tid = the receiving thread; with POV_SIGNAL_TO_PROCESS, any thread of the process.
 */
#define POV_SIGNAL_TO_PROCESS 0x01
struct pov_signal {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 sender;		 /* FROM_PROCESS: the sender's thread group; else 0 */
	char comm[POV_COMM_LEN]; /* FROM_PROCESS: name of the sending thread */
	pov_s32 code;		 /* si_code of siginfo_t; 0 if the kernel gave none */
	pov_u16 signo;
	pov_u8 from; /* enum pov_signal_from */
	pov_u8 pad;
	pov_u64 ip;	 /* FROM_FAULT: address of the instruction; else 0 */
	pov_u64 address; /* FROM_FAULT, SIGSEGV and SIGBUS: the address that was accessed; else 0 */
};

struct pov_affinity {
	struct pov_hdr hdr; /* tid = the thread whose mask this is */
	pov_u32 tgid;
	pov_u32 nr_cpus; /* CPUs in the mask */
	pov_u64 mask[POV_CPUMASK_WORDS];
};

/*
 * The process waits: the collector has not inspected this file yet, or has not yet put this
 * process's probes into it.
 */
#define POV_IMAGE_NEW 0x01
struct pov_image {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 dev;
	pov_u64 ino;
	pov_u64 start; /* address of the mapping */
	pov_u64 len;   /* bytes */
	pov_u64 off;   /* file offset, bytes */
	pov_u64 stamp; /* POV_FILE_STAMP */
};

/* A target is about to execute a file, and waits until the collector has inspected it. */
#define POV_PATH_BYTES 1024
/* bytes of the longest path that can be looked up by pov_path_key, with its final 0 */
#define POV_PATH_KEY_BYTES 256
struct pov_path {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 mnt_ns;		   /* number of the process's mount namespace */
	char path[POV_PATH_BYTES]; /* as given to execve; zero-padded up to POV_PATH_KEY_BYTES */
};

#define POV_HANDED_MAX 24 /* functions that one call can hand over */

/*
 * Functions that a process reaches only through pointers (struct pov_handover). Its thread waits
 * until they have probes.
 */
struct pov_handed {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 cnt;
	struct {
		pov_u64 addr; /* 0: the pointer is null or could not be read */
		pov_u64 row;  /* index in the function table */
	} function[POV_HANDED_MAX];
};

/* Key of a program file: its path in a mount namespace. */
struct pov_path_key {
	pov_u64 hash; /* pov_path_hash */
	pov_u32 mnt_ns;
	pov_u32 bytes; /* length of the path, including the final 0 */
};

/*
 * Hash of a path of POV_PATH_KEY_BYTES, zero-padded and aligned to 8. Two paths of equal length
 * rarely collide.
 */
static inline pov_u64 pov_path_hash(const char *path)
{
	pov_u64 h = 0xcbf29ce484222325ull, word;

	for (int i = 0; i < POV_PATH_KEY_BYTES; i += 8) {
		__builtin_memcpy(&word, path + i, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h;
}

/* A thread makes its first traced call. POV_KIND_UNREACHED and _INIT use the same layout. */
#define POV_INIT_DONE 0x01 /* INIT: the call has succeeded; without this flag, it begins */
struct pov_caller {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 pad;
};

/* ---- written by the collector ---- */

/*
 * cnt records of a class could not be written to a ring. All that they would have covered lies
 * within since_ns … hdr.ts_ns. A call, a spin and an interrupt cover the time from their start to
 * their end, a MORE the time from its call's start on. Other records cover the time that they
 * carry. since_ns is at most 0.3 ms too early; if unknown, it is the recording's start. hdr.ts_ns
 * is when the loss was noticed, or the recording's end.
 */
struct pov_lost {
	struct pov_hdr hdr;
	pov_u64 since_ns;
	pov_u64 cnt;
	pov_u16 ring;  /* ring number; the rescue ring has the highest */
	pov_u16 class; /* enum pov_class */
	pov_u32 pad;
};

/*
 * State of a function under the overhead limit (record --max-overhead) from since_ns to hdr.ts_ns,
 * for all processes. Written when the state changes (then both times are equal), and about once a
 * second until the recording ends. The state only ever grows.
 */
enum pov_limit_state {
	POV_LIMIT_RECORDED = 0, /* in no file */
	/* calls are counted (struct pov_counted) and not recorded one by one */
	POV_LIMIT_COUNTED = 1,
	/* calls are not even counted */
	POV_LIMIT_DETACHED = 2,
};
struct pov_limit {
	struct pov_hdr hdr;
	pov_u64 since_ns;
	pov_u32 tgid; /* process with the highest overhead, which triggered the change; 0: none */
	pov_u16 func;
	pov_u16 state;	  /* enum pov_limit_state */
	pov_u32 cost_ppm; /* overhead in that process's time, when decided or last measured */
	pov_u32 limit_ppm;
};

#define POV_ABI_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
/* The kernel half finds the start time of any record that it could not write in the third word. */
_Static_assert(__builtin_offsetof(struct pov_call, dur_ns) == 16 &&
		       __builtin_offsetof(struct pov_spin, dur_ns) == 16 &&
		       __builtin_offsetof(struct pov_counted, dur_ns) == 16 &&
		       __builtin_offsetof(struct pov_irq, dur_ns) == 16 &&
		       __builtin_offsetof(struct pov_more, begin_ns) == 16,
	       "third word");
POV_ABI_SIZE(pov_hdr, 16);
POV_ABI_SIZE(pov_switch, 32);
POV_ABI_SIZE(pov_waking, 32);
POV_ABI_SIZE(pov_migrate, 24);
POV_ABI_SIZE(pov_irq, 32);
POV_ABI_SIZE(pov_sample, 32);
POV_ABI_SIZE(pov_call, 56);
POV_ABI_SIZE(pov_field, 8);
POV_ABI_SIZE(pov_field_comm, 16);
POV_ABI_SIZE(pov_field_ends, 56);
POV_ABI_SIZE(pov_field_message, 8 + POV_MESSAGE_HEAD_BYTES);
POV_ABI_SIZE(pov_work, 32);
POV_ABI_SIZE(pov_more, 32);
POV_ABI_SIZE(pov_call_begin, 32);
POV_ABI_SIZE(pov_spin_func, 32);
POV_ABI_SIZE(pov_spin, 40);
POV_ABI_SIZE(pov_counted, 64);
POV_ABI_SIZE(pov_room, 32);
POV_ABI_SIZE(pov_region, 32);
POV_ABI_SIZE(pov_task, 56);
POV_ABI_SIZE(pov_fork, 48);
POV_ABI_SIZE(pov_exit, 24);
POV_ABI_SIZE(pov_written, 40);
POV_ABI_SIZE(pov_signal, 64);
POV_ABI_SIZE(pov_affinity, 152);
POV_ABI_SIZE(pov_image, 64);
POV_ABI_SIZE(pov_path, 24 + POV_PATH_BYTES);
POV_ABI_SIZE(pov_handed, 24 + 16 * POV_HANDED_MAX);
POV_ABI_SIZE(pov_caller, 24);
POV_ABI_SIZE(pov_lost, 40);
POV_ABI_SIZE(pov_limit, 40);

#endif
