/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A stretch of a recording in columns of equal length: what each rank's main thread did in each. Each rank has a band; several bands may
 * share a row of cells, which then holds their sums. The picture of a moment (timeline/svg.c) and the page of a report draw it. Memory is
 * bounded by columns and rows, and a bounded queue for each rank, whatever the stretch holds.
 *
 * The states follow the rules of app_time.h; with waits (moment_bands_waited()), those of the account (account.h). MPI_Init and
 * MPI_Finalize count as work of MPI here.
 */
#ifndef POV_ANALYSIS_MOMENT_BAND_H
#define POV_ANALYSIS_MOMENT_BAND_H

#include "analysis/app_time.h"
#include "analysis/holders.h"
#include "model/model.h"

enum moment_state {
	MOMENT_COMPUTING,
	MOMENT_NO_CORE,
	MOMENT_WAITING,
	MOMENT_MPI,
	MOMENT_ASLEEP,
	MOMENT_TRACING,
	MOMENT_UNKNOWN,
	/* Only by the account; without it these are waiting, waiting, and work of MPI. */
	MOMENT_LATE, /* waiting for a rank that is late; then MOMENT_WAITING is for others: transfer */
	MOMENT_OPEN, /* in a call that had not returned at the end */
	MOMENT_FILES,
	MOMENT_APART, /* not between MPI_Init and MPI_Finalize */
	MOMENT_STATES,
};

/* One column of a row. */
struct moment_cell {
	uint64_t ns[MOMENT_STATES]; /* they add up to the part of the column in which the threads lived */
	uint64_t mpi_ns;	    /* in calls of MPI */
	uint64_t room_ns, taken_ns;	/* until moment_bands_finish(): to become tracing … */
	uint64_t counted_ns, polled_ns; /* … work of MPI, and waiting */
	uint64_t mpi_no_core_ns;	/* part of ns[MOMENT_NO_CORE]: in calls */
	uint64_t late_ns,
		late_no_core_ns; /* until then: of waits for late ranks, and without a core */
};

struct moment_queue;

struct moment_band {
	const struct model_process *process;
	const struct model_thread *thread; /* its main thread; NULL: none is known */
	struct moment_cell *cell;	   /* of its row */
	uint32_t row;
	uint64_t from_ns, to_ns;    /* its time between MPI_Init and MPI_Finalize */
	struct moment_queue *queue; /* what is not accounted yet; owned */
};

#define MOMENT_NO_ROW UINT32_MAX

struct moment_bands {
	struct model_sink sink;
	struct holders holders; /* its sink is one, too */
	const struct model *model;
	uint64_t from_ns, to_ns;
	uint32_t columns;
	bool sched_recorded;
	bool by_account;
	struct moment_band *band; /* in order of processes; owned */
	uint32_t nband;
	struct moment_band **of_thread; /* by idx; owned */
	uint32_t nof_thread;
	struct moment_cell *cell; /* row by row; owned */
	uint32_t nrow;
	uint32_t queued_max; /* pieces that wait in a queue */
	uint64_t *lost_ns; /* by column: in which records of calls are missing, of each ring; owned */
};

/* row: by idx of processes, the row that a process's band lies in, or MOMENT_NO_ROW: it has none. The app is settled. */
void moment_bands_init(struct moment_bands *mb, const struct model *m, const struct app_time *app,
		       const uint32_t *row, uint32_t nrow);
/* The stretch: before the replay. It has a nanosecond for each column at least. */
void moment_bands_stretch(struct moment_bands *mb, uint64_t from_ns, uint64_t to_ns,
			  uint32_t columns);
/* What a thread did in a part of a wait for a late rank: causes tells it, as its ctx. In any order of time. */
void moment_bands_waited(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
			 enum thread_state s);
/* After the replay. */
void moment_bands_finish(struct moment_bands *mb);
void moment_bands_release(struct moment_bands *mb);
/* The band of a main thread; NULL: none. */
struct moment_band *moment_band_of(const struct moment_bands *mb, const struct model_thread *t);

/* Where a column begins; as many as there are: the end. */
uint64_t moment_column_ns(const struct moment_bands *mb, uint32_t column);
/* The column that a time of the stretch lies in. */
uint32_t moment_column(const struct moment_bands *mb, uint64_t ns);
/* A time, or the end of the stretch that it lies beyond. */
uint64_t moment_clip(const struct moment_bands *mb, uint64_t ns);
/* The state that took most of a column; MOMENT_STATES: no thread lived. */
enum moment_state moment_cell_state(const struct moment_cell *c);

/* ---- moment_band.c; times are clipped to the stretch ---- */

enum moment_call_kind {
	MOMENT_OUTSIDE,
	MOMENT_WAITS, /* it waits for others */
	MOMENT_POLLS, /* polls that found nothing, and what lies between them */
	MOMENT_WORKS, /* it does not wait while it runs */
	MOMENT_SETUP, /* it does not wait when it sleeps either: begin and end of MPI */
	MOMENT_IN_FILES,
	MOMENT_IN_OPEN,
};

void moment_band_init(struct moment_band *b, const struct model_process *p,
		      const struct model_thread *main, uint32_t row);
void moment_band_release(struct moment_band *b);
/* The thread was in a state. In order of time. */
void moment_band_state(struct moment_bands *mb, struct moment_band *b, uint64_t from_ns,
		       uint64_t to_ns, enum thread_state s);
/* It was in an outermost call, which has ended. In order of their begin. */
void moment_band_call(struct moment_bands *mb, struct moment_band *b, uint64_t begin_ns,
		      uint64_t end_ns, enum moment_call_kind kind);
/* Accounts what still waits in the queue. */
void moment_band_finish(struct moment_bands *mb, struct moment_band *b);

#endif
