/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Interface among the parts of the model: events in virtual time, tasks (coroutines) and the cores
 * that they compute on (sim.c), messages (transfer.c), requests (request.c), operations (ops.c),
 * collectives (collective.c), one-sided communication (rma.c).
 */
#ifndef POVBENCH_MODEL_SIM_H
#define POVBENCH_MODEL_SIM_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "model/model.h"

struct sim;
struct message;
struct window;

struct event {
	struct event *next; /* sorted by time, simultaneous ones by age */
	double at_ns;
	void (*fn)(struct sim *sim, void *arg, uint64_t generation);
	void *arg;
	uint64_t generation; /* tells fn if the event is outdated */
};

struct core {
	int lanes; /* tasks that may run at once: one, plus a rank's threads */
	int running, computing;
	double section_ns;	   /* time that ranks computed within their section */
	int pollers;		   /* progress threads, which are always in a call */
	struct task *first, *last; /* queue of tasks that wait to run */
};

struct context {
	ucontext_t begin;
	bool entered;
	jmp_buf left; /* where it goes on, once entered */
};

/* A rank's main thread, another of its threads, or the agent of a nonblocking collective. */
struct task {
	struct context context;
	void *stack;
	size_t stack_bytes;
	struct sim *sim;
	struct rank *rank;
	void (*fn)(void *arg);
	void *arg;
	bool agent;   /* runs in its rank's library and needs no core */
	bool blocked; /* until task_wake */
	bool finished;
	struct task *queue_next; /* next in its core's queue */
	struct task *next;	 /* list of all tasks */
};

struct rank {
	struct sim *sim;
	int idx, err;
	struct core *core;
	double cpu_ns;	/* consumed */
	double cold_ns; /* delay of the next call */
	bool section;
	int load_cnt; /* load threads */
	struct comm *comm;
};

struct sim {
	struct model_settings set;
	double now_ns;
	struct event *events;
	uint64_t order;		/* number of events so far */
	struct context context; /* of the scheduler, which is entered from the start */
	struct task *current, *tasks;
	uint64_t random;
	struct rank *ranks;
	struct core *cores;
	struct message *active; /* sent and not yet complete */
	/* Reused; never freed before the end, because events may point to them. */
	struct message *spare;
	struct window *windows;	  /* for one-sided communication */
	struct receive *receives; /* posted and unmatched, in order */
	int (*body)(struct comm *c, void *ctx);
	void *ctx;
};

/* ---- sim.c ---- */
void sim_at(struct sim *sim, double at_ns, void (*fn)(struct sim *, void *, uint64_t), void *arg,
	    uint64_t generation);
struct task *task_new(struct rank *rank, void (*fn)(void *arg), void *arg, bool agent);
/* These act on the calling task. */
void task_sleep(struct sim *sim, double ns);
void task_pass(struct sim *sim);  /* lets other tasks that are due now go first */
void task_block(struct sim *sim); /* until it is woken, possibly spuriously */
void task_wake(struct task *t);
void rank_wake(struct rank *rank); /* wakes all its tasks */
void core_enter(struct sim *sim);
void core_leave(struct sim *sim);
/*
 * Computes for ns. cpu_share is the share of ns that the rank gets itself. Until a deadline, time
 * also passes while others have the core.
 */
void core_compute(struct sim *sim, double ns, double cpu_share, bool deadline);
/* Uses ns of CPU time in a call. */
void core_use(struct sim *sim, double ns);
/* Whether a task on the core is in a communication call or idle. */
bool core_attended(const struct core *core);

/* ---- transfer.c ---- */

/* Identity of a message. Messages match only with the same context, source and tag. */
struct envelope {
	uint64_t context;
	int from, to, tag; /* ranks are those of the whole model */
};

/* A pending send or receive, or several at once (partitions). */
struct request {
	enum request_kind { REQUEST_SEND, REQUEST_RECV, REQUEST_COLL } kind;
	bool persistent, active;
	int parts;   /* 0: not partitioned */
	int pending; /* incomplete messages */
	int taken;   /* received messages whose CPU time is not spent yet */
	struct envelope env;
	struct comm_msg msg;
	struct rank *rank;
	struct collective *coll; /* for REQUEST_COLL */
	bool coll_begun;
};

void transfer_send(struct request *r, const struct envelope *env, const struct comm_msg *m);
void transfer_recv(struct request *r, const struct envelope *env, const struct comm_msg *m);
/* Call when a core's tasks enter or leave communication calls. */
void transfers_update(struct sim *sim, const struct core *core);
void transfers_release(struct sim *sim);

/* ---- request.c ---- */
struct model_comm;
void request_wait(struct sim *sim, struct request *r);
void request_send_begin(struct model_comm *mc, struct request *r, const struct comm_msg *m,
			int peer, int tag, bool nonblocking);
void request_recv_begin(struct model_comm *mc, struct request *r, const struct comm_msg *m,
			int peer, int tag);
/* Starts a persistent request. The sends of a partitioned one follow as its parts become ready. */
void request_start(struct request *r);
void request_part_ready(struct request *r, int part);

/* ---- ops.c ---- */
extern const struct comm_ops model_ops;

/* A communicator of the model: comm.impl. */
struct model_comm {
	struct comm comm;
	struct rank *rank;
	uint64_t context;
	uint64_t made_cnt; /* communicators and collectives made; the same on all ranks */
};
uint64_t model_context_next(struct model_comm *mc); /* returns the same on all ranks */
void model_comm_init(struct model_comm *mc, struct rank *rank, int size, uint64_t context);

/* ---- rma.c ---- */
struct comm_window *rma_window_new(struct comm *c, size_t bytes, void **memory);
void rma_window_free(struct comm *c, struct comm_window *w);
void rma_lock(struct comm *c, struct comm_window *w, int target);
void rma_unlock(struct comm *c, struct comm_window *w, int target);
void rma_put(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes);
void rma_get(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes);
void rma_flush(struct comm *c, struct comm_window *w, int target);

/* ---- collective.c ---- */
struct collective {
	struct model_comm mc; /* its own context keeps other messages out */
	enum comm_coll op;
	const void *in;
	void *out;
	size_t bytes;
	int root;
	struct request *done; /* NULL: blocking */
};
void collective_run(struct collective *coll);

#endif
