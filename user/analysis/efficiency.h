/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Efficiencies of a job as the POP project defines them, from the account. U is a rank's time
 * outside MPI, T is the job's span:
 *
 *	parallel efficiency  avg(U) / T = load balance × communication efficiency
 *	load balance         avg(U) / max(U)
 *	communication        max(U) / T = serialisation × transfer
 *	serialisation        max(U) / T_ideal
 *	transfer             T_ideal / T
 *
 * T_ideal is the longest path of time outside MPI through messages and collectives (whatif.h). Time
 * that other tools call useful may have lacked a core: had_core is the part of ΣU that was
 * computing. Parallel efficiency × had_core is the part of all ranks' time that was computing.
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
	/* the replay has no room for that many calls and messages */
	EFFICIENCY_TOO_LONG,
	/* a part of the program that is too small: only the largest are replayed (parts.h) */
	EFFICIENCY_NOT_REPLAYED,
};

struct efficiency {
	uint64_t ranks, span_ns; /* n and T */
	uint64_t outside_ns;	 /* ΣU */
	/* NAN: no time outside MPI */
	double parallel, load_balance, communication;
	double had_core;		/* NAN: unknown */
	double serialisation, transfer; /* NAN: unknown */
	enum efficiency_unknown unknown;
	/*
	 * Some messages or collectives are missing from the path, which may be longer. Then
	 * serialisation is an upper bound and transfer a lower bound.
	 */
	bool partial;
};

/*
 * w may be NULL or out of room: then serialisation and transfer stay unknown. partial: messages are
 * not matched, or records are missing.
 */
struct efficiency efficiency_make(const struct account *a, const struct account_job *j,
				  const struct app_time *app, const struct model *m,
				  struct whatif *w, bool partial);

/* The sums that the factors are computed from. */
struct efficiency_sums {
	/* n, T, ΣU, and the part of ΣU on a core */
	uint64_t ranks, span_ns, outside_ns, computing_ns;
	uint64_t most_ns; /* max(U) */
	bool sched;
};
void efficiency_rank_add(struct efficiency_sums *s, const struct account_row *row);
/* The same for a part of the job. whatif_longest_ns finds its longest path. */
struct efficiency efficiency_of(const struct efficiency_sums *s, struct whatif *w,
				const struct whatif_part *part, bool partial);

#endif
