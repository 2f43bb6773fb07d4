/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds when the data of nonblocking point-to-point operations began to move: in the call that
 * started the operation, while the program computed, or only when it waited. These are the cases of
 * Denis & Trahay 2016, distinguished from the trace alone, by the process's first post that carries
 * data of the operation.
 *
 * A post is attributed to an operation only without doubt. Either it names the operation's request,
 * or no other operation in progress in the process moves data in the same direction with the same
 * peer. Peers are compared as far as they are known. A sender's posts belong to its sends, a
 * receiver's reads to its receives. Protocol messages are not data.
 *
 * For receives, this also finds when the last of their data had arrived. An arrival is attributed
 * by its request, by its envelope (source and tag), or by its peer if nothing else was due from
 * that peer. Data count as arrived when the call returned in which the library looked at them.
 */
#ifndef POV_ANALYSIS_TRANSFER_START_H
#define POV_ANALYSIS_TRANSFER_START_H

#include "analysis/loss.h"
#include "analysis/traffic.h"

enum transfer_when {
	TRANSFER_IN_CALL, /* in the call that started the operation */
	/* between the start call and the completing call */
	TRANSFER_MEANWHILE,
	TRANSFER_IN_WAIT, /* in the call that completed the operation */
	/* No data were posted here: the other side moves them, or the mover is not recorded. */
	TRANSFER_NOT_HERE,
	TRANSFER_UNCLEAR, /* cannot be determined */
	TRANSFER_WHEN_CNT,
};

struct transfer_row {
	uint32_t process; /* idx */
	/* id of the function that started the operation */
	uint32_t func;
	uint64_t cnt[TRANSFER_WHEN_CNT], bytes[TRANSFER_WHEN_CNT];
	/*
	 * Receives whose data were all seen to arrive. early: how many of these had their data
	 * before the completing call. early_ns: by how much in total.
	 */
	uint64_t come, early, early_ns;
};

/*
 * Operations of a row that began to move in the meantime: in which MPI function, or by which thread
 * outside all of them.
 */
struct transfer_by {
	uint32_t process, func;
	uint32_t in_func; /* its id + 1, or 0 */
	uint32_t thread;  /* number in traffic.names, or 0 */
	uint64_t cnt, bytes;
};

struct transfer_start {
	struct model_sink sink;
	/* the caller's, like `losses`; both sinks must run before this one */
	struct traffic *traffic;
	const struct losses *losses;
	bool on;			   /* some layer of the trace posts */
	struct transfer_process **process; /* by process idx; owned */
	uint32_t nprocess;		   /* allocated */
	uint32_t kept;			   /* operations and posts kept for all processes */
	/* after the replay: by process, then function; owned */
	struct transfer_row *row;
	uint32_t nrow;
	struct transfer_by *by; /* in order; owned */
	uint32_t nby;
};

/* operations and posts; nothing is known of anything later */
#define TRANSFERS_KEPT_MAX (1u << 20)

void transfer_start_init(struct transfer_start *a, struct traffic *traffic,
			 const struct losses *losses);
void transfer_start_release(struct transfer_start *a);

#endif
