/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A benchmark's view of the machine: communication, clocks, computation. There are two
 * implementations: MPI (comm_mpi.c, also when built for SimGrid), and a model in virtual time
 * (tests/povbench/model). The model has exact settings of overlap, delays and stolen time, and
 * tests run the same benchmark code on it. A communication error ends the program, as MPI's
 * default does.
 */
#ifndef POVBENCH_COMM_H
#define POVBENCH_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMM_ANY (-1) /* any source */

enum comm_layout {
	COMM_CONTIGUOUS = 0,
	/* 32 chars of every 64 (Denis & Trahay 2016, III.D); the buffer spans 2 × bytes. */
	COMM_STRIDED = 1,
};

struct comm_msg {
	void *buf;
	size_t bytes; /* of data */
	enum comm_layout layout;
};

/*
 * A pending operation: an MPI_Request or the model's own. Must start as all zeros. Requests that
 * are waited for together (waitall) form an array that was passed to requests_prepare.
 */
struct comm_request {
	uint64_t word[2];
};

/* Memory of each rank that others write and read (one-sided communication). */
struct comm_window;

/* `bytes` of a collective is the size of each rank's block. Reductions sum doubles. */
enum comm_coll {
	COMM_BARRIER,
	COMM_BCAST,
	COMM_REDUCE,
	COMM_GATHER,
	COMM_SCATTER,
	COMM_ALLREDUCE,
	COMM_ALLTOALL,
	COMM_ALLGATHER,
	COMM_ALLTOALLV, /* of equal blocks */
	COMM_COLL_CNT,
};

enum comm_feature {
	COMM_HAS_PARTITIONED = 0x01, /* MPI_Psend_init … */
	COMM_HAS_MULTIPLE = 0x02,    /* MPI_THREAD_MULTIPLE was asked for and is provided */
	COMM_HAS_THREADS = 0x04,     /* threads_run, load_begin, progress_begin work */
	COMM_HAS_OPENMP = 0x08,
	COMM_HAS_STEAL = 0x10,	  /* cpu_ns is measured, and may be less than elapsed time */
	COMM_VIRTUAL_TIME = 0x20, /* time passes only in the operations below, not in own code */
	COMM_HAS_RMA = 0x40,	  /* windows: window_new … */
	COMM_HAS_POV = 0x80,	  /* rank_pov_ns, core_pov_ns, section: `povtrace clock` serves */
};

enum compute_kind {
	COMPUTE_DEADLINE, /* until a time, as in the paper's tool: stolen CPU time is invisible */
	COMPUTE_WORK,	  /* a calibrated number of operations: stolen CPU time makes it longer */
};
enum compute_cores {
	COMPUTE_ONE,	/* the calling thread */
	COMPUTE_ALL,	/* a thread on each core that the process may use */
	COMPUTE_OPENMP, /* an OpenMP parallel loop */
};
struct compute {
	enum compute_kind kind;
	enum compute_cores cores;
};

struct comm_load {
	int threads;
	bool bind;	  /* each thread to a processing unit of its own */
	const char *cpus; /* bind only to these units, in turn; null: all of the node */
};

struct comm;

struct comm_ops {
	/* Monotonic clock that all ranks of a node share. Never MPI_Wtime (paper, III.A). */
	uint64_t (*now_ns)(struct comm *c);
	uint64_t (*cpu_ns)(struct comm *c); /* CPU time of the calling thread */
	double (*wtime)(struct comm *c);    /* MPI_Wtime, as it is, in seconds */

	/*
	 * libpov's clocks (COMM_HAS_POV). The first covers all threads of the rank, the second the
	 * core's processes that are in a section.
	 */
	uint64_t (*rank_pov_ns)(struct comm *c);
	uint64_t (*core_pov_ns)(struct comm *c);
	void (*section)(struct comm *c, bool begin);

	/* Computes for ns of undisturbed time. */
	void (*compute)(struct comm *c, const struct compute *how, uint64_t ns);

	/*
	 * Called before anything is timed. msg_prepare creates what messages of this size and
	 * layout need (a datatype). requests_prepare sets up requests for waitall until
	 * requests_release, when none may be pending.
	 */
	void (*msg_prepare)(struct comm *c, const struct comm_msg *m);
	void (*requests_prepare)(struct comm *c, struct comm_request *r, int cnt);
	void (*requests_release)(struct comm *c, struct comm_request *r, int cnt);

	void (*send)(struct comm *c, const struct comm_msg *m, int peer, int tag);
	void (*recv)(struct comm *c, const struct comm_msg *m, int peer, int tag);
	void (*isend)(struct comm *c, const struct comm_msg *m, int peer, int tag,
		      struct comm_request *out);
	void (*irecv)(struct comm *c, const struct comm_msg *m, int peer, int tag,
		      struct comm_request *out);
	void (*wait)(struct comm *c, struct comm_request *r);
	void (*waitall)(struct comm *c, struct comm_request *r, int cnt);
	bool (*test)(struct comm *c, struct comm_request *r); /* true: complete */

	/*
	 * Persistent requests. The init calls return inactive ones; restart them after each wait.
	 */
	void (*send_init)(struct comm *c, const struct comm_msg *m, int peer, int tag,
			  struct comm_request *out);
	void (*recv_init)(struct comm *c, const struct comm_msg *m, int peer, int tag,
			  struct comm_request *out);
	void (*start)(struct comm *c, struct comm_request *r);
	void (*request_free)(struct comm *c, struct comm_request *r);

