/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by reasons.c, reasons_gain.c (estimates the saving), and the files that write the
 * sentences: reasons_text.c, reasons_calls.c, reasons_cores.c and reasons_late.c.
 */
#ifndef POV_ANALYSIS_REASONS_INTERNAL_H
#define POV_ANALYSIS_REASONS_INTERNAL_H

#include "analysis/find.h"
#include "analysis/reasons.h"

/* Flags in reasons.holder, and the mask of the kind. */
#define HOLDER_SHARED 0x80 /* its program shares a reason with others */
#define HOLDER_COST 0x40   /* it ran on a core that a rank needed */
#define HOLDER_KIND 0x3f

/*
 * Returns why waiter had no core while holder had it (process indices; holder may be HELD_UNKNOWN).
 * *process: process to blame, or FINDING_NOBODY.
 */
enum reason_kind reason_held_kind(const struct reasons *r, uint32_t holder, uint32_t waiter,
				  uint32_t *process);
/* Time that a rank of the account computed, or was outside MPI if that is all that is known. */
uint64_t reason_computed_ns(const struct account_rank *r);
/* Mean of reason_computed_ns over the other ranks of the process's job. */
uint64_t reason_others_mean_ns(const struct account *a, uint32_t process);
/*
 * REASON_COMPUTED: true if ranks waited to access memory of a rank that was outside MPI. Sharing
 * work does not help: the accesses still wait until that rank calls MPI.
 */
bool reason_is_of_progress(const struct reason *r);
/*
 * REASON_COMPUTED: true if ranks waited for the lock of a window that others held while computing.
 * Sharing work does not help: who holds the lock still computes first.
 */
bool reason_is_of_lock(const struct reason *r);
/*
 * REASON_COMPUTED: true if most of its waiting is explained by some ranks computing more than
 * others in total. Otherwise the ranks compute at different times.
 */
bool reason_is_uneven(const struct account *a, const struct reason *r);
/*
 * The rank that computed most, except for the process `but` (or FINDING_NOBODY); NULL: none did.
 * job may be NULL.
 */
const struct account_rank *reason_most_computed(const struct account *a,
						const struct account_job *job, uint32_t but);
/*
 * REASON_TRANSFER: the rank that computed most, if the others may have waited for it because they
 * computed less, and if this explains most of the time in calls. Else NULL.
 */
const struct account_rank *reason_may_be_late(const struct account *a, const struct findings *f,
					      const struct reason *r);
/*
 * REASON_TRANSFER, REASON_MPI_WORK, REASON_FILE_IO: the call that took most of the time, *of_ns;
 * NULL: none took much.
 */
const struct call_place *reason_calls_place(const struct findings *f, const struct reason *r,
					    uint64_t *of_ns);
/* The reason's cost divided by the number of ranks. */
uint64_t reason_share_ns(const struct reasons *r, const struct reason *reason);
/* Sets known, low_ns and high_ns of a reason. w may be NULL: then nothing is replayed. */
void reason_gain_find(struct reasons *r, const struct findings *f, struct reason *reason,
		      struct whatif *w);

/* ---- sentences ---- */

/* Input for the sentences of one reason. */
struct said {
	const struct reasons *all;
	struct findings *f;
	const struct account *a;
	struct reason *r;
};

/* Adds to the words of a reason which calls took the time, and what helps against that. */
void reason_calls_words(const struct said *s);
/* Make title, evidence and action of a reason: cores; one late rank, or several; sleep. */
void reason_held_words(const struct said *s);
void reason_computed_one_words(const struct said *s);
void reason_computed_all_words(const struct said *s);
void reason_slept_words(const struct said *s);
/* "app.c:21". Caller frees. */
char *reason_place_text(const struct site_name *name);
/* True if ranks other than the victim lost time, too. */
bool reason_has_others(const struct reason *r);
/* The other rank if the process's job has exactly two, else FINDING_NOBODY. */
uint32_t reason_other_rank(const struct said *s, uint32_t process);
/* Takes over text, capitalises it and adds a full stop. */
char *reason_sentence(char *text);
char *reason_title(char *text); /* takes over text and capitalises it */

/* "Share the work in work (app.c:17) among the ranks." */
char *reason_share_action(const struct said *s);
/*
 * "rank 3 computed 0.40 s, the others 0.20 s on average. 95 % of rank 3's was in work (app.c:17)".
 * Sets s->r->in. uneven: names the function in which it computed more than the others.
 */
char *words_computed(const struct said *s, uint32_t who, bool uneven);

/* As in find.h, each appends to text, frees it and returns the new text. */
char *words_round(char *text, uint64_t ns);
/* "rank 3"; "`bystander` (pid 2745)" */
char *words_who(const struct said *s, char *text, uint32_t process);
/*
 * "MPI_Recv, app.c:21" if before is ", " and after is ""; "MPI_Recv in app+0x1f"; "MPI_Recv". A
 * place without a line that the title names is not repeated.
 */
char *words_call(const struct said *s, char *text, const struct cause_place *in, const char *before,
		 const char *after);
/* " (MPI_Recv, app.c:21)": call in which ranks waited most; nothing if unknown */
char *words_waited_in(const struct said *s, char *text);
/* "MPI_Send (app.c:17)", after before: call that ended most waiting; nothing if unknown */
char *words_next_call(const struct said *s, char *text, const char *before);
/* like words_next_call, for one of the reason's roots */
char *words_root_call(const struct said *s, const struct cause *root, char *text,
		      const char *before);
/* " (all ranks: 0.53 s)": own_ns; nothing if only the victim lost time */
char *words_all(const struct said *s, char *text);
/*
 * "; rank 1 waited 0.40 s for it (MPI_Recv, app.c:21)", "; others waited … for them"; nothing if
 * nobody waited. late: the process that was late, or FINDING_NOBODY.
 */
char *words_wait_for(const struct said *s, char *text, uint32_t late);

#endif
