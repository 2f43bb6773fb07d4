/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A stretch of a recording in MOMENT_COLUMNS columns of equal length: what each rank's main thread did in each, and who had each
 * CPU most of it. A picture draws it (svg.c). Memory is bounded by the columns, whatever the stretch holds.
 *
 * The states follow the rules of the report's account (analysis/app_time.h). MPI_Init and MPI_Finalize count as work of MPI here.
 */
#ifndef POV_TIMELINE_MOMENT_H
#define POV_TIMELINE_MOMENT_H

#include "analysis/app_time.h"
#include "analysis/holders.h"
#include "analysis/match.h"
#include "lib/map.h"
#include "model/model.h"
#include "timeline/writer.h"

#define MOMENT_COLUMNS 880
#define MOMENT_RANKS_MAX 64
#define MOMENT_CPUS_MAX 64
#define MOMENT_CPUS_ALL 8     /* so many CPUs are shown even if no rank ran there */
#define MOMENT_ARROWS_MAX 200 /* more arrows than this hide what they lie on: then there are none */
#define MOMENT_CALL_COLUMNS \
	3 /* shorter calls are not kept one by one; of many ranks, longer ones neither */

enum moment_state {
	MOMENT_COMPUTING,
	MOMENT_NO_CORE,
	MOMENT_WAITING,
	MOMENT_MPI,
	MOMENT_ASLEEP,
	MOMENT_TRACING,
	MOMENT_UNKNOWN,
	MOMENT_STATES,
};

/* An outermost MPI call, or polls that were merged, at least MOMENT_CALL_COLUMNS long. */
struct moment_call {
	const char *name;
	uint64_t begin_ns, end_ns;
	uint64_t polls; /* 0: a call */
};

/* One column of a rank. */
struct moment_cell {
	uint64_t ns[MOMENT_STATES]; /* they add up to the part of the column in which the thread lived */
	uint64_t mpi_ns;	    /* in calls of MPI */
	uint64_t room_ns, taken_ns;	/* until moment_finish(): to become tracing … */
	uint64_t counted_ns, polled_ns; /* … work of MPI, and waiting */
};

struct moment_queue;

struct moment_band {
	const struct model_process *process;
	const struct model_thread *thread; /* its main thread; NULL: none is known */
	struct moment_cell *cell;	   /* MOMENT_COLUMNS; owned */
	struct moment_call *call;	   /* owned */
	uint32_t ncall, call_room;
	struct moment_queue *queue; /* what is not accounted yet; owned */
};

/* Who had a CPU. */
enum {
	MOMENT_NOT_RECORDED = 0,
	MOMENT_IDLE = 1,
	MOMENT_WHO =
		2, /* + 2 × index of the process, + 1: other threads than a rank's main thread */
};

struct moment_share {
	uint32_t cpu, who;
	uint64_t ns;
	const struct model_thread *thread; /* the first that was seen; NULL if not recorded */
};

#define MOMENT_PARTS_MAX 32 /* of more that share a column, the first are kept */
struct moment_part {
	uint32_t who;
	uint64_t ns;
};

struct moment_core {
	uint32_t *who;	 /* by column: who had it longest; owned. NULL: nothing was seen */
	uint32_t column; /* the one that is under way, in part[] */
	struct moment_part part[MOMENT_PARTS_MAX];
	uint32_t nparts;
	bool by_rank; /* a thread of a rank that is shown ran here */
};

struct moment_message {
	const struct model_process *from, *to;
	const char *send, *recv; /* names of functions */
	uint64_t from_ns, to_ns; /* begin of the send, end of the receive */
	int64_t bytes;		 /* or BYTES_UNKNOWN */
	int32_t tag;
};

struct moment {
	struct model_sink sink;
	struct holders holders; /* its sink is one, too */
	const struct model *model;
	const struct writer_select *select;
	const struct app_time *app; /* who the main threads are; settled */
	uint64_t start_ns;	    /* of the recording */
	uint64_t from_ns, to_ns;
	bool sched_recorded, sched_all;
	struct moment_band *band; /* owned */
	uint32_t nband, nranks;	  /* of nranks that are selected, nband are shown */
	struct moment_band **of_thread;
	uint32_t nof_thread;
	struct moment_core *core; /* by CPU; owned */
	uint32_t ncore;
	struct map shares; /* cpu << 32 | who → struct moment_share */
	struct moment_message message[MOMENT_ARROWS_MAX];
	uint64_t nmessages; /* that lie within the stretch; the first are in message[] */
	uint64_t lost_ns[MOMENT_COLUMNS]; /* in which records of calls are missing; of each ring */
};

/* The stretch. 0; -ENOENT (printed) if there is none that could be shown. */
int moment_open(struct moment *mo, const struct model *m, const struct writer_select *select);
void moment_release(struct moment *mo);
/* A message: of struct findings. ctx: the moment. */
void moment_message_add(void *ctx, const struct match *m);
/* Before its sinks are told: app is settled. */
void moment_begin(struct moment *mo, const struct app_time *app);
/* After the replay. */
void moment_finish(struct moment *mo);
/* Whether anything is there to be shown. */
bool moment_has_something(const struct moment *mo);
/* Whether a CPU's track is shown. */
bool moment_core_shown(const struct moment *mo, uint32_t cpu);

/* Where a column begins; MOMENT_COLUMNS: the end. */
uint64_t moment_column_ns(const struct moment *mo, uint32_t column);
/* The column that a time of the stretch lies in. */
uint32_t moment_column(const struct moment *mo, uint64_t ns);
/* Whose name a number of who[] is; NULL: nobody's. *others: its other threads than the main one. */
const struct model_process *moment_who(const struct moment *mo, uint32_t who, bool *others);
/* The state that took most of a column; MOMENT_STATES: the thread did not live. */
enum moment_state moment_cell_state(const struct moment_cell *c);

/* ---- moment_core.c ---- */

/* A thread ran on a CPU, within the stretch; rank_shown: it is one of a rank that is shown. */
void moment_core_ran(struct moment *mo, const struct model_thread *t, uint64_t from_ns,
		     uint64_t to_ns, uint16_t cpu, bool rank_shown);
void moment_cores_finish(struct moment *mo);
void moment_cores_release(struct moment *mo);

/* ---- moment_band.c; times are clipped to the stretch ---- */

enum moment_call_kind {
	MOMENT_OUTSIDE,
	MOMENT_WAITS, /* it waits for others */
	MOMENT_POLLS, /* polls that found nothing, and what lies between them */
	MOMENT_WORKS, /* it does not wait while it runs */
	MOMENT_SETUP, /* it does not wait when it sleeps either: files, begin and end of MPI */
};

void moment_band_init(struct moment_band *b, const struct model_process *p,
		      const struct model_thread *main);
void moment_band_release(struct moment_band *b);
/* The thread was in a state. In order of time. */
void moment_band_state(struct moment *mo, struct moment_band *b, uint64_t from_ns, uint64_t to_ns,
		       enum thread_state s);
/* It was in an outermost call, which has ended. In order of their begin. */
void moment_band_call(struct moment *mo, struct moment_band *b, uint64_t begin_ns, uint64_t end_ns,
		      enum moment_call_kind kind);
void moment_band_finish(struct moment *mo, struct moment_band *b);

#endif
