/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * For the strategy `collectives`: the time of a run in collectives, and the algorithms that were
 * measured. Finds which algorithm a run used, how to select another one in the library, and how
 * much time a call would save with it.
 */
#ifndef POV_ADVISE_ALGORITHMS_H
#define POV_ADVISE_ALGORITHMS_H

#include "advise/library.h"
#include "advise/measured.h"
#include "analysis/arrivals.h"

/* ---- collective calls of a run ---- */

/*
 * Time that a run spent in blocking collectives, by function, number of members and message size
 * (in classes from one power of two to the next). Only the collective's own time counts. In each
 * member's call it starts with the last member's arrival before the call's end. Waiting for late
 * members is therefore excluded.
 */

struct collective_cell {
	const char *function; /* "MPI_Allreduce" */
	/*
	 * "allreduce", as in povbench and in the libraries' settings; NULL: povbench does not
	 * measure it.
	 */
	const char *collective;
	uint32_t ranks; /* number of members */
	bool several_hosts;
	uint64_t calls; /* one call of all members counts once */
	/* Message size; for functions with a block per rank, the size of a rank's block. */
	uint64_t bytes_min, bytes_max;
	double bytes_sum;
	uint64_t own_ns; /* sum over all members */
};

struct collective_member {
	uint64_t begin_ns;
	uint32_t thread, cell;
};

struct collective_calls {
	struct arrivals arrivals;
	struct collective_cell *cell; /* owned */
	uint32_t ncell;
	struct map by_key; /* → index of the cell + 1 */
	/* sorted by thread and begin after collective_calls_settle(); owned */
	struct collective_member *member;
	uint32_t nmember;
	/* Some calls were left out because the length of their messages is unknown. */
	bool unsized;
};

void collective_calls_init(struct collective_calls *c);
void collective_calls_release(struct collective_calls *c);
/* Call once, after the replay. */
void collective_calls_settle(struct collective_calls *c);
/* Returns the cell of the call that a thread began at begin_ns; NULL: the call is in no cell. */
const struct collective_cell *collective_calls_of(const struct collective_calls *c, uint32_t thread,
						  uint64_t begin_ns);

/* ---- how far one sample lies above another, whatever their distribution ---- */

#define SHIFT_MOST 48 /* values of a sample that are used */

/* The rank interval over all pairwise differences (lib/statistics.h). */
struct shift {
	double median, low, high;
};

/*
 * Computes a minus b or, if ratio is set, a over b. The interval misses the true value with
 * probability `level`. Returns false if there are too few values for that confidence.
 */
bool shift_of(const double *a, uint32_t na, const double *b, uint32_t nb, bool ratio, double level,
	      struct shift *out);
/*
 * Returns the smallest size of each sample for which an interval exists; 0: SHIFT_MOST is not
 * enough.
 */
uint32_t shift_needs(double level);

/* ---- algorithms ---- */

/* Share of comparisons between equally fast algorithms that may report a difference. */
#define ALGORITHMS_LEVEL 0.05
/* With this many quiet launches of an algorithm, its busy launches are ignored. */
#define ALGORITHMS_QUIET 5

/* An algorithm that was measured, possibly MEASURED_DEFAULT. */
struct algorithm {
	const char *value, *name; /* owned by the struct measured */
};

/* The algorithms of one collective that were measured with the run's settings. */
struct algorithms {
	const struct measured *measured;
	const struct library *library;
	const char *collective;
	struct algorithm *item; /* owned */
	uint32_t n;
	bool openmpi;
	/* Why the last unusable point was left out; NULL: all were usable. Owned. */
	char *left_out;
	const struct measured_point **point; /* the usable points; owned */
	size_t npoint;
};

void algorithms_init(struct algorithms *a, const struct measured *m, const struct library *l,
		     const char *collective);
void algorithms_release(struct algorithms *a);
/* Returns the algorithm that the run's settings select; MEASURED_DEFAULT: none. */
const char *algorithms_used(const struct library *l, const char *collective, bool openmpi);
/* Returns the algorithm's index; UINT32_MAX: it was not measured. */
uint32_t algorithms_find(const struct algorithms *a, const char *value_or_name);
/* Returns the setting that selects the algorithm, as typed. Caller frees. */
char *algorithms_setting(const struct algorithms *a, uint32_t idx);
/* Returns "algorithm 4 (ring)" or "the library's own choice". Caller frees. */
char *algorithms_words(const struct algorithms *a, uint32_t idx);

/*
 * Difference between a call with `used` and a call with `other`, at the measured size nearest to
 * the cell's mean.
 */
struct algorithms_difference {
	uint64_t bytes; /* the measured size */
	/* ns: used minus other; ratio: other over used. */
	struct shift ns, ratio;
	double used_ns, other_ns; /* medians over the launches */
	/* Launches of each algorithm, and the busy ones among both. */
	uint32_t nused, nother, busy;
};

enum algorithms_verdict {
	ALGORITHMS_KNOWN,
	ALGORITHMS_UNMEASURED, /* no measurement near this size for one of the two */
	ALGORITHMS_FEW,	       /* too few launches */
};
enum algorithms_verdict algorithms_compare(const struct algorithms *a,
					   const struct collective_cell *cell, uint32_t used,
					   uint32_t other, struct algorithms_difference *out);

#endif
