/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds how much of their transfers nonblocking operations hid behind computation, and how much was
 * left when the program waited for them. The time between the call that starts an operation and the
 * call that completes it is the program's own (outside MPI) or spent in other calls. The completing
 * call has three parts:
 *	- until the other side had posted its end: lateness (analysis/late.h);
 *	- time in which one of the sides was runnable without a core, which overlap does not change;
 *	- the rest: what is left of the transfer. Overlap would have saved it, as far as there was
 *	  computation in the meantime to hide it.
 *
 * The ratio is that of povbench's maps, equation (1) of Denis & Trahay 2016, III.B:
 *	(T_measured − max(T_comm, T_comp)) / min(T_comm, T_comp)
 * T_comp is the time outside MPI from when both sides had posted. T_measured is T_comp, the start
 * call and the wait. For a send, the wait lasts until its receiver had the message, if the receiver
 * was already waiting.
 *
 * T_comm is the median duration of the last messages of exactly this size, on one host or between
 * hosts. A duration lasts from the begin of the send to the end of the receive. Only messages count
 * whose receiver was waiting before the send, or at most a hundredth of T_comm later, and whose
 * sender computed nothing meanwhile.
 *
 * The ratio covers only calls that complete this one operation, if such messages had been seen by
 * then and T_comp is at least a tenth of T_comm. Without computation there is nothing to hide
 * behind.
 */
#ifndef POV_ANALYSIS_OVERLAP_H
#define POV_ANALYSIS_OVERLAP_H

#include "analysis/match.h"
#include "lib/map.h"

#define OVERLAP_ROWS_MAX (1u << 16)
/* operations that wait for the other end of their messages */
#define OVERLAP_KEPT_MAX (1u << 16)
#define OVERLAP_SIZES_MAX (1u << 14) /* message sizes with a known T_comm */
#define OVERLAP_ALONE_MAX 31	     /* times kept per message size, the last ones */
/* Least remainder that counts; anything below is the cost of the calls. */
#define OVERLAP_LEAST_NS 10000
/* Least remainder that counts, in % of the preceding computation; less is not worth hiding. */
#define OVERLAP_LEAST_PCT 1
/* T_comp must be at least T_comm divided by this. */
#define OVERLAP_COMPUTED_PART 10
/* A receiver counts as waiting if it calls at most T_comm divided by this after the send. */
#define OVERLAP_WAITED_PART 100

#define OVERLAP_BUCKET_UNKNOWN 65

/* Properties that all operations of a row share. */
struct overlap_key {
	/* the function that described the operation, and the one that completed it */
	const struct func_info *start, *done;
	struct model_site start_site, done_site; /* compared with site_compare */
	uint32_t process;			 /* idx; 0 in sums over processes */
	/* bucket 0: no bytes; bucket b: 2^(b-1) … 2^b - 1 bytes; or OVERLAP_BUCKET_UNKNOWN */
	uint32_t bucket;
};

struct overlap_row {
	struct overlap_row *next;
	struct overlap_key key;
	uint64_t cnt, bytes;
	/* outside MPI, between start and completing call */
	uint64_t outside_ns;
	uint64_t computing_ns; /* part of outside_ns: running */
	/*
	 * time in the completing calls; if one completes several operations, its whole time counts
	 * for each
	 */
	uint64_t wait_ns;
	uint64_t late_ns; /* part of wait_ns: lateness */
	uint64_t left_ns; /* part of wait_ns: left of the transfer */
	/*
	 * operations whose other end is unknown, or that were completed together with such an
	 * operation
	 */
	uint64_t unsure;
	/*
	 * Time that overlap would have saved. Each moment of waiting and of computation counts
	 * once.
	 */
	uint64_t saved_ns;
	/* number of operations for which overlap would have saved time */
	uint64_t saved_cnt;
	uint64_t other_host_cnt; /* operations with a peer on another host */
	/* operations with a known T_comm, and the sum of these T_comm */
	uint64_t alone_cnt, alone_ns;
	uint64_t compared; /* operations in the ratio */
	/* Sums for the ratio: T_measured, and the longer and the shorter of T_comm and T_comp. */
	uint64_t measured_ns, longer_ns, shorter_ns;
};

struct overlaps {
	struct model_sink sink;
	struct map rows;	       /* hash of the key → struct overlap_row */
	struct map alone;	       /* size, hosts → struct overlap_alone */
	struct overlap_thread *thread; /* by thread idx; owned */
	uint32_t nthread;
	/* by idx of processes: request → struct overlap_start; owned */
	struct map *started;
	uint32_t nprocess;
	/* completing calls whose operations wait for their other ends, in order of time */
	struct overlap_call *first, *last;
	uint32_t kept, nrow;
	uint64_t without_row; /* operations that found no room for a row */
	bool sched;
};

void overlaps_init(struct overlaps *a);
void overlaps_release(struct overlaps *a);
/* Call this for each match. The sink of this analysis must run before the sink of the matches. */
void overlaps_match(void *overlaps, const void *event);
/* Call this once, after the replay. */
void overlaps_settle(struct overlaps *a);
/*
 * Rows summed over the chosen processes (NULL: all), largest saving first. The caller frees the
 * list.
 */
struct overlap_row *overlaps_list(const struct overlaps *a, const bool *chosen, uint32_t *n);
/* NAN: unknown. */
double overlap_row_ratio(const struct overlap_row *r);

#endif
