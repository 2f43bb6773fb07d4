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
struct whatif_part;

/* Why serialisation and transfer are unknown. */
enum efficiency_unknown {
	EFFICIENCY_KNOWN,
	EFFICIENCY_NOTHING_OUTSIDE, /* no rank was ever outside MPI */
	EFFICIENCY_TOO_LONG,	    /* the replay has no room for so many calls and messages */
	EFFICIENCY_NOT_REPLAYED,    /* of a part: too many others are larger (parts.h) */
};

struct efficiency {
	uint64_t ranks, span_ns;		      /* n, T */
	uint64_t outside_ns;			      /* ΣU */
	double parallel, load_balance, communication; /* NAN: nothing was outside MPI */
	double had_core;			      /* NAN: unknown */
	double serialisation, transfer;		      /* NAN: unknown */
	enum efficiency_unknown unknown;
	/*
	 * Not all messages or collectives are in the path, which may be longer. Then serialisation is at most, and transfer at least, what is here.
	 */
	bool partial;
};

/* Without a w that has room, serialisation and transfer stay unknown. partial: messages are not matched, or records are missing. */
struct efficiency efficiency_make(const struct account *a, const struct account_job *j,
				  const struct app_time *app, const struct model *m,
				  struct whatif *w, bool partial);

/* What the factors are made of. */
struct efficiency_sums {
	uint64_t ranks, span_ns, outside_ns, computing_ns; /* n, T, ΣU, and of that on a core */
	uint64_t most_ns;				   /* max(U) */
	bool sched;
};
void efficiency_rank_add(struct efficiency_sums *s, const struct account_row *row);
/* The same of a part of the job, which whatif_longest_ns can tell the longest path of. */
struct efficiency efficiency_of(const struct efficiency_sums *s, struct whatif *w,
				const struct whatif_part *part, bool partial);

#endif
