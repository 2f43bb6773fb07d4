/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Tests as text: tests/unit/cases/NAME.txt has the input of each case next to its expected output.
 *
 *   # comment, anywhere but in expected output
 *   preset NAME      a list of lines that cases share
 *   case NAME        up to an empty line; after " ; " lines of a preset or case may follow its name
 *   use PRESET       the lines of a preset
 *   LINE             of the module's own language; " ; " separates several on one line
 *     LINE           exactly what the module's driver prints, indented by two spaces; short lines
 *                    are joined by " ; "
 *   LINE -> OUTPUT   a short case: the driver plays LINE alone and prints OUTPUT; " ; " separates
 *                    several
 *
 * If the output differs, the test prints both. With POV_GOLDEN_UPDATE=1 it also rewrites the file.
 *
 * cases_each() reads languages whose lines are words. It handles two lines itself:
 *
 *   show WORD…                          what the driver prints; cases_shows() tests for it
 *   repeat N step NS: LINE, LINE…       all times are NS later in each round; "+i" in a number adds
 *                                       the round, from 0 on
 */
#ifndef POV_TESTS_CASES_H
#define POV_TESTS_CASES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tool/povmake/lines.h"

/* Plays the lines of one case and prints the result. */
typedef void cases_play(const struct script *lines, FILE *out);

void cases_run(const char *name, cases_play *play);
/* Returns the rest of the line if its first word is `word`, else NULL. */
const char *words_after(const char *line, const char *word);

/* ---- lines of words ---- */

#define CASES_WORDS 40

struct cases_line {
	char *copy;
	const char *word[CASES_WORDS + 1]; /* ends with NULL */
	uint64_t shift_ns, round;
};

typedef void cases_tell(void *ctx, const struct cases_line *l);
void cases_each(const struct script *lines, cases_tell *tell, void *ctx);
bool cases_shows(const struct script *lines, const char *word);

bool word_is(const char *a, const char *b);
uint64_t cases_number(const struct cases_line *l, const char *word);
uint64_t cases_time(const struct cases_line *l, const char *word);
/* Reads BEGIN..END; without END, it is 0. */
void cases_span(const struct cases_line *l, const char *word, uint64_t *begin_ns, uint64_t *end_ns);
/* Returns the word with spaces for "_", or NULL for NULL. It lives as long as texts. */
const char *cases_text_kept(struct script *texts, const char *word);
/* The first i below n for which the expression of i equals the word. */
#define cases_index(word, n, expression)                                  \
	({                                                                \
		const char *wanted = (word);                              \
		int i = 0;                                                \
		while (i < (int)(n) && !word_is(expression, wanted))      \
			i++;                                              \
		if (i == (int)(n))                                        \
			fail_msg("there is no %s", wanted ? wanted : ""); \
		i;                                                        \
	})

/* ---- output ---- */

/* Prints " NAME=VALUE" for each value except 0, and ends the line. */
#define cases_figures(out, ...)                       \
	do {                                          \
		cases_figures_part(out, __VA_ARGS__); \
		fputc('\n', out);                     \
	} while (0)
#define cases_figures_part(out, ...) \
	cases_figures_print(out, (const struct cases_figure[]){__VA_ARGS__, {NULL, 0}})
struct cases_figure {
	const char *name;
	uint64_t value;
};
void cases_figures_print(FILE *out, const struct cases_figure *f);
/*
 * Prints text, each line after a space, which keeps lines from being joined. Stops at the first
 * line that contains `until`, and leaves out lines that contain `but`; NULL: none does.
 */
void cases_text(FILE *out, char *text, const char *until, const char *but);

#endif
