/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the parts of the text report share.
 */
#ifndef POV_REPORT_TEXT_PRIV_H
#define POV_REPORT_TEXT_PRIV_H

#include "report/columns.h"
#include "report/report.h"

/* One unit, and one precision, for all times of a table. */
struct text_unit {
	const char *name;
	double ns;
	int digits;
};
struct text_unit text_unit_for(uint64_t max_ns);

void text_section(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A footnote: indented, wrapped. */
void text_note(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void cell_time(struct columns *c, uint64_t ns, struct text_unit u);
void cell_pct(struct columns *c, uint64_t part, uint64_t whole); /* "-" of nothing */
void cell_count(struct columns *c, uint64_t n);
void cell_bytes(struct columns *c, uint64_t bytes);
void cell_ns(struct columns *c, uint64_t ns); /* with its own unit, four digits */
void cell_empty(struct columns *c);

/*
 * The mark of a figure from which records are missing, or NULL: bits of analysis/loss.h that are missing, those
 * that make it too low, those after which it may be wrong in either direction.
 */
const char *text_mark(uint32_t lost, uint32_t low, uint32_t wrong);

/* Rows a long table shows: all, or opt->top of more than `many`. */
uint32_t text_rows_shown(const struct report *r, uint32_t n, uint32_t many);

void text_ranks(const struct report *r, FILE *out);
void text_threads(const struct report *r, FILE *out);
void text_polls(const struct report *r, FILE *out);
void text_switches(const struct report *r, FILE *out);
void text_cores(const struct report *r, FILE *out);
void text_matrix(const struct report *r, FILE *out);
void text_functions(const struct report *r, FILE *out);
void text_rank_functions(const struct report *r, FILE *out);
void text_messages(const struct report *r, FILE *out);
void text_coverage(const struct report *r, FILE *out);

#endif
