/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The report as a page: one HTML file without scripts or references to anything outside. Its parts: html.c (the whole, and its head),
 * html_put.c (text, tables, commands), html_rows.c (which ranks share a row), html_account.c (efficiency, account, causes), html_map.c
 * and html_stretches.c (ranks by time), html_pairs.c (who waited for whom, messages). Numbers and tables are those of the text, from section.h. Nobody else
 * includes this.
 */
#ifndef POV_REPORT_HTML_H
#define POV_REPORT_HTML_H

#include "analysis/moment_band.h"
#include "report/section.h"

/* Rows of the map and of large matrices: ranks, or several of them together. */
#define HTML_ROWS_MAX 64
struct html_rows {
	uint32_t *of; /* by idx of processes; MOMENT_NO_ROW: none; owned */
	uint32_t n;
	char **label;	 /* of each row: "rank 3", "ranks 4–7"; owned */
	uint32_t *ranks; /* how many share it; owned */
	uint32_t *host;	 /* of its first rank; owned */
	bool folded;	 /* ranks share rows */
	bool by_node;	 /* and only those of a node; rows of a node are neighbours */
};

struct html {
	FILE *out;
	const struct report *r;
	char *recordings; /* for commands: files and options, quoted for a shell; owned. NULL: not kept */
	struct html_rows rows;
	struct moment_bands bands; /* without columns: there is no map */
};

/* ---- html_put.c ---- */

/* Markup, and numbers: no text of a trace. */
void html_put(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Text, escaped: for elements and attributes. What is not printable becomes '?'. */
void html_text(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A paragraph of text; class may be NULL. */
void html_paragraph(struct html *h, const char *class, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A section with its heading; id: of the page's own. */
void html_section_begin(struct html *h, const char *id, const char *title);
void html_section_end(struct html *h);
/* What a text form of a section prints, as paragraphs. */
void html_notes(struct html *h, void (*print)(const struct report *r, FILE *out));
/* The same as it is, in lines. */
void html_preformatted(struct html *h, void (*print)(const struct report *r, FILE *out));
/* Text that was printed to memory, as paragraphs: wrapped lines are joined. Frees it. */
void html_printed(struct html *h, char *text);
/*
 * A finished table, which it frees: its first column names the rows. moment: of each row, from and to, for a last column of commands; or
 * NULL. A row whose `to` is 0 has none.
 */
struct html_moment {
	uint64_t from_ns, to_ns;
};
void html_table(struct html *h, struct columns *c, const char *caption,
		const struct html_moment *moment);
/* The command that draws a moment, as text to copy; nothing if the recording is not kept. */
void html_command(struct html *h, struct html_moment at);
/* A moment and a quarter more at either side, so that its ends are seen. */
struct html_moment html_around(const struct report *r, struct html_moment at);
/* A stroke in an SVG: the class of a state or of an account's class (page.css). */
void html_stroke(struct html *h, const char *class, double x, double y, double width,
		 double height);
/* "3", "1:3": see rank_label(); with "rank " before. Caller frees. */
char *html_rank_name(const struct report *r, uint32_t process);
/* Quoted for a shell where that is needed. Caller frees. */
char *html_quoted(const char *word);

/* ---- html_rows.c ---- */

void html_rows_make(struct html_rows *rows, const struct report *r);
/* From the first one of a node's rows: how many it has. */
uint32_t html_rows_of_node(const struct html_rows *rows, uint32_t first);
void html_rows_release(struct html_rows *rows);

/* ---- html_account.c ---- */

void html_efficiency(struct html *h);
void html_account(struct html *h);
void html_causes(struct html *h);

/* ---- html_map.c ---- */

#define HTML_MAP_COLUMNS 176

/* Replays the recording once more. 0 or -errno (printed). */
int html_map_replay(struct html *h);
void html_map(struct html *h);
/* The columns of a row. */
const struct moment_cell *html_map_row(const struct html *h, uint32_t row);
/* A state (enum moment_state) in the words of the account. */
const char *html_map_state(const struct html *h, int state);

/* ---- html_stretches.c ---- */

void html_stretches(struct html *h);

/* ---- html_pairs.c ---- */

void html_waits(struct html *h);
void html_messages(struct html *h);

#endif
