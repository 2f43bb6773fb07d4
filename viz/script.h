/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A gnuplot script being written, in memory. Text that comes from a file or a command line gets into it only through
 * script_quoted: gnuplot runs what stands between backquotes.
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
};

void script_init(struct script *s);
void script_release(struct script *s);
/* Ends writing; text and bytes are valid after that. */
void script_finish(struct script *s);

void script_line(struct script *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* In single quotes; nothing in it means anything to gnuplot, not even as markup. */
void script_quoted(struct script *s, const char *text);

/* A file's name, in single quotes; ends the line. */
void script_path(struct script *s, const char *path);

/* Numbers for plot commands: begin gives the block its name, "$d1" and on. */
void script_block_begin(struct script *s);
void script_block_end(struct script *s);

/* A title's text: name in bold, then lines of text in a smaller font, wrapped at about `columns`. */
void script_title(struct script *s, const char *name, const char *const *lines, size_t columns);

#endif
