/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A benchmark is a `const struct bench bench_<name>` in a file of bench/<group>/, which has the
 * benchmarks of one method. make generates the table of benchmarks from these files. A benchmark
 * uses a struct comm instead of MPI, so the same code runs on MPI, in a simulator and on the model
 * of the self-test.
 */
#ifndef POVBENCH_BENCH_H
#define POVBENCH_BENCH_H

#include "core/comm.h"
#include "core/result.h"
#include "core/stats.h"

struct bench_options {
	uint64_t bytes_min, bytes_max;		 /* message sizes */
	uint64_t compute_min_ns, compute_max_ns; /* computation times */
	/* Ends a size's computation times where its ratio becomes unknown (overlap_map.h). */
	bool compute_by_ratio;
	double step;	      /* factor between neighbours on both axes, √2 by default */
	uint64_t samples;     /* of a point, at least */
	uint64_t samples_max; /* at most, if ci_pct is not reached before */
	double ci_pct;	      /* sample until the median's interval is within ±this; 0 = off */
	uint64_t warmup;      /* least number of samples discarded before each point */
	bool settle;	   /* a new point also warms up until its times stop falling (measure.c) */
	uint64_t point_ns; /* time limit of one point */
	struct compute compute;
	uint64_t threads_max;  /* of computation (nload); 0 = all processing units */
	uint64_t window;       /* requests pending at once; 0: the benchmark's default */
	uint64_t pairs;	       /* of ranks (message_rate); 0: half of the ranks */
	uint64_t repeat;       /* M of the broadcast methods */
	const char *tasks;     /* sizes of the broadcast group (sweep.h); null: 2, 4, 8 … all */
	bool bind;	       /* bind the load's threads, a processing unit each */
	const char *load_cpus; /* bind them to these (hwloc's list syntax); null: all */
	const char *algorithm; /* the library's algorithm, by value (algorithm.h); null: default */
	bool validate;	       /* check the data that arrived */
	bool keep_samples;     /* write all samples into the result */
};

struct bench;

struct bench_run {
	const struct bench *bench; /* the benchmark that runs */
	struct comm *comm;
	const struct bench_options *opt;
	struct result *result; /* rank 0 only writes; null on the others */
	bool resume; /* the result may already have points (resume_has); same on all ranks */
	void (*progress)(void *ctx, size_t done, size_t all); /* see bench_progress */
	void *progress_ctx;
	const struct estimate_machine *machine; /* for estimates; null: unknown */
};

/* The nodes on which a benchmark's ranks may run. */
enum bench_nodes {
	BENCH_NODES_ANY,
	BENCH_NODE_ONE, /* ranks that share a core (at most RANKS_PER_CORE_MAX) are on one node */
	BENCH_NODES_IN_TURN, /* all on one node, or dealt out to several in turn (nodes.h) */
};

struct bench {
	const char *name;
	const char *alias;  /* its second name, or null */
	const char *group;  /* as povbench.c lists them */
	const char *brief;  /* one line: what is measured */
	const char *source; /* origin of the method: paper and section, or benchmark suite */
	enum result_kind kind;
	/* Sizes if it runs alone without a preset. A step of 0 selects those of --full. */
	struct {
		uint64_t min, max;
		double step;
	} sizes;
	int ranks_min, ranks_max; /* max 0 = any; ranks beyond it stay idle */
	uint32_t needs;	   /* enum comm_feature; povbench skips it, with a message, without them */
	bool no_threads;   /* run alone, it asks for MPI_THREAD_SINGLE, as OSU and IMB do */
	bool shares_cores; /* shares cores on purpose, so waiting for one is no disturbance */
	enum bench_nodes nodes; /* povbench skips it, with a message, on other sets of nodes */
	/*
	 * The collective that it calls, as libraries name it in their settings ("allreduce"). Its
	 * algorithm can be chosen. Null if there is none.
	 */
	const char *collective;
	/* Parameters of run and estimate_ns for benchmarks that share these; their own type. */
	const void *method;
	/* All ranks call it. 0, or -errno after printing why. */
	int (*run)(struct bench_run *run);
	/* Upper limit of a run's time with these options and this communicator's size, in ns. */
	uint64_t (*estimate_ns)(const struct bench_run *run);
};

extern const struct bench *const benches[]; /* by name; ends with NULL */
/* Finds a benchmark by either of its names; null if there is none. */
const struct bench *bench_find(const char *name);
bool bench_is(const struct bench *b, const char *name);

/* Reports progress: `done` of `all` points. Only rank 0 prints it. */
void bench_progress(const struct bench_run *run, size_t done, size_t all);
/*
 * True if `povtrace clock` serves all ranks, so that libpov's clocks can be read. If not, rank 0
 * reports that these clocks will be missing. All ranks call it and get the same answer.
 */
