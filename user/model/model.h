/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The model replays a trace once, in time order. It reports to its sinks (writers, analyses) in the
 * project's terms: ranks, threads, their states, calls with their time split, requests, counters.
 * It knows nothing of output formats. Memory is bounded by the number of threads, open calls and
 * pending requests, never by the length of the trace.
 */
#ifndef POV_MODEL_MODEL_H
#define POV_MODEL_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "layers/layer.h"
#include "trace/trace_join.h"

struct trace;
struct model;

enum thread_state {
	THREAD_UNKNOWN = 0, /* no scheduler event seen yet, or none recorded */
	THREAD_RUNNING = 1,
	THREAD_RUNNABLE = 2, /* woken or preempted, but not on a CPU */
	THREAD_BLOCKED = 3,
	THREAD_DEAD = 4,
	THREAD_STATE_CNT = 5,
};

/* ns spent in each state, indexed by enum thread_state */
struct state_times {
	uint64_t ns[THREAD_STATE_CNT];
};

/* A host that the trace has a recording of. */
struct model_host {
	const char *name, *kernel, *machine; /* uname */
	const char *label; /* unique in the trace: the name, numbered if several hosts share it */
	/* Its CPUs in the trace's numbering: cpu_base .. cpu_base + nr_cpus - 1. */
	uint32_t cpu_base, nr_cpus;
	uint32_t recorder_pid; /* pid of the povtrace that recorded it; 0 if unknown */
	/* start of its recording; 0 for a single recording: see model_info */
	uint64_t start_ns;
	/* Added to its times to bring them to the clock of the first host. */
	int64_t offset_ns, drift_ppb;
	enum trace_clock_by clock_by; /* this and the next members: see struct trace_clock_fit */
	uint32_t clock_host;
	uint64_t clock_messages, clock_uncertainty_ns, clock_violated_ns;
};

/* Where a call was made: the instruction after it. */
struct model_site {
	uint64_t address;		   /* in the process */
	const struct model_module *module; /* module that contains the address, or NULL */
	uint64_t offset;		   /* in the module's file */
};

/* A signal that ended a process. */
struct model_signal {
	uint64_t ts_ns;			    /* when it was sent */
	const struct model_thread *thread;  /* thread it was sent to; NULL: to the process */
	int32_t signo, code;		    /* code: si_code of siginfo_t */
	uint8_t from;			    /* enum pov_signal_from */
	uint32_t sender_pid;		    /* FROM_PROCESS: pid on its host; else 0 */
	const struct model_process *sender; /* FROM_PROCESS; NULL if not in the trace */
	char sender_name[16];		    /* of the sending thread */
	/* FROM_FAULT, SIGSEGV and SIGBUS: address that the instruction accessed */
	uint64_t address;
	/* FROM_FAULT: the instruction itself. Set once the replay has passed the signal. */
	struct model_site at;
};

struct model_process {
	uint32_t pid;	   /* in the trace's numbering */
	uint32_t host_pid; /* pid on its host */
	uint32_t host_idx; /* index for model_host_get() */
	const char *host;  /* label of its host; "" if the trace has one host only */
	uint32_t out_pid;  /* unique in the trace (differs when a pid was reused) */
	uint32_t ppid;
	uint64_t start_ns, end_ns; /* clipped to the recording */
	bool exited;
	int32_t exit_code; /* wait(2) status; valid if ended_ns is set */
	/* When exit_code was decided, even if some threads were still alive. 0: unknown. */
	uint64_t ended_ns;
	bool out_of_memory;		      /* killed by the kernel's out-of-memory killer */
	const struct model_signal *killed_by; /* NULL: not killed, or not recorded */
	/*
	 * Written by write(2) and its relatives during the recording, to files and to sockets.
	 * Failed system calls count. Valid if written_known.
	 */
	uint64_t written_bytes, write_calls;
	bool written_known;
	bool is_target;	 /* recorded on purpose (not merely seen on a CPU) */
	bool is_rank;	 /* has initialised MPI or begun to; in older traces: uses an MPI library */
	int32_t rank;	 /* world rank, -1 if unknown */
	int32_t job_idx; /* index of its job in the trace; -1 if unknown */
	const char *job; /* the launcher's name of the job, or "" */
	const json_t *meta;  /* the last meta object "process" of a rank; NULL: not a rank */
	const char *name;    /* short program name */
	const char *cmdline; /* or "" */
	/* For model_process_get(): ranks first, by job, host and rank; then the others. */
	uint32_t idx;
	void *user; /* not used by the model */
};

