/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Splits a stretch of a recording into columns of equal length, and sums up what each rank's main
 * thread did in each. Each rank has a band. Several bands may share a row of cells, which then
 * holds their sums. The picture of a moment (timeline/svg.c) and the page of a report draw it.
 * Memory is bounded by columns, rows, and a bounded queue per rank, whatever the stretch holds.
 *
 * The states follow the rules of app_time.h; with waits from moment_bands_waited(), those of the
 * account (account.h). MPI_Init and MPI_Finalize count as work in MPI.
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
	/*
	 * The states below exist only with the account. Without it, the first two are
	 * MOMENT_WAITING, and file calls are MOMENT_MPI.
	 */
	/* waiting for a rank that is late; MOMENT_WAITING is then the rest, transfer */
	MOMENT_LATE,
	MOMENT_OPEN, /* in a call that had not returned at the end */
	MOMENT_FILES,
	MOMENT_APART, /* not between MPI_Init and MPI_Finalize */
	MOMENT_STATES,
};

/* One column of a row. */
struct moment_cell {
	/* the sum is the part of the column in which the threads lived */
	uint64_t ns[MOMENT_STATES];
	uint64_t mpi_ns; /* in MPI calls */
	/* Until moment_bands_finish(): time that is to become MOMENT_TRACING. */
	uint64_t room_ns, taken_ns;
	/*
	 * Until moment_bands_finish(): time that is to become MOMENT_MPI (counted calls) and
	 * MOMENT_WAITING (polls).
	 */
	uint64_t counted_ns, polled_ns;
	uint64_t mpi_no_core_ns; /* part of ns[MOMENT_NO_CORE]: in MPI calls */
	/*
	 * Until moment_bands_finish(): waits for late ranks, with a core or asleep, and without a
	 * core.
	 */
	uint64_t late_ns, late_no_core_ns;
};

struct moment_queue;

struct moment_band {
	const struct model_process *process;
	const struct model_thread *thread; /* the main thread; NULL: unknown */
	struct moment_cell *cell;	   /* the cells of its row */
	uint32_t row;
	uint64_t from_ns, to_ns;    /* time between MPI_Init and MPI_Finalize */
	struct moment_queue *queue; /* states and calls not yet accounted; owned */
};

#define MOMENT_NO_ROW UINT32_MAX

struct moment_bands {
	struct model_sink sink;
	struct holders holders; /* its sink must run as well */
	const struct model *model;
	uint64_t from_ns, to_ns;
	uint32_t columns;
	bool sched_recorded;
	bool by_account;
	struct moment_band *band; /* in order of processes; owned */
	uint32_t nband;
	struct moment_band **of_thread; /* by thread idx; owned */
	uint32_t nof_thread;
	struct moment_cell *cell; /* row by row; owned */
	uint32_t nrow;
	uint32_t queued_max; /* most entries of a queue */
	/* by column: time in which records of calls are missing, summed over the losses; owned */
	uint64_t *lost_ns;
};

/*
 * row: by idx of processes, the row of each process's band, or MOMENT_NO_ROW if it has none. app
 * must be complete.
 */
void moment_bands_init(struct moment_bands *mb, const struct model *m, const struct app_time *app,
		       const uint32_t *row, uint32_t nrow);
/* Sets the stretch, which must have at least one nanosecond per column. Call before the replay. */
void moment_bands_stretch(struct moment_bands *mb, uint64_t from_ns, uint64_t to_ns,
			  uint32_t columns);
/* Observer of causes.parts, with the bands as ctx. */
void moment_bands_waited(void *ctx, const void *event);
/* Completes all cells. Call after the replay. */
void moment_bands_finish(struct moment_bands *mb);
void moment_bands_release(struct moment_bands *mb);
/* Band of a main thread. NULL: there is none. */
struct moment_band *moment_band_of(const struct moment_bands *mb, const struct model_thread *t);

/* Begin of a column. For the number of columns, it is the end of the stretch. */
uint64_t moment_column_ns(const struct moment_bands *mb, uint32_t column);
/* Column of a time inside the stretch. */
uint32_t moment_column(const struct moment_bands *mb, uint64_t ns);
/* Clips a time to the stretch. */
uint64_t moment_clip(const struct moment_bands *mb, uint64_t ns);
/* State that took most of a column's time. MOMENT_STATES: no thread lived. */
enum moment_state moment_cell_state(const struct moment_cell *c);

/* ---- moment_band.c; all times are clipped to the stretch ---- */

enum moment_call_kind {
	MOMENT_OUTSIDE,
	MOMENT_WAITS, /* the call waits for others */
	/* polls that found nothing, and the time between them */
	MOMENT_POLLS,
	MOMENT_WORKS, /* the call does not wait while it runs */
	/* begin or end of MPI: the call does not wait, even while it sleeps */
	MOMENT_SETUP,
	MOMENT_IN_FILES,
	MOMENT_IN_OPEN,
};

#endif
