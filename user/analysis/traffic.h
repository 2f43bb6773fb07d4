/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Counts the bytes that each process handed to the network: by which device, to whom, and for which
 * MPI call and phase of the program. These are the counters that Brown et al. 2014 put into a
 * modified MPI, computed from posts alone (layers/post.h).
 *
 * Several layers post the same byte on its way down. Among the layers that post to one carrier in a
 * process, the one nearest to the wire counts. Posts with an unknown carrier count only in
 * processes that have no others. Which layer counts, and who owns an end of a connection, is known
 * only at the end.
 *
 * Received bytes have four sources: those that the process read; those that it saw arrive, for
 * carriers whose layers report arrivals; for other carriers, those that the other side sent, if it
 * is in the trace; and those that the other side wrote into the process's memory. None is counted
 * twice.
 */
#ifndef POV_ANALYSIS_TRAFFIC_H
#define POV_ANALYSIS_TRAFFIC_H

#include "analysis/regions.h"
#include "lib/map.h"
#include "model/model.h"

/*
 * Finds the process that owns an end of a connection: its posts name the end as their local end.
 * "pid N" is the process with that pid; with several hosts, other hosts name it "pid N on host H".
 * An end may be used before its owner is known, so owners are looked up once all ends are known.
 */

struct end_owner {
	uint32_t end;	  /* number of the end's text in traffic.names */
	uint32_t process; /* idx */
};

struct ends {
	struct map known;	 /* pairs that are already in the list */
	struct end_owner *owner; /* owned; sorted by ends_close */
	uint32_t n;
};

void ends_own(struct ends *e, uint32_t end, uint32_t process);
/* Call this once all ends are known. Sorts the list. */
void ends_close(struct ends *e, const struct model *m, struct names *names);
/*
 * The process (idx) that owns an end, as seen from another process. -1: unknown or ambiguous. Call
 * after ends_close.
 */
int32_t ends_find(const struct ends *e, const struct model *m, uint32_t end,
		  const struct model_process *from, enum post_carrier carrier);
void ends_release(struct ends *e);

/* Activity of the thread when something was posted. */
enum traffic_context {
	TRAFFIC_IN_CALL,    /* in an MPI call */
	TRAFFIC_BACKGROUND, /* in no MPI call on this thread */
	TRAFFIC_UNCLEAR,    /* the record of the call is missing */
};

/* Texts are numbers in traffic.names; 0: unknown or none. */
struct traffic_key {
	uint32_t process; /* idx */
	uint32_t layer, carrier, transport, device, dest;
	uint32_t step; /* enum post_step */
	uint32_t remote_end;
	/* idx of the process on the other side; -1: unknown */
	int32_t peer;
	uint32_t context; /* enum traffic_context */
	uint32_t func;	  /* TRAFFIC_IN_CALL: id of the function */
	uint32_t thread;  /* TRAFFIC_BACKGROUND: name of the thread */
	uint32_t phase, region;
};

/* Members of the key by which traffic_by distinguishes rows. */
#define TRAFFIC_BY_PROCESS (1u << 0)
#define TRAFFIC_BY_CARRIER (1u << 1) /* distinguishes carrier and transport */
#define TRAFFIC_BY_LAYER (1u << 2)
#define TRAFFIC_BY_DEVICE (1u << 3)
#define TRAFFIC_BY_DEST (1u << 4)
#define TRAFFIC_BY_PEER (1u << 5)
/* distinguishes context, and its function or thread */
#define TRAFFIC_BY_CONTEXT (1u << 6)
#define TRAFFIC_BY_PHASE (1u << 7) /* distinguishes phase and region */
#define TRAFFIC_BY_STEP (1u << 8)

/* All posts of a row by enum post_kind, whether they count or not. */
struct traffic_posts {
	uint64_t cnt[POST_KIND_CNT], bytes[POST_KIND_CNT], unknown[POST_KIND_CNT];
	uint64_t failed; /* failed posts, in none of the others */
};

