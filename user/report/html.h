/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The report as one HTML file without scripts or references to external files. Its numbers and
 * tables are those of the text, from section.h. Only these parts of the page include this header:
 *	html.c			the whole page, and its head
 *	html_put.c		text, tables, commands
 *	html_rank_timeline.c	ranks over time
 *	html_parts.c		efficiency, account, causes; which ranks waited for which; messages
 */
#ifndef POV_REPORT_HTML_H
#define POV_REPORT_HTML_H

#include "analysis/moment_band.h"
#include "report/section.h"

/* Rows of the map and of large matrices. A row is one rank, or several that share it. */
#define HTML_ROWS_MAX 64
struct html_rows {
	uint32_t *of; /* row by process index; MOMENT_NO_ROW: no row; owned */
	uint32_t n;
	char **label;	 /* by row: "rank 3", "ranks 4–7"; owned */
	uint32_t *ranks; /* by row: number of ranks that share it; owned */
	uint32_t *host;	 /* by row: host of its first rank; owned */
	bool folded;	 /* some ranks share a row */
	bool by_node;	 /* only ranks of one node share a row; a node's rows are adjacent */
};

struct html {
	FILE *out;
	const struct report *r;
	/* files and options for commands, quoted for a shell; owned; NULL: recording is not kept */
	char *recordings;
	struct html_rows rows;
	/* states of ranks by time; without columns, the page has no map */
	struct moment_bands bands;
};

/* ---- html_put.c ---- */

/* Prints markup and numbers unescaped. Never pass text from a trace. */
void html_put(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints escaped text, for elements and attributes. Unprintable characters become '?'. */
void html_text(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints a paragraph of escaped text. class may be NULL. */
void html_paragraph(struct html *h, const char *class, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Begins a section with its heading. id: a literal of the page, not text from a trace. */
void html_section_begin(struct html *h, const char *id, const char *title);
void html_section_end(struct html *h);
/* Runs a print function of the text report and puts its output as paragraphs. */
void html_notes(struct html *h, void (*print)(const struct report *r, FILE *out));
/* Like html_notes(), but keeps the lines as they are. */
void html_preformatted(struct html *h, void (*print)(const struct report *r, FILE *out));
/* A part of the recording, in the trace's time. */
struct html_moment {
	uint64_t from_ns, to_ns;
};
/*
 * Prints a finished table and frees it. Its first column names the rows. moment, unless NULL, has
 * one entry per row and adds a last column with a command for each. A row whose to_ns is 0 has no
 * command.
 */
void html_table(struct html *h, struct columns *c, const char *caption,
		const struct html_moment *moment);
/* Prints the command that draws a moment, for copying. Prints nothing if h->recordings is NULL. */
void html_command(struct html *h, struct html_moment at);
/* Widens a moment by a quarter on each side, so that a picture shows its ends. */
struct html_moment html_around(const struct report *r, struct html_moment at);
/*
 * Draws a bar at the top of an SVG. class: a thread state or a class of the account, as in
 * page.css.
 */
void html_stroke(struct html *h, const char *class, double x, double width, double height);
/* "rank 3", "rank 1:3" (see rank_label()); "app (pid 4711)" if it has no rank. Caller frees. */
char *html_rank_name(const struct report *r, uint32_t process);
/* Quotes a word for a shell if it needs quoting. Caller frees. */
char *html_quoted(const char *word);

/* ---- html_parts.c ---- */

/*
 * The CSS class (page.css) for a class of the account. ACCOUNT_CLASSES: for the sum of small
 * classes.
 */
const char *html_account_class(int class);
void html_efficiency(struct html *h);
void html_account(struct html *h);
void html_causes(struct html *h);
void html_waits(struct html *h);
void html_messages(struct html *h);

/* ---- html_rank_timeline.c ---- */

uint32_t html_rows_of_node(const struct html_rows *rows, uint32_t first);

#define HTML_MAP_COLUMNS 176

/* Replays the recording once more. Returns 0 or -errno (printed). */
int html_map_replay(struct html *h);
void html_map(struct html *h);

#endif
