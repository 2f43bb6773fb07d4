/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The 2-D space of Denis & Trahay 2016: message size × computation time. An overlap benchmark gives the sequence of
 * calls that it times, the rest is common: for each size T_comm, which is the sequence without computation; for each point pairs
 * of T_measured and T_comp, the computation alone, one right after the other; from these equation (1) and the peers' figures.
 * T_comm is measured before a size's points and again after them, and beside each point right after a computation as long as
 * the point's: that leaves the caches to others. What the clock's readings take is taken out of every time.
 *
 * A point has the parameters bytes and compute_ns, the times comm (before and after), comm_beside, comp, measured, added
 * (T_measured - T_comp of each pair) and in_calls (of these send_wait, where only sends are waited for; test, blocking, pingpong where they exist),
 * and the values ratio with ratio_low and ratio_high, osu_pct, imb_pct, imb_io_pct, mpiperf, sandia, and drift,
 * T_comm after the points over T_comm before, less 1. Where there is no ratio, `blank` says why (map_point.c); too_short_ns is
 * there only if T_measured is wrong: shorter than the longer one of T_comm and T_comp by so much.
 */
#ifndef POVBENCH_OVERLAP_MAP_H
#define POVBENCH_OVERLAP_MAP_H

#include "core/bench.h"

/* Of so many samples one is taken for what is spent in calls, and not for T_measured. */
#define MAP_DETAIL_EVERY 4

/* Each way of messages its own tag, so that a wrong order shows as a hang instead of as a good time. */
enum map_tag { MAP_TAG_DATA = 0x10, MAP_TAG_ACK, MAP_TAG_CTS, MAP_TAG_COMPUTED };

struct map;

struct map_pattern {
	enum comm_layout layout;
	/*
	 * The sequence has one message without data more than what is asked about (III.D): its latency, half of a 0-byte
	 * ping-pong, is taken off each sample, down to when rank 0 had done its own part (map_own): what
	 * travelled beside that took no time of the sample.
	 */
	bool ack_latency;
	int phases;	   /* how often a sequence computes, and has its messages; 0: once */
	bool all_compute;  /* every rank computes at the same time, not rank 0 only */
	bool longest;	   /* T_measured is the longest of all ranks' times, not rank 0's */
	uint64_t unit;	   /* sizes are multiples of it; 0 = 1 */
	bool no_bytes;	   /* no data: one column, of 0 bytes */
	uint32_t receives; /* bit r: rank r gets data from its only peer, to be validated */
	bool sends_only;   /* what rank 0 waits for is sends */

	/* On every rank before the synchronisation that a sample begins with; null: nothing. */
	void (*prepare)(struct map *m);
	/*
	 * What is timed: every rank calls it, rank 0 returns the ns. It computes with map_compute, and
	 * tells what it spends in post and wait calls (map_in_calls).
	 */
	double (*sequence)(struct map *m);
	/* What T_comm is of, without computation; null: the sequence. */
	double (*communication)(struct map *m);
	/* Measures T_comm; null: map_reference. */
	void (*reference)(struct map *m, struct samples *out);
	bool pingpong; /* half of a ping-pong of this layout is measured, too, for comparing: T_comm in the paper */
	/*
	 * T_comp in ns: what the sequence computes, without its messages, and with all ranks in the state that they have
	 * in the sequence meanwhile. Every rank calls it. Null: `phases` pieces of compute_ns, on ranks that compute; the
	 * others wait in a receive.
	 */
	double (*computation)(struct map *m);
	bool own_buffers; /* size_begin makes them; out and in have none */
	/* Messages pending at once, each with buffers of its own; null: 1. */
	int (*messages)(const struct bench_run *run);
	/* Around all of a size: requests that outlive a sample, for instance. */
	void (*size_begin)(struct map *m);
	void (*size_end)(struct map *m);
	/* Around its points, not its references. */
	void (*points_begin)(struct map *m);
	void (*points_end)(struct map *m);
	void (*check)(struct map *m); /* validation of what `receives` cannot tell */
	void (*params)(struct map *m, struct result_point *point);
	const void *data; /* the pattern's own */
};

