/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What reasons.c and its parts share: reasons_gain.c (what mending saves), and the sentences (reasons_text.c, reasons_cores.c, reasons_words.c). */
#ifndef POV_FINDING_REASONS_INTERNAL_H
#define POV_FINDING_REASONS_INTERNAL_H

#include "finding/find.h"
#include "finding/reasons.h"

/* Flags in struct reasons.holder, beside the kind. */
#define HOLDER_SMALL 0x80 /* its program cost too little to be named */
#define HOLDER_COST 0x40  /* it had a core that a rank needed */
#define HOLDER_KIND 0x3f

/* Why a rank had no core. *process: the one to blame, or FINDING_NOBODY. */
enum reason_kind reason_held_kind(const struct reasons *r, uint32_t holder, uint32_t waiter,
				  uint32_t *process);
/* Whether ranks had no core. */
bool reason_is_held(enum reason_kind kind);
/* Its cost, shared by all ranks. */
uint64_t reason_share_ns(const struct reasons *r, const struct reason *reason);
/* By how much the run would be shorter. */
void reason_gain_find(struct reasons *r, const struct findings *f, struct reason *reason,
		      struct whatif *w);

/* ---- sentences ---- */

struct said {
	const struct reasons *all;
	struct findings *f;
	const struct account *a;
	struct reason *r;
};

/* Title, evidence and action of reasons about cores. */
void reason_held_words(const struct said *s);
/* Whether more than one rank lost by it. */
bool reason_has_others(const struct reason *r);
/* The only other rank of a job of two, or FINDING_NOBODY. */
uint32_t reason_other_rank(const struct said *s, uint32_t process);
/* Takes over text; begins it with a capital and ends it with a point. */
char *reason_sentence(char *text);
char *reason_title(char *text); /* only the capital */
/* What a finding of that kind that blames that process advises; NULL: nothing. Caller frees. */
char *reason_advice(const struct said *s, const char *kind, uint32_t process);

/* As in find.h: each frees text and returns what is to be used instead. */
char *words_round(char *text, uint64_t ns);
/* "rank 3"; "`bystander` (pid 2745)" */
char *words_who(const struct said *s, char *text, uint32_t process);
/* " (MPI_Recv, app.c:21)": where others waited for it most; nothing if that is unknown. */
char *words_waited_in(const struct said *s, char *text);
/* "MPI_Send (app.c:17)": the call that ended the costliest wait; after `before`, if it is known. */
char *words_next_call(const struct said *s, char *text, const char *before);
/* "; rank 1 waited 0.40 s for it (MPI_Recv, app.c:21)"; late: the rank that was waited for, or FINDING_NOBODY. */
char *words_wait_for(const struct said *s, char *text, uint32_t late, const char *whom);

#endif
