/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A stretch of a recording in MOMENT_COLUMNS columns of equal length: what each rank's main thread
 * did in each, and who had each CPU most of it. A picture draws it (svg.c). Memory is bounded by
 * the columns, whatever the stretch holds. What ranks did is analysis/moment_band.h's; here are
 * their calls, the CPUs, and messages.
 */
#ifndef POV_TIMELINE_MOMENT_H
#define POV_TIMELINE_MOMENT_H

#include "analysis/match.h"
#include "analysis/moment_band.h"
#include "lib/map.h"
#include "model/model.h"
#include "timeline/writer.h"

#define MOMENT_COLUMNS 880
#define MOMENT_RANKS_MAX 64
#define MOMENT_CPUS_MAX 64
#define MOMENT_CPUS_ALL 8     /* up to this many CPUs are all shown, even if no rank ran there */
#define MOMENT_ARROWS_MAX 200 /* more arrows would hide what is below them: then none is drawn */
/* Shorter calls are not stored one by one. With many ranks, this limit is higher. */
#define MOMENT_CALL_COLUMNS 3

/* An outermost MPI call, or polls that were merged, at least MOMENT_CALL_COLUMNS long. */
struct moment_call {
	const char *name;
	uint64_t begin_ns, end_ns;
	uint64_t polls; /* 0: a call */
};

/* The calls of a band, in order of their ends. */
struct moment_calls {
	struct moment_call *call; /* owned */
	uint32_t n;
};

/* Owner of a CPU in a column. */
enum {
	MOMENT_NOT_RECORDED = 0,
	MOMENT_IDLE = 1,
	/* first number of a process: add 2 × its index, and 1 for threads but a rank's main one */
	MOMENT_WHO = 2,
};

struct moment_share {
	uint32_t cpu, who;
	uint64_t ns;
	const struct model_thread *thread; /* first thread seen; NULL if not recorded */
};

#define MOMENT_PARTS_MAX 32 /* if more share a column, only the first ones are counted */
struct moment_part {
	uint32_t who;
	uint64_t ns;
};

struct moment_core {
	uint32_t *who;	 /* by column: who used it longest; owned. NULL: nothing seen */
	uint32_t column; /* current column, accumulated in part[] */
	struct moment_part part[MOMENT_PARTS_MAX];
	uint32_t nparts;
	bool by_rank; /* a thread of a displayed rank ran here */
};

struct moment_message {
	const struct model_process *from, *to;
	const char *send, *recv; /* function names */
	uint64_t from_ns, to_ns; /* begin of the send, end of the receive */
	int64_t bytes;		 /* or BYTES_UNKNOWN */
	int32_t tag;
};

struct moment {
	struct model_sink sink;
	struct moment_bands bands;  /* has two sinks of its own */
	struct moment_calls *calls; /* by band; owned */
	const struct model *model;
	const struct writer_select *select;
	const struct app_time *app; /* identifies the main threads; settled */
	uint64_t start_ns;	    /* of the recording */
	uint64_t from_ns, to_ns;
	bool sched_recorded, sched_all;
	uint32_t nranks;	  /* selected ranks; the first bands.nband of them are shown */
	struct moment_core *core; /* by CPU; owned */
	uint32_t ncore;
	struct map shares; /* cpu << 32 | who → struct moment_share */
	struct moment_message message[MOMENT_ARROWS_MAX];
	uint64_t nmessages; /* messages within the stretch; the first of them are in message[] */
};

/* Sets the interval. 0, or -ENOENT (printed) if it contains nothing to show. */
int moment_open(struct moment *mo, const struct model *m, const struct writer_select *select);
void moment_release(struct moment *mo);
/* Adds a message. ctx: the moment; event: a struct match. */
void moment_message_add(void *ctx, const void *event);
/* Call before the replay. app must be settled. */
void moment_begin(struct moment *mo, const struct app_time *app);
/* Call after the replay. */
void moment_finish(struct moment *mo);
/* True if there is anything to show. */
bool moment_has_something(const struct moment *mo);
/* True if the track of this CPU is shown. */
bool moment_core_shown(const struct moment *mo, uint32_t cpu);

/*
 * The process that a number of who[] stands for, or NULL. *others: the number stands for threads
 * other than its main one.
 */
const struct model_process *moment_who(const struct moment *mo, uint32_t who, bool *others);

#endif
