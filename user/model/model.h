/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The model replays a trace once, in time order, and tells its sinks (writers, analyses) what happened
 * in the project's terms: ranks, threads, their states, calls with their time split, requests, counters.
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
	THREAD_RUNNABLE = 2, /* woken or preempted, not on a CPU */
	THREAD_BLOCKED = 3,
	THREAD_DEAD = 4,
	THREAD_STATE_CNT = 5,
};

/* ns spent in each state; index enum thread_state. */
struct state_times {
	uint64_t ns[THREAD_STATE_CNT];
};

/* A machine of which the trace has a recording. */
struct model_host {
	const char *name, *kernel, *machine; /* uname */
	const char *label; /* unique in the trace: the name, with a number if several have it */
	uint32_t cpu_base,
		nr_cpus;       /* its CPUs, in the trace's numbers: cpu_base on, nr_cpus of them */
	uint32_t recorder_pid; /* of the povtrace that recorded it; 0: the trace does not say */
	uint64_t start_ns;     /* of its recording; 0 if there is but one: model_info has it */
	int64_t offset_ns,
		drift_ppb; /* added to its times, so that they are those of the first host's clock */
	enum trace_clock_by clock_by; /* that, and the rest: struct trace_clock_fit */
	uint32_t clock_host;
	uint64_t clock_messages, clock_uncertainty_ns, clock_violated_ns;
};

/* Where a call was made: the instruction behind it. */
struct model_site {
	uint64_t address;		   /* in the process */
	const struct model_module *module; /* that it lies in, or NULL */
	uint64_t offset;		   /* in that file */
};

/* A signal that ended a process. */
struct model_signal {
	uint64_t ts_ns;			    /* when it was sent */
	const struct model_thread *thread;  /* it was sent to this one; NULL: to the process */
	int32_t signo, code;		    /* code: si_code of siginfo_t */
	uint8_t from;			    /* enum pov_signal_from */
	uint32_t sender_pid;		    /* FROM_PROCESS: as its host has it; else 0 */
	const struct model_process *sender; /* FROM_PROCESS; NULL: it is not in the trace */
	char sender_name[16];		    /* of the sending thread */
	uint64_t address; /* FROM_FAULT, SIGSEGV and SIGBUS: what the instruction accessed */
	struct model_site
		at; /* FROM_FAULT: the instruction itself; known when the replay has passed it */
};

struct model_process {
	uint32_t pid;	   /* in the trace's numbers */
	uint32_t host_pid; /* as its host has it */
	uint32_t host_idx; /* of model_host_get() */
	const char *host;  /* its label, or "" if there is but one */
	uint32_t out_pid;  /* unique in the trace (differs when a pid was reused) */
	uint32_t ppid;
	uint64_t start_ns, end_ns; /* clipped to the recording */
	bool exited;
	int32_t exit_code; /* wait(2) status; valid if ended_ns */
	uint64_t ended_ns; /* when that was decided, all of its threads having ended or not; 0: unknown */
	bool out_of_memory;		      /* the kernel chose to kill it to get memory back */
	const struct model_signal *killed_by; /* NULL: it was not, or that was not recorded */
	/*
	 * By write(2) and its relatives, to files and sockets, too, while it was recorded; system calls that failed count. Valid if
	 * written_known.
	 */
	uint64_t written_bytes, write_calls;
	bool written_known;
	bool is_target;	 /* recorded on purpose (not merely seen on a CPU) */
	bool is_rank;	 /* has initialised MPI, or begun to (older traces: uses an MPI library) */
	int32_t rank;	 /* world rank, -1 if unknown */
	int32_t job_idx; /* index of its job in the trace; -1 if unknown */
	const char *job; /* the launcher's name of the job, or "" */
	const json_t *meta;  /* of a rank: its last meta object "process"; NULL: not a rank */
	const char *name;    /* short program name */
	const char *cmdline; /* or "" */
	uint32_t idx; /* of model_process_get(): ranks first, by job, host and rank; then the rest */
	void *user;   /* not used by the model */
};

struct model_thread {
	uint32_t tid, out_tid;
	uint32_t idx; /* of model_thread_get() */
	struct model_process *proc;
	char comm[16];
	bool kthread;
	bool idle;		   /* swapper */
	uint64_t start_ns, end_ns; /* clipped to the recording; end valid once dead or at the end */
	enum thread_state state;
	uint64_t since_ns;  /* of state */
	uint32_t asleep_as; /* task state bits of the kernel with which it left its CPU to sleep; 0: it does not sleep, or unknown */
	uint16_t cpu;	    /* last known */
	struct state_times times;   /* up to since_ns */
	struct thread_calls *calls; /* the model's own */
	void *user;
};

struct model;

