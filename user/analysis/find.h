/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by the files that make findings. find_<subject>() has the rules of one subject and adds
 * its findings. It is in the subject's own file (queues.c, late.c). find[] in finding.c lists them.
 */
#ifndef POV_ANALYSIS_FIND_H
#define POV_ANALYSIS_FIND_H

#include "analysis/finding.h"

/* Takes over text, advice and contest. Drops and frees a finding that costs under f->least_ns. */
void finding_add(struct findings *f, const struct finding *found);
/* True if p is a rank whose losses count. */
bool finding_counts(const struct findings *f, const struct model_process *p);

void find_cores(struct findings *f);
void find_collectives(struct findings *f);
void find_late(struct findings *f);
void find_roots(struct findings *f);
void find_contests(struct findings *f);
void find_demand(struct findings *f);
void find_limits(struct findings *f);	  /* sets findings.limited */
void find_migrations(struct findings *f); /* needs findings.limited */
void find_balance(struct findings *f);
void find_storms(struct findings *f);
void find_overlap(struct findings *f);
void find_epochs(struct findings *f);
void find_queues(struct findings *f);
void find_file_io(struct findings *f);
/* Sets finding.explained_by. Call it after all others. */
void find_same_time(struct findings *f);

/*
 * Groups the waits in `pairs` by the process that was waited for, without waiters that
 * finding_counts() excludes. Calls add() for each group: w has its n waits; kind is passed on.
 */
void waiters_each(struct findings *f, const struct map *pairs, int kind,
		  void (*add)(struct findings *f, int kind, const struct waited_for *w,
			      uint32_t n));

/*
 * Phrases are values inside a sentence, for printf's %s. Each lasts until the end of the expression
 * that makes it: xasprintf("waited %s", phrase_ns(ns).text).
 */

#define PHRASE_BYTES 160
struct phrase {
	char text[PHRASE_BYTES];
};

struct phrase phrase_ns(uint64_t ns); /* "1.234 ms" */
struct phrase phrase_bytes(uint64_t bytes);
/* "1 time", "1,009 times" */
struct phrase phrase_count(uint64_t n, const char *one, const char *many);
/* "rank 3", "sh (pid 4711)" */
struct phrase phrase_process(const struct findings *f, const struct model_process *p);
/* " at 0.620 s": since the recording began */
struct phrase phrase_when(const struct findings *f, uint64_t ts_ns);
struct phrase phrase_cpu(const struct findings *f, uint32_t cpu); /* "3", "node1:3" */

/* ---- words: each appends to text, frees it and returns the new text ---- */

#define NAMED 3 /* most processes that a sentence names */

char *words(char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "rank 3", "sh (pid 4711)" */
char *words_process(const struct findings *f, char *text, const struct model_process *p);
char *words_ns(char *text, const char *before, uint64_t ns, const char *behind);
/* "1 time", "1,009 times" */
char *words_count(char *text, uint64_t n, const char *one, const char *many);
/*
 * "; meanwhile it computed: 92 %, waited for rank 0: 8 %": what a process did while others waited
 * for it (`how`), as shares of cost_ns
 */
char *words_causes(const struct findings *f, char *text, enum cause_wait how, uint32_t process,
		   uint64_t cost_ns);
/* " in solve (app.c:41)"; " in app+0x1f" if only the file is known; nothing if it is unknown */
char *words_site(const struct findings *f, char *text, const struct model_site *site);
/*
 * The n ranks that waited for one process: ": rank 2 1.2 s; rank 1 300 ms; and 3 more (79 times,
 * most 5.3 ms in MPI_Win_complete at 0.455 s)"
 */
char *words_waiters(const struct findings *f, char *text, const struct waited_for *w, uint32_t n);
/* "rank 0 sent rank 1 20,000 messages of 8 B on average, one right after another" */
char *words_storm(const struct findings *f, char *text, const struct storm *s);
/* The storm with the most time in its sending calls; NULL: there is none. */
const struct storm *storm_most(const struct findings *f);
/* "; and 2 more" if n exceeds NAMED */
char *words_more(char *text, uint32_t n);

/* ---- advice, phrased for the recorded MPI library and launcher (advice.c) ---- */

/* "give WHOM n cores of its own (SETTING)"; NULL if there are fewer than n cores per rank. */
char *advice_cores(const struct findings *f, const char *whom, uint32_t n);
/* Complete advice for two ranks that want the same core, or why no setting helps. */
char *advice_apart(const struct findings *f, const struct model_process *a,
		   const struct model_process *b);
/* Complete advice for threads of one rank that want the same core. */
char *advice_threads(const struct findings *f);
/*
 * Appends `before`, and then how to make waiting ranks yield their core. Appends nothing if no such
 * setting exists, or if it is already set.
 */
char *advice_yield(const struct findings *f, char *text, const char *before);
/* Complete advice to move data without MPI calls of the program, or with more of them. */
char *advice_progress(const struct findings *f);
/* Complete advice to let accesses to a rank's memory proceed while the rank computes. */
char *advice_target(const struct findings *f);
/*
 * Finds CPUs of a host for other work: those without a rank, or if there are none, those where
 * ranks mostly wait. Leaves out the model's CPU `but` (UINT32_MAX: none). *out must be zeroed.
 * Returns the number of CPUs in it.
 */
uint32_t advice_cpus(const struct findings *f, uint32_t host_idx, uint32_t but,
		     struct model_mask *out);
/* Complete advice for a storm of small messages. */
char *advice_storm(void);
/* Complete advice if advice_cpus finds no CPU. */
char *advice_elsewhere(void);
/* Complete advice to keep the holder off the waiter's cores. */
char *advice_against(const struct findings *f, const struct model_thread *waiter,
		     const struct model_thread *holder);

#endif
