/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Progress of long work: one line on the terminal, shown after a second and erased at the end.
 * Nothing is shown if stderr is no terminal. A command says when the work begins and ends, and how
 * often it reads the recording; the reader of recordings (trace/trace_merge.c) counts records.
 * Between begin and end, nothing may be printed to a terminal except by log.h, which erases the
 * line first. Like log.h, it has one state for the process, as there is one terminal; only the main
 * thread may use it.
 */
#ifndef POV_LIB_PROGRESS_H
#define POV_LIB_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * what: shown at the left; borrowed until the end. All records will be read quick times with little
 * done for each, and then passes times.
 */
void progress_begin(const char *what, unsigned int quick, unsigned int passes);
/*
 * This many records more are about to be read. The first call after records have been read begins
 * the next pass.
 */
void progress_expect(uint64_t records);
void progress_add(uint64_t records);
void progress_end(void);

/* ---- for tests: the same with a given terminal and clock ---- */

struct progress {
	int fd; /* the terminal; -1: nothing is shown */
	const char *what;
	unsigned int quick, passes; /* expected */
	unsigned int pass;	    /* finished, quick ones and others */
	uint64_t begun_ns, shown_ns;
	uint64_t expected, done; /* records of this pass */
	uint64_t read;		 /* records of all passes */
	bool shown;		 /* the line is on the terminal */
};

#define PROGRESS_AFTER_NS 1000000000u /* work that ends earlier shows nothing */
#define PROGRESS_EVERY_NS 100000000u  /* between two lines */
#define PROGRESS_LINE_BYTES 256

/* The line for a terminal with that many columns. Returns buf. */
char *progress_line(const struct progress *p, uint64_t now_ns, unsigned int columns, char *buf);
void progress_expect_of(struct progress *p, uint64_t records);
void progress_add_to(struct progress *p, uint64_t records, uint64_t now_ns);
void progress_hide_of(struct progress *p);

#endif
