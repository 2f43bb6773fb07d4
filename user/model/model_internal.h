/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the files of the model share. identity.c learns who is who and describe.c what they are called;
 * pass.c goes through the trace, replay.c reads its records into state.c (thread states), gap.c (lost
 * stretches), call.c and history.c (calls and spins, their times), request.c (bytes in flight) and
 * image.c (call sites).
 */
#ifndef POV_MODEL_INTERNAL_H
#define POV_MODEL_INTERNAL_H

#include "abi/config.h"
#include "abi/event.h"
#include "base/map.h"
#include "model/model.h"
#include "trace/trace_damage.h"
#include "trace/trace_join.h"

#define MODEL_CPUS_MAX 8192 /* a record of a higher CPU is malformed */
#define MODEL_LAYERS_MAX 16
#define TIME_NEVER UINT64_MAX
#define STATE_DEAD_BITS 0xb0 /* task state: EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD */
/* The kernel's, with the host's number above it: no real thread id is higher. */
#define PID_LIMIT(m) ((m)->info.nhosts << TRACE_HOST_SHIFT)

struct image {
	uint64_t start, end, off;
	uint64_t since_ns;
	const char *path; /* of the image meta block, or NULL */
};

struct mprocess {
	struct model_process pub;
	struct mprocess *next_inc; /* the next process of the same pid */
	struct mprocess *last_inc; /* in the first of its pid: the last */
	struct mprocess *parent;   /* who forked it, if that was seen */
	uint64_t target_since_ns;  /* TIME_NEVER: no target */
	char *name, *cmdline;	   /* owned, or NULL */
	struct mthread *newest;	   /* its threads, linked by older */
	bool has_leader;	   /* a thread with tid = pid has been made */
	uint32_t alive;		   /* identity pass: threads not known to have ended */
	bool leader_exited;
	/* the replay's */
	struct image *image;
	uint32_t nimages, images_cap, image_hit;
	uint64_t renamed_ns; /* its first thread, last */
	int64_t in_flight_bytes;
};

/* Of a thread, in order of time; what is under way is not among them. */
struct past_segments {
	struct model_segment *segment; /* owned */
	uint32_t cnt, room;
};

struct pending_call;
/* What is kept of the past (past.c). */
struct past {
	uint64_t since_ns;	      /* all segments that end later are there */
	uint64_t cnt;		      /* segments of all threads */
	struct pending_call *waiting; /* a heap: the first one has begun first */
	uint32_t waiting_cnt, waiting_room;
	uint64_t added, told_ns; /* begin of the last one told */
};

struct mthread {
	struct model_thread pub;
	struct past_segments past;
	struct mthread *next_inc; /* the next thread of the same tid */
	struct mthread *older;	  /* the thread of its process made before it */
	char first_comm[16];
	uint64_t track_since_ns; /* its scheduler records are complete from here on */
	uint64_t exit_ns;	 /* identity pass: of its exit record, or TIME_NEVER */
	bool announced;		 /* by an identity record */
	/* the replay's */
	bool born, exiting;
	uint64_t woken_running_ns; /* a wake-up came while it ran */
};

struct tid_slot {
	struct mthread *head, *tail, *cur;
};

struct cpu_state {
	struct mthread *idle;	 /* its swapper */
	struct mthread *cur;	 /* known to run on it, or NULL */
	uint64_t quiet_since_ns; /* no switch happened on it since; 0: not known yet */
	int64_t runnable, told;	 /* threads waiting for it; value last told */
	bool dirty;
};

/* A stretch over which scheduler records of a ring were lost. */
#define GAP_ALL_CPUS UINT32_MAX
struct gap {
	uint64_t since_ns, until_ns;
	uint32_t ring; /* or GAP_ALL_CPUS */
};

enum timer_kind { TIMER_GAP_END, TIMER_GAP_BEGIN, TIMER_META };
struct timer {
	uint64_t at_ns; /* fires before the first record that is not earlier */
	enum timer_kind kind;
	uint32_t gap;
	json_t *meta;
	uint32_t seq;
};

#define MODEL_CALLBACKS(X) \
	X(start)           \
	X(thread)          \
	X(thread_exit)     \
	X(on_switch)       \
	X(waking)          \
	X(migrate)         \
	X(call)            \
	X(spin)            \
	X(operation) X(message) X(irq) X(lost) X(counter) X(state) X(call_by_begin) X(spin_by_begin)
#define MODEL_SINKS_MAX 16
struct sinks_of {
	const struct model_sink *sink[MODEL_SINKS_MAX];
	unsigned int cnt;
};

struct model {
	struct trace *trace;
	struct model_options opt;
	struct model_info info;
	struct model_host *host; /* info.nhosts of them; owned, with their labels */
	struct model_stats stats;
	enum pov_sched_mode sched_mode;
	uint32_t rings, cpus_per_ring;
	bool all_targets;
	bool damaged; /* blocks are missing, when is guessed: absence of a record proves nothing */

