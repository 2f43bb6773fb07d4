/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An interval of a recording in MOMENT_COLUMNS columns of equal length: what each rank's main
 * thread did in each column, and which thread used each CPU most. svg.c draws it. Memory is bounded
 * by the columns, whatever the interval contains.
 * The states follow the rules of the report's account (analysis/app_time.h). MPI_Init and
 * MPI_Finalize count as MPI work here.
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
#define MOMENT_CPUS_ALL 8     /* up to this many CPUs are all shown, even if no rank ran there */
#define MOMENT_ARROWS_MAX 200 /* more arrows would hide what is below them: then none is drawn */
/* Shorter calls are not stored one by one. With many ranks, this limit is higher. */
#define MOMENT_CALL_COLUMNS 3

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

/* An outermost MPI call, or merged polls, at least MOMENT_CALL_COLUMNS long. */
struct moment_call {
	const char *name;
	uint64_t begin_ns, end_ns;
	uint64_t polls; /* 0: a call */
};

/* One column of a rank. */
struct moment_cell {
	/* add up to the part of the column in which the thread existed */
	uint64_t ns[MOMENT_STATES];
	uint64_t mpi_ns; /* inside MPI calls */
	/* Until moment_finish(): time that will become tracing. */
	uint64_t room_ns, taken_ns;
	uint64_t counted_ns; /* until moment_finish(): will become MPI work */
	uint64_t polled_ns;  /* until moment_finish(): will become waiting */
};

struct moment_queue;

struct moment_band {
	const struct model_process *process;
	const struct model_thread *thread; /* main thread of the rank; NULL: unknown */
	struct moment_cell *cell;	   /* MOMENT_COLUMNS cells; owned */
	struct moment_call *call;	   /* owned */
	uint32_t ncall, call_room;
	struct moment_queue *queue; /* states and calls not yet accounted for; owned */
};

/* Owner of a CPU in a column. */
enum {
	MOMENT_NOT_RECORDED = 0,
	MOMENT_IDLE = 1,
	/* + 2 × index of the process; + 1 for threads other than a rank's main thread */
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
	struct holders holders; /* has a sink of its own */
	const struct model *model;
	const struct writer_select *select;
	const struct app_time *app; /* identifies the main threads; settled */
	uint64_t start_ns;	    /* of the recording */
	uint64_t from_ns, to_ns;
	bool sched_recorded, sched_all;
	struct moment_band *band; /* owned */
	uint32_t nband, nranks;	  /* nranks: selected ranks; nband: displayed ones */
	struct moment_band **of_thread;
	uint32_t nof_thread;
	struct moment_core *core; /* by CPU; owned */
	uint32_t ncore;
	struct map shares; /* cpu << 32 | who → struct moment_share */
	struct moment_message message[MOMENT_ARROWS_MAX];
	uint64_t nmessages; /* messages inside the interval; the first ones are in message[] */
	/* time in which records of calls are missing, summed over rings */
	uint64_t lost_ns[MOMENT_COLUMNS];
};

/* Sets the interval. 0, or -ENOENT (printed) if it contains nothing to show. */
int moment_open(struct moment *mo, const struct model *m, const struct writer_select *select);
void moment_release(struct moment *mo);
/* Adds a message; callback for struct findings. ctx: the moment. */
void moment_message_add(void *ctx, const struct match *m);
/* Call before the replay. app must be settled. */
void moment_begin(struct moment *mo, const struct app_time *app);
/* Call after the replay. */
void moment_finish(struct moment *mo);
/* True if there is anything to show. */
bool moment_has_something(const struct moment *mo);
/* True if the track of this CPU is shown. */
bool moment_core_shown(const struct moment *mo, uint32_t cpu);

/* Begin of a column; for MOMENT_COLUMNS, the end of the last one. */
uint64_t moment_column_ns(const struct moment *mo, uint32_t column);
/* Column that contains this time. */
uint32_t moment_column(const struct moment *mo, uint64_t ns);
/*
 * Process that an entry of who[] stands for; NULL: none. *others: threads other than its main one.
 */
const struct model_process *moment_who(const struct moment *mo, uint32_t who, bool *others);
/* State with the largest part of the column; MOMENT_STATES: the thread did not exist. */
enum moment_state moment_cell_state(const struct moment_cell *c);

/* ---- moment_core.c ---- */

/* A thread ran on a CPU inside the interval. rank_shown: it belongs to a displayed rank. */
void moment_core_ran(struct moment *mo, const struct model_thread *t, uint64_t from_ns,
		     uint64_t to_ns, uint16_t cpu, bool rank_shown);
void moment_cores_finish(struct moment *mo);
void moment_cores_release(struct moment *mo);

/* ---- moment_band.c; times are clipped to the interval ---- */

enum moment_call_kind {
	MOMENT_OUTSIDE,
	MOMENT_WAITS, /* waits for others */
	MOMENT_POLLS, /* polls that found nothing, and the time between them */
	MOMENT_WORKS, /* does not wait while running */
	MOMENT_SETUP, /* does not wait while sleeping either: files, MPI's setup and end */
};

void moment_band_init(struct moment_band *b, const struct model_process *p,
		      const struct model_thread *main);
void moment_band_release(struct moment_band *b);
/* The thread was in a state. Must be called in time order. */
void moment_band_state(struct moment *mo, struct moment_band *b, uint64_t from_ns, uint64_t to_ns,
		       enum thread_state s);
/* The thread was in an outermost call that has ended. Must be called in order of begin. */
void moment_band_call(struct moment *mo, struct moment_band *b, uint64_t begin_ns, uint64_t end_ns,
		      enum moment_call_kind kind);
void moment_band_finish(struct moment *mo, struct moment_band *b);

#endif