struct model_thread {
	uint32_t tid, out_tid;
	uint32_t idx; /* index for model_thread_get() */
	struct model_process *proc;
	char comm[16];
	bool kthread;
	bool idle;		   /* swapper */
	uint64_t start_ns, end_ns; /* clipped to the recording; end valid once dead or at the end */
	enum thread_state state;
	uint64_t since_ns; /* when the state began */
	/*
	 * The kernel's task state bits when the thread last left its CPU to sleep. 0: not asleep,
	 * or unknown.
	 */
	uint32_t asleep_as;
	uint16_t cpu;		    /* last known */
	struct state_times times;   /* up to since_ns */
	struct thread_calls *calls; /* private to the model */
	void *user;
};

struct model;

/*
 * True for threads of the recorder and its helpers. Decides by the thread's name alone if the trace
 * does not name the recording process.
 */
bool model_thread_records(const struct model *m, const struct model_thread *t);

struct model_switch {
	uint64_t ts_ns;
	uint16_t cpu;
	struct model_thread *prev, *next;
	uint16_t prev_prio, next_prio;
	uint32_t prev_state; /* raw bits */
	bool preempted;
};

struct model_waking {
	uint64_t ts_ns;
	uint16_t cpu, target_cpu, prio;
	struct model_thread *waker; /* for an interrupt: the thread that it interrupted */
	struct model_thread *target;
	bool is_new, by_interrupt;
};

struct model_migrate {
	uint64_t ts_ns;
	uint16_t orig_cpu, dest_cpu;
	struct model_thread *thread;
};

/* A file that code was mapped from, as recorded. One object per file. */
struct model_module {
	const char *path;
	const char *build_id; /* hex; "" if the file has none, or if it is ambiguous */
	uint64_t stamp;	      /* POV_FILE_STAMP of change time and size; 0: not recorded */
};

struct model_call {
	const struct func_info *func;
	struct model_thread *thread;
	uint64_t begin_ns, end_ns;
	/* begin of the fruitless polls just before, if it ends those; else begin_ns */
	uint64_t polled_since_ns;
	uint8_t depth; /* number of traced calls around it, of any layer */
	bool nested;   /* inside a call of the same layer */
	bool open, unwound, partial, fault;
	bool preloaded; /* recorded by the process itself, without a probe */
	bool end_only;	/* begin unknown: begin_ns equals end_ns */
	uint16_t cpu;
	uint16_t lib; /* id of the library's meta object */
	struct model_site site;
	uint64_t ret;
	struct state_times split;     /* all UNKNOWN if the scheduler was not recorded */
	const struct call_view *view; /* decoded arguments and roles */
};

struct model_spin_func {
	const struct func_info *func;
	uint16_t lib;
	uint64_t cnt, busy_ns, arg;
};

struct model_spin {
	struct model_thread *thread;
	uint64_t begin_ns, end_ns;
	uint8_t depth; /* as in struct model_call */
	bool nested;
	bool open;
	bool preloaded;
	uint16_t cpu;
	uint32_t nfuncs;
	struct model_spin_func func[4];
	uint64_t cnt, busy_ns;	  /* over all functions */
	struct model_site site;	  /* of the first poll */
	struct state_times split; /* from first entry to last return */
	uint64_t running_ns;	  /* on the CPU, inside the polls */
	bool computes; /* polls lie far apart: the thread computes in between instead of waiting */
};

/*
 * Polls belong to a computation if their mean distance exceeds this, not counting the recording's
 * own cost per poll.
 */
#define MODEL_POLL_PAUSE_NS 5000

/*
 * Cost that recording adds to a poll that found nothing, in ns: with a probe, and preloaded. 0 if
 * the trace does not have it.
 */
struct poll_cost {
	double probe_ns, preload_ns;
};
struct poll_cost poll_cost_read(const struct trace *t);
/* The cost that applies to the polls of this spin; 0 if unknown. */
double poll_cost_ns(const struct poll_cost *c, const struct model_spin *s);

/* Calls that were counted, but not recorded one by one (struct pov_counted). */
struct model_counted {
	struct model_thread *thread;
	const struct func_info *func;
	uint64_t begin_ns, end_ns; /* begin of the first call, end of the last */
	uint64_t calls, busy_ns;
	/*
	 * Bytes that `sized` of the calls moved, as in call_roles. func->moves: sent, received,
	 * or the same amount both ways.
	 */
	uint64_t bytes, sized;
	uint16_t lib;
	bool inner;	/* made inside other traced calls */
	bool nested;	/* made inside calls of the same layer, as far as known */
	bool preloaded; /* counted by the process itself, without a probe */
};

