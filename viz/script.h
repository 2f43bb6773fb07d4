/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A gnuplot script being written, in memory. Text that comes from a file or a command line gets into it only through
 * script_quoted: gnuplot runs what stands between backquotes. The rows of its data blocks are written into tables as well,
 * so that what --tsv prints is what is drawn.
 */
#ifndef POVPLOT_SCRIPT_H
#define POVPLOT_SCRIPT_H

#include <stddef.h>
#include <stdio.h>

struct script {
	FILE *out; /* for numbers and for words of ours */
	char *text;
	size_t bytes;
	unsigned int block_cnt; /* data blocks begun; the last one is $d<block_cnt> */

	const char *picture; /* its name, for the tables' heads */
	FILE *table_out;
	char *table_text; /* tab-separated */
	size_t table_bytes;
	size_t column_cnt; /* of the table that rows go to; 0: none has begun */
	size_t word_cnt;   /* columns that are of the block */
	char *words;	   /* the block's, before each row; owned */
};

void script_init(struct script *s);
void script_release(struct script *s);
/* Ends writing; text, table_text and their bytes are valid after that. */
void script_finish(struct script *s);

void script_line(struct script *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* In single quotes; nothing in it means anything to gnuplot, not even as markup. */
void script_quoted(struct script *s, const char *text);

/* A file's name, in single quotes; ends the line. */
void script_path(struct script *s, const char *path);

/* A table for the blocks that follow. about: what it is of; columns: their names, with tabs between them. */
void script_table(struct script *s, const char *about, const char *columns);
/*
 * Numbers for plot commands: begin gives the block its name, "$d1" and on. words, which end with NULL, are the first columns of all
 * its rows in the table.
 */
void script_block_begin(struct script *s, const char *const *words);
/* Values with tabs between them. Those for which the table has no more columns are in the script only. */
void script_row(struct script *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void script_block_end(struct script *s);

/* A title's text: name in bold, then lines of text in a smaller font, wrapped at about `columns`. */
void script_title(struct script *s, const char *name, const char *const *lines, size_t columns);

#endif