bool bench_clocks_served(struct bench_run *run);

/* ---- taking samples (measure.c) ---- */

#define MEASURE_SAMPLES_LEAST 2 /* samples of a point even after its time limit */

struct measure_how {
	/*
	 * Takes a sample. Every rank calls it after a synchronisation. Rank 0 returns the sample in
	 * ns, or NaN if the call served another purpose.
	 */
	double (*sample)(struct bench_run *run, void *ctx);
	/* Called before that synchronisation; may be null. */
	void (*prepare)(struct bench_run *run, void *ctx);
	void *ctx;
	/*
	 * The same was sampled a moment ago, so opt->warmup samples suffice, even if opt->settle.
	 */
	bool warm;
};

/*
 * Takes samples until the limits of opt are reached. Rank 0 sends with each synchronisation whether
 * to go on. Fills out on rank 0.
 */
void measure(struct bench_run *run, const struct measure_how *how, struct samples *out);

/* Time of one clock reading in ns, on every rank: the least mean of several rounds of readings. */
double measure_clock_ns(struct comm *c);
/*
 * Time of an ACK: half of a 0-byte ping-pong between ranks 0 and peer, less a clock reading.
 * Returns the median in ns, on rank 0.
 */
double measure_latency_ns(struct bench_run *run, int peer);
/* Half of a ping-pong of that many bytes between ranks 0 and 1. Fills out on rank 0. */
void measure_pingpong(struct bench_run *run, size_t bytes, enum comm_layout layout,
		      struct samples *out);
/*
 * The same ping-pong at moments unrelated to earlier activity: after the synchronisation rank 0
 * computes for a random time up to pause_ns while rank 1 waits for the message.
 */
void measure_pingpong_apart(struct bench_run *run, size_t bytes, uint64_t pause_ns,
			    struct samples *out);
/*
 * The same ping-pong for latency and bandwidth. A sample is the mean of consecutive round trips,
 * so many that reading the clock does not matter. Do not compare it with operations timed singly.
 */
void measure_pingpong_steady(struct bench_run *run, size_t bytes, enum comm_layout layout,
			     struct samples *out);

/* A buffer with a checkable pattern: `bytes` of data, which take twice that memory if strided. */
void *bench_buffer_new(size_t bytes, enum comm_layout layout);
void bench_buffer_fill(void *buf, size_t bytes, enum comm_layout layout, uint32_t seed);
/* Ends the program with a message on wrong data. */
void bench_buffer_check(const void *buf, size_t bytes, enum comm_layout layout, uint32_t seed);
/*
 * Checks received data and then overwrites it, so that a next message with the same data that never
 * arrives is detected.
 */
void bench_msg_check(const struct comm_msg *m, uint32_t seed);

/*
 * True if the point with these parameters was measured earlier. It is then in the result and must
 * not be measured again. All ranks call it and get the same answer. Costs nothing without
 * --resume.
 */
bool resume_has(struct bench_run *run, const struct result_axis *axis, size_t axis_cnt);
/*
 * The same for points that are measured together or not at all: one for each of `value`, which are
 * values of the second axis. The name of that axis is in axes[1].
 */
bool resume_has_all(struct bench_run *run, const struct result_axis axes[2], const uint64_t *value,
		    size_t cnt);

/* ---- duration of a run, for estimate_ns ---- */

/* Assumed cost of a message until something has been measured. */
#define ESTIMATE_LATENCY_NS 20000
#define ESTIMATE_BYTES_PER_NS 1

/* Cost of waiting on this machine. */
struct estimate_machine {
	int node_ranks, core_cnt; /* of rank 0's node */
	/* Time of a synchronisation of two ranks on one core: some us if the library yields. */
	double shared_ns;
};

/* Measures shared_ns; all ranks call it, rank 0 has the result. */
void estimate_probe(struct comm *c, struct estimate_machine *out);
/*
 * True if ranks outnumber cores and the library does not yield: the scheduler then sets the times.
 */
bool estimate_crowded(const struct estimate_machine *m, int ranks);

/*
 * Time of a point whose samples take sample_ns each. Warm-up and the least samples have no limit.
 */
double estimate_point_ns(const struct bench_options *opt, double sample_ns);
/* Extra time, beyond a latency, that this many ranks wait for each other; 0 if each has a core. */
double estimate_wait_ns(const struct bench_run *run, int ranks);
/* The same for ranks that share one core. */
double estimate_shared_wait_ns(const struct bench_run *run, int ranks);

#endif