struct traffic_row {
	struct traffic_key key;
	struct traffic_posts posts;
	bool counts, arrivals_count;
};

/* The posts of a group that count. */
struct traffic_flow {
	uint64_t posts; /* posts that move data: sent, read, or both */
	/* sent_unknown: part of sent, posts of unknown size */
	uint64_t sent, sent_bytes, sent_unknown;
	uint64_t read, read_bytes, read_unknown;
	uint64_t arrived, arrived_bytes, arrived_unknown;
	uint64_t failed;
	uint64_t moved_bytes; /* bytes sent and read */
	/* parts of moved_bytes by context */
	uint64_t call_bytes, background_bytes, unclear_bytes;
};

struct traffic_group {
	/* members that are not distinguished are 0, peer is -1 */
	struct traffic_key key;
	struct traffic_flow flow;
};

/* Bytes that a process received, by how they are known. */
struct traffic_received {
	uint64_t read_bytes, arrived_bytes;
	uint64_t sent_bytes, written_bytes; /* bytes that the other sides sent, and wrote */
	uint64_t total_bytes;
	uint64_t unknown; /* receptions of unknown size */
};

/* A layer that posts to one carrier in one process. */
struct traffic_layer {
	uint32_t process, carrier, layer;
	uint8_t nearness;
	bool counts, arrivals_count;
	struct traffic_posts posts;
};

struct traffic {
	struct model_sink sink;
	struct names names;
	struct phases phases;  /* phases that the program marks */
	struct phases regions; /* functions of the program that are regions */
	struct ends ends;
	struct map by_key;	 /* hash → the last row with it */
	struct traffic_row *row; /* owned */
	/* by row: index + 1 of the next row with the same hash; owned */
	uint32_t *same_hash;
	uint32_t nrow, rows_cap, same_cap;
	/* after the replay: by process, carrier, layer; owned */
	struct traffic_layer *layer;
	uint32_t nlayer, layers_cap;
	uint8_t *nearness; /* by number of the layer's name; owned */
	uint32_t nnearness;
	struct traffic_received *received; /* after the replay: by idx of processes; owned */
	uint64_t posts;			   /* posts of all kinds */
	/* by id: the functions that keys refer to; owned */
	const struct func_info **func;
	uint32_t nfunc; /* allocated */
};

void traffic_init(struct traffic *a);
void traffic_release(struct traffic *a);

/* Registers a function, so that keys can refer to it by its id. */
void traffic_func_note(struct traffic *a, const struct func_info *f);
/* Call after the replay. NULL: the layer posted nothing there. */
const struct traffic_layer *traffic_layer_find(const struct traffic *a, uint32_t process,
					       uint32_t carrier, uint32_t layer);
/*
 * Sums the counted traffic of the wanted processes (by idx, n of them), one row for each
 * combination of the key's members in `by`. Sorted by process, then most moved bytes first. Call
 * after the replay. The caller frees the list.
 */
struct traffic_group *traffic_by(const struct traffic *a, const bool *wanted, uint32_t n,
				 uint32_t by, uint32_t *ngroup);

/* The part of the traffic analysis that is possible only at the end. */

/* Finds peers, chooses the layers that count, and adds up what was received. */
void traffic_settle(struct traffic *a, const struct model *m);

/*
 * Traffic between processes of the trace, in the direction in which the bytes went, whichever side
 * posted. Traffic with processes outside the trace is not included.
 */
struct pair {
	uint32_t from, to; /* idx of processes */
	/* The poster's context and function (see traffic_key), if rows are split by them. */
	uint32_t context, func;
	uint64_t messages, bytes, unknown;
};

/*
 * Sums up the posts of the wanted processes (by idx, n of them), most bytes first. by_func: one row
 * per pair and function; else one row per pair. Call after the replay. The caller frees the list.
 */
struct pair *pairs_find(const struct traffic *a, const bool *wanted, uint32_t n, bool by_func,
			uint32_t *npair);

#endif
