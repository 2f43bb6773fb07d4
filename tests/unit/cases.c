/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See cases.h. */
#include "unit/cases.h"
#include "unit/test.h"
#include "unit/files.h"

#define PRESETS_MAX 16
#define COLUMNS 139
#define ARROW " -> "

struct preset {
	char *name;
	struct script lines;
};

struct reader {
	char *at; /* unread rest of the file */
	struct preset preset[PRESETS_MAX];
	uint32_t npreset;
	FILE *fresh; /* the file as it would be with the present output */
	uint32_t failed;
};

/* Returns the next line without its newline, or NULL. */
static char *line_next(struct reader *r)
{
	char *line = r->at, *end;

	if (!*line)
		return NULL;
	end = strchr(line, '\n');
	if (!end)
		fail_msg("the last line has no end");
	*end = '\0';
	r->at = end + 1;
	return line;
}

const char *words_after(const char *line, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(line, word, len) && line[len] == ' ' ? line + len + 1 : NULL;
}

static void line_add(struct reader *r, struct script *to, const char *line)
{
	const char *name = words_after(line, "use");

	if (!name) {
		script_add(to, line);
		return;
	}
	for (uint32_t i = 0; i < r->npreset; i++) {
		if (strcmp(r->preset[i].name, name) != 0)
			continue;
		for (size_t k = 0; k < r->preset[i].lines.cnt; k++)
			script_add(to, r->preset[i].lines.line[k]);
		return;
	}
	fail_msg("no preset %s", name);
}

static void lines_add(struct reader *r, struct script *to, char *line)
{
	char *end;

	if (!*line || *line == '#')
		return;
	for (; (end = strstr(line, " ; ")); line = end + 3) {
		*end = '\0';
		line_add(r, to, line);
	}
	line_add(r, to, line);
}

/* Reads a case's expected output, up to the first line that is not indented. Caller frees. */
static char *expected_read(struct reader *r)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	while (*r->at == ' ')
		fprintf(out, "%s\n", line_next(r));
	fclose(out);
	return text;
}

static char *output_plain(const struct script *lines, cases_play *play)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	play(lines, out);
	fclose(out);
	return text;
}

/* Joins short lines of output, as the lines of a case may be joined. */
static char *output_of(const struct script *lines, cases_play *play)
{
	char *plain = output_plain(lines, play), *text = NULL, *line, *end;
	size_t bytes, at = 0;
	FILE *out = open_memstream(&text, &bytes);

	for (line = plain; (end = strchr(line, '\n')); line = end + 1) {
		size_t len = (size_t)(end - line);
		bool joins = at && *line != ' ' && at + 3 + len <= COLUMNS;

		at = *line == ' ' ? 0 : joins ? at + 3 + len : 2 + len;
		fprintf(out, "%s%.*s",
			joins	      ? " ; " :
			line == plain ? "  " :
					"\n  ",
			(int)len, line);
	}
	if (line != plain)
		fputc('\n', out);
	fclose(out);
	free(plain);
	return text;
}

static void case_check(struct reader *r, const char *name, const struct script *lines,
		       cases_play *play)
{
	char *want = expected_read(r), *got = output_of(lines, play);

	if (strcmp(want, got) != 0) {
		print_error("case %s\n  expected:\n%s  got:\n%s", name, want, got);
		r->failed++;
	}
	fputs(got, r->fresh);
	free(want);
	free(got);
}

/* Checks the cases of a line with one or more "LINE -> OUTPUT". */
static void pairs_check(struct reader *r, char *line, cases_play *play)
{
	const char *separator = "";

	for (char *next = line, *want; (line = next); separator = " ; ") {
		struct script one = {0};
		char *got, *end;

		next = strstr(line, " ; ");
		if (next) {
			*next = '\0';
			next += 3;
		}
		want = strstr(line, ARROW);
		if (!want)
			fail_msg("no output: %s", line);
		*want = '\0';
		want += strlen(ARROW);
		script_add(&one, line);
		got = output_plain(&one, play);
		end = strrchr(got, '\n');
		if (end && !end[1])
			*end = '\0';
		if (strcmp(want, got) != 0) {
			print_error("%s\n  expected: %s\n  got:      %s\n", line, want, got);
			r->failed++;
		}
		fprintf(r->fresh, "%s%s%s%s", separator, line, ARROW, got);
		script_release(&one);
		free(got);
	}
	fputc('\n', r->fresh);
}

/* Returns the name in "NAME ; LINE"; caller frees. Adds the lines. */
static char *header_read(struct reader *r, struct script *lines, const char *header)
{
	char *name = xstrdup(header), *end = strstr(name, " ; ");

	if (end) {
		lines_add(r, lines, end + 3);
		*end = '\0';
	}
	return name;
}

/* True before the expected output, or where there is none. */
static bool case_ends(const struct reader *r)
{
	return strchr(" \n", *r->at) || words_after(r->at, "case");
}

static void file_read(struct reader *r, cases_play *play)
{
	struct script lines = {0}, *to = NULL;
	char *line, *name = NULL;

	while ((line = line_next(r))) {
		const char *preset = words_after(line, "preset"), *test = words_after(line, "case");

		if (*line != '#' && strstr(line, ARROW)) {
			pairs_check(r, line, play);
			continue;
		}
		fprintf(r->fresh, "%s\n", line);
		if (preset) {
			assert_true(r->npreset < PRESETS_MAX);
			to = &r->preset[r->npreset].lines;
			r->preset[r->npreset++].name = header_read(r, to, preset);
		} else if (test) {
			free(name);
			to = &lines;
			name = header_read(r, to, test);
		} else if (to) {
			lines_add(r, to, line);
		} else if (*line && *line != '#') {
			fail_msg("in no case: %s", line);
		}
		if (to == &lines && case_ends(r)) {
			case_check(r, name, &lines, play);
			script_release(&lines);
			to = NULL;
		}
	}
	free(name);
}

