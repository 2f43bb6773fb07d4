/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The event ABI: every record that crosses from the kernel half to the collector, and that lies
 * (losslessly coded) in the event blocks of a .pov file. Included by both halves and includes nothing.
 *
 * Rules: fixed-width types, explicit padding, explicit enum values; records are multiples of 8 bytes
 * and start with struct pov_hdr; append only; a reader skips an unknown kind by its size.
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
	POV_KIND_UNSHOWN = 20,	  /* struct pov_call, for what it says of communicators */
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
	POV_KIND_HANDED = 41,	/* struct pov_handed: the same */
	POV_KIND_UNREACHED =
		42, /* struct pov_caller: the same; a process waits for probes; flags: POV_WAIT_… */
	POV_KIND_SIGNAL = 43,  /* struct pov_signal: a target was sent a signal that ends it */
	POV_KIND_INIT = 44,    /* struct pov_caller: the same; a process initialises MPI */
	POV_KIND_WRITTEN = 45, /* struct pov_written */
	/* Written by the collector, never by the kernel half. */
	POV_KIND_LOST = 64,  /* struct pov_lost */
	POV_KIND_LIMIT = 67, /* struct pov_limit */
	/* Put in by whoever reads a file (trace/trace_read.h), never in one. */
	POV_KIND_LOSS_BEGIN = 65, /* struct pov_lost */
	POV_KIND_LOSS_END = 66,	  /* struct pov_lost */
};

/* What a record that could not be written belonged to; index of the drop counters. */
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
	pov_u16 size;  /* of the whole record, bytes, multiple of 8 */
	pov_u8 kind;   /* enum pov_kind */
	pov_u8 flags;  /* per kind, below */
	pov_u32 tid;   /* global (initial namespace) thread id; per kind */
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

/* hdr.tid = the thread that was current: the waker, or the one that the waking interrupt hit. */
#define POV_WAKING_NEW 0x01	  /* first wake-up of a new thread (sched_wakeup_new) */
#define POV_WAKING_INTERRUPT 0x02 /* by an interrupt or softirq, which hit the current thread */
struct pov_waking {
	struct pov_hdr hdr;
	pov_u32 target_tid;
	pov_u16 cpu;	    /* where the waker ran */
	pov_u16 target_cpu; /* where the target is to run */
	pov_u16 prio;
	pov_u16 pad[3];
};