/* One of the recorder or of its helpers; by its name alone where the trace does not say which process recorded it. */
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
	struct model_thread *waker; /* or the thread that the waking interrupt hit */
	struct model_thread *target;
	bool is_new, by_interrupt;
};

struct model_migrate {
	uint64_t ts_ns;
	uint16_t orig_cpu, dest_cpu;
	struct model_thread *thread;
};

/* A file that code was mapped from, as the recording has it: the same object for the same file. */
struct model_module {
	const char *path;
	const char *build_id; /* hex; "" if it has none, or which one it was is not known */
	uint64_t stamp;	      /* POV_FILE_STAMP of its change and size; 0: not recorded */
};

struct model_call {
	const struct func_info *func;
	struct model_thread *thread;
	uint64_t begin_ns, end_ns;
	uint8_t depth; /* within how many traced calls, of whatever layers */
	bool nested;   /* within one of the same layer */
	bool open, unwound, partial, fault;
	bool preloaded; /* recorded by its process itself, without a probe */
	bool end_only;	/* when it began is not known: begin_ns is end_ns */
	uint16_t cpu;
	uint16_t lib; /* id of its library's meta object */
	struct model_site site;
	uint64_t ret;
	struct state_times split;     /* UNKNOWN when the scheduler was not recorded */
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
	uint8_t depth; /* as of calls */
	bool nested;
	bool open;
	bool preloaded;
	uint16_t cpu;
	uint32_t nfuncs;
	struct model_spin_func func[4];
	uint64_t cnt, busy_ns;	  /* over all functions */
	struct model_site site;	  /* of the first poll */
	struct state_times split; /* of first entry to last return */
	uint64_t running_ns;	  /* in the polls themselves */
	bool computes; /* its polls are far apart: the thread computes in between, and does not wait */
};

/* Polls whose mean distance, without what recording adds to each, is longer lie in a computation. */
#define MODEL_POLL_PAUSE_NS 5000

/* What recording adds to a poll that found nothing, by a probe and by its process itself, in ns; 0 if the trace has none. */
struct poll_cost {
	double probe_ns, preload_ns;
};
struct poll_cost poll_cost_read(const struct trace *t);
/* That of a spin's polls; 0 if it is not known. */
double poll_cost_ns(const struct poll_cost *c, const struct model_spin *s);

/* Calls that were counted, and not recorded one by one (struct pov_counted). */
struct model_counted {
	struct model_thread *thread;
	const struct func_info *func;
	uint64_t begin_ns, end_ns; /* of the first one, of the last one */
	uint64_t calls, busy_ns;
	/* As of call_roles, send_bytes or recv_bytes by func->moves, or both as much: known of so many of them */
	uint64_t bytes, sized;
	uint16_t lib;
	bool inner;	/* made within other traced calls, … */
	bool nested;	/* … of the same layer, as far as that can be known */
	bool preloaded; /* counted by the process itself, without a probe */
};

/* A thread waited for room to record what it had called: tracing's doing, and not the program's. */
struct model_room {
	struct model_thread *thread;
	uint64_t begin_ns, end_ns;
};

/* What the limit on the cost of tracing made of a function for a time, or that it was exceeded (struct pov_limit). */
struct model_limit {
	uint64_t since_ns, ts_ns;	  /* the same: it begins */
	const struct func_info *func;	  /* NULL: all */
	const struct model_process *proc; /* that decided it; NULL: not known */
	uint16_t state;			  /* enum pov_limit_state */
	double cost, limit;		  /* parts of proc's time */
};

/* The CPUs that a thread may use from now on, as its host numbers them. */
#define MODEL_MASK_WORDS 16
struct model_mask {
	uint64_t word[MODEL_MASK_WORDS];
};
struct model_affinity {
	const struct model_thread *thread;
	uint64_t ts_ns;
	struct model_mask cpus;
};

enum region_end {
	REGION_UNDER_WAY,
	REGION_RETURNED,
	REGION_UNWOUND, /* left without returning (longjmp, exception, exec) */
	REGION_OPEN,	/* its thread or the recording ended in it */
};

/* A function of the program that is a region of it (record --region): told when it begins, and when it has ended. */
struct model_region {
	struct model_thread *thread;
	uint32_t region; /* i of model_region_name */
	const char *name;
	enum region_end ended;
	uint64_t begin_ns, end_ns; /* end_ns and split: once it has ended */
	uint32_t depth;		   /* within how many regions of its thread */
	bool recursive;		   /* one of these is of the same function */
	struct state_times split;
};

/* Where in its program a thread that ran was, outside of calls that were recorded, at a tick of its CPU's clock. */
struct model_sample {
	struct model_thread *thread;
	uint64_t ts_ns;
	struct model_site at;
	bool by_stack; /* not at a tick: a return address, when the recording ended */
};

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
	/* Not lost, but left out by the limit on the cost of tracing: calls of this function; cnt is 0. NULL: lost. */
	const struct func_info *left_out;
	bool counted; /* of left_out: they were counted */
};

