/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Efficiencies of a job, as the POP project defines them, from the account. U is a rank's time outside MPI, T the job's span:
 *
 *	parallel efficiency  avg(U) / T = load balance × communication efficiency
 *	load balance         avg(U) / max(U)
 *	communication        max(U) / T = serialisation × transfer
 *	serialisation        max(U) / T_ideal
 *	transfer             T_ideal / T
 *
 * T_ideal is the longest path of time outside MPI through messages and collectives (whatif.h). What others call useful may have had no
 * core: had_core is the part of ΣU that was computing. Parallel efficiency × had_core is the part of all rank time that was computing.
 */
#ifndef POV_ANALYSIS_EFFICIENCY_H
#define POV_ANALYSIS_EFFICIENCY_H

#include "analysis/account.h"

struct whatif;

struct efficiency {
	double parallel, load_balance, communication; /* NAN: nothing was outside MPI */
	double had_core;			      /* NAN: unknown */
	double serialisation, transfer;		      /* NAN: unknown */
	/*
	 * Not all messages or collectives are in the path: it may be longer. Then serialisation is at most, and transfer at least, what is said.
	 */
	bool partial;
};

/* w NULL, or full: without serialisation and transfer. partial: messages are not matched, or records missing. */
struct efficiency efficiency_make(const struct account *a, const struct account_job *j,
				  const struct app_time *app, const struct model *m,
				  struct whatif *w, bool partial);

#endif
