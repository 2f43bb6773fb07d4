/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sentences: the rules of classify.h at their limits (cases.h). A line is a kind of result and its
 * points, separated by "|". All lines of a case belong to one result, whose sentence is printed.
 *
 *   map BYTES FACTOR RATIO…       sizes from BYTES on, each FACTOR times the one before, with equal
 *                                 communication and computation times
 *   map BYTES FACTOR RATIO/WAIT…  the same with several computation times; WAIT: share of T_comm
 *   KIND VALUE… | VALUE…          points with the columns of columns[]; "-" is no value
 *   sizes BYTES…                  prints the class of each size
 *   disturbed TEXT                what disturbed it; prints the stored sentence instead
 */
#include <math.h>

#include "unit/test.h"
#include "core/classify.h"
#include "core/result_file.h"
#include "unit/cases.h"

#define COLUMNS_MAX 128 /* of a line of output */

/*
 * A column "$x" is a text parameter, "#x" an integer parameter, "~x" a time, "%x" six samples from
 * 0 to the value, and "x" a value.
 */
static const struct {
	const char *kind, *columns;
	enum result_kind result;
} columns[] = {
	{"point", "#bytes #compute_ns ~comm ~comp ratio ratio_low ratio_high too_short_ns",
	 RESULT_MAP},
	{"spread", "#bytes #compute_ns ~comm ~comp %added ratio", RESULT_MAP},
	{"load", "#threads ~comm ~measured late_pct ~late ratio_mean", RESULT_LOAD},
	{"broadcast", "$method #tasks ~latency steady max_task above_gaps $op $algorithm #bytes",
	 RESULT_BROADCAST},
	{"protocol", "$receiver #bytes eager", RESULT_PROTOCOL},
	{"curve", "#bytes ~measured", RESULT_CURVE},
	{"timers", "#ranks_per_core ~wtime ~cpu", RESULT_TIMERS},
	{"cost", "$clock ~reading", RESULT_COST},
	{"stencil", "#ranks_per_core ~comm ~comp overlap overlap_low overlap_high", RESULT_STENCIL},
};

static void samples_put(struct result_point *p, const char *name, double value, int cnt)
{
	struct samples s = {0};

	for (int i = 0; i < cnt; i++)
		samples_add(&s, cnt > 1 ? value * i / (cnt - 1) : value);
	result_time(p, name, &s);
	samples_release(&s);
}

static void column_put(struct result_point *p, const char *column, const char *text)
{
	if (!strcmp(text, "-"))
		return;
	if (*column == '$')
		result_param_text(p, column + 1, text);
	else if (*column == '#')
		result_param(p, column + 1, strtoull(text, NULL, 10));
	else if (*column == '~' || *column == '%')
		samples_put(p, column + 1, strtod(text, NULL), *column == '%' ? 6 : 1);
	else
		result_value(p, column, strtod(text, NULL));
}

/* Adds a point from its words, up to "|" or their end. Returns the words that are left. */
static const char *const *point_put(struct result *r, const char *names, const char *const *word)
{
	char *all = xstrdup(names), *rest;
	struct result_point *p = result_point_add(r);

	for (char *name = strtok_r(all, " ", &rest); name && *word && **word != '|'; word++) {
		column_put(p, name, *word);
		name = strtok_r(NULL, " ", &rest);
	}
	free(all);
	return *word ? word + 1 : word;
}

/* Puts a point of a map: T_comm is 10 us. */
static void map_put(struct result *r, uint64_t bytes, double comp, double ratio, double wait)
{
	struct result_point *p = result_point_add(r);

	result_param(p, "bytes", bytes);
	samples_put(p, "comm", 10000, 1);
	samples_put(p, "comp", comp, 1);
	if (!isnan(wait))
		samples_put(p, "send_wait", wait, 1);
	result_value(p, "ratio", ratio);
}

static void sizes_put(struct result *r, const struct cases_line *l)
{
	uint64_t bytes = cases_number(l, l->word[1]), factor = cases_number(l, l->word[2]);
	double ratio, wait;

	for (const char *const *word = l->word + 3; *word; word++, bytes *= factor) {
		if (sscanf(*word, "%lf/%lf", &ratio, &wait) < 2) {
			map_put(r, bytes, 10000, ratio, NAN);
			continue;
		}
		/* These two computations are too short for their waits to count. */
		map_put(r, bytes, 1000, ratio, NAN);
		map_put(r, bytes, 9000, ratio, 9000);
		map_put(r, bytes, 10000, ratio, 300 + wait * 10000);
		map_put(r, bytes, 20000, ratio, 300 + wait * 10000);
	}
}

struct play {
	struct result *r;
	bool disturbed;
	FILE *out;
};

static struct result *result_of(enum result_kind kind)
{
	struct result_about about = {.benchmark = "x", .group = "g", .kind = kind, .ranks = 2};

	return result_new(&about);
}

static void line_tell(void *ctx, const struct cases_line *l)
{
	static const char *const classes[] = {"unjudged", "overlap", "partial",
					      "none",	  "worse",   "mixed"};
	struct play *p = ctx;
	const char *const *word = l->word + 1;

	if (word_is(l->word[0], "sizes")) {
		for (; *word; word++)
			fprintf(p->out, "%s%s",
				classes[classify_size(p->r, cases_number(l, *word))],
				word[1] ? " " : "\n");
	} else if (word_is(l->word[0], "disturbed")) {
		result_disturbed(p->r, *word);
		p->disturbed = true;
	} else if (word_is(l->word[0], "map")) {
		p->r = p->r ? p->r : result_of(RESULT_MAP);
		sizes_put(p->r, l);
	} else {
		const int kind = cases_index(l->word[0], COUNT(columns), columns[i].kind);

		p->r = p->r ? p->r : result_of(columns[kind].result);
		while (*word)
			word = point_put(p->r, columns[kind].columns, word);
	}
}

/* Prints the sentence without "x: ". Continued lines begin with a space. */
static void sentence_print(const char *text, FILE *out)
{
	if (!text) {
		fputs("none\n", out);
		return;
	}
	assert_memory_equal(text, "x: ", 3);
	for (text += 3; strlen(text) > COLUMNS_MAX;) {
		int len = COLUMNS_MAX;

		while (text[len] != ' ')
			len--;
		fprintf(out, "%.*s\n", len, text);
		text += len;
	}
	fprintf(out, "%s\n", text);
}

static void classify_play(const struct script *lines, FILE *out)
{
	struct play p = {.out = out};
	char *text;

	cases_each(lines, line_tell, &p);
	if (p.disturbed) {
		classify_set(p.r);
		text = xstrdup(json_string_value(json_object_get(result_json(p.r), "sentence")));
	} else {
		text = classify_sentence(p.r);
	}
	sentence_print(text, out);
	free(text);
	result_free(p.r);
}

TEST(sentences)
{
	cases_run("classify", classify_play);
}
