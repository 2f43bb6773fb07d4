/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Processes and threads: their names, their functions, and the files they map; and the data that
 * all files of the model share. The work has four steps, each knowing only the earlier ones:
 * - who.h: processes and threads
 * - when.h: thread states, periods in which records are missing
 * - what.h: calls, operations, messages
 * - replay.h: takes records in, one pass
 */
#ifndef POV_MODEL_WHO_H
#define POV_MODEL_WHO_H

#include "abi/config.h"
#include "abi/event.h"
#include "lib/log.h"
#include "lib/map.h"
#include "model/model.h"
#include "trace/trace_join.h"

#define MODEL_CPUS_MAX 8192 /* a record of a higher CPU is malformed */
#define MODEL_LAYERS_MAX 16
#define TIME_NEVER UINT64_MAX
#define STATE_DEAD_BITS 0xb0 /* task state bits EXIT_DEAD, EXIT_ZOMBIE and TASK_DEAD */
/* Bound of real thread ids: the kernel's ids end below 1 << TRACE_HOST_SHIFT, hosts add to that. */
#define PID_LIMIT(m) ((m)->info.nhosts << TRACE_HOST_SHIFT)

struct image {
	uint64_t start, end, off;
	uint64_t since_ns;
	const struct model_module *module; /* or NULL */
};

/* A signal that may have ended a process. Only the first one of each number is stored. */
struct ending_signal {
	struct model_signal pub;
	uint32_t tid, sender;
	bool to_process;
	struct ending_signal *next; /* sent later */
};

struct mprocess {
	struct model_process pub;
	struct mprocess *next_inc; /* the next process of the same pid */
	struct mprocess *last_inc; /* valid in the first process of a pid: the last one */
	struct mprocess *parent;   /* process that forked it, if seen */
	uint64_t target_since_ns;  /* TIME_NEVER: not a target */
	char *name, *cmdline;	   /* owned, or NULL */
	struct mthread *newest;	   /* newest thread; the others follow by `older` */
	bool has_leader;	   /* a thread with tid = pid has been made */
	uint32_t alive;		   /* identity pass: threads that have not ended yet */
	bool leader_exited;
	/* identity pass: exit_code is the status of the whole process */
	bool has_status;
	struct ending_signal *signals; /* owned */
	uint64_t exec_ns;	       /* identity pass: time of the last exec */
	/* identity pass: bytes written before the recording are known */
	bool written_since;
	char exec_comm[16]; /* its thread's name at that exec */
	/* used by the replay */
	struct image *image;
	uint32_t nimages, images_cap, image_hit;
	uint64_t renamed_ns; /* when the first thread was last renamed */
	int64_t in_flight_bytes;
};

struct call_or_spin;
/* Calls waiting to be reported in order of begin (call_order.c). */
struct begin_order {
	struct call_or_spin *waiting; /* a heap, earliest begin first */
	uint32_t waiting_cnt, waiting_room;
	uint64_t added, reported_ns; /* reported_ns: latest begin reported so far */
};

struct mthread {
	struct model_thread pub;
	struct mthread *next_inc; /* the next thread of the same tid */
	struct mthread *older;	  /* the thread of its process made before it */
	char first_comm[16];
	uint64_t track_since_ns; /* its scheduler records are complete from here on */
	/* identity pass: time of the exit record, or TIME_NEVER */
	uint64_t exit_ns;
	bool announced;			     /* introduced by an identity record */
	uint64_t written_bytes, write_calls; /* identity pass: the last reported values */
	/* used by the replay */
	bool born, exiting;
	struct thread_regions *regions; /* owned; NULL: none so far */
	uint64_t woken_running_ns;	/* time of a wake-up while the thread was running */
};

struct tid_slot {
	struct mthread *head, *tail, *cur;
};

struct cpu_state {
	struct mthread *idle;	    /* its swapper */
	struct mthread *cur;	    /* thread known to run on it, or NULL */
	uint64_t quiet_since_ns;    /* no switch since then; 0: unknown */
	int64_t runnable, reported; /* threads waiting for it; the value last reported */
	bool dirty;
};

/* A meta object for the layers. They see it before the first record at or after at_ns. */
struct due_meta {
	uint64_t at_ns;
	const json_t *meta;
	uint32_t seq;
};

#define MODEL_CALLBACKS(X) \
	X(start)           \
	X(thread)          \
	X(thread_exit)     \
	X(on_switch)       \
	X(waking)          \
	X(migrate)         \
	X(affinity)        \
	X(call)            \
	X(spin)            \
	X(operation)       \
	X(message)         \
	X(post)            \
	X(region)          \
	X(irq)             \
	X(sample)          \
	X(lost) X(counted) X(room) X(limit) X(counter) X(state) X(call_by_begin) X(spin_by_begin)
#define MODEL_SINKS_MAX 48
struct sinks_of {
	const struct model_sink *sink[MODEL_SINKS_MAX];
	unsigned int cnt;
};

struct model {
	struct trace *trace;
	struct model_options opt;
	struct model_info info;
	struct model_host *host; /* info.nhosts of them; owned, including their labels */
	struct model_stats stats;
	enum pov_sched_mode sched_mode;
	uint32_t rings, cpus_per_ring;
	bool all_targets;
	struct poll_cost poll_cost;
	bool identity_lost; /* identity pass: identity records are missing */
	bool damaged; /* blocks are missing at estimated times; a missing record proves nothing */

