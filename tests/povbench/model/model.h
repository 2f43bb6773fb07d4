/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A machine in virtual time, in one process, whose overlap, delays and steals are set exactly: what benchmarks must
 * find on it follows from the settings. Ranks are coroutines, time passes only in operations, and two runs
 * give the same times to the last digit. Unless shared_link says otherwise, n messages at once take as long as
 * one (LogP, Culler et al. 1993, with a time per byte).
 *
 * A message of n bytes costs the sender send_ns of CPU and its announcement reaches the receiver after the link's
 * latency. It then depends on n:
 *
 *   eager, n ≤ eager_bytes: the data follow by themselves, n · byte_ns later they are there; the sender is done at
 *	once. The receiver pays recv_ns in the call that takes the message.
 *   rendezvous, n > eager_bytes: the data move once the receiver is known (and the handshake is done, if there is
 *	one), for n · byte_ns. While a side computes, outside of communication calls, they move as `overlap_send` or
 *	`overlap_recv` allows, by the worse of both if both sides do: f = 1 at full speed, 0 not at all; between, at speed f
 *	and at most the share f of the message, so that equation (1) of Denis & Trahay 2016 gives 1 - f whether
 *	computation or communication is longer. Both sides are done when the data are there.
 *
 * A put or a get of n bytes costs its origin send_ns of CPU, and is complete n · byte_ns and the link's latency both ways
 * later, whatever the CPUs do.
 */
#ifndef POVBENCH_MODEL_H
#define POVBENCH_MODEL_H

#include "core/comm.h"

enum model_bcast {
	MODEL_BCAST_BINOMIAL,
	MODEL_BCAST_LINEAR,
	MODEL_BCAST_BACKWARD,
	MODEL_BCAST_FLAT, /* the root sends to all, in their order */
};

struct model_settings {
	int ranks;
	double latency_ns;
	double far_ns;	/* the latency between an even rank and an odd one; 0: latency_ns */
	double byte_ns; /* per byte of data */
	double send_ns, recv_ns; /* CPU time per message, at either side */
	double isend_ns;	 /* in addition if the send is non-blocking */
	uint64_t eager_bytes;

	double overlap_send, overlap_recv; /* 0 … 1 */
	double overlap_strided;		   /* both sides are no better than this for strided data */
	double pack_byte_ns; /* CPU time per byte of strided data, in the call that sends */
	double slow; /* data that move beside a computation take so many times as long as alone */
	/*
	 * There is an answer to the announcement, which only a CPU of the sender reads (Nigay et
	 * al. 2020, figure 6).
	 */
	bool handshake;
	bool shared_link; /* rendezvous data, and a rank's puts and gets, between the same two ranks move one message after the other */
	enum model_bcast bcast;
	bool coll_in_wait; /* a non-blocking collective does nothing at all before it is waited for */

	int cores; /* of each rank, for its load threads; the rank's own is one of them */
	double load_delay_ns; /* of each blocking call, while its core has a load thread too */
	double steal;	      /* work takes 1 + steal times as long; a deadline is one */
	/* The first call after a millisecond of computation takes cold_ns longer, after less of it as much less. */
	double cold_ns;
	/*
	 * What happens to work on a real machine, on each rank by itself: its pace swings by compute_drift, once in
	 * drift_period_ns; each computation is longer by a random share up to compute_noise; every tick_period_ns the core is
	 * away for tick_ns; and work is slower by poll_slow while another rank waits in a call. 0: nothing of that.
	 */
	double compute_drift, drift_period_ns, compute_noise, tick_ns, tick_period_ns, poll_slow;
	uint64_t seed;	    /* of what is random above */
	int ranks_per_core; /* until they pin themselves; only one of them runs at a time */
	double slice_ns;    /* a computing rank lets others of its core run after this; 0: never */
	double clock_ns, test_ns; /* what reading the clock and MPI_Test take */
	int nodes;	  /* each with a clock of its own; ranks are dealt out to them in turn */
	bool node_blocks; /* … one node after the other instead */
	double clock_skew_ns; /* each node's clock was so far ahead of that of the node before */
	double clock_drift;   /* and it is faster by this */
	double wtime_pace;    /* of MPI_Wtime, by the clock */
	uint32_t features;    /* enum comm_feature */
};

/* Two ranks, everything free or perfect, rendezvous for all but empty messages; 1 µs and 1 GB/s. */
void model_settings_init(struct model_settings *s);
double model_link_ns(const struct model_settings *s, int from, int to);

/*
 * Runs body on all ranks until it has returned on all. 0, -EDEADLK if nobody can go on (said on stderr), or what body
 * returned on the lowest rank that failed. The communicator lives until body returns.
 */
int model_run(const struct model_settings *s, int (*body)(struct comm *c, void *ctx), void *ctx);

#endif
