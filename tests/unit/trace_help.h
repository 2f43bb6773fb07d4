/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shared by tests of the trace file: random records, records from text, reading a whole trace. */
#ifndef POV_TESTS_TRACE_HELP_H
#define POV_TESTS_TRACE_HELP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "abi/event.h"
#include "trace/trace_read.h"
#include "trace/trace_write.h"
#include "unit/files.h"

/* A record of any size the format allows. */
union any_record {
	struct pov_hdr hdr;
	uint64_t w[512];
	uint8_t bytes[4096];
};

uint64_t random_next(uint64_t *state);
/*
 * Makes a record that resembles others of its kind; occasionally one of an unknown kind or of the
 * largest size. ts_ns is near *now_ns, which advances.
 */
void random_record(uint64_t *state, uint64_t *now_ns, union any_record *out);

/* Makes a call whose time is its number. Its words do not compress. */
void numbered_call(uint64_t n, union any_record *out);
int add_numbered(struct trace_writer *w, unsigned int stream, uint64_t n);
/* Damages the nth event block of a recording or, with cut, removes it. */
void file_damage(const char *path, int n, bool cut);

/* Returns a record in povmake's syntax. Its tgid defaults to its tid. Valid until the next call. */
const struct pov_hdr *record_made(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Records in the order of the merge, one after another. Free words. */
struct replay {
	uint64_t *words;
	size_t nwords, room;
	size_t cnt;
	bool in_order;
	struct trace_summary sum; /* after the replay */
	int err;
};
/* Opens and closes a writer without limits; both must succeed. */
struct trace_writer *writer_begin(const char *path);
void writer_end(struct trace_writer *w);
struct trace *trace_opened(const char *path); /* must succeed */
/* Opens, merges and closes a file. err is the error of trace_open or trace_merge_next. */
struct replay replay_all(const char *path, const struct trace_merge_options *opt);
/* Like replay_all(), for a file that must be readable. */
struct replay replay_good(const char *path);
/* Prints each record in a line. */
void replay_print(const struct replay *r, FILE *out);

#endif
