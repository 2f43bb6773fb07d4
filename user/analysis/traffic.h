/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How many bytes each process handed to the network, by which device, to whom, and on behalf of which MPI call and phase of
 * the program: the counters that Brown et al. 2014 put into a modified MPI, from posts alone (layers/post.h).
 *
 * One byte is posted by several layers on its way down. Of those that post to one carrier in a process, the one nearest to the
 * wire counts; posts whose carrier is not known count only in processes that have no others. Which one that is, and whose an end of
 * a connection is, is known at the end.
 *
 * Received bytes: those that the process read; those that it saw arrive, of carriers whose layers tell that; of others what the other
 * side sent, if that is in the trace; and what the other side wrote into its memory. None is counted twice.
 */
#ifndef POV_ANALYSIS_TRAFFIC_H
#define POV_ANALYSIS_TRAFFIC_H

#include "analysis/ends.h"
#include "analysis/phases.h"

/* What was under way where something was posted. */
enum traffic_context {
	TRAFFIC_IN_CALL,    /* of MPI */
	TRAFFIC_BACKGROUND, /* in none, on this thread */
	TRAFFIC_UNCLEAR,    /* its record is missing */
};

/* Texts are numbers of traffic.names; 0: not known, or none. */
struct traffic_key {
	uint32_t process; /* idx */
	uint32_t layer, carrier, transport, device, dest;
	uint32_t step; /* enum post_step */
	uint32_t remote_end;
	int32_t peer;	  /* idx of the process at the other side; -1: not known */
	uint32_t context; /* enum traffic_context */
	uint32_t func;	  /* IN_CALL: its id */
	uint32_t thread;  /* BACKGROUND: its name */
	uint32_t phase, region;
};

/* Members of the key by which rows are told apart (traffic_by). */
#define TRAFFIC_BY_PROCESS (1u << 0)
#define TRAFFIC_BY_CARRIER (1u << 1) /* and transport */
#define TRAFFIC_BY_LAYER (1u << 2)
#define TRAFFIC_BY_DEVICE (1u << 3)
#define TRAFFIC_BY_DEST (1u << 4)
#define TRAFFIC_BY_PEER (1u << 5)
#define TRAFFIC_BY_CONTEXT (1u << 6) /* with function or thread */
#define TRAFFIC_BY_PHASE (1u << 7)   /* and region */
#define TRAFFIC_BY_STEP (1u << 8)

/* All posts of a row, whether they count or not, by enum post_kind. */
struct traffic_posts {
	uint64_t cnt[POST_KIND_CNT], bytes[POST_KIND_CNT], unknown[POST_KIND_CNT];
	uint64_t failed; /* not in the others */
};

struct traffic_row {
	struct traffic_key key;
	struct traffic_posts posts;
	bool counts, arrivals_count;
};

/* What counts of them. */
struct traffic_flow {
	uint64_t posts;				 /* that move data: sent, read, or both */
	uint64_t sent, sent_bytes, sent_unknown; /* unknown: of these, those of unknown size */
	uint64_t read, read_bytes, read_unknown;
	uint64_t arrived, arrived_bytes, arrived_unknown;
	uint64_t failed;
	uint64_t moved_bytes;				      /* sent and read */
	uint64_t call_bytes, background_bytes, unclear_bytes; /* of these, by context */
};

struct traffic_group {
	struct traffic_key key; /* members that were not asked for are 0, peer -1 */
	struct traffic_flow flow;
};

/* What a process received, by how that is known. */
struct traffic_received {
	uint64_t read_bytes, arrived_bytes;
	uint64_t sent_bytes, written_bytes; /* by the other sides */
	uint64_t total_bytes;
	uint64_t unknown; /* of unknown size */
};

/* A layer that posts to a carrier in a process. */
struct traffic_layer {
	uint32_t process, carrier, layer;
	uint8_t nearness;
	bool counts, arrivals_count;
	struct traffic_posts posts;
};

struct traffic {
	struct model_sink sink;
	struct names names;
	struct phases phases;  /* that the program marks … */
	struct phases regions; /* … and functions of it that are to be regions */
	struct ends ends;
	struct map by_key;	 /* the last row with a hash */
	struct traffic_row *row; /* owned */
	uint32_t *same_hash;	 /* by row: the next one, + 1; owned */
	uint32_t nrow, rows_cap, same_cap;
	struct traffic_layer *layer; /* by process, carrier, layer; owned; after the replay */
	uint32_t nlayer, layers_cap;
	uint8_t *nearness; /* by layer's name; owned */
	uint32_t nnearness;
	struct traffic_received *received; /* by process idx; owned; after the replay */
	uint64_t posts;			   /* of all kinds */
	const struct func_info **func;	   /* by id, those that keys name; owned */
	uint32_t nfunc;			   /* allocated */
};

void traffic_init(struct traffic *a);
void traffic_release(struct traffic *a);

/* So that its id may be told as a function. */
void traffic_func_note(struct traffic *a, const struct func_info *f);
/* After the replay. NULL if it posted none. */
const struct traffic_layer *traffic_layer_find(const struct traffic *a, uint32_t process,
					       uint32_t carrier, uint32_t layer);
/*
 * What counts, of the processes wanted (by idx, n of them), with a row for each combination of the key's members in `by`; by
 * process, then most moved bytes first. After the replay. Caller frees.
 */
struct traffic_group *traffic_by(const struct traffic *a, const bool *wanted, uint32_t n,
				 uint32_t by, uint32_t *ngroup);

#endif