void cases_run(const char *name, cases_play *play)
{
	char *path = xasprintf("tests/unit/cases/%s.txt", name), *fresh = NULL;
	struct reader r = {0};
	uint8_t *data;
	size_t len;
	char *text;

	file_load(path, &data, &len);
	r.at = text = xasprintf("%.*s", (int)len, (const char *)data);
	r.fresh = open_memstream(&fresh, &len);
	file_read(&r, play);
	fclose(r.fresh);
	if (r.failed && getenv("POV_GOLDEN_UPDATE"))
		file_store(path, fresh, len);
	for (uint32_t i = 0; i < r.npreset; i++) {
		free(r.preset[i].name);
		script_release(&r.preset[i].lines);
	}
	free(path);
	free(data);
	free(text);
	free(fresh);
	if (r.failed)
		fail_msg("%u cases of %s differ", r.failed, name);
}

/* ---- lines of words ---- */

#define PARTS_MAX 4 /* parts of a repeat */

bool word_is(const char *a, const char *b)
{
	return a && !strcmp(a, b);
}

static void line_split(struct cases_line *l, const char *text, size_t len)
{
	char *rest;
	int n = 0;

	*l = (struct cases_line){.copy = xasprintf("%.*s", (int)len, text)};
	for (char *s = strtok_r(l->copy, " ", &rest); s; s = strtok_r(NULL, " ", &rest)) {
		if (n == CASES_WORDS)
			fail_msg("too many words: %s", text);
		l->word[n++] = s;
	}
}

static void line_repeat(const char *line, cases_tell *tell, void *ctx)
{
	struct cases_line part[PARTS_MAX];
	unsigned int n, step, nparts = 0;
	size_t len;

	if (sscanf(line, "repeat %u step %u:", &n, &step) != 2)
		fail_msg("%s", line);
	for (const char *at = strchr(line, ':') + 2; *at; at += len + 2 * (at[len] == ',')) {
		const char *end = strstr(at, ", ");

		assert_true(nparts < PARTS_MAX);
		len = end ? (size_t)(end - at) : strlen(at);
		line_split(&part[nparts++], at, len);
	}
	for (unsigned int i = 0; i < n * nparts; i++) {
		struct cases_line *l = &part[i % nparts];

		l->round = i / nparts;
		l->shift_ns = l->round * step;
		tell(ctx, l);
	}
	while (nparts--)
		free(part[nparts].copy);
}

void cases_each(const struct script *lines, cases_tell *tell, void *ctx)
{
	for (size_t i = 0; i < lines->cnt; i++) {
		const char *line = lines->line[i];
		struct cases_line l;

		if (words_after(line, "show"))
			continue;
		if (words_after(line, "repeat")) {
			line_repeat(line, tell, ctx);
			continue;
		}
		line_split(&l, line, strlen(line));
		tell(ctx, &l);
		free(l.copy);
	}
}

bool cases_shows(const struct script *lines, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < lines->cnt; i++) {
		const char *at = words_after(lines->line[i], "show");

		for (; at && *at; at += strcspn(at, " "), at += *at == ' ')
			if (strcspn(at, " ") == len && !strncmp(at, word, len))
				return true;
	}
	return false;
}

uint64_t cases_number(const struct cases_line *l, const char *word)
{
	char *end;
	uint64_t value;

	if (!word)
		fail_msg("a number is missing");
	value = strtoull(word, &end, 0);
	if (!strcmp(end, "+i"))
		return value + l->round;
	if (end == word)
		fail_msg("no number: %s", word);
	return value;
}

uint64_t cases_time(const struct cases_line *l, const char *word)
{
	return cases_number(l, word) + l->shift_ns;
}

void cases_span(const struct cases_line *l, const char *word, uint64_t *begin_ns, uint64_t *end_ns)
{
	unsigned long long begin = 0, end = 0;
	int n = word ? sscanf(word, "%llu..%llu", &begin, &end) : 0;

	if (n < 1)
		fail_msg("no span: %s", word ? word : "");
	*begin_ns = begin + l->shift_ns;
	*end_ns = n == 2 ? end + l->shift_ns : 0;
}

const char *cases_text_kept(struct script *texts, const char *word)
{
	char *kept;

	if (!word)
		return NULL;
	script_add(texts, word);
	kept = texts->line[texts->cnt - 1];
	for (char *at = kept; (at = strchr(at, '_'));)
		*at = ' ';
	return kept;
}

/* ---- output ---- */

void cases_figures_print(FILE *out, const struct cases_figure *f)
{
	for (; f->name; f++)
		if (f->value)
			fprintf(out, " %s=%llu", f->name, (unsigned long long)f->value);
}

void cases_text(FILE *out, char *text, const char *until, const char *but)
{
	char *rest;

	for (char *line = strtok_r(text, "\r\n", &rest); line;
	     line = strtok_r(NULL, "\r\n", &rest)) {
		if (until && strstr(line, until))
			break;
		if (!but || !strstr(line, but))
			fprintf(out, " %s\n", line);
	}
}
