/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The parts of the model among themselves: events in virtual time, tasks (coroutines) and the cores they compute on
 * (sim.c), messages (transfer.c), operations (ops.c), collective ones (collective.c), one-sided ones (rma.c).
 */
#ifndef POVBENCH_MODEL_SIM_H
#define POVBENCH_MODEL_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "model/model.h"

struct sim;
struct message;
struct window;

struct event {
	struct event *next; /* by time; of two at the same time, the older first */
	double at_ns;
	void (*fn)(struct sim *sim, void *arg, uint64_t generation);
	void *arg;
	uint64_t generation; /* lets fn know that the event is out of date */
};

struct core {
	int lanes; /* tasks that may run at once: 1, and a rank's threads */
	int running, computing;
	double section_ns;	   /* computed by ranks in their section */
	int pollers;		   /* progress threads, always in a call */
	struct task *first, *last; /* wait to run */
};

/* A rank's own thread, one of its other threads, or the agent of a non-blocking collective. */
struct task {
	ucontext_t uc;
	void *stack;
	size_t stack_bytes;
	struct sim *sim;
	struct rank *rank;
	void (*fn)(void *arg);
	void *arg;
	bool agent;   /* needs no core; in its rank's library */
	bool blocked; /* until task_wake */
	bool finished;
	struct task *queue_next; /* of its core */
	struct task *next;	 /* all */
};

struct rank {
	struct sim *sim;
	int idx, err;
	struct core *core;
	double cpu_ns;	/* consumed */
	double cold_ns; /* that the next call takes longer */
	bool section;
	int load_cnt; /* threads */
	struct comm *comm;
};

struct sim {
	struct model_settings set;
	double now_ns;
	struct event *events;
	uint64_t order; /* counts events */
	ucontext_t uc;	/* the scheduler's */
	struct task *current, *tasks;
	uint64_t random;
	struct rank *ranks;
	struct core *cores;
	struct message *active; /* somewhere between send and completion */
	struct message
		*spare; /* to be used again; never freed before the end, events may point to them */
	struct window *windows;	  /* of one-sided communication */
	struct receive *receives; /* posted, in order; matched by nobody yet */
	int (*body)(struct comm *c, void *ctx);
	void *ctx;
};

/* ---- sim.c ---- */
void sim_at(struct sim *sim, double at_ns, void (*fn)(struct sim *, void *, uint64_t), void *arg,
	    uint64_t generation);
struct task *task_new(struct rank *rank, void (*fn)(void *arg), void *arg, bool agent);
/* What the calling task does. */
void task_sleep(struct sim *sim, double ns);
void task_pass(struct sim *sim);  /* lets whoever is due now go first */
void task_block(struct sim *sim); /* until somebody wakes it, perhaps without a cause */
void task_wake(struct task *t);
void rank_wake(struct rank *rank); /* all its tasks */
void core_enter(struct sim *sim);
void core_leave(struct sim *sim);
/* The share of ns that is the rank's own; a deadline also passes while others have the core. */
void core_compute(struct sim *sim, double ns, double cpu_share, bool deadline);
/* In a call: ns of the CPU. */
void core_use(struct sim *sim, double ns);
/* Somebody on it is in a communication call, or idle. */
bool core_attended(const struct core *core);

/* ---- transfer.c ---- */

/* The identity of a message: only the same context, and source and tag as asked for, match. */
struct envelope {
	uint64_t context;
	int from, to, tag; /* ranks of the whole model */
};

/* A pending send or receive, or several at once (partitions). */
struct request {
	enum request_kind { REQUEST_SEND, REQUEST_RECV, REQUEST_COLL } kind;
	bool persistent, active;
	int parts;   /* 0: not partitioned */
	int pending; /* messages that are not yet complete */
	int taken;   /* received messages whose CPU time is not yet spent */
	struct envelope env;
	struct comm_msg msg;
	struct rank *rank;
	struct collective *coll; /* of REQUEST_COLL */
	bool coll_begun;
};

void transfer_send(struct request *r, const struct envelope *env, const struct comm_msg *m);
void transfer_recv(struct request *r, const struct envelope *env, const struct comm_msg *m);
/* A core's tasks enter or leave communication calls. */
void transfers_update(struct sim *sim, const struct core *core);
void transfers_release(struct sim *sim);

/* ---- request.c ---- */
struct model_comm;
void request_wait(struct sim *sim, struct request *r);
void request_send_begin(struct model_comm *mc, struct request *r, const struct comm_msg *m,
			int peer, int tag, bool nonblocking);
void request_recv_begin(struct model_comm *mc, struct request *r, const struct comm_msg *m,
			int peer, int tag);
/* A persistent one, again; a partitioned one's sends follow as its parts are ready. */
void request_start(struct request *r);
void request_part_ready(struct request *r, int part);

/* ---- ops.c ---- */
extern const struct comm_ops model_ops;

/* A communicator of the model: comm.impl. */
struct model_comm {
	struct comm comm;
	struct rank *rank;
	uint64_t context;
	uint64_t made_cnt; /* communicators and collectives started, alike on all ranks */
};
uint64_t model_context_next(struct model_comm *mc); /* the same on all ranks */
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
	struct model_comm mc; /* of its own context: it meets no other messages */
	enum comm_coll op;
	const void *in;
	void *out;
	size_t bytes;
	int root;
	struct request *done; /* null: blocking */
};
void collective_run(struct collective *coll);

#endif
