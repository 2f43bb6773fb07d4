/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povmake [-l MAX_BYTES] SCRIPT OUT.pov: makes a trace from a text script ("-" reads stdin). Tests
 * only. What `povtrace info --dump` prints is a valid script. One statement a line; "#" begins a
 * comment.
 *
 * Statements
 *   meta JSON                  a meta block
 *   stream N                   stream of the records that follow (start: 0); identity records (task, fork,
 *                              exec, exit, rename, affinity, image, caller) always go to the task stream
 *   flush                      close all open blocks
 *   end ts=NS [reason=TEXT] [drops=RING:CLASS:CNT,…]   the "end" meta block
 *   cut                        as if killed: open blocks are written, the end block is missing
 *   repeat N step=NS {         the lines up to "}" N times; in round i every ts, begin and since is
 *     …                        i × NS later. Nests: shifts add up.
 *   }
 *
 * Records: the kind, then name=value in any order; what is missing is 0.
 *   switch ts prev next cpu state prev_prio next_prio flags=preempted
 *   waking ts tid target cpu target_cpu prio flags=new|irq            (tid: the waker)
 *   migrate ts tid from to cpu
 *   irq ts tid dur cpu vec flags=soft
 *   call ts dur tid tgid func depth ret site cpu lib flags=open,unwound,fault,more,partial args=A,B,…
 *        in=ARG[/CNT]:DATA out=ARG[/CNT]:DATA sum=ARG[/CNT]:N tsize=ARG:N comm=ARG:CONTEXT,iRANK,iSIZE
 *        work=ARG/CNT:DATA ends=ARG:DATA message=ARG:DATA             (struct pov_work, pov_field_ends, pov_field_message)
 *   callbegin ts tid begin tgid func depth
 *   region ts tid tgid region sp cpu flags=end,chained
 *   spin ts dur tid tgid site depth cpu flags=open funcs=FUNC:CNT:BUSY_NS[:ARG[:LIB]],…
 *   more ts tid begin first type=in|out|work arg data=DATA
 *   task, exec, rename ts tid tgid ppid state cpu on_cpu kthread comm start
 *   fork ts tid child tgid parent_tgid comm                           (tgid: the child's)
 *   exit ts tid tgid code
 *   caller ts tid tgid
 *   affinity ts tid tgid cpus=0-3,7
 *   image ts tid tgid dev ino start len off stamp flags=new
 *   lost ts since cnt ring class=call|spin|more|sched|irq|task
 *   raw ts tid kind flags=N data=DATA                                 any kind
 *
 * Values: 12, 0x1f, -1; within repeat also BASE+STEP*i (i: the innermost round). Text: word or
 * "quoted", with \xNN. DATA: comma-separated, N = 8 bytes, iN = 4 bytes, bHH = 1 byte; CNT
 * defaults to how many.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/event.h"
#include "base/log.h"
#include "trace/trace_format.h"
#include "trace/trace_text.h"
#include "trace/trace_write.h"

struct script {
	char **line;
	size_t cnt;
};

struct maker {
	struct script script;
	struct trace_writer *w;
	size_t lineno; /* index */
	uint64_t shift_ns;
	uint64_t round;
	unsigned int stream;
	bool cut;
	union {
		struct pov_hdr hdr;
		uint64_t words[TRACE_RECORD_MAX / 8];
		uint8_t bytes[TRACE_RECORD_MAX];
	} rec;
	size_t size; /* of rec so far */
};

static void __attribute__((format(printf, 2, 3), noreturn))
bad(const struct maker *m, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	die("povmake: line %zu: %s\n  %s", m->lineno + 1, text, m->script.line[m->lineno]);
}

/* ---- values ---- */

static uint64_t number(const struct maker *m, const char **p)
{
	const char *s = *p;
	char *end;
	uint64_t v, step;

	errno = 0;
	v = *s == '-' ? (uint64_t)strtoll(s, &end, 0) : strtoull(s, &end, 0);
	if (end == s || errno)
		bad(m, "not a number: %s", s);
	if (*end == '+') {
		s = end + 1;
		step = *s == '-' ? (uint64_t)strtoll(s, &end, 0) : strtoull(s, &end, 0);
		if (end == s || end[0] != '*' || end[1] != 'i')
			bad(m, "expected BASE+STEP*i");
		v += step * m->round;
		end += 2;
	}
	*p = end;
	return v;
}

static uint64_t whole_number(const struct maker *m, const char *s)
{
	uint64_t v = number(m, &s);

	if (*s)
		bad(m, "junk behind a number: %s", s);
	return v;
}

static bool skip(const char **p, char c)
{
	if (**p != c)
		return false;
	++*p;
	return true;
}

static void expect(const struct maker *m, const char **p, char c)
{
	if (!skip(p, c))
		bad(m, "expected '%c' before: %s", c, *p);
}

static void append(struct maker *m, const void *data, size_t bytes)
{
	if (m->size + bytes > TRACE_RECORD_MAX)
		bad(m, "record exceeds %u bytes", TRACE_RECORD_MAX);
	memcpy(m->rec.bytes + m->size, data, bytes);
	m->size += bytes;
}

static void pad8(struct maker *m)
{
	static const uint8_t zero[8];

	append(m, zero, -m->size & 7);
}

/* Appends DATA to the record; returns the number of elements. */
static uint32_t append_data(struct maker *m, const char *s)
{
	uint32_t cnt = 0;

	while (*s) {
		size_t bytes = skip(&s, 'i') ? 4 : skip(&s, 'b') ? 1 : 8;
		char hex[3] = {0};
		uint64_t v;

		if (bytes == 1) {
			memcpy(hex, s, strnlen(s, 2));
			v = strtoul(hex, NULL, 16);
			s += strlen(hex);
		} else {
			v = number(m, &s);
		}
		append(m, &v, bytes);
		cnt++;
		if (*s)
			expect(m, &s, ',');
	}
	return cnt;
}

static uint64_t by_name(const struct maker *m, const char *const *names, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (names[i] && !strcmp(names[i], s))
			return i;
	return whole_number(m, s);
}

static void set_member(struct maker *m, const struct text_member *t, const char *s)
{
	uint8_t *p = m->rec.bytes + t->offset;
	uint64_t v;

	if (t->form == TEXT_COMM) {
		strncpy((char *)p, s, t->bytes);
		return;
	}
	if (t->form == TEXT_CLASS)
		v = by_name(m, text_class_names, POV_CLASS_CNT, s);
	else if (t->form == TEXT_TYPE)
		v = by_name(m, text_field_names, TEXT_FIELD_NAMES_CNT, s);
	else
		v = whole_number(m, s);
	if (!strcmp(t->name, "begin") || !strcmp(t->name, "since"))
		v += m->shift_ns;
	memcpy(p, &v, t->bytes);
}

/* ---- variable parts ---- */

static void set_args(struct maker *m, const char *s)
{
	struct pov_call *c = (struct pov_call *)m->rec.bytes;

	if (c->nargs || m->size != sizeof(*c))
		bad(m, "args= must come before fields");
	c->nargs = (uint8_t)append_data(m, s);
	if (c->nargs > POV_CALL_ARGS_MAX || m->size != sizeof(*c) + 8u * c->nargs)
		bad(m, "at most %u args, 8 bytes each", POV_CALL_ARGS_MAX);
}

static void add_field(struct maker *m, uint64_t type, const char *s)
{
	struct pov_field f = {.type = (uint8_t)type};
	size_t at = m->size;
	uint32_t cnt;
	bool told;

	f.arg = (uint8_t)number(m, &s);
	told = skip(&s, '/');
	if (told)
		f.cnt = (uint32_t)number(m, &s);
	expect(m, &s, ':');
	append(m, &f, sizeof(f));
	cnt = append_data(m, s);
	if (!told)
		f.cnt = type == POV_FIELD_IN || type == POV_FIELD_OUT ? cnt : 1;
	f.size = (uint16_t)(m->size - at - sizeof(f));
	memcpy(m->rec.bytes + at, &f, sizeof(f));
	pad8(m);
}

static void set_funcs(struct maker *m, const char *s)
{
	struct pov_spin *spin = (struct pov_spin *)m->rec.bytes;

	while (*s) {
		struct pov_spin_func f = {.func = (uint16_t)number(m, &s)};

		expect(m, &s, ':');
		f.cnt = number(m, &s);
		expect(m, &s, ':');
		f.busy_ns = number(m, &s);
		if (skip(&s, ':'))
			f.arg = number(m, &s);
		if (skip(&s, ':'))
			f.lib = (uint16_t)number(m, &s);
		append(m, &f, sizeof(f));
		spin->nfuncs++;
		if (*s)
			expect(m, &s, ',');
	}
}

static void set_cpus(struct maker *m, const char *s)
{
	struct pov_affinity *a = (struct pov_affinity *)m->rec.bytes;

	a->nr_cpus = 0;
	while (*s) {
		uint64_t from = number(m, &s), to = skip(&s, '-') ? number(m, &s) : from;

		for (; from <= to && from < 64 * POV_CPUMASK_WORDS; from++, a->nr_cpus++)
			a->mask[from / 64] |= 1ull << (from % 64);
		if (*s)
			expect(m, &s, ',');
	}
}

static void set_more(struct maker *m, const char *s)
{
	struct pov_more *more = (struct pov_more *)m->rec.bytes;

	append_data(m, s);
	more->size = (uint16_t)(m->size - sizeof(*more));
	pad8(m);
}

static void set_flags(struct maker *m, const struct text_kind *k, char *s)
{
	for (char *name = strtok(s, ","); name; name = strtok(NULL, ",")) {
		const struct text_flag *f = k->flag;

		while (f->name && strcmp(f->name, name))
			f++;
		m->rec.hdr.flags |= f->name ? f->bit : (uint8_t)whole_number(m, name);
	}
}

/* True if the name belongs to the kind's variable part. */
static bool set_tail(struct maker *m, const char *name, const char *value)
{
	uint8_t kind = m->rec.hdr.kind;

	if (pov_is_call(&m->rec.hdr)) {
		if (!strcmp(name, "args")) {
			set_args(m, value);
			return true;
		}
		for (unsigned int t = 1; t < TEXT_FIELD_NAMES_CNT; t++) {
			if (text_field_names[t] && !strcmp(name, text_field_names[t])) {
				add_field(m, t, value);
				return true;
			}
		}
		if (!strncmp(name, "field", 5) && isdigit((unsigned char)name[5])) {
			add_field(m, strtoul(name + 5, NULL, 10), value);
			return true;
		}
	}
	if (kind == POV_KIND_SPIN && !strcmp(name, "funcs"))
		return set_funcs(m, value), true;
	if (kind == POV_KIND_AFFINITY && !strcmp(name, "cpus"))
		return set_cpus(m, value), true;
	if (kind == POV_KIND_MORE && !strcmp(name, "data"))
		return set_more(m, value), true;
	return false;
}

/* ---- lines ---- */

/* Takes the next name=value off *p. value is unquoted in place. */
static bool next_pair(const struct maker *m, char **p, char **name, char **value)
{
	char *s = *p, *to;

	s += strspn(s, " \t");
	if (!*s || *s == '#')
		return false;
	*name = s;
	s += strcspn(s, "= \t");
	if (*s != '=')
		bad(m, "expected name=value at: %s", *name);
	*s++ = 0;
	if (*s != '"') {
		*value = s;
		s += strcspn(s, " \t");
		*p = *s ? s + 1 : s;
		*s = 0;
		return true;
	}
	*value = to = ++s;
	while (*s && *s != '"') {
		if (s[0] == '\\' && s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
		    isxdigit((unsigned char)s[3])) {
			char hex[3] = {s[2], s[3], 0};

			*to++ = (char)strtol(hex, NULL, 16);
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	if (*s != '"')
		bad(m, "unfinished text");
	*p = s + 1;
	*to = 0;
	return true;
}

static void set_pair(struct maker *m, const struct text_kind *k, const char *name, char *value)
{
	if (!strcmp(name, "ts")) {
		m->rec.hdr.ts_ns = whole_number(m, value) + m->shift_ns;
		return;
	}
	if (!strcmp(name, "tid") || (!strcmp(name, "prev") && m->rec.hdr.kind == POV_KIND_SWITCH)) {
		m->rec.hdr.tid = (uint32_t)whole_number(m, value);
		return;
	}
	if (!strcmp(name, "flags")) {
		set_flags(m, k, value);
		return;
	}
	if (!strcmp(name, "kind") && !k->kind) {
		m->rec.hdr.kind = (uint8_t)whole_number(m, value);
		return;
	}
	if (!strcmp(name, "data") && !k->kind) {
		append_data(m, value);
		pad8(m);
		return;
	}
	for (const struct text_member *t = k->member; t->name; t++) {
		if (!strcmp(t->name, name)) {
			set_member(m, t, value);
			return;
		}
	}
	if (!set_tail(m, name, value))
		bad(m, "%s has no %s", k->name, name);
}

static void do_record(struct maker *m, const struct text_kind *k, char *args)
{
	bool identity = k->kind >= POV_KIND_TASK && k->kind <= POV_KIND_LOST;
	char *name, *value;
	int err;

	memset(&m->rec, 0, sizeof(m->rec));
	m->rec.hdr.kind = k->kind;
	m->size = k->fixed_bytes;
	while (next_pair(m, &args, &name, &value))
		set_pair(m, k, name, value);
	m->rec.hdr.size = (uint16_t)m->size;
	if (!trace_record_ok(&m->rec.hdr))
		bad(m, "this makes no well-formed record");
	err = trace_writer_add(m->w, identity ? TRACE_STREAM_TASKS : m->stream, &m->rec.hdr);
	if (err == -EFBIG)
		log_warn("povmake: line %zu: size limit reached, record dropped", m->lineno + 1);
	else if (err)
		exit(1);
}

/* RING:CLASS:CNT,… as members of a JSON array; the caller frees. */
static char *drops_json(const struct maker *m, char *s)
{
	char *json = xstrdup(""), *longer, class[16];
	unsigned long long cnt;
	unsigned int ring;

	for (char *d = strtok(s, ","); d; d = strtok(NULL, ",")) {
		if (sscanf(d, "%u:%15[a-z0-9]:%llu", &ring, class, &cnt) != 3)
			bad(m, "expected RING:CLASS:CNT, not %s", d);
		longer = xasprintf("%s%s{\"ring\":%u,\"class\":%u,\"cnt\":%llu}", json,
				   *json ? "," : "", ring,
				   (unsigned int)by_name(m, text_class_names, POV_CLASS_CNT, class),
				   cnt);
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
	if (trace_writer_meta(m->w, json))
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

static const struct text_kind *kind_find(const char *name, size_t len)
{
	for (const struct text_kind *k = text_kinds; k->name; k++)
		if (is_word(name, len, k->name))
			return k;
	return NULL;
}

static void do_line(struct maker *m, char *line)
{
	static const struct text_flag no_flag = {NULL, 0};
	static const struct text_member no_member = {NULL, 0, 0, 0};
	static const struct text_kind raw = {0, "raw", sizeof(struct pov_hdr), &no_member,
					     &no_flag};
	char *word = line + strspn(line, " \t");
	size_t len = strcspn(word, " \t");
	char *args = word + len + strspn(word + len, " \t");
	const struct text_kind *k;

	if (!len || *word == '#')
		return;
	k = is_word(word, len, "raw") ? &raw : kind_find(word, len);
	if (k)
		do_record(m, k, args);
	else if (is_word(word, len, "meta")) {
		if (trace_writer_meta(m->w, args))
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

static void script_read(struct script *s, const char *path)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (!in)
		die("povmake: cannot open %s: %s", path, strerror(errno));
	while ((n = getline(&line, &room, in)) >= 0) {
		if (n && line[n - 1] == '\n')
			line[n - 1] = 0;
		s->line = xrealloc(s->line, (s->cnt + 1) * sizeof(*s->line));
		s->line[s->cnt++] = xstrdup(line);
	}
	free(line);
	fclose(in);
}

int main(int argc, char **argv)
{
	struct trace_writer_options opt = {0};
	struct maker m = {0};
	struct stat st;

	if (argc > 3 && !strcmp(argv[1], "-l")) {
		opt.max_bytes = strtoull(argv[2], NULL, 0);
		argc -= 2;
		argv += 2;
	}
	if (argc != 3) {
		fprintf(stderr,
			"usage: povmake [-l MAX_BYTES] SCRIPT OUT.pov (syntax: top of povmake.c)\n");
		return 2;
	}
	script_read(&m.script, argv[1]);
	if (trace_writer_open(argv[2], &opt, &m.w))
		return 1;
	do_lines(&m, 0, m.script.cnt);
	if (trace_writer_finish(m.w))
		return 1;
	if (m.cut && (stat(argv[2], &st) || truncate(argv[2], st.st_size - (off_t)TRACE_END_BYTES)))
		die("povmake: cannot cut %s: %s", argv[2], strerror(errno));
	for (size_t i = 0; i < m.script.cnt; i++)
		free(m.script.line[i]);
	free(m.script.line);
	return 0;
}
