/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What nonblocking operations hid behind computation, and what was left when they were waited for. The time between the call that
 * starts an operation and the one that completes it is the program's own (outside MPI) or is spent in other calls. Of the completing call,
 * the part until the other side had posted its end is lateness (analysis/late.h); time in which one of both sides was runnable, without
 * a core, is none of overlap's, either. The rest is left of the transfer, and would have been saved as far as there was computation meanwhile to hide it.
 *
 * The ratio is that of povbench's maps, equation (1) of Denis & Trahay 2016, III.B:
 *	(T_measured − max(T_comm, T_comp)) / min(T_comm, T_comp)
 * T_comp: the time outside MPI, from when both sides had posted. T_measured: the same, the start call, and the wait; of a send until
 * its receiver had the message, if that waited for it already. T_comm: the median of the last messages of this very size, on one
 * host or between hosts, from the begin of the send to the end of the receive, whose receiver was waiting before, or later by a
 * hundredth of that at most, and whose sender computed nothing meanwhile. Only of calls that complete this one operation, and if such
 * messages had been seen by then; and only where T_comp is a tenth of T_comm at least: where nothing was computed there is nothing to
 * hide behind.
 */
#ifndef POV_ANALYSIS_OVERLAP_H
#define POV_ANALYSIS_OVERLAP_H

#include "analysis/match.h"
#include "lib/map.h"

#define OVERLAP_ROWS_MAX (1u << 16)
#define OVERLAP_KEPT_MAX (1u << 16)  /* operations that wait for the other end of their messages */
#define OVERLAP_SIZES_MAX (1u << 14) /* of which times alone are kept … */
#define OVERLAP_ALONE_MAX 31	     /* … so many of the last */
/* What is left counts only from there on: below is the cost of the calls … */
#define OVERLAP_LEAST_NS 10000
#define OVERLAP_LEAST_PCT \
	1 /* … or too little, in % of the computation before, to be worth hiding */
#define OVERLAP_COMPUTED_PART 10 /* T_comp is no less than one part in so many of T_comm */
#define OVERLAP_WAITED_PART \
	100 /* a receiver waits later than the send by no more than one part in so many of T_comm */

#define OVERLAP_BUCKET_UNKNOWN 65

/* What is the same of all operations of a row. */
struct overlap_key {
	const struct func_info *start, *done; /* that described the operation; that completed it */
	struct model_site start_site, done_site; /* by site_compare */
	uint32_t process;			 /* idx; or 0, of sums */
	uint32_t bucket; /* 0: no bytes; b: 2^(b-1) … 2^b - 1 bytes; or OVERLAP_BUCKET_UNKNOWN */
};

struct overlap_row {
	struct overlap_row *next;
	struct overlap_key key;
	uint64_t cnt, bytes;
	uint64_t outside_ns;   /* between start and completing call, outside MPI … */
	uint64_t computing_ns; /* … running */
	uint64_t wait_ns; /* of the completing calls: of one that completes several, all of it by each */
	uint64_t late_ns; /* of these, lateness */
	uint64_t left_ns; /* of these, of the transfer */
	uint64_t unsure; /* operations that, or with which others were completed, whose other end is not known */
	uint64_t saved_ns; /* would have been: each moment of waiting and of computation once … */
	uint64_t saved_cnt;	      /* … by so many of the operations */
	uint64_t other_host_cnt;      /* to or from another one */
	uint64_t alone_cnt, alone_ns; /* of these T_comm is known; all together */
	uint64_t compared;	      /* operations in the ratio; of these: */
	uint64_t measured_ns, longer_ns,
		shorter_ns; /* longer and shorter one of T_comm and T_comp */
};

struct overlaps {
	struct model_sink sink;
	struct map rows;	       /* hash of the key → struct overlap_row */
	struct map alone;	       /* size, hosts → struct overlap_alone */
	struct overlap_thread *thread; /* by idx; owned */
	uint32_t nthread;
	struct map *started; /* by idx of process: request → struct overlap_start; owned */
	uint32_t nprocess;
	struct overlap_call *first, *last; /* whose operations wait, in order of time */
	uint32_t kept, nrow;
	uint64_t without_row; /* operations for which there was no room */
	bool sched;
};

void overlaps_init(struct overlaps *a);
void overlaps_release(struct overlaps *a);
/* To be told each match; calls of this analysis's sink come before those of the matches'. */
void overlaps_match(void *overlaps, const struct match *m);
/* Once, after the replay. */
void overlaps_settle(struct overlaps *a);
/* Those of the chosen processes (NULL: all), summed up over them; what would have saved most first. Caller frees. */
struct overlap_row *overlaps_list(const struct overlaps *a, const bool *chosen, uint32_t *n);
/* NAN: not known. */
double overlap_row_ratio(const struct overlap_row *r);

#endif
