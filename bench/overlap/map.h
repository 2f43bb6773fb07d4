/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The 2-D space of Denis & Trahay 2016: message size × computation time. An overlap benchmark gives the sequence of
 * calls that it times, the rest is common: for each size the latency and T_comm, for each computation time T_comp
 * alone, for each pair T_measured; from these equation (1) and the peers' figures. A point has
 * the parameters bytes and compute_ns, the times comm, comp, measured and in_calls (of these send_wait, where only sends are waited for; test, blocking where they exist),
 * and the values ratio, osu_pct, imb_pct, imb_io_pct, mpiperf, sandia.
 */
#ifndef POVBENCH_OVERLAP_MAP_H
#define POVBENCH_OVERLAP_MAP_H

#include "core/bench.h"

/* Each way of messages its own tag, so that a wrong order shows as a hang instead of as a good time. */
enum map_tag { MAP_TAG_DATA = 0x10, MAP_TAG_ACK, MAP_TAG_CTS };

struct map;

struct map_pattern {
	enum comm_layout layout;
	/*
	 * Half of a 0-byte ping-pong is taken off each sample, down to 0: the sequence has one message without data
	 * that T_comm has not (III.D).
	 */
	bool ack_latency;
	bool all_compute;  /* every rank computes at the same time, not rank 0 only */
	uint64_t unit;	   /* sizes are multiples of it; 0 = 1 */
	bool no_bytes;	   /* no data: one column, of 0 bytes */
	uint32_t receives; /* bit r: rank r gets data from its only peer, to be validated */
	bool sends_only;   /* what rank 0 waits for is sends */

	/*
	 * What is timed: every rank calls it, rank 0 returns the ns. It computes with map_compute, and
	 * tells what it spends in post and wait calls (map_in_calls).
	 */
	double (*sequence)(struct map *m);
	/* T_comm; null: half of a ping-pong of this layout. */
	void (*reference)(struct map *m, struct samples *out);
	/* T_comp in ns, if the computation is made otherwise than in one piece of compute_ns. */
	double (*computation)(struct map *m);
	bool own_buffers; /* size_begin makes them; out and in have none */
	/* Messages pending at once, each with buffers of its own; null: 1. */
	int (*messages)(const struct bench_run *run);
	/* Around the points of a size: requests that outlive a sample, for instance. */
	void (*size_begin)(struct map *m);
	void (*size_end)(struct map *m);
	void (*check)(struct map *m); /* validation of what `receives` cannot tell */
	void (*params)(struct map *m, struct result_point *point);
	const void *data; /* the pattern's own */
};

struct map {
	struct bench_run *run;
	struct comm *comm;
	const struct map_pattern *pattern;
	size_t bytes;
	uint64_t compute_ns; /* 0: communication alone */
	double latency_ns;   /* to take off; rank 0 */
	bool latency_known;
	int message_cnt;
	struct comm_msg *out, *in;	      /* message_cnt of each; owned */
	struct comm_request *request;	      /* 2 × message_cnt; owned */
	double in_calls_ns, wait_ns, test_ns; /* of the sample being taken */
	struct samples in_calls, wait, test;  /* of the point being taken */
	struct samples comm_ns, blocking; /* of the size; blocking: T_comm by the blocking call */
	void *state;			  /* the pattern's own */
};

int map_run(struct bench_run *run, const struct map_pattern *pattern);
/* phases: how often compute_ns is spent in a sequence. */
uint64_t map_estimate_ns(const struct bench_run *run, const struct map_pattern *pattern,
			 int phases);

/* ---- for sequences ---- */

static inline uint64_t map_now(const struct map *m)
{
	return m->comm->ops->now_ns(m->comm);
}

void map_compute(struct map *m);
/* For in_calls_ns and wait_ns: what was spent in the calls that post, and in those that wait behind the computation. */
void map_in_calls(struct map *m, uint64_t post_ns, uint64_t wait_ns);
/* Isend or Irecv of message 0 with `peer`, compute, Wait; with map_in_calls. */
void map_overlap_send(struct map *m, int peer);
void map_overlap_recv(struct map *m, int peer);
/* Messages without data. */
void map_tell(struct map *m, int peer, int tag);
void map_hear(struct map *m, int peer, int tag);
/* The same sequence on every rank took `own` ns: on rank 0 the longest of them. */
double map_longest(struct map *m, uint64_t own_ns);

/* Isend, computation, Wait on rank 0, a blocking receive on rank 1, which then sends an ACK: for ack_latency. */
double map_sequence_send_ack(struct map *m);
/* A reference: the sequence itself, without computation. */
void map_reference_sequence(struct map *m, struct samples *out);

/* ---- for check ---- */

/* What rank r sends as its message idx. */
uint32_t map_seed(const struct map *m, int rank, int idx);
/* Checks a message that came from rank's message idx, and makes it wrong for the next time. */
void map_check_message(struct map *m, const struct comm_msg *msg, int rank, int idx);

#endif
