/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Prints records by the table of their kinds. */
#include "trace/trace_text.h"

#include <inttypes.h>
#include <string.h>

#include "trace/record_kinds.h"

static void print_comm(const char *comm, FILE *out)
{
	fputc('"', out);
	for (int i = 0; i < POV_COMM_LEN && comm[i]; i++) {
		unsigned char c = (unsigned char)comm[i];

		if (c == '"' || c == '\\' || c < 0x20 || c >= 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static uint64_t load(const void *p, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes);
	return v;
}

/* Name of a class or field type; NULL if it has none. */
static const char *value_name(uint8_t form, uint64_t v)
{
	if (form == FORM_CLASS)
		return v < POV_CLASS_CNT ? record_class_names[v] : NULL;
	return form == FORM_TYPE && v < RECORD_FIELD_NAMES_CNT ? record_field_names[v] : NULL;
}

static void print_member(const struct pov_hdr *rec, const struct record_member *m, FILE *out)
{
	const char *p = (const char *)rec + m->offset, *name;
	uint64_t v = m->form == FORM_COMM ? 0 : load(p, m->bytes);

	if (m->form == FORM_MASK && !v)
		return;
	name = value_name(m->form, v);
	fprintf(out, " %s=", m->name);
	if (m->form == FORM_COMM)
		print_comm(p, out);
	else if (name)
		fputs(name, out);
	else if (m->form == FORM_HEX || m->form == FORM_MASK)
		fprintf(out, "0x%" PRIx64, v);
	else if (m->form == FORM_SIGNED)
		fprintf(out, "%" PRId64, m->bytes == 4 ? (int32_t)v : (int64_t)v);
	else
		fprintf(out, "%" PRIu64, v);
}

/* Prints whole words as 0x…, the rest as i (4 bytes) and b (bytes). */
static void print_data(const uint8_t *p, size_t bytes, FILE *out)
{
	const char *sep = "";

	for (; bytes >= 8; p += 8, bytes -= 8, sep = ",")
		fprintf(out, "%s0x%" PRIx64, sep, load(p, 8));
	for (; bytes >= 4; p += 4, bytes -= 4, sep = ",")
		fprintf(out, "%si%" PRId32, sep, (int32_t)load(p, 4));
	for (; bytes; p++, bytes--, sep = ",")
		fprintf(out, "%sb%02x", sep, *p);
}

static void print_field(const struct pov_field *f, FILE *out)
{
	const uint8_t *data = (const uint8_t *)(f + 1);

	if (f->type < RECORD_FIELD_NAMES_CNT && record_field_names[f->type])
		fprintf(out, " %s=%u/%u:", record_field_names[f->type], f->arg, f->cnt);
	else
		fprintf(out, " field%u=%u/%u:", f->type, f->arg, f->cnt);
	if (f->type == POV_FIELD_COMM) {
		const struct pov_field_comm *c = (const struct pov_field_comm *)data;

		fprintf(out, "0x%" PRIx64 ",i%d,i%d", (uint64_t)c->context_id, c->rank, c->size);
		return;
	}
	print_data(data, f->size, out);
}

static void print_call_tail(const struct pov_call *c, FILE *out)
{
	size_t off = sizeof(*c) + 8u * c->nargs;

	for (uint32_t i = 0; i < c->nargs; i++)
		fprintf(out, "%s0x%" PRIx64, i ? "," : " args=", (uint64_t)c->args[i]);
	while (off < c->hdr.size) {
		const struct pov_field *f = (const struct pov_field *)((const char *)c + off);

		print_field(f, out);
		off += sizeof(*f) + ((f->size + 7u) & ~7u);
	}
}

static void print_spin_tail(const struct pov_spin *s, FILE *out)
{
	for (uint32_t i = 0; i < s->nfuncs; i++)
		fprintf(out, "%s%u:%" PRIu64 ":%" PRIu64 ":0x%" PRIx64 ":%u",
			i ? "," : " funcs=", s->func[i].func, (uint64_t)s->func[i].cnt,
			(uint64_t)s->func[i].busy_ns, (uint64_t)s->func[i].arg, s->func[i].lib);
}

static void print_callers(const struct pov_sample *s, FILE *out)
{
	for (uint32_t i = 0; i < pov_sample_callers(s); i++)
		fprintf(out, "%s0x%" PRIx64, i ? "," : " callers=", (uint64_t)s->caller[i]);
}

static void print_cpus(const struct pov_affinity *a, FILE *out)
{
	uint32_t n = POV_CPUMASK_WORDS * 64, from;
	const char *sep = " cpus=";

	for (uint32_t c = 0; c < n; c++) {
		if (!(a->mask[c / 64] >> (c % 64) & 1))
			continue;
		from = c;
		while (c + 1 < n && a->mask[(c + 1) / 64] >> ((c + 1) % 64) & 1)
			c++;
		fprintf(out, c > from ? "%s%u-%u" : "%s%u", sep, from, c);
		sep = ",";
	}
}

static void print_flags(const struct pov_hdr *rec, const struct record_kind *k, FILE *out)
{
	const char *sep = " flags=";
	uint8_t left = rec->flags;

	for (const struct record_flag *f = k->flag; f->name; f++) {
		if (!(rec->flags & f->bit))
			continue;
		fprintf(out, "%s%s", sep, f->name);
		left &= (uint8_t)~f->bit;
		sep = ",";
	}
	if (left)
		fprintf(out, "%s%u", sep, left);
}

static void print_unknown(const struct pov_hdr *rec, FILE *out)
{
	fprintf(out, "raw ts=%" PRIu64 " tid=%u kind=%u flags=%u", (uint64_t)rec->ts_ns, rec->tid,
		rec->kind, rec->flags);
	if (rec->size > sizeof(*rec)) {
		fputs(" data=", out);
		print_data((const uint8_t *)(rec + 1), rec->size - sizeof(*rec), out);
	}
}

void trace_record_print(const struct pov_hdr *rec, FILE *out)
{
	const struct record_kind *k = record_kind_find(rec->kind);

	if (!k) {
		print_unknown(rec, out);
		return;
	}
	fprintf(out, "%s ts=%" PRIu64 " %s=%u", k->name, (uint64_t)rec->ts_ns,
		rec->kind == POV_KIND_SWITCH ? "prev" : "tid", rec->tid);
	for (const struct record_member *m = k->member; m->name; m++)
		/* older records lack appended members */
		if (m->offset + m->bytes <= rec->size)
			print_member(rec, m, out);
	if (rec->flags)
		print_flags(rec, k, out);
	if (pov_is_call(rec))
		print_call_tail((const struct pov_call *)rec, out);
	else if (rec->kind == POV_KIND_SPIN)
		print_spin_tail((const struct pov_spin *)rec, out);
	else if (rec->kind == POV_KIND_SAMPLE)
		print_callers((const struct pov_sample *)rec, out);
	else if (rec->kind == POV_KIND_AFFINITY)
		print_cpus((const struct pov_affinity *)rec, out);
	else if (rec->kind == POV_KIND_MORE) {
		const struct pov_more *more = (const struct pov_more *)rec;

		fputs(" data=", out);
		print_data(more->data, more->size, out);
	}
}