	struct map tids; /* tid → struct tid_slot */
	struct map pids; /* pid → struct mprocess, the first of its pid */
	struct mthread **thread;
	uint32_t nthreads, threads_cap;
	struct mprocess **process; /* identity pass: as made; then in sort order */
	uint32_t nprocesses, processes_cap;
	struct mprocess *idle_proc;
	uint64_t identities_max; /* more threads and processes than that are made up */
	uint32_t next_fresh;
	struct cpu_state *cpu; /* MODEL_CPUS_MAX of them */

	struct func_info *func;
	uint32_t nfuncs;
	struct func_info **func_by_id;
	uint32_t func_ids;
	struct map strangers; /* id → struct func_info *, of functions the table does not list */
	struct map image_paths; /* hash of dev, ino → list of struct image_file */

	struct gap *gap;
	uint32_t ngaps, gaps_cap;
	uint32_t nlost_gaps; /* the first ones are by LOST records, the rest by damage met in this pass */

	/* the replay's */
	const struct model_sink *const *sinks;
	unsigned int nsinks;
	struct {
#define TO_SINKS(callback) struct sinks_of callback;
		MODEL_CALLBACKS(TO_SINKS)
#undef TO_SINKS
	} to; /* those that a callback of each name is for */
	struct timer *timer;
	uint32_t ntimers, timers_cap, timer_next;
	uint64_t next_timer_ns;
	uint64_t now_ns;
	uint64_t bad_blocks;	 /* noticed so far */
	struct map damage;	 /* noticed so far: id + 1 → this model */
	uint64_t sched_since_ns; /* of the first switch; TIME_NEVER before it */
	uint32_t gaps_open, gaps_open_all;
	uint32_t gaps_open_ring[MODEL_CPUS_MAX + 1];
	uint16_t dirty[4]; /* CPUs whose runnable count changed */
	uint32_t ndirty;
	uint32_t npending; /* pending calls, over all threads */
	size_t pending_bytes;
	uint32_t nlayers;
	struct layer_decoder *decoder[MODEL_LAYERS_MAX];
	struct call_view view;
	struct past past;
};

#define TELL(m, callback, ...)                                                           \
	do {                                                                             \
		for (unsigned int tell_i = 0; tell_i < (m)->to.callback.cnt; tell_i++) { \
			const struct model_sink *tell_s = (m)->to.callback.sink[tell_i]; \
			tell_s->callback(tell_s->ctx, __VA_ARGS__);                      \
		}                                                                        \
	} while (0)

static inline struct mthread *mthread_of(struct model_thread *t)
{
	return (struct mthread *)t; /* its first member */
}

static inline struct mprocess *mprocess_of(struct model_process *p)
{
	return (struct mprocess *)p;
}

/* ---- identity.c ---- */

int identity_learn(struct model *m);
/* The process of a pid at a time, made if there is none. */
struct mprocess *identity_process_at(struct model *m, uint32_t pid, uint64_t ts_ns);
/* A thread no identity record introduced; put behind `after` in its slot (NULL: first). */
struct mthread *identity_stranger_new(struct model *m, struct tid_slot *slot, struct mthread *after,
				      uint32_t tid, uint64_t ts_ns);
struct tid_slot *identity_slot(struct model *m, uint32_t tid); /* made if there is none */
void identity_thread_rehome(struct model *m, struct mthread *t, uint32_t tgid, uint64_t ts_ns);
/* The CPU's state, with its swapper; cpu < MODEL_CPUS_MAX. */
struct cpu_state *identity_cpu(struct model *m, uint16_t cpu);
void identity_release(struct model *m);
/* 0; -E2BIG (printed) if there are more of them than a recording of this size can have. */
int identity_check(const struct model *m);

/* ---- describe.c: from meta blocks to names, ranks, jobs, order ---- */

void describe_processes(struct model *m);
void describe_hosts_free(struct model *m);
void describe_process_free(struct mprocess *p);
int describe_info(struct model *m);
/* "prog.py" of "/usr/bin/python3 prog.py"; caller frees. exe may be NULL. */
char *describe_program_name(const char *exe, const json_t *cmdline);

/* ---- func.c ---- */

void func_table_read(struct model *m);
void func_table_release(struct model *m);
const struct func_info *func_find(struct model *m, uint16_t id); /* never NULL */

/* ---- gap.c ---- */

void gap_add(struct model *m, const struct pov_lost *lost);
void gap_add_damage(struct model *m, const struct trace_damage *d);
/* Reads the whole trace for them if the identity stream cannot have held them all. 0 or -errno. */
int gap_complete(struct model *m);
void gap_sort(struct model *m); /* and merge */
bool gap_known(const struct model *m, const struct pov_lost *lost);
void gap_late(struct model *m, uint64_t ts_ns);
void gap_begin(struct model *m, const struct gap *g);
void gap_end(struct model *m, const struct gap *g);