/* A point of a size, until all of that size is known. */
struct map_cell {
	struct samples measured, alone; /* with and without the messages, in pairs */
	/* As alone, of the slowest rank, where all compute and rank 0 is timed: it may have to wait for that rank, or not. */
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
	uint64_t before_ns;		   /* of computation before a sample; 0: none */
	double latency_ns;		   /* to take off; rank 0 */
	double clock_ns;		   /* what reading the clock takes */
	double (*sequence)(struct map *m); /* of the samples being taken */
	bool warm;			   /* a sequence of this size has been measured */
	unsigned int sample_cnt;
	bool alone_first; /* the next pair begins with the computation alone */
	uint64_t random;  /* the same on all ranks */
	int message_cnt;
	struct comm_msg *out, *in;     /* message_cnt of each; owned */
	struct comm_request *request;  /* 2 × message_cnt; owned */
	struct map_cell *cell;	       /* of the size, one of each computation time; owned */
	struct samples before, behind; /* T_comm, around the points of the size */
	struct samples blocking,
		pingpong; /* of the size; T_comm by the blocking call, or half a ping-pong */
	void *state;	  /* the pattern's own */

	/* the sample being taken */
	bool timing; /* between map_begin and the sample's end, on ranks that called it */
	uint64_t began_ns;
	unsigned int readings; /* of the clock, since then */
	bool detail;	       /* the calls are timed, not the sample; rank 0 */
	double own_ns;	       /* since then, until rank 0's own part was done; 0: not told */
	double in_calls_ns, wait_ns, test_ns;
	double slowest_ns; /* of the last computation alone */
	struct samples alone, slowest, beside, in_calls, wait, test; /* of the point being taken */
};

/* Of a benchmark whose method is a struct map_pattern. */
int map_run(struct bench_run *run);
uint64_t map_estimate_ns(const struct bench_run *run);

/* ---- for sequences ---- */

/*
 * The computation before a sample of T_comm beside a point; else nothing. map_begin calls it: only ranks that compute without
 * calling that call this.
 */
void map_compute_before(struct map *m);
/* The sample begins: on rank 0, and where every rank's time counts on every one. */
void map_begin(struct map *m);
/* The sample's ns since map_begin, less one reading of the clock; 0 on a rank that did not call that. */
double map_end(struct map *m);
/* Rank 0's own part is done: the sample is no shorter (ack_latency). */
void map_own(struct map *m);
/* For map_in_calls, in the samples taken for it: ns since map_begin, without all readings; in others 0, without one. */
double map_now(struct map *m);

void map_compute(struct map *m);
/* For in_calls_ns and wait_ns: what was spent in the calls that post, and in those that wait behind the computation. */
void map_in_calls(struct map *m, double post_ns, double wait_ns);
/* Isend or Irecv of message 0 with `peer`, compute, Wait; with map_in_calls. */
void map_overlap_send(struct map *m, int peer);
void map_overlap_recv(struct map *m, int peer);
/* Messages without data. */
void map_tell(struct map *m, int peer, int tag);
void map_hear(struct map *m, int peer, int tag);
/* The same sequence on every rank took `own` ns: on rank 0 the longest of them. */
double map_longest(struct map *m, double own_ns);

/* Isend, computation, Wait on rank 0, a blocking receive on rank 1, which then sends an ACK: for ack_latency. */
double map_sequence_send_ack(struct map *m);
/* A reference: the pattern's communication; or another sequence, without computation. */
void map_reference(struct map *m, struct samples *out);
void map_reference_by(struct map *m, double (*sequence)(struct map *m), struct samples *out);

/* ---- sampling (map_sample.c) ---- */

/* A point of the size and compute_ns: T_measured, and in *m what was sampled beside. */
void map_measure_point(struct map *m, struct samples *measured);

/* ---- what comes out (map_point.c) ---- */

/* Writes a point of the size when all of it is known; on rank 0. */
void map_point_write(struct map *m, const struct map_cell *cell, uint64_t compute_ns);

/* ---- for check ---- */

/* What rank r sends as its message idx. */
uint32_t map_seed(const struct map *m, int rank, int idx);
/* Checks a message that came from rank's message idx, and makes it wrong for the next time. */
void map_check_message(struct map *m, const struct comm_msg *msg, int rank, int idx);

#endif
