/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A benchmark is one file, bench/<group>/<name>.c, that ends in `const struct bench bench_<name>`; make generates the
 * table from the files. Its code knows nothing of MPI: it talks to a struct comm, so that it runs alike on MPI,
 * in a simulator and on the model of the self-test.
 */
#ifndef POVBENCH_BENCH_H
#define POVBENCH_BENCH_H

#include "core/comm.h"
#include "core/result.h"
#include "core/stats.h"

struct bench_options {
	uint64_t bytes_min, bytes_max;		 /* message sizes */
	uint64_t compute_min_ns, compute_max_ns; /* computation times */
	bool compute_told; /* a size's end where its ratio cannot be told any more (map_judge.h) */
	double step;	   /* of both axes, √2 by default */
	uint64_t samples;  /* of a point, at least */
	uint64_t samples_max; /* at most, if ci_pct is not reached before */
	double ci_pct;	      /* adaptive: until the median's interval is within ±this; 0 = off */
	uint64_t warmup;      /* samples thrown away before each point, and at least so many … */
	bool settle; /* … until their times fall no more, where what is sampled is new (measure.c) */
	uint64_t point_ns; /* time limit of one point */
	struct compute compute;
	uint64_t threads_max; /* of computation (nload); 0 = all processing units */
	uint64_t window;      /* requests pending at once; 0: as many as the benchmark has */
	uint64_t pairs;	      /* of ranks (message_rate); 0: half of the ranks */
	uint64_t repeat;      /* M of the broadcast methods */
	const char
		*tasks; /* numbers of tasks of the broadcast group (tasks.h); null: 2, 4, 8 … all */
	bool bind;	/* bind the load's threads, a processing unit each */
	const char *load_cpus; /* bind them to these (hwloc's list syntax); null: all */
	const char *algorithm; /* of the library's, by value (algorithm.h); null: as it chooses */
	bool validate;	       /* check the data that arrived */
	bool keep_samples;     /* write all of them into the result */
};

struct bench;

struct bench_run {
	const struct bench *bench; /* that is run */
	struct comm *comm;
	const struct bench_options *opt;
	struct result *result; /* rank 0 only writes; null on the others */
	bool resume;	       /* points may be there already (resume.h); the same on all ranks */
	/* Tells of progress (rank 0): `done` of `all` points. */
	void (*progress)(void *ctx, size_t done, size_t all);
	void *progress_ctx;
	const struct estimate_machine *machine; /* for estimates (estimate.h); null: nothing known */
};

/* On which nodes a benchmark's ranks may be. */
enum bench_nodes {
	BENCH_NODES_ANY,
	BENCH_NODE_ONE,	     /* those that share a core, RANKS_PER_CORE_MAX at most, are on one */
	BENCH_NODES_IN_TURN, /* all on one, or dealt out to several in turn (nodes.h) */
};

struct bench {
	const char *name;
	const char *alias;  /* another name that it is known by, or null */
	const char *group;  /* as povbench.c lists them */
	const char *brief;  /* one line: what is measured */
	const char *source; /* paper and section, or suite, that the method is from */
	enum result_kind kind;
	/* When it is run alone and no preset was asked for; a step of 0: those of --full. */
	struct {
		uint64_t min, max;
		double step;
	} sizes;
	int ranks_min, ranks_max; /* max 0 = any; ranks beyond it stay idle */
	uint32_t needs;		  /* enum comm_feature; without them it is left out, aloud */
	bool no_threads;   /* run alone, it asks for MPI_THREAD_SINGLE, as OSU's and IMB's do */
	bool shares_cores; /* on purpose: that ranks wait for one says nothing */
	enum bench_nodes nodes; /* elsewhere it is left out, aloud */
	/* The collective that it calls, as libraries name it in their settings ("allreduce"): its algorithm can be chosen. Null: none. */
	const char *collective;
	const void *
		method; /* what run and estimate_ns go by, where benchmarks share these; a type of theirs */
	/* All ranks call it. 0, or -errno after printing why. */
	int (*run)(struct bench_run *run);
	/* ns that a run takes at most by its options, on this communicator's size; for the estimate. */
	uint64_t (*estimate_ns)(const struct bench_run *run);
};

extern const struct bench *const benches[]; /* by name; ends with NULL */
/* By either of its names. Null: there is none. */
const struct bench *bench_find(const char *name);
bool bench_is(const struct bench *b, const char *name);

/* ---- taking samples (measure.c) ---- */

#define MEASURE_SAMPLES_LEAST 2 /* of a point, also when its time is over */

struct measure_how {
	/* Every rank calls it behind a synchronisation; what it returns on rank 0 is the sample, in ns; NaN: it was for something else. */
	double (*sample)(struct bench_run *run, void *ctx);
	void (*prepare)(struct bench_run *run,
			void *ctx); /* before that synchronisation; null: nothing */
	void *ctx;
	bool warm; /* the same was sampled a moment ago: opt->warmup samples warm up, even if opt->settle */
};

/*
 * Takes samples until opt says that there are enough. Everybody knows from the synchronisation's word whether to go on.
 * out is filled on rank 0.
 */
void measure(struct bench_run *run, const struct measure_how *how, struct samples *out);

/* What reading the clock takes: the least mean of some rounds of readings one behind the other. ns; on every rank. */
double measure_clock_ns(struct comm *c);
/* Half of a 0-byte ping-pong between ranks 0 and peer, less a clock reading: what an ACK takes. Median, ns; on rank 0. */
double measure_latency_ns(struct bench_run *run, int peer);
/* Half of a ping-pong of so many bytes between 0 and 1. Filled on rank 0. */
void measure_pingpong(struct bench_run *run, size_t bytes, enum comm_layout layout,
		      struct samples *out);
/*
 * The same at moments that have nothing to do with what happened before: after the synchronisation rank 0 computes for
 * a random time up to pause_ns while rank 1 waits for the message.
 */
void measure_pingpong_apart(struct bench_run *run, size_t bytes, uint64_t pause_ns,
			    struct samples *out);
/*
 * The same for latency and bandwidth themselves: a sample is the mean of so many round trips one behind the other that
 * reading the clock does not matter. Not for comparing with what is timed once.
 */
void measure_pingpong_steady(struct bench_run *run, size_t bytes, enum comm_layout layout,
			     struct samples *out);

/* Buffers with a pattern that the receiver can check; bytes of data, twice that in memory if strided. */
void *bench_buffer_new(size_t bytes, enum comm_layout layout);
void bench_buffer_fill(void *buf, size_t bytes, enum comm_layout layout, uint32_t seed);
/* Ends the program with a message on wrong data. */
void bench_buffer_check(const void *buf, size_t bytes, enum comm_layout layout, uint32_t seed);

#endif