	/* Partitioned (COMM_HAS_PARTITIONED): like persistent, in parts of equal size. */
	void (*psend_init)(struct comm *c, const struct comm_msg *m, int parts, int peer, int tag,
			   struct comm_request *out);
	void (*precv_init)(struct comm *c, const struct comm_msg *m, int parts, int peer, int tag,
			   struct comm_request *out);
	void (*pready)(struct comm *c, struct comm_request *r, int part);

	/*
	 * One-sided communication (COMM_HAS_RMA), passive target. All ranks create a window, each
	 * with `bytes` of its own memory, and free it. Between lock (shared) and unlock, put and
	 * get start to move contiguous data to or from the target's memory at offset at_bytes.
	 * They are complete on both sides after flush.
	 */
	struct comm_window *(*window_new)(struct comm *c, size_t bytes, void **memory);
	void (*window_free)(struct comm *c, struct comm_window *w);
	void (*lock)(struct comm *c, struct comm_window *w, int target);
	void (*unlock)(struct comm *c, struct comm_window *w, int target);
	void (*put)(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
		    size_t at_bytes);
	void (*get)(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
		    size_t at_bytes);
	void (*flush)(struct comm *c, struct comm_window *w, int target);

	/*
	 * out may equal in only where MPI has one buffer (bcast, barrier). root: for rooted ones.
	 */
	void (*coll)(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes,
		     int root);
	void (*icoll)(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes,
		      int root, struct comm_request *req);

	/* Start and stop threads that compute in the background. */
	void (*load_begin)(struct comm *c, const struct comm_load *load);
	void (*load_end)(struct comm *c);
	/* Start and stop a thread that calls MPI for progress (COMM_HAS_MULTIPLE). */
	void (*progress_begin)(struct comm *c);
	void (*progress_end)(struct comm *c);
	/* Runs fn(arg, 0 … n-1) in n threads at once, including the caller, and waits for all. */
	void (*threads_run)(struct comm *c, int n, void (*fn)(void *arg, int thread), void *arg);

	/* Returns a communicator of the first n ranks, null on other ranks. Collective over c. */
	struct comm *(*first)(struct comm *c, int n);
	void (*free)(struct comm *c); /* for communicators made by first */

	/*
	 * Marks a phase for a tracer of this run (mark.c). Level 0: benchmark, 1: point, 2:
	 * inside.
	 */
	void (*mark_begin)(struct comm *c, int level, const char *name);
	void (*mark_end)(struct comm *c, int level);

	/*
	 * Binds this rank to one of the cores that this node's ranks were allowed together when
	 * they started: to number `core` modulo the number of cores. -1 restores the rank's own
	 * mask. Returns the number of cores.
	 */
	int (*pin)(struct comm *c, int core);
	/* Identifies this rank's node. Ranks of one node share cores, memory and the clock. */
	int (*node)(struct comm *c);
	/* Uses no CPU for ns. Pending operations need not progress meanwhile. */
	void (*sleep)(struct comm *c, uint64_t ns);
};

struct comm {
	const struct comm_ops *ops;
	int rank, size;
	uint32_t features; /* enum comm_feature */
	void *impl;
};

/* ---- built from the above (comm.c) ---- */

/*
 * Synchronises all ranks (Denis & Trahay 2016, III.A): rank 0 learns that every other rank is
 * ready, and the others know that rank 0 starts after them. Returns rank 0's `word` on all ranks.
 */
uint64_t comm_sync(struct comm *c, uint64_t word);
/* Returns rank 0's number on all ranks. */
uint64_t comm_tell(struct comm *c, uint64_t word);
/* Collects every rank's number on rank 0: out[0 … size-1]. */
void comm_collect(struct comm *c, uint64_t word, uint64_t *out);
/* Least, greatest or sum of all ranks' numbers, on rank 0; other ranks get their own. */
uint64_t comm_least(struct comm *c, uint64_t word);
uint64_t comm_most(struct comm *c, uint64_t word);
uint64_t comm_sum(struct comm *c, uint64_t word);

/* Send and receive a message without data. */
void comm_signal(struct comm *c, int peer, int tag);
void comm_await(struct comm *c, int peer, int tag);

/*
 * Returns a communicator of the first n ranks. The other ranks sleep in this call until these have
 * called comm_few_end, and then get null. (In an MPI barrier they would poll on the very cores that
 * are measured.) Collective over c.
 */
struct comm *comm_few_begin(struct comm *c, int n);
void comm_few_end(struct comm *c, struct comm *few);

/* Thread level requested from MPI. It follows from the benchmark and its options. */
enum comm_threads {
	COMM_THREADS_NONE,     /* MPI_THREAD_SINGLE, as MPI_Init */
	COMM_THREADS_COMPUTE,  /* MPI_THREAD_FUNNELED: they make no calls */
	COMM_THREADS_MULTIPLE, /* MPI_THREAD_MULTIPLE */
};

/* (comm_mpi.c) */
struct comm *comm_mpi_init(int *argc, char ***argv, enum comm_threads threads);
void comm_mpi_finalize(struct comm *c);

#endif
