/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Efficiencies of parts of the program: of its phases (MPI_Pcontrol), from the return of the call that begins one to the return of the call that ends
 * it, and of functions that are regions (record --region), in their outermost calls. The definitions are those of the job (efficiency.h), with
 *
 *	n	ranks whose main thread was ever in the part
 *	T	time during which any of these was in it
 *	U	a rank's time in the part and outside MPI
 *	T_ideal	longest path of such time; it may lead through calls that are in no part
 *
 * The path is never longer than T, for what it is made of lies one after the other, each in the part. So no factor is above 1, and a part
 * that all ranks are in all the time has the job's efficiencies. Ranks that are in the part at different times make T longer: inside is the share
 * of n × T that they were in it.
 */
#ifndef POV_ANALYSIS_PARTS_H
#define POV_ANALYSIS_PARTS_H

#include "analysis/efficiency.h"
#include "lib/names.h"

#define PARTS_MAX 1024 /* by name; more phases are left out */
#define PARTS_PATHS_MAX \
	16 /* of which the longest path is looked for: those that ranks were in longest */

struct part_row {
	const char *name; /* valid as long as the parts */
	bool is_phase;
	uint32_t id;	    /* in order of their first begin; regions as they were given */
	uint32_t job;	    /* i of account_job */
	uint64_t entered;   /* stretches, of all these ranks */
	uint64_t inside_ns; /* sum of these */
	double inside;
	struct efficiency e;
};

struct parts {
	struct model_sink sink; /* after app_time's */
	const struct model *model;
	const struct app_time *app; /* the caller's */
	struct names phases;
	uint32_t nregion;
	struct part_thread *thread; /* by idx; owned */
	uint32_t nthread;
	size_t room_bytes; /* for stretches */
	bool full;	   /* there was too little: no rows */
	uint32_t left_out; /* begins of phases beyond PARTS_MAX */
	struct part_row *
		row; /* after parts_conclude: by job, regions as given, phases that ranks were in longest first; owned */
	uint32_t nrow;
};

void parts_init(struct parts *a, const struct app_time *app, size_t room_bytes);
void parts_release(struct parts *a);
/* After the replay. w, partial: as of efficiency_make. */
void parts_conclude(struct parts *a, const struct account *account, struct whatif *w, bool partial);

#endif
