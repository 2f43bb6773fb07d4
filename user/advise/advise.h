/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Advice from a recording: settings that would make the run shorter, each with what it rests on and what it is expected to gain. First come the
 * causes on the report's first screen whose action is a setting (finding/reasons.h): the same list, numbers and sentences. Then comes what only
 * strategies know. As in MPI Advisor (Gallardo et al. 2015, section 4) each strategy is a component of its own: one file, advise/strategy_<name>.c, ending in one
 * const struct strategy, which keeps its own data, has its own rule, and writes its own text. What several need is here and in
 * whatif.h (the run without certain waits) and library.h (the MPI library at hand, and its settings).
 *
 * A strategy that advises says by how much. The gain is an interval of seconds of the whole run, and nothing is advised of which the
 * lower end is none (ADVICE_NS, ADVICE_PART). A strategy that advises nothing says what it looked at.
 */
#ifndef POV_ADVISE_ADVISE_H
#define POV_ADVISE_ADVISE_H

#include "advise/measured.h"
#include "analysis/coverage.h"
#include "analysis/distorted.h"
#include "analysis/loss.h"
#include "finding/finding.h"
#include "finding/reasons.h"
#include "model/model.h"

struct library;
struct whatif;

#define ADVICE_NS 1000000 /* a gain below is none … */
#define ADVICE_PART 100	  /* … nor is one below one part in so many of the run */

#define ADVICE_NUMBERS_MAX 12

/* What the run is expected to take less: ns of its longest rank. */
struct gain {
	uint64_t low_ns, high_ns;
};

struct advice {
	const struct strategy *strategy;
	char *text;    /* what was seen, one sentence without an end mark; owned */
	char *setting; /* what to set, as typed; owned */
	char *warning; /* what else it may do: memory, CPU time; or NULL; owned */
	struct gain gain;
	uint32_t cause; /* number of the cause on the first screen that it is printed with; 0: none */
	/* For --json: numbers that the text is made of. */
	struct advice_number {
		const char *name; /* with its unit */
		uint64_t value;
	} number[ADVICE_NUMBERS_MAX];
	uint32_t nnumber;
};

/* What a strategy looked at, if it advises nothing. */
struct no_advice {
	const struct strategy *strategy;
	char *text; /* why: a sentence without an end mark; owned */
};

struct advise_options {
	const char **measured; /* files of povbench's results, nmeasured of them */
	size_t nmeasured;
	const char **only; /* names of the strategies wanted, nonly of them; 0: all */
	size_t nonly;
	bool ask_library; /* may run a program of the library at hand to ask it for its settings */
};

struct advise {
	const struct advise_options *opt;
	const struct model *model;
	struct findings findings; /* with all that the report's are made of */
	struct whatif *whatif;
	struct account account;
	struct reasons reasons; /* why rank time was lost, as the report has it */
	uint32_t ncause; /* so many of them, from the first on, are on the first screen; 0 with --only */
	struct library *library;
	struct measured measured; /* none, if no file was given */
	struct coverage coverage;
	struct losses losses;
	uint32_t lost; /* what is missing of any rank's life, bits of analysis/loss.h: then no gain is sure */
	struct distortion distortion; /* what tracing cost */
	uint64_t run_ns;       /* from the first MPI_Init's end to the last MPI_Finalize's begin */
	void **data;	       /* of each strategy, by its place in strategies[] */
	struct advice *advice; /* the largest gain first; owned */
	uint32_t nadvice;
	struct no_advice *none; /* owned */
	uint32_t nnone;
};

struct strategy {
	const char *name;   /* as --only has it */
	const char *brief;  /* one line: what it looks at */
	const char *source; /* where the method is from */
	/* It says how to mend that kind of cause: it is printed with such a cause, and not beside it. */
	bool mends;
	enum reason_kind cause;
	/* Its data, before the replay; to be told of by its sink. */
	void *(*begin)(struct advise *a);
	void (*release)(void *data);
	/* What it is to be told in the replay; NULL: nothing. */
	const struct model_sink *(*sink)(void *data);
	/* Each match of a send with its receive (analysis/match.h); or NULL. */
	void (*matched)(void *data, const struct match *m);
	/* After the replay: calls advise_add, or advise_nothing. */
	void (*conclude)(void *data, struct advise *a);
};

extern const struct strategy
	*const strategies[]; /* by name; ends with NULL; generated from the files */

/* Reads and replays. 0 or -errno (printed). opt must outlive it. After an error nothing is to be released. */
int advise_open(const struct trace_source *source, size_t nsources,
		const struct advise_options *opt, struct advise *a);
void advise_close(struct advise *a);

/*
 * Takes over what advice owns. Becomes advise_nothing if the gain is too small, or records are missing. Joins the cause that its strategy mends,
 * if there is one.
 */
void advise_add(struct advise *a, const struct advice *advice);
/* Takes over text. */
void advise_nothing(struct advise *a, const struct strategy *s, char *text);

void advise_text(const struct advise *a, FILE *out);
int advise_json(const struct advise *a, FILE *out); /* 0 or -errno */

#endif
