/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The 2-D space of Denis & Trahay 2016: message size × computation time. An overlap benchmark
 * supplies the sequence of calls to time; the rest is common. For each size there is T_comm, which
 * is the sequence without computation. For each point there are pairs of T_measured and T_comp,
 * the computation alone, one immediately after the other. Equation (1) and the other suites'
 * figures follow from these. T_comm is measured before a size's points and again after them. It is
 * also measured beside each point, immediately after a computation as long as the point's, which
 * has evicted data from the caches. The cost of clock readings is subtracted from every time.
 *
 * A point has the parameters bytes and compute_ns. Its times are comm (before and after),
 * comm_beside, comp, measured, added (T_measured - T_comp of each pair) and in_calls. Some
 * benchmarks also have send_wait (part of in_calls, if only sends are waited for), test, blocking
 * or pingpong. Its values are ratio with ratio_low and ratio_high, osu_pct, imb_pct, imb_io_pct,
 * mpiperf, sandia, and drift, which is T_comm after the points over T_comm before, minus 1. If
 * there is no ratio, `blank` gives the reason (map_point.c). too_short_ns exists only if
 * T_measured is wrong: shorter than the longer of T_comm and T_comp by that much.
 */
#ifndef POVBENCH_MAP_H
#define POVBENCH_MAP_H

#include "core/bench.h"

/* One in this many samples measures the time spent in calls instead of T_measured. */
#define MAP_DETAIL_EVERY 4

/* Each direction of messages has its own tag, so that a wrong order hangs instead of passing. */
enum map_tag { MAP_TAG_DATA = 0x10, MAP_TAG_ACK, MAP_TAG_CTS, MAP_TAG_COMPUTED };

struct map;

struct map_pattern {
	enum comm_layout layout;
	/*
	 * The sequence has one message without data that does not belong to the measured operation
	 * (III.D). Its latency, half of a 0-byte ping-pong, is subtracted from each sample. But
	 * the result is never less than the time at which rank 0 had done its own part (map_own),
	 * because a message that travelled during that part took no additional time.
	 */
	bool ack_latency;
	int phases;	   /* number of computations, each with its messages, in a sequence; 0: 1 */
	bool all_compute;  /* every rank computes at the same time, not only rank 0 */
	bool longest;	   /* T_measured is the longest of all ranks' times, not rank 0's */
	uint64_t unit;	   /* sizes are multiples of it; 0 = 1 */
	bool no_bytes;	   /* no data: one column, of 0 bytes */
	uint32_t receives; /* bit r: rank r gets data from its only peer, to be validated */
	bool sends_only;   /* rank 0 waits for sends only */

	/* Called on every rank before the synchronisation that starts a sample; may be null. */
	void (*prepare)(struct map *m);
	/*
	 * The timed part. Every rank calls it, and rank 0 returns the ns. It computes with
	 * map_compute, and reports the time in post and wait calls with map_in_calls.
	 */
	double (*sequence)(struct map *m);
	/* The sequence that T_comm measures, without computation; null: `sequence`. */
	double (*communication)(struct map *m);
	/* Measures T_comm; null: map_reference. */
	void (*reference)(struct map *m, struct samples *out);
	/*
	 * For comparison, also measure half of a ping-pong of this layout, which is T_comm in the
	 * paper.
	 */
	bool pingpong;
	/*
	 * Returns T_comp in ns: the computation of the sequence, without its messages, and with
	 * all ranks in the same state as in the sequence. Every rank calls it. Null: `phases`
	 * computations of compute_ns on ranks that compute; the others wait in a receive.
	 */
	double (*computation)(struct map *m);
	bool own_buffers; /* size_begin allocates the buffers; out and in have none */
	/* Messages pending at once, each with buffers of its own; null: 1. */
	int (*messages)(const struct bench_run *run);
	/*
	 * Called before and after all of a size, for instance for requests that outlive a sample.
	 */
	void (*size_begin)(struct map *m);
	void (*size_end)(struct map *m);
	/* Called before and after a size's points, without its references. */
	void (*points_begin)(struct map *m);
	void (*points_end)(struct map *m);
	void (*check)(struct map *m); /* validates what `receives` does not cover */
	void (*params)(struct map *m, struct result_point *point);
	const void *data; /* the pattern's own */
};

/* A point of a size. It is written when all points of that size have been measured. */
struct map_cell {
	struct samples measured, alone; /* with and without the messages, in pairs */
	/*
	 * Like alone, but of the slowest rank, if all compute and rank 0, which is timed, may wait
	 * for it.
	 */
	struct samples slowest;
	struct samples beside; /* T_comm after a computation */
	struct samples in_calls, wait, test;
};

