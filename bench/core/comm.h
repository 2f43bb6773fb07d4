/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a benchmark sees of the machine: communication, clocks, computation. There are two of it: MPI (comm_mpi.c,
 * also when built for SimGrid), and a model in virtual time whose overlap, delays and steals are set exactly
 * (tests/povbench/model), on which tests run the very same benchmark code. A communication error ends
 * the program, as MPI's default does.
 */
#ifndef POVBENCH_COMM_H
#define POVBENCH_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMM_ANY (-1) /* any source */

enum comm_layout {
	COMM_CONTIGUOUS = 0,
	COMM_STRIDED =
		1, /* 32 chars of every 64 (Denis & Trahay 2016, III.D): the buffer spans 2 × bytes */
};

struct comm_msg {
	void *buf;
	size_t bytes; /* of data */
	enum comm_layout layout;
};

/*
 * A pending operation: an MPI_Request or the model's own. To begin with all zero. Several that are waited for at once
 * (waitall) are an array that requests_prepare was told of.
 */
struct comm_request {
	uint64_t word[2];
};

/* Memory of each rank that others write and read (one-sided communication). */
struct comm_window;

/* bytes of a collective are each rank's block; reductions sum doubles. */
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
	COMM_HAS_STEAL = 0x10, /* cpu_ns is measured, and may be less than the time that passed */
	COMM_VIRTUAL_TIME = 0x20, /* time passes in the operations below only, not in own code */
	COMM_HAS_RMA = 0x40,	  /* windows: window_new … */
	COMM_HAS_POV = 0x80,	  /* rank_pov_ns, core_pov_ns, section: `povtrace clock` serves */
};

enum compute_kind {
	COMPUTE_DEADLINE, /* until the clock says so, as the paper's tool: stolen CPU time is invisible */
	COMPUTE_WORK, /* a calibrated number of operations: stolen CPU time makes it longer */
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
	bool bind;	  /* a processing unit each */
	const char *cpus; /* to be bound to these only, in turn; null: all of the node */
};

struct comm;

struct comm_ops {
	/* Monotonic clock that all ranks of a node share; never MPI_Wtime (paper, III.A). */
	uint64_t (*now_ns)(struct comm *c);
	uint64_t (*cpu_ns)(struct comm *c); /* CPU time of the calling thread */
	double (*wtime)(struct comm *c);    /* MPI_Wtime, as it is, in seconds */

	/* libpov's clocks (COMM_HAS_POV): of all the rank's threads, and of the core's processes that are in a section. */
	uint64_t (*rank_pov_ns)(struct comm *c);
	uint64_t (*core_pov_ns)(struct comm *c);
	void (*section)(struct comm *c, bool begin);

	/* Computes for ns of undisturbed time. */
	void (*compute)(struct comm *c, const struct compute *how, uint64_t ns);

	/*
	 * Before anything is timed: what messages of this size and layout need (a datatype); requests for waitall, until
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

	/* Persistent: made inactive; start may be called again after each wait. */
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
	 * One-sided (COMM_HAS_RMA), passive target. All ranks make a window, each of bytes of its own memory, and free it.
	 * Between lock (shared) and unlock, put and get begin to move contiguous data to and from that many bytes behind
	 * the target's memory; they are complete, on both sides, after flush.
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

	/* out may equal in only where MPI has one buffer (bcast, barrier). root is for rooted ones. */
	void (*coll)(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes,
		     int root);
	void (*icoll)(struct comm *c, enum comm_coll op, const void *in, void *out, size_t bytes,
		      int root, struct comm_request *req);

	/* Threads that compute in the background until load_end. */
	void (*load_begin)(struct comm *c, const struct comm_load *load);
	void (*load_end)(struct comm *c);
	/* A thread that calls MPI for progress until progress_end (COMM_HAS_MULTIPLE). */
	void (*progress_begin)(struct comm *c);
	void (*progress_end)(struct comm *c);
	/* Runs fn(arg, 0 … n-1) in n threads at once, the caller among them, and waits for all. */
	void (*threads_run)(struct comm *c, int n, void (*fn)(void *arg, int thread), void *arg);

	/* A communicator of the first n ranks; null on the others. Collective over c. */
	struct comm *(*first)(struct comm *c, int n);
	void (*free)(struct comm *c); /* of one that first made */

	/* A phase's name for a tracer of this run (mark.h); level 0 is the benchmark, 1 a point, 2 inside. */
	void (*mark_begin)(struct comm *c, int level, const char *name);
	void (*mark_end)(struct comm *c, int level);

	/*
	 * Binds this rank to the core-th of the cores that this node's ranks were allowed together when they
	 * started (modulo their number), -1: to what it was allowed itself. Returns their number.
	 */
	int (*pin)(struct comm *c, int core);
	/* A number of this rank's node: ranks with the same one share cores, memory and the clock. */
	int (*node)(struct comm *c);
	/* Uses no CPU for ns; what is pending need not progress meanwhile. */
	void (*sleep)(struct comm *c, uint64_t ns);
};

struct comm {
	const struct comm_ops *ops;
	int rank, size;
	uint32_t features; /* enum comm_feature */
	void *impl;
};

/* ---- made of the above (comm.c) ---- */

/*
 * Denis & Trahay 2016, III.A: rank 0 learns that every other one is ready, the others know that rank 0
 * starts after them. Rank 0 passes `word` to all; they get it as the result.
 */
uint64_t comm_sync(struct comm *c, uint64_t word);
/* A number of rank 0 for all. */
uint64_t comm_tell(struct comm *c, uint64_t word);
/* Everybody's number, on rank 0 only: out[0 … size-1]. */
void comm_collect(struct comm *c, uint64_t word, uint64_t *out);

/* What MPI is told of the program's threads; the benchmark and its options tell. */
enum comm_threads {
	COMM_THREADS_NONE,     /* MPI_THREAD_SINGLE, as MPI_Init */
	COMM_THREADS_COMPUTE,  /* MPI_THREAD_FUNNELED: they make no calls */
	COMM_THREADS_MULTIPLE, /* MPI_THREAD_MULTIPLE */
};

/* (comm_mpi.c) */
struct comm *comm_mpi_init(int *argc, char ***argv, enum comm_threads threads);
void comm_mpi_finalize(struct comm *c);

#endif