/* A thread waited for space to record its calls. Tracing caused this delay, not the program. */
struct model_room {
	struct model_thread *thread;
	uint64_t begin_ns, end_ns;
};

/* The overhead limit throttled a function (struct pov_limit). */
struct model_limit {
	uint64_t since_ns, ts_ns; /* equal when the throttling begins */
	const struct func_info *func;
	const struct model_process *proc; /* process that decided it; NULL: unknown */
	uint16_t state;			  /* POV_LIMIT_COUNTED or POV_LIMIT_DETACHED */
	double cost, limit;		  /* fractions of proc's time */
};

/* CPUs that a thread may use from now on, in its host's numbering. */
#define MODEL_MASK_WORDS 16
struct model_mask {
	uint64_t word[MODEL_MASK_WORDS];
};

static inline void model_mask_add(struct model_mask *to, const struct model_mask *from)
{
	for (int i = 0; i < MODEL_MASK_WORDS; i++)
		to->word[i] |= from->word[i];
}

static inline uint32_t model_mask_cnt(const struct model_mask *m)
{
	uint32_t n = 0;

	for (int i = 0; i < MODEL_MASK_WORDS; i++)
		n += (uint32_t)__builtin_popcountll(m->word[i]);
	return n;
}

struct model_affinity {
	const struct model_thread *thread;
	uint64_t ts_ns;
	struct model_mask cpus;
};

enum region_end {
	REGION_UNDER_WAY,
	REGION_RETURNED,
	REGION_UNWOUND, /* left without returning (longjmp, exception, exec) */
	REGION_OPEN,	/* the thread or the recording ended inside it */
};

/*
 * A function of the program that record --region selected. Reported at its begin and again at its
 * end.
 */
struct model_region {
	struct model_thread *thread;
	uint32_t region; /* index for model_region_name() */
	const char *name;
	enum region_end ended;
	uint64_t begin_ns, end_ns; /* end_ns and split are set once it has ended */
	uint32_t depth;		   /* number of regions of the same thread around it */
	bool recursive;		   /* one of these is the same function */
	struct state_times split;
};

/* Where a running thread was at a tick of its CPU's clock, outside recorded calls. */
struct model_sample {
	struct model_thread *thread;
	uint64_t ts_ns;
	struct model_site at;
	bool by_stack; /* a return address from the end of the recording, not from a tick */
	/* addresses after calls, innermost first (model_sample_caller) */
	const uint64_t *caller;
	uint32_t ncallers;
	bool cut; /* there are more callers, which were not found */
};

void model_sample_caller(const struct model_sample *s, uint32_t i, struct model_site *out);

struct model_irq {
	uint64_t begin_ns, end_ns;
	uint16_t cpu;
	uint32_t vec;
	bool soft;
	struct model_thread *thread;
};

struct model_lost {
	uint64_t since_ns, ts_ns, cnt;
	uint16_t ring;
	uint16_t class; /* enum pov_class */
	/*
	 * Function whose calls the overhead limit left out; cnt is 0 then. NULL: records were lost.
	 */
	const struct func_info *left_out;
	bool counted; /* the left-out calls were counted */
};

/*
 * A finished operation: a message sent or received, a collective, or an access to a file or to
 * another rank's memory. A blocking call performs it alone. Otherwise a request spans the call that
 * started it and the call that completed it.
 */
struct model_operation {
	const struct model_thread *thread;  /* thread that completed it */
	const struct model_thread *starter; /* thread that started it; NULL: unknown */
	/* function that described it: MPI_Send_init, not MPI_Start */
	const struct func_info *func;
	const struct call_roles *roles; /* as described to that function */
	uint64_t begin_ns, posted_ns;	/* begin and end of the call that started it */
	uint32_t place;			/* index among the operations this call started */
	/* begin and end of the completing call; the same call if it blocks */
	uint64_t completing_ns, end_ns;
	uint64_t waiting_ns;		       /* polled_since_ns of the completing call */
	uint32_t end_place;		       /* index among the operations that call completed */
	const struct call_request *completion; /* NULL if it blocks */
};

/*
 * One rank's part of a message, or of an access to another rank's memory. Reported after its
 * operation.
 */