/* The ring a CPU's records go to, as the kernel half chooses it. */
static inline uint32_t gap_ring(const struct model *m, uint16_t cpu)
{
	uint32_t ring = cpu / m->cpus_per_ring;

	return ring < m->rings ? ring : 0;
}

/* True while switches on this CPU may be missing. */
static inline bool gap_blinds(const struct model *m, uint16_t cpu)
{
	return m->gaps_open && (m->gaps_open_all || m->gaps_open_ring[gap_ring(m, cpu)]);
}

/* ---- replay.c ---- */

void replay_record(struct model *m, const struct pov_hdr *rec);
/* The CPUs a record names index tables; calls have a caller, spins a function. */
bool replay_record_ok(const struct pov_hdr *rec);
/* Brings the slot to the thread that has the number at ts; NULL if none has yet. */
struct mthread *replay_slot_advance(struct model *m, struct tid_slot *slot, uint64_t ts_ns);

/* ---- state.c ---- */

void state_set(struct model *m, struct mthread *t, uint64_t ts_ns, enum thread_state s,
	       uint16_t cpu);
/* The thread did something on this CPU: it runs there, and has since the last switch on that CPU. */
void state_running_at(struct model *m, struct mthread *t, uint64_t ts_ns, uint16_t cpu);
/* Its state up to ts was right, and is not known from there on. */
void state_forget(struct model *m, struct mthread *t, uint64_t ts_ns);
/* Its state is not known since its last event. */
void state_withdraw(struct model *m, struct mthread *t, uint64_t ts_ns);
/* The same, because another record excludes it; counted. */
void state_refute(struct model *m, struct mthread *t, uint64_t ts_ns);
void state_enter(struct model *m, struct mthread *t, uint64_t ts_ns, uint16_t cpu);
/* state_die = state_set to DEAD, then state_bury, which tells of it. */
void state_bury(struct model *m, struct mthread *t, uint64_t ts_ns);
void state_die(struct model *m, struct mthread *t, uint64_t ts_ns);
void state_move(struct model *m, struct mthread *t, uint16_t cpu);
void state_counters_tell(struct model *m, uint64_t ts_ns);
void state_finish(struct model *m);

/* ---- call.c ---- */

void call_unshown_record(struct model *m, struct mthread *t, const struct pov_call *rec);
void call_unshown_record(struct model *m, struct mthread *t, const struct pov_call *rec);
void call_record(struct model *m, struct mthread *t, const struct pov_call *rec);
void call_begin_record(struct mthread *t, const struct pov_call_begin *rec);
void spin_record(struct model *m, struct mthread *t, const struct pov_spin *rec);
void call_flush(struct model *m, struct mthread *t);
void call_release(struct model *m, struct mthread *t);

/* ---- history.c: what a thread did lately, to split a call's time ---- */

/* A segment of one state has ended. */
void history_note(struct mthread *t, uint64_t from_ns, uint64_t ts_ns, enum thread_state was);
/* No later call begins before ts. */
void history_restart(struct mthread *t, uint64_t ts_ns);
/* Times in each state from begin to end; they add up to end - begin. */
void history_split(const struct mthread *t, uint64_t begin_ns, uint64_t end_ns,
		   struct state_times *out);
/* The same in two steps, the first one while begin is recent. */
void history_at(const struct mthread *t, uint64_t ts_ns, struct state_times *out);
void history_split_from(const struct mthread *t, const struct state_times *begin, uint64_t begin_ns,
			uint64_t end_ns, struct state_times *out);

/* ---- past.c ---- */

void past_add(struct model *m, struct mthread *t, uint64_t from_ns, uint64_t to_ns,
	      enum thread_state state);
void past_call(struct model *m, const struct model_call *call);
void past_spin(struct model *m, const struct model_spin *spin);
void past_finish(struct model *m);
void past_reset(struct model *m);

/* ---- operation.c ---- */

/* What is over when an outermost call of its layer has ended. */
void operations_tell(struct model *m, const struct model_call *c);
void in_flight_call(struct model *m, struct mprocess *p, const struct call_roles *roles,
		    uint64_t ts_ns);
/* A process's program has ended: whatever it had in flight is not any more. */
void in_flight_end(struct model *m, struct mprocess *p, uint64_t ts_ns);

/* ---- image.c ---- */

void image_paths_read(struct model *m);
void image_paths_release(struct model *m);
void image_record(struct model *m, struct mprocess *p, const struct pov_image *rec);
void image_inherit(struct mprocess *child, const struct mprocess *parent);
void image_renamed(struct mprocess *p, uint64_t ts_ns); /* its first thread was */
void image_exec(struct mprocess *p); /* forgets what the program before had mapped */
void image_forget(struct mprocess *p);
const char *image_find(struct mprocess *p, uint64_t address, uint64_t *offset);

#endif
