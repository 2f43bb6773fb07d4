/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Why rank time was lost: each nanosecond of the account that is not computation belongs to one reason. What ranks waited belongs to
 * the root of the wait (analysis/causes.h), so that a loss has one reason, whoever waited. All reasons together are all that was lost.
 */
#ifndef POV_FINDING_REASONS_H
#define POV_FINDING_REASONS_H

#include <stdio.h>

#include "analysis/account.h"
#include "analysis/whatif.h"
#include "finding/finding.h"

enum reason_kind {
	REASON_COMPUTED,      /* a rank computed while others waited for it */
	REASON_HELD_BY_OTHER, /* another process had ranks' cores */
	REASON_HELD_BY_RANK,
	REASON_HELD_BY_SELF, /* other threads of the same rank had its core */
	REASON_HELD_BY_KERNEL,
	REASON_HELD_BY_NOBODY, /* the core was idle: the rank was on its way there */
	REASON_HELD_UNKNOWN,
	REASON_SLEPT,
	REASON_MPI_WORK,
	REASON_TRANSFER,
	REASON_FILE_IO,
	REASON_APART, /* in MPI_Init or MPI_Finalize, or dead, while others ran */
	REASON_TRACING,
	REASON_OPEN, /* a call had not returned at the end */
	REASON_UNKNOWN,
	REASON_KINDS,
};

extern const char *const reason_names[REASON_KINDS]; /* as in JSON */

/* By how much the run would be shorter without it. */
enum reason_gain {
	GAIN_UNKNOWN,
	GAIN_REPLAYED, /* from low_ns to high_ns (whatif.h) */
	GAIN_AT_MOST,  /* high_ns: the lost time, shared by all ranks */
};

struct reason {
	enum reason_kind kind;
	/* idx of the process to blame, or of the first one of the program to blame; FINDING_NOBODY: several */
	uint32_t process;
	uint32_t processes; /* REASON_HELD_BY_OTHER: how many of the program had cores */
	uint64_t ns;	    /* = own_ns + waited_ns */
	uint64_t own_ns;    /* lost by those to whom it happened */
	uint64_t waited_ns; /* lost by ranks that waited for these */
	uint32_t victim;    /* idx of the process that lost most of own_ns; FINDING_NOBODY: none */
	uint64_t victim_ns;
	const struct cause
		*root; /* the costliest of the waits; NULL: nobody waited; of struct findings */
	enum reason_gain known;
	uint64_t low_ns, high_ns;
	char *title, *evidence,
		*action; /* sentences, owned; evidence without text: ""; action: or NULL */
	bool by_setting; /* the action sets something, of the launcher, the environment or the system: the program stays as it is */
};

struct reasons {
	struct reason *reason; /* what would save most comes first; owned */
	uint32_t n;
	uint64_t lost_ns; /* = the sum of all */
	uint64_t run_ns;  /* of the longest job */
	uint8_t *holder;  /* by idx of processes: what kind of holder it is (reasons.c); owned */
	uint32_t *program; /* by idx of processes: the first process of the same program and host; owned */
	const struct account *account;
};

/* w: NULL: nothing is replayed. All must outlive r. */
void reasons_make(struct reasons *r, struct findings *f, const struct account *a, struct whatif *w);
void reasons_release(struct reasons *r);
/* What mending it may save at most: the order of the list. */
uint64_t reason_most_ns(const struct reasons *r, const struct reason *reason);

/* Whether one process is to blame, not several of its program, or of many. */
bool reason_is_one(const struct reason *r);
/* Makes title, evidence and action (reasons_text.c). */
void reason_words(const struct reasons *all, struct findings *f, struct reason *r);
/* Whether a process that had cores is one of those that share a reason. */
bool reason_is_small(const struct reasons *r, uint32_t process);

#define REASONS_SHOWN 5 /* on the first screen, at most */
/* Whether mending it may save so much of the run; others are not shown. */
bool reason_matters(const struct reasons *r, const struct reason *reason, uint32_t min_pct);

/* ---- as text and JSON (reasons_print.c) ---- */

struct json_out;

/* "0.31–0.40 s", "≤ 0.20 s", "–". Caller frees. */
char *reason_gain_text(const struct reason *r);
/* In account_unit(), after mark. Caller frees. */
char *reason_cost_text(const struct reasons *r, const struct reason *reason, const char *mark);
/* The line above them: what the numbers are, after the title; without them, the title. */
void reasons_head_print(const struct reasons *r, const char *title, bool numbers, FILE *out);
/* One of them, also without its evidence. mark: before its cost, if that may be wrong. */
void reason_print(const struct reasons *r, const struct reason *reason, uint32_t number,
		  const char *mark, bool evidence, FILE *out);
/* Members of an object that is open. */
void reason_json(struct json_out *j, const struct model *m, const struct reason *reason);

#endif
