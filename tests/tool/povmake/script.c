/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Runs the statements of a script in order. povmake.c has the syntax. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "tool/povmake/maker.h"

void bad(const struct maker *m, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	die("povmake: line %zu: %s\n  %s", m->lineno + 1, text, m->script.line[m->lineno]);
}

static void do_record(struct maker *m, const struct record_kind *k, char *args)
{
	bool identity = k->kind >= POV_KIND_TASK && k->kind <= POV_KIND_LIMIT;
	int err;

	record_fill(m, k, args);
	err = trace_writer_add(m->w, identity ? TRACE_STREAM_TASKS : record_stream(m, k),
			       &m->rec.hdr);
	if (err == -EFBIG)
		log_warn("povmake: line %zu: size limit reached, record dropped", m->lineno + 1);
	else if (err)
		exit(1);
}

/* Returns RING:CLASS:CNT,… as members of a JSON array; caller frees. */
static char *drops_json(const struct maker *m, char *s)
{
	char *json = xstrdup(""), *longer, class[16];
	unsigned long long cnt;
	unsigned int ring;

	for (char *d = strtok(s, ","); d; d = strtok(NULL, ",")) {
		if (sscanf(d, "%u:%15[a-z0-9]:%llu", &ring, class, &cnt) != 3)
			bad(m, "expected RING:CLASS:CNT, not %s", d);
		longer = xasprintf(
			"%s%s{\"ring\":%u,\"class\":%u,\"cnt\":%llu}", json, *json ? "," : "", ring,
			(unsigned int)by_name(m, record_class_names, POV_CLASS_CNT, class), cnt);
		free(json);
		json = longer;
	}
	return json;
}

static void do_end(struct maker *m, char *args)
{
	const char *reason = "exit";
	char *name, *value, *json, *drops = NULL;
	uint64_t ts = 0;

	while (next_pair(m, &args, &name, &value)) {
		if (!strcmp(name, "ts"))
			ts = whole_number(m, value);
		else if (!strcmp(name, "reason"))
			reason = value;
		else if (!strcmp(name, "drops"))
			drops = drops_json(m, value);
		else
			bad(m, "end has no %s", name);
	}
	json = xasprintf("{\"type\":\"end\",\"ts_ns\":%llu,\"reason\":\"%s\",\"drops\":[%s],"
			 "\"misses\":{},\"stats\":{}}",
			 (unsigned long long)(ts + m->shift_ns), reason, drops ? drops : "");
	if (trace_writer_meta_text(m->w, json, 0))
		exit(1);
	free(drops);
	free(json);
}

static size_t block_end(struct maker *m, size_t from)
{
	int depth = 1;

	for (size_t i = from; i < m->script.cnt; i++) {
		const char *s = m->script.line[i] + strspn(m->script.line[i], " \t");

		if (*s == '}' && !--depth)
			return i;
		if (!strncmp(s, "repeat ", 7))
			depth++;
	}
	bad(m, "no } for this");
}

static void do_lines(struct maker *m, size_t from, size_t to);

static void do_repeat(struct maker *m, const char *args)
{
	size_t first = m->lineno + 1, last = block_end(m, first), self = m->lineno;
	uint64_t shift = m->shift_ns, round = m->round;
	unsigned long long n, step = 0;

	if (sscanf(args, "%llu step=%llu", &n, &step) < 1 || !strchr(args, '{'))
		bad(m, "expected: repeat N step=NS {");
	for (unsigned long long i = 0; i < n; i++) {
		m->shift_ns = shift + i * step;
		m->round = i;
		do_lines(m, first, last);
	}
	m->shift_ns = shift;
	m->round = round;
	m->lineno = self + (last - first) + 1;
}

static bool is_word(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && !strncmp(s, word, len);
}

static const struct record_kind *kind_find(const char *name, size_t len)
{
	for (const struct record_kind *k = NULL; (k = record_kind_next(k));)
		if (is_word(name, len, k->name))
			return k;
	return NULL;
}

static void do_line(struct maker *m, char *line)
{
	static const struct record_flag no_flag = {NULL, 0};
	static const struct record_member no_member = {.name = NULL};
	static const struct record_kind raw = {.name = "raw",
					       .fixed_bytes = sizeof(struct pov_hdr),
					       .member = &no_member,
					       .flag = &no_flag};
	char *word = line + strspn(line, " \t");
	size_t len = strcspn(word, " \t");
	char *args = word + len + strspn(word + len, " \t");
	const struct record_kind *k;

	if (!len || *word == '#')
		return;
	k = is_word(word, len, "raw") ? &raw : kind_find(word, len);
	if (k)
		do_record(m, k, args);
	else if (is_word(word, len, "meta")) {
		if (trace_writer_meta_text(m->w, args, 0))
			exit(1);
	} else if (is_word(word, len, "stream"))
		m->stream = (unsigned int)strtoul(args, NULL, 0);
	else if (is_word(word, len, "flush"))
		trace_writer_flush(m->w, UINT64_MAX);
	else if (is_word(word, len, "end"))
		do_end(m, args);
	else if (is_word(word, len, "cut"))
		m->cut = true;
	else if (is_word(word, len, "repeat"))
		do_repeat(m, args);
	else
		bad(m, "unknown statement");
}

static void do_lines(struct maker *m, size_t from, size_t to)
{
	for (m->lineno = from; m->lineno < to; m->lineno++) {
		char *copy = xstrdup(m->script.line[m->lineno]);

		do_line(m, copy);
		free(copy);
	}
}

void maker_run(struct maker *m)
{
	do_lines(m, 0, m->script.cnt);
}

void maker_put(struct maker *m, const char *fmt, ...)
{
	struct script whole = m->script;
	char line[2048], *lines[] = {line};
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (len >= (int)sizeof(line))
		die("povmake: too long: %s", line);
	m->script = (struct script){lines, 1};
	maker_run(m);
	m->script = whole;
}
