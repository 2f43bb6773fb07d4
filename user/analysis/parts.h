/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Efficiencies of parts of the program. Phases (MPI_Pcontrol) last from the return of the call that
 * begins them to the return of the call that ends them. Functions that are regions (record
 * --region) count in their outermost calls. The definitions are those of the job (account.h), with
 *
 *	n	ranks whose main thread was ever in the part
 *	T	time during which any of these was in it
 *	U	a rank's time in the part and outside MPI
 *	T_ideal	longest path of such time; it may lead through calls that are in no part
 *
 * The path is never longer than T, because its pieces follow one another and lie inside the part.
 * So no factor exceeds 1. A part that all ranks are in all the time has the job's efficiencies. T
 * grows if ranks are in the part at different times. `inside` is the share of n × T that ranks
 * spent in the part.
 */
#ifndef POV_ANALYSIS_PARTS_H
#define POV_ANALYSIS_PARTS_H

#include "analysis/account.h"
#include "analysis/regions.h"
#include "analysis/whatif.h"
#include "lib/map.h"

#define PARTS_MAX 1024 /* names of phases; further phases are left out */
/* Parts whose longest path is computed: those that ranks spent most time in. */
#define PARTS_PATHS_MAX 16

struct part_row {
	const char *name; /* valid as long as the parts are */
	bool is_phase;
	/* in order of the first begin; for regions, in the order in which they were given */
	uint32_t id;
	uint32_t job;	    /* index in account.job */
	uint64_t entered;   /* number of stretches of all these ranks */
	uint64_t inside_ns; /* total length of these stretches */
	double inside;
	struct efficiency e;
};

struct parts {
	struct model_sink sink; /* must run after the sink of app_time */
	const struct model *model;
	const struct app_time *app; /* the caller's */
	struct names phases;
	uint32_t nregion;
	struct part_thread *thread; /* by thread idx; owned */
	uint32_t nthread;
	size_t room_bytes; /* memory left for stretches */
	/* the memory did not suffice: there are no rows */
	bool full;
	uint32_t left_out; /* begins of phases beyond PARTS_MAX */
	/*
	 * After parts_conclude: by job, regions as given, then phases that ranks spent most time in
	 * first. Owned.
	 */
	struct part_row *row;
	uint32_t nrow;
};

void parts_init(struct parts *a, const struct app_time *app, size_t room_bytes);
void parts_release(struct parts *a);
/* Makes the rows. Call after the replay. w and partial: see account_efficiencies. */
void parts_conclude(struct parts *a, const struct account *account, struct whatif *w, bool partial);

#endif