struct map {
	struct bench_run *run;
	struct comm *comm;
	const struct map_pattern *pattern;
	size_t bytes;
	uint64_t compute_ns;		   /* 0: communication alone */
	uint64_t before_ns;		   /* computation before a sample; 0: none */
	double latency_ns;		   /* to subtract; rank 0 */
	double clock_ns;		   /* cost of reading the clock */
	double (*sequence)(struct map *m); /* of the samples being taken */
	bool warm;			   /* a sequence of this size has been measured */
	unsigned int sample_cnt;
	bool alone_first; /* the next pair starts with the computation alone */
	uint64_t random;  /* the same on all ranks */
	int message_cnt;
	struct comm_msg *out, *in;    /* message_cnt of each; owned */
	struct comm_request *request; /* 2 × message_cnt; owned */
	struct map_cell *cell;	      /* of the size, one for each computation time; owned */
	struct samples before, after; /* T_comm before and after the size's points */
	struct samples blocking;      /* T_comm by the blocking call */
	struct samples pingpong;      /* half a ping-pong */
	void *state;		      /* the pattern's own */

	/* The sample that is being taken. */
	bool timing; /* between map_begin and the sample's end, on ranks that called it */
	uint64_t began_ns;
	unsigned int readings; /* of the clock since began_ns */
	bool detail;	       /* this sample times the calls; rank 0 */
	double own_ns;	       /* from began_ns until rank 0's own part was done; 0: not reported */
	double in_calls_ns, wait_ns, test_ns;
	double slowest_ns;     /* of the last computation alone */
	struct map_cell point; /* that is being measured */
};

/* run and estimate_ns of benchmarks with a struct map_pattern as method. */
int map_run(struct bench_run *run);
uint64_t map_estimate_ns(const struct bench_run *run);

/* Members of a benchmark with this pattern, on so many ranks; most 0: any number. */
#define MAP_RANKS(pattern_of, least, most)                                                 \
	.group = "overlap", .kind = RESULT_MAP, .ranks_min = (least), .ranks_max = (most), \
	.method = &(pattern_of), .run = map_run, .estimate_ns = map_estimate_ns
#define MAP_PAIR(pattern_of) MAP_RANKS(pattern_of, 2, 2)

/* ---- for sequences ---- */

/*
 * Computes before a sample of T_comm beside a point; otherwise does nothing. map_begin calls it,
 * so only ranks that compute without calling map_begin need it.
 */
void map_compute_before(struct map *m);
/* Begins the sample. Call it on rank 0, and on every rank if every rank's time counts. */
void map_begin(struct map *m);
/* ns since map_begin, minus one reading of the clock; 0 on a rank that did not call map_begin. */
double map_end(struct map *m);
/* Rank 0's own part is done. The sample will be no shorter (ack_latency). */
void map_own(struct map *m);
/*
 * For map_in_calls: ns since map_begin without any readings, in samples that time the calls. In
 * other samples it returns 0 and does not read the clock.
 */
double map_now(struct map *m);

void map_compute(struct map *m);
/*
 * Sets in_calls_ns and wait_ns: time in the calls that post, and in those that wait after
 * computing.
 */
void map_in_calls(struct map *m, double post_ns, double wait_ns);
/*
 * After the first request was posted, at start_ns by map_now: computes, waits for it, and calls
 * map_in_calls.
 */
void map_compute_and_wait(struct map *m, double start_ns);
/* Isend or Irecv of message 0 with `peer`, compute, Wait, including map_in_calls. */
void map_overlap_send(struct map *m, int peer);
void map_overlap_recv(struct map *m, int peer);
/* Each rank passes its time `own_ns` of the same sequence. Returns the longest on rank 0. */
double map_longest(struct map *m, double own_ns);

/*
 * For ack_latency: rank 0 does Isend, computation, Wait; rank 1 a blocking receive, then sends an
 * ACK.
 */
double map_sequence_send_ack(struct map *m);
/* Measures a reference: the pattern's communication, or another sequence, without computation. */
void map_reference(struct map *m, struct samples *out);
void map_reference_by(struct map *m, double (*sequence)(struct map *m), struct samples *out);

/* ---- sampling (map_sample.c) ---- */

/* Measures a point of the size and compute_ns. */
void map_measure_point(struct map *m, struct map_cell *out);
void map_cell_release(struct map_cell *c);

/* ---- results (map_point.c) ---- */

/* Writes a point after all points of its size have been measured; on rank 0. */
void map_point_write(struct map *m, const struct map_cell *cell, uint64_t compute_ns);

/* ---- validation ---- */

/* Seed of the data that a rank sends as its message idx. */
uint32_t map_seed(const struct map *m, int rank, int idx);
/* Checks the message idx of a rank and then overwrites it for the next check. */
void map_check_message(struct map *m, const struct comm_msg *msg, int rank, int idx);

#endif