/*
 * What a call set moving, when it is over: a message sent or received, a collective, an access to a file or to another rank's
 * memory. By a call that blocks, or by a request between the call that started it and the one that completed it.
 */
struct model_operation {
	const struct model_thread *thread;  /* that completed it */
	const struct model_thread *starter; /* that started it; NULL: not known */
	const struct func_info *func;	    /* that described it: MPI_Send_init, not MPI_Start */
	const struct call_roles *roles;	    /* as it was described */
	uint64_t begin_ns, posted_ns;	    /* of the call that started it */
	uint32_t place;			    /* among those that this call started, from 0 */
	uint64_t completing_ns, end_ns; /* of the call that completed it: the same if it blocks */
	uint32_t end_place;		/* among what that call completed, from 0 */
	const struct call_request *completion; /* NULL if it blocks */
};

/* One rank's part in a message, or in an access to another rank's memory: told with its operation, behind it. */
struct model_message {
	const struct model_operation *operation;
	bool sends; /* or receives */
	int32_t peer,
		tag; /* in the communicator; of a receive, as the status has them where it was asked for */
	int32_t peer_world; /* rank in MPI_COMM_WORLD, or -1 */
	int32_t peer_job;
	enum peer_unknown why; /* it is -1 */
	uint32_t comm_id;      /* of call_roles */
	int64_t bytes;	       /* handed over; arrived, or the room for it. BYTES_UNKNOWN */
};

/* The call (or polls that were merged) of the top layer that a thread was in: the outermost one. */
struct model_within {
	const struct func_info *func;
	uint64_t begin_ns, end_ns;
	uint64_t request; /* of a call that starts or completes exactly one: its handle; else 0 */
};

