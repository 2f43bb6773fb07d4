/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * When the data of nonblocking point-to-point operations began to move: in the call that started the operation, while the program
 * computed, or only when it waited. These are the cases of Denis & Trahay 2016, told apart from the trace alone, by the first post of
 * the process that carries data of the operation.
 *
 * Which post that is is said only where there is no doubt: a post that names the operation's request, or while no other operation
 * was under way in the process that moves data in the same direction with the same peer, as far as peers are known.
 * What a sender posts belongs to its sends, what a receiver reads to its receives. Messages of protocols are no data.
 *
 * Of receives also when the last of their data had come, where what arrives tells whose it is: by the request, by the envelope (source
 * and tag), or by its peer, while nothing else was to come from that one. It had come when the call returned in which the library looked at it.
 */
#ifndef POV_ANALYSIS_TRANSFER_START_H
#define POV_ANALYSIS_TRANSFER_START_H

#include "analysis/loss.h"
#include "analysis/traffic.h"

enum transfer_when {
	TRANSFER_IN_CALL,   /* that started it */
	TRANSFER_MEANWHILE, /* between that and … */
	TRANSFER_IN_WAIT,   /* … the call that completed it */
	TRANSFER_NOT_HERE, /* no data were posted: the other side moves them, or who does is not recorded */
	TRANSFER_UNCLEAR, /* cannot be told */
	TRANSFER_WHEN_CNT,
};

struct transfer_row {
	uint32_t process; /* idx */
	uint32_t func;	  /* id: that started it */
	uint64_t cnt[TRANSFER_WHEN_CNT], bytes[TRANSFER_WHEN_CNT];
	/* Receives of which all data were seen to come, and of these: before the call that completed them, by how much. */
	uint64_t come, early, early_ns;
};

/* Of those of a row that started meanwhile: in which function of MPI, or in none and by which thread. */
struct transfer_by {
	uint32_t process, func;
	uint32_t in_func; /* its id + 1, or 0 */
	uint32_t thread;  /* a number of traffic.names, or 0 */
	uint64_t cnt, bytes;
};

struct transfer_start {
	struct model_sink sink;
	struct traffic *traffic; /* the caller's, as are losses; their sinks come before this one */
	const struct losses *losses;
	bool on;			   /* some layer of the trace posts */
	struct transfer_process **process; /* by idx; owned */
	uint32_t nprocess;		   /* allocated */
	uint32_t kept;			   /* operations and posts of all processes */
	struct transfer_row *row;	   /* by process, function; owned; after the replay */
	uint32_t nrow, rows_cap;
	struct transfer_by *by; /* in order; owned */
	uint32_t nby, by_cap;
};

#define TRANSFERS_KEPT_MAX \
	(1u << 20) /* operations and posts; of what comes later nothing can be told */

void transfer_start_init(struct transfer_start *a, struct traffic *traffic,
			 const struct losses *losses);
void transfer_start_release(struct transfer_start *a);

#endif
