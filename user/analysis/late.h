/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds waiting for the other side of a point-to-point message, which had not called yet. Late
 * sender: a call waits to complete a receive whose send has not been posted; it waits until the
 * send begins. Late receiver: a call waits to complete a send and is still in progress when the
 * receive is posted. If a call completes several operations, the same waiting counts for the first
 * of them only. MPI_Probe waits for the send of a message that its thread receives later, if that
 * send begins during the probe.
 */
#ifndef POV_ANALYSIS_LATE_H
#define POV_ANALYSIS_LATE_H

#include "analysis/match.h"
#include "analysis/observers.h"
#include "lib/map.h"
#include "model/model.h"

/*
 * A table of who waited for whom, and how long, by pairs of processes. Analyses of waits keep one
 * table for each kind of wait.
 */

/* How long one process waited for another. */
struct waited_for {
	uint32_t waiter, late; /* idx of processes */
	uint64_t cnt, ns;
	uint64_t worst_ns, worst_from_ns, worst_to_ns;
	const struct func_info *worst_in; /* the call that waited; NULL: unknown */
};

/*
 * Adds a wait from from_ns to to_ns in a call of `in`. It counts as ns, which may be less. pairs:
 * waiter, late → struct waited_for. The map's values are freed with free().
 */
void waited_for_add(struct map *pairs, const struct model_process *waiter,
		    const struct model_process *late, uint64_t ns, uint64_t from_ns, uint64_t to_ns,
		    const struct func_info *in);
/* NULL: it never waited for that process. */
const struct waited_for *waited_for_get(const struct map *pairs, uint32_t waiter, uint32_t late);
/*
 * All pairs, grouped by the process that was waited for, the longest first. The caller frees the
 * list.
 */
struct waited_for *waited_for_list(const struct map *pairs, uint32_t *n);
/*
 * Sums up n >= 1 pairs with the same late process and keeps their worst wait. The result's waiter
 * is arbitrary.
 */
struct waited_for waited_for_sum(const struct waited_for *w, uint32_t n);

enum late_kind { LATE_SENDER, LATE_RECEIVER, LATE_KINDS };

/*
 * A stretch in which a call waited, and the call that it waited for. That call begins when the
 * stretch ends.
 */
struct late_wait {
	enum late_kind kind;
	const struct model_thread *waiter;
	const struct match_end *late;
	uint64_t from_ns, to_ns;
};

struct late_pairs {
	struct matches matches;	  /* its sink and `probes` are the sinks of this analysis */
	struct model_sink probes; /* remembers calls of MPI_Probe and the like */
	struct observers matched; /* events: struct match, before the waits that follow from it */
	struct observers waits;	  /* events: struct late_wait */
	struct map pairs[LATE_KINDS]; /* waiter, late → struct waited_for */
	/* messages matched only under an assumption; they are not analysed */
	uint64_t uncertain[ASSUMED_CNT];
	struct late_thread *thread; /* by thread idx; owned */
	uint32_t nthread;
};

/*
 * How long the receive (LATE_SENDER) or the send (LATE_RECEIVER) of a message waited for its other
 * side. 0: it did not wait. The waits of one call that completes several messages overlap.
 */
uint64_t late_ns(const struct match *m, enum late_kind kind);

void late_init(struct late_pairs *a);
void late_release(struct late_pairs *a);

#endif
