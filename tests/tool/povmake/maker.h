/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What povmake's two halves share: statements (povmake.c), and records, of which most of them are made (record.c). */
#ifndef POV_TESTS_POVMAKE_MAKER_H
#define POV_TESTS_POVMAKE_MAKER_H

#include "abi/event.h"
#include "trace/trace_format.h"
#include "trace/trace_text.h"
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
	union {
		struct pov_hdr hdr;
		uint64_t words[TRACE_RECORD_MAX / 8];
		uint8_t bytes[TRACE_RECORD_MAX];
	} rec;
	size_t size; /* of rec so far */
};

/* Ends the program; says where in the script. */
void bad(const struct maker *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
uint64_t whole_number(const struct maker *m, const char *s);
/* The index of a name, or a number. */
uint64_t by_name(const struct maker *m, const char *const *names, size_t n, const char *s);
/* Takes the next name=value off *p. value is unquoted in place. */
bool next_pair(const struct maker *m, char **p, char **name, char **value);
/* m->rec, by its name=value pairs. */
void record_fill(struct maker *m, const struct text_kind *k, char *args);

#endif
