/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Quantities as people read and type them. Formatting needs a buffer of HUMAN_BYTES, always
 * terminates it, and returns it. Parsing returns 0, -EINVAL (not such a quantity) or -ERANGE (does
 * not fit). It prints nothing and writes *out only on success.
 */
#ifndef POV_LIB_HUMAN_H
#define POV_LIB_HUMAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HUMAN_BYTES 32

/* "0 ns", "999 ns", "1.234 us", "12.346 ms", "1.500 s", "2 min 3 s", "3 h 20 min". */
char *human_ns(char *buf, size_t bytes, uint64_t ns);
/*
 * The digits that matter to people: "0.40 s", "12 s", "120 s", "12 ms", "1.2 ms", "34 us", "0 s".
 */
char *human_round_ns(char *buf, size_t bytes, uint64_t ns);
/* "0 B", "1023 B", "1.5 KiB", "64 KiB", "3.2 GiB": at most three significant digits from KiB on. */
char *human_bytes(char *buf, size_t bytes, uint64_t value);
/* "1,234,567" */
char *human_count(char *buf, size_t bytes, uint64_t value);
/* "1 call", "1,234 calls"; buf: HUMAN_BYTES plus the length of the longer word. */
char *human_plural(char *buf, size_t bytes, uint64_t n, const char *one, const char *many);

/* The same, in a buffer that lasts until the end of the enclosing block: for arguments of calls. */
#define HUMAN_BUF(extra) (char[HUMAN_BYTES + (extra)]){0}, HUMAN_BYTES + (extra)
#define NS_TEXT(ns) human_ns(HUMAN_BUF(0), ns)
#define ROUND_NS_TEXT(ns) human_round_ns(HUMAN_BUF(0), ns)
#define BYTES_TEXT(bytes) human_bytes(HUMAN_BUF(0), bytes)
#define COUNT_TEXT(n) human_count(HUMAN_BUF(0), n)
#define PLURAL_WORD_BYTES 128
#define PLURAL_TEXT(n, one, many) human_plural(HUMAN_BUF(PLURAL_WORD_BYTES), n, one, many)

int human_parse_u64(const char *text, uint64_t *out);	/* decimal digits only */
int human_parse_bytes(const char *text, uint64_t *out); /* 4096, 64K, 64KiB, 1.5M, 2G, 1T */
int human_parse_ns(const char *text, uint64_t *out);	/* seconds, or with ns us ms s m min h */

/*
 * One item of a list of ranks such as "0,2,5-8" or, with several jobs, "1:3" (rank 3 of job 1; jobs
 * count from 0).
 */
struct rank_range {
	int32_t job; /* -1: any */
	int32_t first, last;
};

struct rank_list {
	struct rank_range *range; /* owned */
	uint32_t n;
};

/* Adds the ranks named by the text of an option --rank. 0, or -EINVAL (printed). */
int rank_list_parse(const char *text, struct rank_list *out);
/*
 * True if the list is empty or contains the rank. Only the empty list contains an unknown rank
 * (-1).
 */
bool rank_list_has(const struct rank_list *l, int32_t job, int32_t rank);
void rank_list_release(struct rank_list *l);

#endif
