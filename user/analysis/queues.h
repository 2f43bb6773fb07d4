/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds ranks that waited for a receiver that takes messages from any source (MPI_ANY_SOURCE) while
 * it was busy with other ranks' messages: a master that serves its workers one by one. A message is
 * queued from the begin of the call that sends it until the receiver makes the call that completes
 * its receive. The receiver is busy with a rank's message from the end of the call that received it
 * until its next such call. The result is the sender's waiting (analysis/late.h), for its message
 * to be taken or for an answer. It counts while the message was queued and the receiver was busy
 * with others.
 *
 * A receive from one rank after a probe of any source does not count as one from any source. If a
 * call completes several receives, the time that the receiver spends on the first ones before the
 * others is not counted. Nor are messages that are more than ANY_SOURCE_KEPT messages back.
 */
#ifndef POV_ANALYSIS_QUEUES_H
#define POV_ANALYSIS_QUEUES_H

#include "analysis/late.h"
#include "analysis/match.h"
#include "lib/map.h"
#include "model/model.h"

#define ANY_SOURCE_KEPT 1024

struct any_source {
	struct map waits;   /* waiter, late → struct waited_for */
	struct map queued;  /* sender, server → struct queued */
	struct map servers; /* idx → struct server */
};

/* Observes the matches and the waits of late. */
void any_source_init(struct any_source *a, struct late_pairs *late);
void any_source_release(struct any_source *a);

/*
 * Messages that arrived before a receive was posted for them. The library keeps them in a queue of
 * its own, searches it whenever a receive is posted, and copies each message once more. A message
 * is known to be unexpected if its send was complete before the call that posts the receive began:
 * only such a queue can have taken it. For sends that complete later, the time of arrival is
 * unknown.
 */

/* messages received while one message lay in the queue */
#define UNEXPECTED_MIN 64
#define UNEXPECTED_KEPT (1u << 13) /* how many of the last receives are kept */

/* Unexpected messages of one process. */
struct unexpected {
	const struct model_process *process;
	/* function that posted all of these receives; NULL: several did */
	const struct func_info *func;
	/* ns: time in the calls that posted the receives */
	uint64_t cnt, bytes, ns;
	/*
	 * Largest number of messages received between the end of one message's send and its own
	 * receive.
	 */
	uint64_t behind;
	/* when `behind` was reached: from the end of the send to its receive */
	uint64_t behind_from_ns, behind_to_ns;
	/* when the last messages were received, in order; owned */
	uint64_t *taken;
	uint32_t ntaken;
};

struct unexpecteds {
	struct map process; /* idx → struct unexpected */
};

void unexpecteds_init(struct unexpecteds *a, struct late_pairs *late);
void unexpecteds_release(struct unexpecteds *a);

/*
 * Storms of small messages: one rank sends another at least STORM_MIN messages of at most
 * STORM_BYTES each, in quick succession, and receives nothing from it meanwhile. They could be one
 * message.
 */

#define STORM_MIN 256
#define STORM_BYTES 256
/* longest gap, from the end of one sending call to the begin of the next */
#define STORM_GAP_NS 50000

/* Storms that one process sent to another. */
struct storm {
	/* receiver NULL: not in the trace */
	const struct model_process *sender, *receiver;
	/* function that sent all of them; NULL: several did */
	const struct func_info *func;
	int32_t peer_world;
	uint64_t storms, messages, bytes, ns; /* ns: time in the sending calls */
	/* worst: number of messages of the longest storm */
	uint64_t worst, worst_from_ns, worst_to_ns;
	struct {
		uint64_t messages, bytes, ns, from_ns, to_ns;
	} now; /* the current run of messages */
};

struct storms {
	struct model_sink sink;
	const struct model *model;
	struct map pairs; /* process, peer_world → struct storm */
};

void storms_init(struct storms *a);
void storms_release(struct storms *a);

#endif