struct model_message {
	const struct model_operation *operation;
	bool sends; /* else it receives */
	/* Rank in the communicator, and tag. Of a receive: from the status, if the call has one. */
	int32_t peer, tag;
	int32_t peer_world; /* rank in MPI_COMM_WORLD, or -1 */
	int32_t peer_job;
	enum peer_unknown why; /* why peer_world is -1 */
	uint32_t comm_id;      /* as in call_roles */
	/* Sent; or received; or the size of the receive buffer. BYTES_UNKNOWN if unknown. */
	int64_t bytes;
};

/* The outermost call, or merged polls, of the top layer that a thread was in. */
struct model_within {
	const struct func_info *func;
	uint64_t begin_ns, end_ns;
	uint64_t request; /* handle if the call starts or completes exactly one request; else 0 */
};

/*
 * Something that a lower layer's call posted or learned (layers/post.h). Reported after its call.
 */
struct model_post {
	const struct call_post *post;
	const struct model_call *call;	   /* call that did it */
	const struct model_within *within; /* NULL: no top-layer call was active on this thread */
	bool within_unknown;		   /* the enclosing call is unknown; within is NULL then */
};

enum model_counter_id { COUNTER_BYTES_IN_FLIGHT /* per rank */, COUNTER_RUNNABLE /* per CPU */ };
struct model_counter {
	enum model_counter_id id;
	uint64_t ts_ns;
	const struct model_process *proc; /* BYTES_IN_FLIGHT */
	uint16_t cpu;			  /* RUNNABLE: threads waiting for this CPU */
	int64_t value;
};

/*
 * Called in time order of switch/waking/lost/counter/region times. A call is reported only after
 * its outermost call has ended: parents before children, so that begin times of one thread never go
 * back. Two exceptions keep memory bounded and lose nothing:
 * - If a call contains more nested calls than can be stored, these are reported before it.
 * - If the record of an outermost call was lost, its children are reported alone.
 * Any callback may be NULL.
 */
struct model_sink {
	void *ctx;
	const struct model **model; /* is set to the model before the replay; or NULL */
	void (*start)(void *ctx, const struct model *m); /* identities are known */
	void (*thread)(void *ctx, const struct model_thread *t,
		       uint64_t ts_ns); /* appeared, renamed or moved by exec */
	void (*thread_exit)(void *ctx, const struct model_thread *t, uint64_t ts_ns);
	void (*on_switch)(void *ctx, const struct model_switch *s);
	void (*waking)(void *ctx, const struct model_waking *w);
	void (*migrate)(void *ctx, const struct model_migrate *g);
	/* for targets: at their first switch and after each change */
	void (*affinity)(void *ctx, const struct model_affinity *f);
	void (*call)(void *ctx, const struct model_call *c);
	void (*spin)(void *ctx, const struct model_spin *s);
	/* for outermost calls of a layer; in order of end_ns, except for nested ones */
	void (*operation)(void *ctx, const struct model_operation *o);
	void (*message)(void *ctx, const struct model_message *msg);
	void (*post)(void *ctx, const struct model_post *p);
	/* a region's end is reported after all outermost calls made inside it */
	void (*region)(void *ctx, const struct model_region *r);
	void (*irq)(void *ctx, const struct model_irq *i);
	void (*sample)(void *ctx, const struct model_sample *p);
	void (*lost)(void *ctx, const struct model_lost *l);
	void (*counted)(void *ctx, const struct model_counted *c);
	void (*room)(void *ctx, const struct model_room *r);
	/* A function that is left out is also reported as lost. */
	void (*limit)(void *ctx, const struct model_limit *l);
	void (*counter)(void *ctx, const struct model_counter *c);
	/*
	 * The same calls and spins of all threads in order of begin. Each waits until no active
	 * call can have begun before it. At most 65,536 wait. Calls that arrive too late for their
	 * place are still reported and counted in model_stats.
	 */
	void (*call_by_begin)(void *ctx, const struct model_call *c);
	void (*spin_by_begin)(void *ctx, const struct model_spin *s);
	/* a thread spent from_ns..to_ns in one state; called when the interval closes */
	void (*state)(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		      enum thread_state s, uint16_t cpu);
	void (*finish)(void *ctx, const struct model *m);
};

struct model_options {
	bool counters;	 /* compute COUNTER_* */
	bool roles_only; /* skip call_view.values: they serve display only */
};

/*
 * Calls tell() for each operation that a call starts: its own, or those of its persistent requests.
 */
void model_call_operations(const struct model_call *c,
			   void (*tell)(void *ctx, const struct model_call *c,
					const struct func_info *func,
					const struct call_roles *roles),
			   void *ctx);