/* Something that a call of a lower layer posted, or learned of (layers/post.h). Told with its call, behind it. */
struct model_post {
	const struct call_post *post;
	const struct model_call *call; /* that did it */
	const struct model_within
		*within;     /* NULL: no call of the top layer was under way on this thread */
	bool within_unknown; /* what was under way is not known: within is NULL, too */
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
 * Called in time order of switch/waking/lost/counter/region times. A call is told when it has ended, and only
 * when its outermost call has ended: parents before their children, so that begin times of one thread never
 * go back. (Two exceptions keep memory bounded and lose nothing: when a call contains more nested ones than
 * can be kept, these are told before it; when the record of an outermost call was lost, its children are told
 * alone.) Any callback may be NULL.
 */
struct model_sink {
	void *ctx;
	void (*start)(void *ctx, const struct model *m); /* identities are known */
	void (*thread)(void *ctx, const struct model_thread *t,
		       uint64_t ts_ns); /* appeared, renamed or moved by exec */
	void (*thread_exit)(void *ctx, const struct model_thread *t, uint64_t ts_ns);
	void (*on_switch)(void *ctx, const struct model_switch *s);
	void (*waking)(void *ctx, const struct model_waking *w);
	void (*migrate)(void *ctx, const struct model_migrate *g);
	/* of targets: at their first switch, and when it has changed */
	void (*affinity)(void *ctx, const struct model_affinity *f);
	void (*call)(void *ctx, const struct model_call *c);
	void (*spin)(void *ctx, const struct model_spin *s);
	/* of outermost calls of a layer; in order of end_ns but for nested ones */
	void (*operation)(void *ctx, const struct model_operation *o);
	void (*message)(void *ctx, const struct model_message *msg);
	void (*post)(void *ctx, const struct model_post *p);
	/* the end of one is told behind all outermost calls that were made in it */
	void (*region)(void *ctx, const struct model_region *r);
	void (*irq)(void *ctx, const struct model_irq *i);
	void (*sample)(void *ctx, const struct model_sample *p);
	void (*lost)(void *ctx, const struct model_lost *l);
	void (*counted)(void *ctx, const struct model_counted *c);
	void (*room)(void *ctx, const struct model_room *r);
	void (*limit)(
		void *ctx,
		const struct model_limit *l); /* also told as lost, if a function is left out */
	void (*counter)(void *ctx, const struct model_counter *c);
	/*
	 * The same calls and spins in order of their begin, whosever they are: each when no call that may still be under way can
	 * have begun before it. At most 65,536 wait; those that come too late for their place (model_stats) are told all the same.
	 */
	void (*call_by_begin)(void *ctx, const struct model_call *c);
	void (*spin_by_begin)(void *ctx, const struct model_spin *s);
	/* thread ran/waited from..to in one state (closed interval of the state machine) */
	void (*state)(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		      enum thread_state s, uint16_t cpu);
	int (*finish)(void *ctx, const struct model *m); /* 0 or -errno */
};

struct model_options {
	bool counters;	 /* compute COUNTER_* */
	bool roles_only; /* of calls, call_view.values need not be made: they are for showing */
};

/* Each operation that a call sets off: its own, or those of the persistent requests that it starts. */
void model_call_operations(const struct model_call *c,
			   void (*tell)(void *ctx, const struct model_call *c,
					const struct func_info *func,
					const struct call_roles *roles),
			   void *ctx);

/* Learns identities from meta objects and the task stream. The trace must outlive the model. */
int model_open(struct trace *t, const struct model_options *opt, struct model **out);
/*
 * Replays everything into the sinks. 0 or -errno. May be called again for another pass. Threads that no
 * identity record introduces (its record was lost) join the list, at its end, when they are first met.
 */
int model_run(struct model *m, const struct model_sink *const *sinks, unsigned int nsinks);
void model_close(struct model *m);

/* Whether single calls are missing by it of a function of the top layer in one of these groups: "p2p req". */
bool model_lost_calls(const struct model_lost *l, const char *groups);

/* What is known before the replay. */
struct model_info {
	uint64_t start_ns, end_ns;  /* of the recording (CLOCK_MONOTONIC) */
	int64_t boottime_offset_ns; /* BOOTTIME = MONOTONIC + this */
	int64_t realtime_offset_ns;
	uint32_t nhosts;  /* 1, unless several recordings are read together (trace/trace_join.h) */
	uint32_t nr_cpus; /* of all hosts */
	uint32_t njobs;
	bool sched_recorded; /* any scheduler record expected */
	bool sched_all;	     /* all tasks, so core shares are complete */
	bool complete;	     /* the recording ended in order */
};
const struct model_info *model_get_info(const struct model *m);
const struct model_host *model_host_get(const struct model *m, uint32_t i); /* i < nhosts */
/* The host that has a CPU, and how it numbers that; the last one's for CPUs that none has. */
const struct model_host *model_host_of_cpu(const struct model *m, uint32_t cpu, uint32_t *local);

/* What the last replay could not use, or had to bound. Zeros are normal. */
struct model_stats {
	uint64_t bad_records;	      /* of a known kind, but malformed: left out */
	uint64_t unknown_records;     /* of a kind this version does not know */
	uint64_t unknown_functions;   /* calls of functions the trace's table does not list */
	uint64_t unannounced_threads; /* threads met without an identity record */
	uint64_t contradictions; /* scheduler records that do not fit together; the time became UNKNOWN */
	uint64_t pending_spilled; /* nested calls told before their outermost call */
	uint64_t late_by_begin;	  /* calls and spins told out of order of begin */
	uint64_t sched_gaps;	  /* stretches over which scheduler records of a ring are missing */
	uint64_t sched_gap_ns;	  /* their total length, overlaps counted once */
	uint64_t sched_gaps_late; /* losses met unprepared: states before them may be wrong */
};
const struct model_stats *model_get_stats(const struct model *m);
struct trace *model_get_trace(const struct model *m);
uint32_t model_process_count(const struct model *m);
struct model_process *model_process_get(const struct model *m, uint32_t i); /* in sort order */
/* Who started it, if that is in the trace; else NULL. */
const struct model_process *model_parent(const struct model *m, const struct model_process *p);
/* Its program ran before the recording began: the calls that it made then are not known. What a recorder launches begins with exec. */
bool model_ran_before(const struct model *m, const struct model_process *p);
/* The process that has this rank in MPI_COMM_WORLD of that job, as a call of self names them; NULL if it is not in the trace. */
const struct model_process *model_peer(const struct model *m, const struct model_process *self,
				       int32_t job, int32_t world_rank);
/* The rank that has started a process, itself or by others that are none; NULL: none has, as far as is known. */
const struct model_process *model_rank_above(const struct model *m, const struct model_process *p);
/*
 * During a replay: no call of the process that began earlier will be told any more, as far as threads are concerned that have made
 * calls; UINT64_MAX if none of these can be in a call.
 */
uint64_t model_calls_told_until(const struct model *m, const struct model_process *p);
/*
 * During a replay: begin of the outermost call in which the thread has left its CPU, if no end of that is known; UINT64_MAX: there is
 * none. A poll that found nothing has no end of its own.
 */
uint64_t model_call_left_since(const struct model_thread *t);
uint32_t model_thread_count(const struct model *m); /* all threads that ever appear */
struct model_thread *model_thread_get(const struct model *m, uint32_t i);
/* Functions that were to be regions, by what record was given. */
uint32_t model_region_count(const struct model *m);
const char *model_region_name(const struct model *m, uint32_t i);
uint32_t model_func_count(const struct model *m);
const struct func_info *model_func_get(const struct model *m, uint32_t i);

#endif
