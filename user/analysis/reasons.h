/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reasons explain why rank time was lost. Each nanosecond of the account that is not computation
 * belongs to exactly one reason. Waiting time belongs to the root of the wait (analysis/causes.h),
 * whichever ranks waited. The sum of all reasons is all lost time.
 */
#ifndef POV_ANALYSIS_REASONS_H
#define POV_ANALYSIS_REASONS_H

#include <stdio.h>

#include "analysis/account.h"
#include "analysis/whatif.h"
#include "analysis/finding.h"

enum reason_kind {
	REASON_COMPUTED,      /* a rank computed while others waited for it */
	REASON_HELD_BY_OTHER, /* another process ran on cores that ranks needed */
	REASON_HELD_BY_RANK,  /* another rank ran on the core */
	REASON_HELD_BY_SELF,  /* other threads of the same rank ran on the core */
	REASON_HELD_BY_KERNEL,
	REASON_HELD_BY_NOBODY, /* the core was idle: the rank was about to run there */
	REASON_HELD_UNKNOWN,
	REASON_SLEPT,
	REASON_MPI_WORK,
	REASON_TRANSFER,
	REASON_FILE_IO,
	REASON_APART, /* in MPI_Init or MPI_Finalize, or ended, while others ran */
	REASON_TRACING,
	REASON_OPEN, /* a call had not returned when the recording ended */
	REASON_UNKNOWN,
	REASON_KINDS,
};

extern const char *const reason_names[REASON_KINDS]; /* names in JSON */

/* How the saving is known: by how much the run would be shorter without the reason. */
enum reason_gain {
	GAIN_UNKNOWN,
	GAIN_REPLAYED, /* a replay found low_ns to high_ns (analysis/whatif.h) */
	/*
	 * at most high_ns: the lost time divided by the number of ranks, or of ranks that waited;
	 * or what one rank lost itself. For REASON_TRANSFER, REASON_MPI_WORK and REASON_FILE_IO it
	 * is the run's time beyond its longest path of computing.
	 */
	GAIN_AT_MOST,
};

#define REASON_PROGRAMS 3 /* named in one reason */

struct reason {
	enum reason_kind kind;
	/* index of the process to blame, or of the blamed program's first one, or FINDING_NOBODY */
	uint32_t process;
	/* REASON_HELD_BY_OTHER: number of the program's processes that ran on cores ranks needed */
	uint32_t processes;
	/*
	 * REASON_HELD_BY_OTHER, if several programs share the reason (process is FINDING_NOBODY):
	 * their number, and of the costliest ones the first process and the cost
	 */
	uint32_t programs;
	struct {
		uint32_t process;
		uint64_t ns;
	} program[REASON_PROGRAMS];
	/* REASON_COMPUTED, REASON_SLEPT: the job whose ranks caused it; else NULL */
	const struct account_job *job;
	/* the job's rank that has its own reason of this kind, or FINDING_NOBODY */
	uint32_t alone;
	uint64_t ns;	    /* own_ns + waited_ns */
	uint64_t own_ns;    /* time lost by the ranks it happened to */
	uint64_t waited_ns; /* time lost by ranks that waited for those ranks */
	uint32_t victim;    /* index of the process that lost most of own_ns, or FINDING_NOBODY */
	uint64_t victim_ns; /* the victim's part of own_ns */
	/* root cause of the costliest wait, owned by struct findings; NULL: nobody waited */
	const struct cause *root;
	/*
	 * root cause of the next costliest wait, for another process; NULL: one process is to blame
	 */
	const struct cause *next_root;
	/* sum over jobs: ns that the job's ranks lost / number of these ranks */
	double share_ns;
	enum reason_gain known;
	uint64_t low_ns, high_ns; /* see enum reason_gain */
	/*
	 * REASON_TRANSFER, REASON_MPI_WORK, REASON_FILE_IO: the calls that took most, and the name
	 * of their site; NULL: unknown
	 */
	const struct call_place *calls;
	const struct site_name *calls_from;
	/* function in which the rank named in the evidence, or its other threads, computed most */
	struct samples_function in;
	/* REASON_SLEPT: main cause of sleep of the rank named in the evidence */
	enum sleep_kind slept;
	/* sentences; owned; evidence may be ""; action may be NULL */
	char *title, *evidence, *action;
	/* the action changes the launcher, the environment or the system, but not the program */
	bool by_setting;
};

struct reasons {
	struct reason *reason; /* largest possible saving first; owned */
	uint32_t n;
	uint64_t lost_ns; /* sum of all reasons */
	uint64_t run_ns;  /* duration of the longest job */
	/* by process index: its kind as a holder of cores, and HOLDER_* flags; owned */
	uint8_t *holder;
	/* by process index: first process of the same program on the same host; owned */
	uint32_t *program;
	const struct account *account;
};

/* Makes the reasons. w may be NULL: then nothing is replayed. All arguments must outlive r. */
void reasons_make(struct reasons *r, struct findings *f, const struct account *a, struct whatif *w);
void reasons_release(struct reasons *r);
/*
 * Largest possible saving if the reason is fixed. The list is sorted by it. For time in calls it is
 * the lost time per rank: this is worth a line even if other ranks would make the run as long.
 */
uint64_t reason_most_ns(const struct reasons *r, const struct reason *reason);

/* True if this kind means that ranks had no core. */
bool reason_is_held(enum reason_kind kind);
/* True if the time was spent in MPI calls that waited for no other rank. */
bool reason_is_of_calls(enum reason_kind kind);
/* True if exactly one process is to blame. */
bool reason_is_one(const struct reason *r);
/* Makes title, evidence and action (reasons_text.c). */
void reason_words(const struct reasons *all, struct findings *f, struct reason *r);
/* True if the process's program shares a reason with other programs. */
bool reason_is_shared(const struct reasons *r, uint32_t process);

#define REASONS_SHOWN 5 /* at most this many on the first screen */
/* True if fixing it may save at least min_pct percent of the run. Other reasons are not shown. */
bool reason_matters(const struct reasons *r, const struct reason *reason, uint32_t min_pct);

/* ---- as text and JSON (reasons_text.c) ---- */

struct json_out;

/* "0.31–0.40 s", "≤ 0.20 s", "–". Caller frees. */
char *reason_gain_text(const struct reason *r);
/* The cost in the unit of account_unit(), prefixed with mark. Caller frees. */
char *reason_cost_text(const struct reasons *r, const struct reason *reason, const char *mark);
/* Prints the title line above the reasons, with column headers if numbers is set. */
void reasons_head_print(const struct reasons *r, const char *title, bool numbers, FILE *out);
/* Prints one reason. evidence: with its evidence. mark: goes before its cost, "~" or "". */
void reason_print(const struct reasons *r, const struct reason *reason, uint32_t number,
		  const char *mark, bool evidence, FILE *out);
/* Writes a reason as members of the open object. */
void reason_json(struct json_out *j, const struct model *m, const struct reason *reason);

#endif