/* hdr.tid = the thread that moves. */
struct pov_migrate {
	struct pov_hdr hdr;
	pov_u16 orig_cpu;
	pov_u16 dest_cpu;
	pov_u16 cpu; /* where this was decided */
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

/* Where in its program a thread of a target was when a clock of its CPU ticked, POV_SAMPLES_HZ times a second; not in traced calls. */
#define POV_SAMPLES_HZ 97
#define POV_SAMPLE_STACK \
	0x01 /* not by a tick: a return address in its program, by its stack when the recording ended. The collector's */
struct pov_sample {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 pad;
	pov_u64 ip; /* in the program, also if the thread was in the kernel on behalf of it */
};

/* ---- calls ---- */

#define POV_CALL_OPEN 0x01    /* had not returned when read out (thread's or recording's end) */
#define POV_CALL_UNWOUND 0x02 /* left without returning (longjmp, exception, exit) */
#define POV_CALL_FAULT 0x04   /* some memory could not be read: a field is missing or short */
#define POV_CALL_MORE 0x08    /* struct pov_more records with this call's key precede it */
#define POV_CALL_PARTIAL \
	0x10 /* an array was too long to be kept (or summed) whole; counts are true */
#define POV_CALL_PRELOADED \
	0x40 /* recorded by its process itself, without a probe; the collector's */
#define POV_CALL_END_ONLY 0x20 /* only its end was seen: dur_ns is 0 and says nothing */
/* UNSHOWN: made before what is recorded begins; its times tell the order of such calls, and nothing else. The collector's */
#define POV_CALL_EARLIER 0x80
/*
 * One call of a traced function, written when it returns. Begin = hdr.ts_ns - dur_ns.
 * After the fixed part: nargs argument words, then fields, each a struct pov_field with its data
 * padded to 8 bytes, until hdr.size.
 *
 * POV_KIND_UNSHOWN is the same of a function that was not chosen; and, with POV_CALL_OPEN, of one that makes communicators, as
 * it begins: no member of a communicator returns from such a call before all have called, so whoever reads these records
 * knows all that they say before the communicator is used.
 */
struct pov_call {
	struct pov_hdr hdr;
	pov_u64 dur_ns;
	pov_u32 tgid;
	pov_u16 func; /* row of the trace's function table */
	pov_u8 depth; /* 0 = called by the program, n = from within n traced calls */
	pov_u8 nargs;
	pov_u64 ret;	 /* return register, raw; 0 if OPEN or UNWOUND */
	pov_u64 site;	 /* return address: the call site; 0: unknown */
	pov_u16 cpu;	 /* at return */
	pov_u16 lib;	 /* id of the library's meta block */
	pov_u32 unknown; /* bit of each argument whose value was not seen: of a call that began before its process was recorded */
	pov_u64 args[];	 /* raw words in ABI order */
};

/* It is a struct pov_call. */
static inline int pov_is_call(const struct pov_hdr *rec)
{
	return rec->kind == POV_KIND_CALL || rec->kind == POV_KIND_UNSHOWN;
}

/* What a field holds. Element widths (handles, statuses) are the library ABI's. */
enum pov_field_type {
	POV_FIELD_IN = 1,  /* memory the argument points to, copied at entry */
	POV_FIELD_OUT = 2, /* memory the argument points to, copied at return */
	/* one u64: sum over an array read at entry, of integers or of the lengths of pieces of memory; cnt = the array's length */
	POV_FIELD_SUM = 3,
	POV_FIELD_TYPE_SIZE = 4, /* one u64: bytes of one element of the datatype argument */
	POV_FIELD_COMM = 5, /* struct pov_field_comm: what the library has of the communicator */
	POV_FIELD_WORK = 6, /* struct pov_work: requests of the list that the argument points to */
	POV_FIELD_ENDS = 7, /* struct pov_field_ends: between whom the kernel moves data */
	POV_FIELD_MESSAGE =
		8, /* struct pov_field_message: what the call was handed; cnt = its parts */
	/* what a pointer leads to that is in what the argument points to, cnt bytes behind its beginning */
	POV_FIELD_MEMBER = 12,
};

struct pov_field {
	pov_u8 type;  /* enum pov_field_type */
	pov_u8 arg;   /* which argument it belongs to */
	pov_u16 size; /* data bytes in this record, before padding */
	pov_u32 cnt;  /* true number of elements (may exceed what is kept) */
};

struct pov_field_comm {
	pov_u64 context_id; /* library's id; ~0 if unknown */
	pov_s32 rank;	    /* of this process in it; -1 if unknown */
	pov_s32 size;	    /* -1 if unknown */
};

#define POV_MESSAGE_HEAD_BYTES 64
struct pov_field_message {
	pov_u64 bytes;			     /* of its first two parts */
	pov_u8 head[POV_MESSAGE_HEAD_BYTES]; /* what the first part begins with, zeros behind its end */
};

/* A work request of RDMA verbs (struct ibv_send_wr, ibv_recv_wr), as it was when it was posted. */
#define POV_WORK_BYTES_UNKNOWN 0xffffffffu
struct pov_work {
	pov_u64 id;    /* wr_id */
	pov_u64 ah;    /* wr.ud.ah; of other queues than those of datagrams what else lies there */
	pov_u32 bytes; /* sum over its pieces of memory; POV_WORK_BYTES_UNKNOWN */
	pov_u32 remote_qp; /* wr.ud.remote_qpn, as ah */
	pov_u32 qp;	   /* number of the queue pair it was posted to; 0: of none, or not known */
	pov_u8 qp_type;	   /* enum ibv_qp_type; 0 as qp */
	pov_u8 opcode;	   /* enum ibv_wr_opcode; 0 of a receive */
	pov_u8 flags;	   /* enum ibv_send_flags; 0 of a receive */
	pov_u8 npieces;	   /* num_sge; 255 stands for more, too */
};

/*
 * Ends of a connection, or two processes; what is 0 is not known. Addresses are in network order, IPv4's in the first 4
 * bytes, ports in the host's.
 */
struct pov_field_ends {
	pov_u16 family; /* AF_*: of the socket, and of the addresses; AF_UNSPEC: processes */
	pov_u16 local_port, remote_port;
	pov_u16 pad;
	pov_u64 local_id,
		remote_id; /* inodes of sockets; processes' numbers in the first pid namespace */
	pov_u8 local[16], remote[16];
};

/*
 * Elements of a field that did not fit, in order; precede their call's record.
 * Key: hdr.tid and begin_ns (the call's begin).
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
 * A call that was under way when its thread first left the CPU: written just before that
 * pov_switch, so that a one-pass reader knows it. Its pov_call follows when it returns.
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
	pov_u64 arg;	 /* request, communicator … argument word 0 of the first poll */
	pov_u16 func;
	pov_u16 lib;
	pov_u32 pad;
};

