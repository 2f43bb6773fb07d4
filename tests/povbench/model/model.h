/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A machine in virtual time, in one process, whose overlap, delays and steals are set exactly. What
 * benchmarks must find on it follows from the settings. Ranks are coroutines, time passes only in
 * operations, and two runs give exactly the same times. Unless shared_link is set, n simultaneous
 * messages take as long as one (LogP, Culler et al. 1993, with a time per byte).
 *
 * A message of n bytes costs the sender send_ns of CPU. Its announcement reaches the receiver after
 * the link's latency. The rest depends on n:
 *
 *   eager, n ≤ eager_bytes: the data follow by themselves and arrive n · byte_ns later; the sender
 *	is done at once. The receiver pays recv_ns in the call that takes the message.
 *   rendezvous, n > eager_bytes: the data move for n · byte_ns, once the receiver is known and the
 *	handshake, if there is one, is done. While a side computes, outside communication calls,
 *	they move as `overlap_send` or `overlap_recv` allows, or by the worse of both if both sides
 *	compute. f = 1 is full speed, 0 is none. Between these, data move at speed f, and at most
 *	the share f of the message moves during computation. So equation (1) of Denis & Trahay 2016
 *	gives 1 - f, whether computation or communication is longer. Both sides are done when the
 *	data have arrived.
 *
 * A put or a get of n bytes costs its origin send_ns of CPU. It is complete n · byte_ns plus the
 * link's latency both ways later, whatever the CPUs do.
 */
#ifndef POVBENCH_MODEL_H
#define POVBENCH_MODEL_H

#include "core/comm.h"

enum model_bcast {
	MODEL_BCAST_BINOMIAL,
	MODEL_BCAST_LINEAR,
	MODEL_BCAST_BACKWARD,
	MODEL_BCAST_FLAT, /* the root sends to all, in rank order */
};

struct model_settings {
	int ranks;
	double latency_ns;
	/* Latency between an even rank and an odd one; 0: latency_ns. */
	double far_ns;
	double byte_ns;		 /* per byte of data */
	double send_ns, recv_ns; /* CPU time per message on each side */
	double isend_ns;	 /* in addition if the send is non-blocking */
	uint64_t eager_bytes;

	double overlap_send, overlap_recv; /* 0 … 1 */
	double overlap_strided;		   /* upper limit of both for strided data */
	/* CPU time per byte of strided data, in the call that sends. */
	double pack_byte_ns;
	/* Factor by which data take longer while a side computes. */
	double slow;
	/*
	 * The receiver answers the announcement, and only a CPU of the sender reads the answer
	 * (Nigay et al. 2020, figure 6).
	 */
	bool handshake;
	/*
	 * Rendezvous messages between the same two ranks move one after the other; so do a rank's
	 * puts and gets.
	 */
	bool shared_link;
	enum model_bcast bcast;
	bool coll_in_wait; /* a nonblocking collective does nothing before it is waited for */

	/* Cores of each rank for its load threads, including the rank's own. */
	int cores;
	/* Delay of each blocking call while its core has a load thread as well. */
	double load_delay_ns;
	/* Work takes 1 + steal times as long; a deadline stays the same. */
	double steal;
	/*
	 * The first call after at least a millisecond of computation takes cold_ns longer; after
	 * less computation, proportionally less.
	 */
	double cold_ns;
	/*
	 * Disturbances of work on a real machine, on each rank separately. The pace swings by
	 * compute_drift, with period drift_period_ns. Each computation is longer by a random share
	 * up to compute_noise. Every tick_period_ns, the core is away for tick_ns. Work is slower
	 * by poll_slow while another rank waits in a call. 0: no such disturbance.
	 */
	double compute_drift, drift_period_ns, compute_noise, tick_ns, tick_period_ns, poll_slow;
	uint64_t seed; /* seed of the randomness above */
	/* Ranks per core until they pin themselves; only one of them runs at a time. */
	int ranks_per_core;
	/* A computing rank lets others of its core run after this time; 0: never. */
	double slice_ns;
	double clock_ns, test_ns; /* time to read the clock and time of MPI_Test */
	/* Nodes, each with its own clock; ranks are assigned to nodes round robin. */
	int nodes;
	bool node_blocks; /* ranks fill one node after the other instead */
	/* Each node's clock starts this far ahead of the previous node's. */
	double clock_skew_ns;
	/* each node's clock is faster by this share than the previous node's */
	double clock_drift;
	double wtime_pace; /* pace of MPI_Wtime relative to the clock */
	uint32_t features; /* enum comm_feature */
};

/*
 * Two ranks, everything free or perfect, rendezvous for all but empty messages; 1 µs latency, 1
 * GB/s.
 */
void model_settings_init(struct model_settings *s);
double model_link_ns(const struct model_settings *s, int from, int to);

/*
 * Runs body on all ranks until it has returned on each. Returns 0, -EDEADLK if no rank can go on
 * (printed on stderr), or what body returned on the lowest rank that failed. The communicator lives
 * until body returns.
 */
int model_run(const struct model_settings *s, int (*body)(struct comm *c, void *ctx), void *ctx);

#endif
