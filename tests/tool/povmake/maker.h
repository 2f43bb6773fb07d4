/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Makes traces from text: statements (script.c) and records (record.c). povmake.c is the program; unit tests use it, too. */
#ifndef POV_TESTS_POVMAKE_MAKER_H
#define POV_TESTS_POVMAKE_MAKER_H

#include "abi/event.h"
#include "trace/trace_format.h"
#include "trace/record_kinds.h"
#include "trace/trace_write.h"

struct script {
	char **line;
	size_t cnt;
};

struct maker {
	struct script script;
	struct trace_writer *w;
	size_t lineno; /* index */
	uint64_t shift_ns;
	uint64_t round;
	unsigned int stream;
	bool cut;
	bool brief; /* a record's tgid defaults to its tid, and its stream to its CPU */
	union {
		struct pov_hdr hdr;
		uint64_t words[TRACE_RECORD_MAX / 8];
		uint8_t bytes[TRACE_RECORD_MAX];
	} rec;
	size_t size; /* of rec so far */
};

void script_add(struct script *s, const char *line);
void script_release(struct script *s);
/* Makes all records of m->script; cut is left to the caller. */
void maker_run(struct maker *m);

/* Ends the program; says where in the script. */
void bad(const struct maker *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
uint64_t whole_number(const struct maker *m, const char *s);
/* The index of a name, or a number. */
uint64_t by_name(const struct maker *m, const char *const *names, size_t n, const char *s);
/* Takes the next name=value off *p. value is unquoted in place. */
bool next_pair(const struct maker *m, char **p, char **name, char **value);
/* m->rec, by its name=value pairs. */
void record_fill(struct maker *m, const struct record_kind *k, char *args);
/* The stream of m->rec, unless it is an identity record. */
unsigned int record_stream(const struct maker *m, const struct record_kind *k);

#endif