#define POV_SPIN_OPEN 0x01
#define POV_SPIN_PRELOADED 0x02 /* as POV_CALL_PRELOADED */
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
 * Calls by one thread of a function that is only counted (struct pov_limit), or of those of a cheap one (pov_fn.brief) the brief ones, between hdr.ts_ns - dur_ns, when the first of them
 * began, and hdr.ts_ns, when the last one returned. It may have made other calls in between.
 */
#define POV_COUNTED_NESTED 0x01	   /* they were made from within traced calls */
#define POV_COUNTED_PRELOADED 0x02 /* as POV_CALL_PRELOADED */
struct pov_counted {
	struct pov_hdr hdr;
	pov_u64 dur_ns;
	pov_u64 calls;
	pov_u64 busy_ns; /* sum of the calls' own durations */
	pov_u32 tgid;
	pov_u16 func;
	pov_u16 lib;
	pov_u64 bytes; /* that they hand over or have room for, as far as their arguments tell: … */
	pov_u64 sized; /* … of so many of them. Both are not in older traces */
};

/* hdr.tid waited until hdr.ts_ns for room to record a call that had returned, or a poll: not the program's doing. */
struct pov_room {
	struct pov_hdr hdr;
	pov_u64 dur_ns;
	pov_u32 tgid;
	pov_u32 pad;
};

/*
 * A thread enters or leaves a function of the program that is a region of it (a phase). Regions are no calls: they have no
 * depth, and may last as long as the program. A begin and its end have the same stack pointer. Whatever of a thread's regions has
 * a lower one than a later record (a begin that is not CHAINED: no higher one) was left without returning.
 */
#define POV_REGION_END 0x01
#define POV_REGION_CHAINED \
	0x02 /* begin: by a jump from a function that will return, too. In older traces */
#define POV_REGION_EARLIER 0x04 /* begun before what is recorded begins. The collector's */
#define POV_REGION_UNWOUND 0x08 /* end: it was left without returning, some time before */
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

/* Older traces have neither flag: there the status of a process is its first thread's. */
#define POV_EXIT_PROCESS 0x01 /* code is the status of the whole process */
#define POV_EXIT_OOM 0x02     /* the kernel chose the process to get back its memory */
struct pov_exit {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_s32 code; /* wait(2) status */
};

/*
 * What a thread of a target has written in all its life, by the kernel's account (wchar and syscw of /proc/PID/task/TID/io): by write(2) and
 * its relatives, to files, pipes, terminals and sockets. Emitted when the thread exits, and for threads that run when the recording ends; of
 * threads other than the first only if they wrote.
 */
#define POV_WRITTEN_BEGIN \
	0x01 /* the thread ran when the recording began: what follows counts from here */
struct pov_written {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 pad;
	pov_u64 bytes;
	pov_u64 calls; /* system calls, failed ones too */
};

enum pov_signal_from {
	POV_SIGNAL_FROM_OTHER = 0, /* a timer, or a device */
	POV_SIGNAL_FROM_PROCESS = 1,
	POV_SIGNAL_FROM_KERNEL = 2,
	/* The kernel, for what the thread itself did at ip; or the thread itself, after it handled that. */
	POV_SIGNAL_FROM_FAULT = 3,
};

