/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Advice from a recording: settings that would shorten the run. Each piece of advice has its
 * evidence and its expected gain. The causes on the report's first screen that a setting can remove
 * (analysis/reasons.h) come first, with the same numbers and sentences as in the report. Findings
 * that only a strategy makes come after them.
 *
 * As in MPI Advisor (Gallardo et al. 2015, section 4), each strategy is a separate component: one
 * file, advise/strategy_<name>.c, which ends in one const struct strategy. A strategy keeps its own
 * data, applies its own rule and writes its own text. Shared code is in this file, in whatif.h (the
 * run without certain waits) and in library.h (the job's MPI library and its settings).
 *
 * A strategy that advises states the gain: an interval in seconds of the whole run. Advice whose
 * lower end is negligible (ADVICE_NS, ADVICE_PART) is not given. A strategy without advice reports
 * what it examined.
 */
#ifndef POV_ADVISE_ADVISE_H
#define POV_ADVISE_ADVISE_H

#include "advise/measured.h"
#include "analysis/coverage.h"
#include "analysis/loss.h"
#include "analysis/finding.h"
#include "analysis/reasons.h"
#include "model/model.h"

struct library;
struct whatif;
struct whatif_dep;
struct whatif_instead;

/* A smaller gain counts as none. */
#define ADVICE_NS 1000000
/* A gain below 1/ADVICE_PART of the run counts as none. */
#define ADVICE_PART 100

#define ADVICE_NUMBERS_MAX 12

/* Expected reduction of the run time (of its longest rank). */
struct gain {
	uint64_t low_ns, high_ns;
};

struct advice {
	const struct strategy *strategy;
	char *text;    /* evidence: sentences without the last full stop; owned */
	char *setting; /* the setting as the user types it; owned */
	/* side effects, such as memory or CPU time, without the full stop; NULL: none; owned */
	char *warning;
	struct gain gain;
	/* Number of the cause on the first screen under which this advice is printed; 0: none. */
	uint32_t cause;
	/* The numbers in the text, for --json. */
	struct advice_number {
		const char *name; /* includes the unit */
		uint64_t value;
	} number[ADVICE_NUMBERS_MAX];
	uint32_t nnumber;
};

/* What a strategy examined when it has no advice. */
struct no_advice {
	const struct strategy *strategy;
	char *text; /* the reason: sentences without the last full stop; owned */
};

struct advise_options {
	const char **measured; /* nmeasured result files of povbench */
	size_t nmeasured;
	/* Names of the nonly strategies to run; nonly = 0: all. */
	const char **only;
	size_t nonly;
	/* Permits running a program of the job's MPI library that asks it for its settings. */
	bool ask_library;
};

struct advise {
	const struct advise_options *opt;
	const struct model *model;
	struct findings findings; /* includes all the analyses that the report's findings use */
	struct whatif *whatif;
	struct account account;
	struct reasons reasons; /* why rank time was lost; same as in the report */
	/* The first ncause reasons are on the first screen; 0 with --only. */
	uint32_t ncause;
	struct library *library;
	struct measured measured; /* empty if no file was given */
	struct coverage coverage;
	struct losses losses;
	/*
	 * LOSS_* bits (analysis/loss.h) of records missing while a rank lived. If nonzero, no gain
	 * is certain.
	 */
	uint32_t lost;
	struct distortion distortion; /* overhead of tracing */
	/* from the end of the first MPI_Init to the begin of the last MPI_Finalize */
	uint64_t run_ns;
	uint32_t ranks;
	void **data;	       /* each strategy's data, in the order of strategies[] */
	struct advice *advice; /* largest gain first; owned */
	uint32_t nadvice;
	struct no_advice *none; /* owned */
	uint32_t nnone;
};

struct strategy {
	const char *name;   /* as given to --only */
	const char *brief;  /* one line: what the strategy examines */
	const char *source; /* source of the method */
	/*
	 * The strategy addresses causes of kind `cause`. Its advice is printed under that cause
	 * instead of separately.
	 */
	bool mends;
	enum reason_kind cause;
	/* Creates the strategy's data before the replay. */
	void *(*begin)(struct advise *a);
	void (*release)(void *data);
	/* Returns the strategy's sink for the replay. NULL: the strategy has none. */
	const struct model_sink *(*sink)(void *data);
	/* Observes the matches of sends with receives (struct match), or NULL. */
	void (*matched)(void *data, const void *event);
	/* Called after the replay; calls advise_add or advise_nothing. */
	void (*conclude)(void *data, struct advise *a);
};

/* Sorted by name, ends with NULL; generated from the file names. */
extern const struct strategy *const strategies[];

/*
 * Reads and replays the sources. Returns 0 or -errno (already printed). opt must outlive a. After
 * an error, the caller releases nothing.
 */
int advise_open(const struct trace_source *source, size_t nsources,
		const struct advise_options *opt, struct advise *a);
void advise_close(struct advise *a);

/*
 * The gain of the run without the waits for which leave_out() returns true. Replays twice: with
 * *sure set, which leave_out() reads, for the low end of the gain, and then without it for the high
 * end.
 */
struct gain advise_gain(const struct advise *a,
			bool (*leave_out)(void *ctx, const struct whatif_dep *d,
					  struct whatif_instead *instead),
			void *ctx, bool *sure);
/*
 * Takes ownership of the advice's strings. Turns into advise_nothing if the gain is too small or
 * records are missing. Attaches the advice to the cause that its strategy addresses, if there is
 * one.
 */
void advise_add(struct advise *a, const struct advice *advice);
/* Takes ownership of text. */
void advise_nothing(struct advise *a, const struct strategy *s, char *text);

void advise_text(const struct advise *a, FILE *out);
int advise_json(const struct advise *a, FILE *out); /* 0 or -errno */

#endif
