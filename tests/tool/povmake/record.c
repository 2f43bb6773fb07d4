/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Makes one record from name=value pairs: the members of its kind and the parts of variable length.
 */
#include "tool/povmake/maker.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layers/func_table.h"

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

uint64_t whole_number(const struct maker *m, const char *s)
{
	uint64_t v = number(m, &s);

	if (*s)
		bad(m, "junk after a number: %s", s);
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

/* Appends 'TEXT': its bytes, and zeros up to the size in TEXT'SIZE. Returns the number of bytes. */
static uint32_t append_text(struct maker *m, const char **p)
{
	uint32_t len = (uint32_t)strcspn(*p, "'"), size;
	const char *text = *p;

	*p += len;
	expect(m, p, '\'');
	size = isdigit((unsigned char)**p) ? (uint32_t)number(m, p) : len;
	for (uint32_t i = 0; i < size; i++)
		append(m, i < len ? text + i : "", 1);
	if (**p)
		expect(m, p, ',');
	return size;
}

/* Appends DATA to the record; returns the number of elements. */
static uint32_t append_data(struct maker *m, const char *s)
{
	uint32_t cnt = 0;

	while (*s) {
		size_t bytes = skip(&s, 'i') ? 4 : skip(&s, 'b') ? 1 : 8;
		char hex[3] = {0};
		uint64_t v;

		if (skip(&s, '\'')) {
			cnt += append_text(m, &s);
			continue;
		}
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

uint64_t by_name(const struct maker *m, const char *const *names, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (names[i] && !strcmp(names[i], s))
			return i;
	return whole_number(m, s);
}

static uint64_t func_by_name(const struct maker *m, const char *name)
{
	int id = func_table_find(name);

	if (id < 0)
		bad(m, "no function %s", name);
	return (uint64_t)id;
}

static void set_member(struct maker *m, const struct record_member *t, const char *s)
{
	uint8_t *p = m->rec.bytes + t->offset;
	uint64_t v;

	if (t->form == FORM_COMM) {
		strncpy((char *)p, s, t->bytes);
		return;
	}
	if (t->form == FORM_CLASS)
		v = by_name(m, record_class_names, POV_CLASS_CNT, s);
	else if (t->form == FORM_TYPE)
		v = by_name(m, record_field_names, RECORD_FIELD_NAMES_CNT, s);
	else if (!strcmp(t->name, "func") && isalpha((unsigned char)*s))
		v = func_by_name(m, s);
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

static void set_callers(struct maker *m, const char *s)
{
	if (m->size != sizeof(struct pov_sample) || append_data(m, s) > POV_SAMPLE_CALLERS_MAX)
		bad(m, "at most one callers=, of at most %u addresses", POV_SAMPLE_CALLERS_MAX);
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
		struct pov_spin_func f = {0};
		char name[64];

		if (sscanf(s, "%63[A-Za-z_]", name) == 1) {
			f.func = (uint16_t)func_by_name(m, name);
			s += strlen(name);
		} else {
			f.func = (uint16_t)number(m, &s);
		}
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

static void set_flags(struct maker *m, const struct record_kind *k, char *s)
{
	for (char *name = strtok(s, ","); name; name = strtok(NULL, ",")) {
		const struct record_flag *f = k->flag;

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
		for (unsigned int t = 1; t < RECORD_FIELD_NAMES_CNT; t++) {
			if (record_field_names[t] && !strcmp(name, record_field_names[t])) {
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
	if (kind == POV_KIND_SAMPLE && !strcmp(name, "callers"))
		return set_callers(m, value), true;
	if (kind == POV_KIND_AFFINITY && !strcmp(name, "cpus"))
		return set_cpus(m, value), true;
	if (kind == POV_KIND_MORE && !strcmp(name, "data"))
		return set_more(m, value), true;
	return false;
}

/* ---- pairs ---- */

bool next_pair(const struct maker *m, char **p, char **name, char **value)
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

static const struct record_member *member_find(const struct record_kind *k, const char *name)
{
	for (const struct record_member *t = k->member; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

/* Sets ts and dur from BEGIN..END. */
static void set_span(struct maker *m, const struct record_kind *k, const char *s)
{
	const struct record_member *dur = member_find(k, "dur");
	uint64_t begin = number(m, &s), end, ns;

	if (!dur || strncmp(s, "..", 2) != 0)
		bad(m, "expected at=BEGIN..END, of a record that lasts");
	s += 2;
	end = number(m, &s);
	ns = end - begin;
	m->rec.hdr.ts_ns = end + m->shift_ns;
	memcpy(m->rec.bytes + dur->offset, &ns, dur->bytes);
}

static void set_pair(struct maker *m, const struct record_kind *k, const char *name, char *value)
{
	const struct record_member *t;

	if (!strcmp(name, "ts")) {
		m->rec.hdr.ts_ns = whole_number(m, value) + m->shift_ns;
		return;
	}
	if (!strcmp(name, "at")) {
		set_span(m, k, value);
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
	t = member_find(k, name);
	if (t)
		set_member(m, t, value);
	else if (!set_tail(m, name, value))
		bad(m, "%s has no %s", k->name, name);
}

unsigned int record_stream(const struct maker *m, const struct record_kind *k)
{
	const struct record_member *t = member_find(k, "cpu");
	uint16_t cpu;

	if (!m->brief || !t)
		return m->stream;
	memcpy(&cpu, m->rec.bytes + t->offset, sizeof(cpu));
	return cpu;
}

static void tgid_default(struct maker *m, const struct record_kind *k)
{
	const struct record_member *t = member_find(k, "tgid");
	uint32_t tgid;

	if (!t || k->kind == POV_KIND_FORK)
		return;
	memcpy(&tgid, m->rec.bytes + t->offset, sizeof(tgid));
	if (!tgid)
		memcpy(m->rec.bytes + t->offset, &m->rec.hdr.tid, sizeof(tgid));
}

void record_fill(struct maker *m, const struct record_kind *k, char *args)
{
	char *name, *value;

	memset(&m->rec, 0, sizeof(m->rec));
	m->rec.hdr.kind = k->kind;
	m->size = k->fixed_bytes;
	while (next_pair(m, &args, &name, &value))
		set_pair(m, k, name, value);
	if (m->brief)
		tgid_default(m, k);
	m->rec.hdr.size = (uint16_t)m->size;
	if (!record_well_formed(&m->rec.hdr))
		bad(m, "this makes no well-formed record");
}