/*
 * Learns identities from meta objects and from the task stream. The trace must outlive the model.
 */
int model_open(struct trace *t, const struct model_options *opt, struct model **out);
/*
 * Replays everything into the sinks. Returns 0 or -errno. May be called again for another pass. A
 * thread whose identity record was lost is appended to the list when it is first met.
 */
int model_run(struct model *m, const struct model_sink *const *sinks, unsigned int nsinks);
void model_close(struct model *m);

/* True if single calls of a top-layer function in one of these groups ("p2p req") are missing. */
bool model_lost_calls(const struct model_lost *l, const char *groups);

/* Facts known before the replay. */
struct model_info {
	uint64_t start_ns, end_ns;  /* of the recording (CLOCK_MONOTONIC) */
	int64_t boottime_offset_ns; /* BOOTTIME = MONOTONIC + this */
	int64_t realtime_offset_ns;
	uint32_t nhosts;  /* 1, unless several recordings are read together (trace/trace_join.h) */
	uint32_t nr_cpus; /* over all hosts */
	uint32_t njobs;
	bool sched_recorded; /* scheduler records are expected */
	bool sched_all;	     /* of all tasks, so that core shares are complete */
	bool complete;	     /* the recording ended normally */
};
const struct model_info *model_get_info(const struct model *m);
const struct model_host *model_host_get(const struct model *m, uint32_t i); /* i < nhosts */
/*
 * The host that has this CPU, and the host's own number for it. CPUs of no host belong to the last
 * one.
 */
const struct model_host *model_host_of_cpu(const struct model *m, uint32_t cpu, uint32_t *local);

/* Counts records that the last replay could not use, or had to bound. Zeros are normal. */
struct model_stats {
	uint64_t bad_records;	      /* known kind, but malformed: ignored */
	uint64_t unknown_records;     /* kind that this version does not know */
	uint64_t unknown_functions;   /* calls of functions missing from the trace's table */
	uint64_t unannounced_threads; /* threads met without an identity record */
	/* contradictory scheduler records; the affected time became UNKNOWN */
	uint64_t contradictions;
	uint64_t pending_spilled; /* nested calls reported before their outermost call */
	uint64_t late_by_begin;	  /* calls and spins reported out of order of begin */
	uint64_t sched_gaps;	  /* periods in which scheduler records of a ring are missing */
	uint64_t sched_gap_ns;	  /* their total length, overlaps counted once */
	uint64_t sched_gaps_late; /* losses noticed late: states before them may be wrong */
};
const struct model_stats *model_get_stats(const struct model *m);
struct trace *model_get_trace(const struct model *m);
uint32_t model_process_count(const struct model *m);
struct model_process *model_process_get(const struct model *m, uint32_t i); /* in sort order */
/* The parent process, or NULL if it is not in the trace. */
const struct model_process *model_parent(const struct model *m, const struct model_process *p);
/*
 * True if its program ran before the recording began, so that its earlier calls are unknown. A
 * program that the recorder launches begins with exec.
 */
bool model_ran_before(const struct model *m, const struct model_process *p);
/* Largest error between the times of two hosts; UINT64_MAX: unknown; 0: there is one host. */
uint64_t model_clocks_apart_ns(const struct model *m);
/*
 * The process that a call of self means by this job and rank in MPI_COMM_WORLD. NULL: not in the
 * trace.
 */
const struct model_process *model_peer(const struct model *m, const struct model_process *self,
				       int32_t job, int32_t world_rank);
/*
 * The rank that started a process, directly or through processes that are no ranks. NULL: none
 * known.
 */
const struct model_process *model_rank_above(const struct model *m, const struct model_process *p);
/*
 * During a replay: no call of this process that began earlier will be reported any more. Considers
 * only threads that have made calls. UINT64_MAX if none of these can be in a call.
 */
uint64_t model_calls_reported_until(const struct model *m, const struct model_process *p);
/*
 * During a replay: begin of the outermost unfinished call in which the thread left its CPU.
 * UINT64_MAX: there is none.
 */
uint64_t model_call_left_since(const struct model_thread *t);
uint32_t model_thread_count(const struct model *m); /* all threads that ever appear */
struct model_thread *model_thread_get(const struct model *m, uint32_t i);
/* Functions selected by record --region. */
uint32_t model_region_count(const struct model *m);
const char *model_region_name(const struct model *m, uint32_t i);
uint32_t model_func_count(const struct model *m);
const struct func_info *model_func_get(const struct model *m, uint32_t i);

#endif