/*
 * A signal that a target has no handler for and that ends it, unless the target blocks it. hdr.tid = the thread that was sent it; of a
 * signal to the process (flag), any of its threads.
 */
#define POV_SIGNAL_TO_PROCESS 0x01
struct pov_signal {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 sender;		 /* FROM_PROCESS: its thread group; else 0 */
	char comm[POV_COMM_LEN]; /* FROM_PROCESS: name of the sending thread */
	pov_s32 code;		 /* si_code of siginfo_t; 0 if the kernel gave none */
	pov_u16 signo;
	pov_u8 from; /* enum pov_signal_from */
	pov_u8 pad;
	pov_u64 ip;	 /* FROM_FAULT: the instruction; else 0 */
	pov_u64 address; /* FROM_FAULT, SIGSEGV and SIGBUS: the address that was accessed; else 0 */
};

struct pov_affinity {
	struct pov_hdr hdr; /* tid = the thread whose mask this is */
	pov_u32 tgid;
	pov_u32 nr_cpus; /* CPUs in the mask */
	pov_u64 mask[POV_CPUMASK_WORDS];
};

/* The collector had not looked at this file, or had not put this process's probes into it: the process waits for that. */
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

/* A target is about to execute a file, and waits until it has been looked at. */
#define POV_PATH_BYTES 1024
#define POV_PATH_KEY_BYTES \
	256 /* of a path that can be known by pov_path_key, its final 0 included */
struct pov_path {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 mnt_ns;		   /* number of the process's mount namespace */
	char path[POV_PATH_BYTES]; /* as given to execve; zeros behind it up to POV_PATH_KEY_BYTES */
};

#define POV_HANDED_MAX 24 /* functions that one call hands over */

/* Functions that a process has as pointers only (struct pov_handover); its thread waits until they have been probed. */
struct pov_handed {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 cnt;
	struct {
		pov_u64 addr; /* 0: there is none */
		pov_u64 row;  /* of the function table */
	} function[POV_HANDED_MAX];
};

/* A program by its name. */
struct pov_path_key {
	pov_u64 hash; /* pov_path_hash */
	pov_u32 mnt_ns;
	pov_u32 bytes; /* final 0 included */
};

/* path: POV_PATH_KEY_BYTES, zeros behind its end; aligned to 8. Two names of one length rarely have the same. */
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

/* A thread makes its first traced call. */
#define POV_INIT_DONE 0x01 /* INIT: the call has succeeded; without it, the call begins */
struct pov_caller {
	struct pov_hdr hdr;
	pov_u32 tgid;
	pov_u32 pad;
};

/* ---- the collector's own ---- */

/*
 * cnt records of a class could not be written to a ring. All that they would have told lies within since_ns … hdr.ts_ns:
 * a call, a spin or an interrupt from its begin to its end (a MORE from its call's begin), of others the time they bear.
 * since_ns is at most 0.3 ms too early, or the recording's start where it is not known; hdr.ts_ns is when the loss was
 * noticed, or the recording's end.
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
 * The limit on what tracing may cost (record --max-overhead): what became of a function from since_ns to hdr.ts_ns, for all processes.
 * Written when that changes (then both are the same), and each second or so as long as it is so.
 */
enum pov_limit_state {
	POV_LIMIT_RECORDED = 0, /* again */
	POV_LIMIT_COUNTED =
		1, /* its calls are counted (struct pov_counted), and not recorded one by one */
	/* its calls are not seen, but for short samples, in which they are counted */
	POV_LIMIT_DETACHED = 2,
	/* the limit was exceeded by functions that are never given up; func is POV_LIMIT_ALL */
	POV_LIMIT_EXCEEDED = 3,
};
#define POV_LIMIT_ALL 0xffff
struct pov_limit {
	struct pov_hdr hdr;
	pov_u64 since_ns;
	pov_u32 tgid; /* of the process that decided it: the one that tracing cost most; 0: none */
	pov_u16 func;
	pov_u16 state;	  /* enum pov_limit_state */
	pov_u32 cost_ppm; /* of that process's time, when it was decided or last measured */
	pov_u32 limit_ppm;
};

#define POV_ABI_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
/* where the kernel half looks for the begin of what it could not write, whatever it is */
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