	struct map tids; /* tid → struct tid_slot */
	struct map pids; /* pid → the first struct mprocess of that pid */
	struct mthread **thread;
	uint32_t nthreads;
	struct mprocess **process; /* identity pass: in order of creation; afterwards sorted */
	uint32_t nprocesses;
	struct mprocess *idle_proc;
	struct map ranks;	 /* job index, rank → struct mprocess */
	json_t *jobs;		 /* meta object "jobs" (layer.h); owned */
	uint64_t identities_max; /* more threads and processes than this are not plausible */
	uint32_t next_fresh;
	struct cpu_state *cpu; /* MODEL_CPUS_MAX of them */

	struct func_info *func;
	uint32_t nfuncs;
	struct func_info **func_by_id;
	uint32_t func_ids;
	struct map strangers;  /* id → struct func_info *, for functions missing from the table */
	const json_t *regions; /* array "regions" of the recording's configuration, or NULL */
	struct map image_files; /* hash of dev, ino → list of struct image_file */

	/* used by the replay */
	void (*interval_ended)(struct model *m, struct mthread *t, uint64_t from_ns, uint64_t to_ns,
			       enum thread_state state);
	void (*thread_ended)(struct model *m, struct mthread *t);
	const struct model_sink *const *sinks;
	unsigned int nsinks;
	struct {
#define TO_SINKS(callback) struct sinks_of callback;
		MODEL_CALLBACKS(TO_SINKS)
#undef TO_SINKS
	} to;		      /* the sinks that have each callback */
	struct due_meta *due; /* sorted by time; owned */
	uint32_t ndue, due_next;
	uint64_t due_ns; /* at_ns of the next one, or TIME_NEVER */
	uint64_t now_ns;
	uint64_t sched_since_ns; /* time of the first switch; TIME_NEVER before it */
	uint64_t gap_since_ns;	 /* begin of the first open gap */
	uint32_t gaps_open, gaps_open_all;
	uint32_t gaps_open_ring[MODEL_CPUS_MAX + 1];
	uint16_t dirty[4]; /* CPUs whose runnable count changed */
	uint32_t ndirty;
	uint32_t npending; /* pending calls, over all threads */
	size_t pending_bytes;
	uint32_t nlayers;
	struct layer_decoder *decoder[MODEL_LAYERS_MAX];
	struct call_view view;
	struct begin_order begin_order;
};

#define TELL(m, callback, ...)                                                           \
	do {                                                                             \
		for (unsigned int tell_i = 0; tell_i < (m)->to.callback.cnt; tell_i++) { \
			const struct model_sink *tell_s = (m)->to.callback.sink[tell_i]; \
			tell_s->callback(tell_s->ctx, __VA_ARGS__);                      \
		}                                                                        \
	} while (0)

static inline struct mprocess *mprocess_of(struct model_process *p)
{
	return (struct mprocess *)p; /* pub is the first member */
}

/* ---- identity.c ---- */

/*
 * False for records that the model cannot process: a CPU number outside the tables, a call without
 * thread, polls without function.
 */
bool record_ok(const struct pov_hdr *rec);

/* Reads the identity stream. Returns 0 or -errno. */
int identity_learn(struct model *m);
/* The process that had a pid at a time; made if there is none. */
struct mprocess *identity_process_at(struct model *m, uint32_t pid, uint64_t ts_ns);
/* The same, but NULL if there is none. */
struct mprocess *identity_process_known(const struct model *m, uint32_t pid, uint64_t ts_ns);
/*
 * Makes a thread that no identity record introduced. Inserts it after `after` in its slot (NULL:
 * first).
 */
struct mthread *identity_stranger_new(struct model *m, struct tid_slot *slot, struct mthread *after,
				      uint32_t tid, uint64_t ts_ns);
struct tid_slot *identity_slot(struct model *m, uint32_t tid); /* made if there is none */
/* The thread that had this number at that time; NULL if unknown. */
const struct mthread *identity_thread_at(const struct model *m, uint32_t tid, uint64_t ts_ns);
void identity_thread_rehome(struct model *m, struct mthread *t, uint32_t tgid, uint64_t ts_ns);
/* The CPU's state including its swapper; cpu < MODEL_CPUS_MAX. */
struct cpu_state *identity_cpu(struct model *m, uint16_t cpu);
void identity_release(struct model *m);
/* 0, or -E2BIG (printed) if there are more identities than a recording of this size can have. */
int identity_check(const struct model *m);

/* ---- ending.c: how processes end ---- */

/* For the identity pass. */
void ending_signal_learn(struct mprocess *p, const struct pov_signal *rec);
void ending_exit_learn(struct mprocess *p, const struct pov_exit *rec);
/* Call once all processes are known. */
void endings_settle(struct model *m);
/* For the replay: resolves the address with the mappings of that moment. */
void ending_signal_place(struct mprocess *p, const struct pov_signal *rec);
void ending_release(struct mprocess *p);

/* ---- describe.c: from meta blocks to names, ranks, jobs, order ---- */

void describe_processes(struct model *m);
void describe_hosts_free(struct model *m);
void describe_info(struct model *m);

/* ---- peer.c ---- */

/* Call once jobs and ranks are known. */
void peer_ranks_learn(struct model *m);
void peer_ranks_release(struct model *m);

/* ---- func.c ---- */

void func_table_read(struct model *m);
void func_table_release(struct model *m);
const struct func_info *func_find(struct model *m, uint16_t id); /* never NULL */

/* ---- image.c ---- */

void image_files_read(struct model *m);
void image_files_release(struct model *m);
void image_record(struct model *m, struct mprocess *p, const struct pov_image *rec);
void image_inherit(struct mprocess *child, const struct mprocess *parent);
void image_exec(struct mprocess *p); /* drops the mappings of the previous program */
void image_forget(struct mprocess *p);
void image_find(struct mprocess *p, uint64_t address, struct model_site *out);

#endif
