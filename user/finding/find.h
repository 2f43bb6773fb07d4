/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the kinds of findings are made with. find_<subject>.c has those of one subject: a function that adds what it finds, and is
 * called by finding.c.
 */
#ifndef POV_FINDING_FIND_H
#define POV_FINDING_FIND_H

#include "finding/finding.h"

/* Takes over text, advice and contests; keeps nothing if it cost too little. */
void finding_add(struct findings *f, const struct finding *found);
/* Whether the loss of a process counts. */
bool finding_counts(const struct findings *f, const struct model_process *p);

void find_cores(struct findings *f);
void find_collectives(struct findings *f);
void find_late(struct findings *f);
void find_roots(struct findings *f);
void find_contests(struct findings *f);
void find_demand(struct findings *f);
void find_limits(struct findings *f); /* sets limited */
void find_moves(struct findings *f);  /* behind it */
void find_balance(struct findings *f);
void find_storms(struct findings *f);
void find_overlap(struct findings *f);
void find_epochs(struct findings *f);
void find_queues(struct findings *f);
void find_file_io(struct findings *f);
/*
 * Adds to a finding about cores that a process (NULL: kernel threads) held: how much ranks wrote, and advice to print less, if that process may have
 * passed on their output. FINDINGS_CORES.md has the rule.
 */
void printing_add(struct findings *f, const struct model_process *holder, struct finding *found);
/* Behind all others: sets told_by. */
void find_same_time(struct findings *f);

/* Of those of a table whose loss counts: tells add those who waited for one process together, n of them; and kind. */
void waiters_each(struct findings *f, const struct map *pairs, int kind,
		  void (*add)(struct findings *f, int kind, const struct waited_for *w,
			      uint32_t n));

/* ---- words: each frees text and returns what is to be used instead ---- */

#define NAMED 3 /* of those who lost by it */

char *words(char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "rank 3", "sh (pid 4711)" */
char *words_process(const struct findings *f, char *text, const struct model_process *p);
char *words_ns(char *text, const char *before, uint64_t ns, const char *behind);
/* "1 time", "1,009 times" */
char *words_count(char *text, uint64_t n, const char *one, const char *many);
/* " at 0.620 s": since the recording began */
char *words_when(const struct findings *f, char *text, uint64_t ts_ns);
/* "; meanwhile it computed: 92 %, waited for rank 0: 8 %": what a process did that was waited for in that way, by its share of cost_ns */
char *words_causes(const struct findings *f, char *text, enum cause_wait how, uint32_t process,
		   uint64_t cost_ns);
/* " in solve (app.c:41)"; " in app+0x1f" if no more is known of it here; nothing if not even its file is */
char *words_site(const struct findings *f, char *text, const struct model_site *site);
/*
 * ": rank 2 1.2 s; rank 1 300 ms; and 3 more (79 times, most 5.3 ms in MPI_Win_complete at 0.455 s)": those who waited for one process, n
 * of them
 */
char *words_waiters(const struct findings *f, char *text, const struct waited_for *w, uint32_t n);
/* "; and 2 more", if not all n are named */
char *words_more(char *text, uint32_t n);

/* ---- advice, the same way: in the settings of the library and launcher at hand (advice.c) ---- */

/* How each rank gets n cores of its own: "give WHOM n cores (SETTING)"; NULL if the machine has not as many for all. */
char *advice_cores(const struct findings *f, const char *whom, uint32_t n);
/* All of the advice for two ranks that want the same core; or what stands against it. */
char *advice_apart(const struct findings *f, const struct model_process *a,
		   const struct model_process *b);
/* For threads of one rank that want the same core: all of the advice. */
char *advice_threads(const struct findings *f);
/* How who waits leaves the core to others, after `before`; nothing if no setting is known, or it is in force. */
char *advice_yield(const struct findings *f, char *text, const char *before);
/* How data moves without the program's calls, or with more of them: all of the advice. */
char *advice_progress(const struct findings *f);
/* How accesses to a rank's memory are carried out while it computes: all of the advice. */
char *advice_target(const struct findings *f);
/* How to keep one off cores of another one: all of the advice. */
char *advice_against(const struct findings *f, const struct model_thread *waiter,
		     const struct model_thread *holder);

#endif
