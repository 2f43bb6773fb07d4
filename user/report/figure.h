/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A figure is one number of a row: a time, a count, bytes. Each section of the report has a table of its
 * figures; the JSON's members and the text's columns, cells and marks all follow from it, in its order. Sums need
 * no table: table_row_add (analysis/table.h) adds whatever members a row has.
 *
 *	#define ROW struct switch_row
 *	const struct figure switch_figures[] = {
 *		{FIGURE_COUNT, "voluntary", "voluntary", AT(voluntary), .low = LOSS_OF_STATES},
 *		{0}};
 */
#ifndef POV_REPORT_FIGURE_H
#define POV_REPORT_FIGURE_H

#include <stddef.h>

#include "lib/json_out.h"
#include "report/columns.h"

enum figure_kind {
	FIGURE_END, /* of a table */
	FIGURE_COUNT,
	FIGURE_TIME,	 /* in the unit of the text's table */
	FIGURE_NS,	 /* in a unit of its own */
	FIGURE_MEAN,	 /* the row is a struct function_row: mean duration of its calls */
	FIGURE_QUANTILE, /* at: struct histogram; of: percent */
	FIGURE_BYTES,	 /* of: member that counts those of unknown size */
	FIGURE_RATE,	 /* per second of the whole */
	FIGURE_RATIO,	 /* at: a double, NAN if unknown: percent in text */
	FIGURE_FACTOR,	 /* the same: a number with two digits */
	FIGURE_TABLE, /* JSON only: the figures of table sub, of the struct at: an object; without a key, members */
};

#define FIGURE_WHOLE SIZE_MAX /* of what is handed to figures_cells, and no member */

/* What must hold for a figure to be known or shown: struct report's facts. */
#define FACT_SCHED (1u << 0)	  /* the scheduler was recorded */
#define FACT_UNKNOWN (1u << 1)	  /* but not all states are known */
#define FACT_POLL_COST (1u << 2)  /* what a poll's probes cost is calibrated */
#define FACT_PROCESSES (1u << 3)  /* rows are processes, not threads */
#define FACT_HIT_COST (1u << 4)	  /* what a probe's hit costs is calibrated */
#define FACT_INTERRUPTS (1u << 5) /* some were recorded */
#define FACT_FILE_IO (1u << 7)	  /* some rank called MPI_File_* */
#define FACT_COUNTED (1u << 6)	  /* some calls were counted, and not recorded */
#define FACT_TRACING (1u << 8)	  /* tracing took 1 % of a rank's time, or more */

struct figure {
	enum figure_kind kind;
	const char *key;    /* JSON member; NULL: text only */
	const char *header; /* column; NULL: JSON only, or the share alone */
	size_t at;	    /* offset in the row, of a uint64_t or what the kind says */
	const char *share;  /* header of one more column, "at" in percent, or NULL */
	size_t of;	    /* of what: an offset, or FIGURE_WHOLE */

	/* Losses (analysis/loss.h): too low; too high; wrong in either direction; after which the share is wrong, too. */
	uint32_t low, high, wrong, share_wrong;
	/* Facts without which it is null, and without which the text has no such column. */
	uint32_t known, shown;

	bool no_zero;		/* text: "-" */
	const char *one, *many; /* text: no column, but a line that says "1 <one>" or "3 <many>" */
	const struct figure *sub; /* of FIGURE_TABLE */
};

/* For tables of figures of struct ROW, a macro of theirs. */
#define AT(member) .at = offsetof(ROW, member)
#define OF(member) .of = offsetof(ROW, member)

/* One unit, and one precision, for all times of a table. */
struct text_unit {
	const char *name;
	double ns;
	int digits;
};
struct text_unit text_unit_for(uint64_t max_ns);

/* The members of a row, into an object that is open. */
void figures_json(struct json_out *j, const struct figure *f, const void *row, uint32_t facts);

/* A table of the text that has columns for figures. */
struct figure_table {
	const struct figure *figures;
	struct columns *c;
	struct text_unit unit;
	uint32_t facts;
};
void figures_columns(const struct figure_table *t);
/* whole: see FIGURE_WHOLE; lost: what is missing of the row. */
void figures_cells(const struct figure_table *t, const void *row, uint64_t whole, uint32_t lost);
/* One of them, without its share. */
void figure_cell(const struct figure_table *t, const struct figure *f, const void *row,
		 uint64_t whole, uint32_t lost);
/* The value of a FIGURE_RATIO or FIGURE_FACTOR. */
double figure_real(const struct figure *f, const void *row);
/* "~", "≥", "≤", or NULL. */
const char *figure_mark(const struct figure *f, uint32_t lost);
/* A ratio as people read it: "25 %", "2.5 %", "0 %". Returns buf. */
#define RATIO_BYTES 32
char *ratio_text(char *buf, size_t bytes, double ratio);
/* A line for each of them that is not zero. */
void figures_lines(const struct figure *f, const void *row, FILE *out);

void cell_pct(struct columns *c, uint64_t part, uint64_t whole); /* "-" of nothing */
void cell_count(struct columns *c, uint64_t n);
void cell_ns(struct columns *c, uint64_t ns); /* with its own unit, four digits */
void cell_bytes(struct columns *c, uint64_t bytes);
void cell_empty(struct columns *c);

/*
 * The mark of a figure from which records are missing, or NULL: bits of analysis/loss.h that are missing, those
 * that make it too low, those after which it may be wrong in either direction.
 */
const char *text_mark(uint32_t lost, uint32_t low, uint32_t wrong);

#endif
