/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Makes traces from text: statements (script.c) and records (record.c). povmake.c is the program;
 * unit tests use these parts as well.
 */
#ifndef POV_TESTS_POVMAKE_MAKER_H
#define POV_TESTS_POVMAKE_MAKER_H

#include "abi/event.h"
#include "tool/povmake/lines.h"
#include "trace/trace_format.h"
#include "trace/record_kinds.h"
#include "trace/trace_write.h"

struct maker {
	struct script script;
	struct trace_writer *w;
	size_t lineno; /* index of the current line */
	uint64_t shift_ns;
	uint64_t round;
	unsigned int stream;
	bool cut;
	/* A record's tgid defaults to its tid, and its stream to its CPU. */
	bool brief;
	union {
		struct pov_hdr hdr;
		uint64_t words[TRACE_RECORD_MAX / 8];
		uint8_t bytes[TRACE_RECORD_MAX];
	} rec;
	size_t size; /* bytes of rec so far */
};

/* Makes all records of m->script. The caller handles m->cut. */
void maker_run(struct maker *m);
/* Runs one statement instead. */
void maker_put(struct maker *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints the message with the line of the script and ends the program. */
void bad(const struct maker *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
uint64_t whole_number(const struct maker *m, const char *s);
/* Returns the index of a name, or the value of a number. */
uint64_t by_name(const struct maker *m, const char *const *names, size_t n, const char *s);
/* Takes the next name=value off *p. Unquotes the value in place. */
bool next_pair(const struct maker *m, char **p, char **name, char **value);
/* Fills m->rec from name=value pairs. */
void record_fill(struct maker *m, const struct record_kind *k, char *args);
/* Returns the stream of m->rec. Identity records do not use it. */
unsigned int record_stream(const struct maker *m, const struct record_kind *k);

#endif
