/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A figure is one number of a row: a time, a count, bytes. Each section of the report has a table
 * of its figures. The table determines the members of the JSON and the columns, cells and marks of
 * the text, and their order. Sums need no table: table_row_add (lib/table.h) adds whatever
 * members a row has.
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
	FIGURE_END, /* ends a table */
	FIGURE_COUNT,
	FIGURE_TIME,	 /* ns; the text prints it in the unit of its table */
	FIGURE_NS,	 /* ns; the text chooses a unit for each cell */
	FIGURE_MEAN,	 /* mean duration of calls; the row is a struct function_row */
	FIGURE_QUANTILE, /* at: struct histogram; of: percent */
	FIGURE_BYTES,	 /* of: member that counts the messages of unknown size */
	FIGURE_RATE,	 /* count per second of the row's whole */
	FIGURE_RATIO,	 /* at: a double, NAN if unknown; the text prints percent */
	FIGURE_FACTOR,	 /* at: a double, NAN if unknown; the text prints two decimals */
	/*
	 * JSON only: applies the table sub to the struct at `at`. With a key this makes an object.
	 * Without a key its members go into the enclosing object.
	 */
	FIGURE_TABLE,
};

/* For figure.of: percent of figures_cells' argument whole, not of a member. */
#define FIGURE_WHOLE SIZE_MAX

/* Conditions for a figure to be known or shown: bits of report.facts. */
#define FACT_SCHED (1u << 0)	  /* the scheduler was recorded */
#define FACT_UNKNOWN (1u << 1)	  /* some thread states are unknown */
#define FACT_POLL_COST (1u << 2)  /* the cost of a poll's probes is calibrated */
#define FACT_PROCESSES (1u << 3)  /* rows are processes, not threads */
#define FACT_HIT_COST (1u << 4)	  /* the cost of a probe hit is calibrated */
#define FACT_INTERRUPTS (1u << 5) /* interrupts were recorded */
#define FACT_FILE_IO (1u << 7)	  /* some rank called MPI_File_* */
#define FACT_COUNTED (1u << 6)	  /* some calls were counted but not recorded */
#define FACT_TRACING (1u << 8)	  /* tracing took 1 % or more of a rank's time */

struct figure {
	enum figure_kind kind;
	const char *key;    /* JSON member; NULL: text only */
	const char *header; /* column of the value; NULL: the share's column only, or JSON only */
	size_t at;	    /* offset in the row of a uint64_t, or of the type that kind requires */
	const char *share;  /* header of a column with the value in percent, or NULL */
	size_t of;	    /* percent of this: a member's offset, or FIGURE_WHOLE; see also kind */

	/*
	 * Losses (analysis/loss.h) that make the value too low, too high, or wrong in either
	 * direction. share_wrong: further losses that make only the share wrong.
	 */
	uint32_t low, high, wrong, share_wrong;
	/*
	 * Required facts. Unless all of known hold, JSON has null. Unless all of shown hold, the
	 * text has no column.
	 */
	uint32_t known, shown;

	bool no_zero; /* the text prints "-" for 0 */
	/* For figures_lines(): prints a line "<header> 1 <one>" or "<header> 3 <many>". */
	const char *one, *many;
	const struct figure *sub; /* the table of a FIGURE_TABLE */
};

/* Set members at and of. The file that defines the table defines ROW as the type of its rows. */
#define AT(member) .at = offsetof(ROW, member)
#define OF(member) .of = offsetof(ROW, member)

/* One unit and one precision for all times of a table. digits: decimals. */
struct text_unit {
	const char *name;
	double ns;
	int digits;
};
struct text_unit text_unit_for(uint64_t max_ns);

/* Writes the figures of a row as members of the open object. */
void figures_json(struct json_out *j, const struct figure *f, const void *row, uint32_t facts);

/* A text table with columns for figures. */
struct figure_table {
	const struct figure *figures;
	struct columns *c;
	struct text_unit unit;
	uint32_t facts;
};
void figures_columns(const struct figure_table *t);
/* whole: see FIGURE_WHOLE; lost: records missing from the row, bits of analysis/loss.h. */
void figures_cells(const struct figure_table *t, const void *row, uint64_t whole, uint32_t lost);
/* Adds the cell of one figure, without its share. */
void figure_cell(const struct figure_table *t, const struct figure *f, const void *row,
		 uint64_t whole, uint32_t lost);
/* Returns the value of a FIGURE_RATIO or FIGURE_FACTOR. */
double figure_real(const struct figure *f, const void *row);
/* Returns "~", "≥", "≤" or NULL, by what the losses do to the figure. */
const char *figure_mark(const struct figure *f, uint32_t lost);
/* Formats a ratio as "25 %", "2.5 %" or "0 %". Returns buf. */
#define RATIO_BYTES 32
char *ratio_text(char *buf, size_t bytes, double ratio);
/* Prints a line for each nonzero figure that has member one. */
void figures_lines(const struct figure *f, const void *row, FILE *out);

void cell_pct(struct columns *c, uint64_t part, uint64_t whole); /* "-" if whole is 0 */
void cell_count(struct columns *c, uint64_t n);
void cell_ns(struct columns *c, uint64_t ns); /* in a unit of its own, four digits */
void cell_bytes(struct columns *c, uint64_t bytes);
void cell_empty(struct columns *c);

/*
 * Returns "~" if lost has a bit of wrong, "≥" if it has a bit of low, else NULL. All three are bits
 * of analysis/loss.h. lost: the missing records; low: losses that make the figure too low; wrong:
 * losses that may make it wrong in either direction.
 */
const char *text_mark(uint32_t lost, uint32_t low, uint32_t wrong);

#endif
