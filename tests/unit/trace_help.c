/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "trace_help.h"

#include "tool/povmake/maker.h"
#include "trace/trace_format.h"
#include "unit/test.h"

uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

void random_record(uint64_t *state, uint64_t *now_ns, union any_record *out)
{
	uint64_t r = random_next(state);
	uint32_t nwords;

	memset(out, 0, 2048);
	*now_ns += r % 1000;
	out->hdr.ts_ns = *now_ns - r / 7 % 1500 % (*now_ns + 1);
	out->hdr.tid = 100 + (uint32_t)(r >> 20) % 5;
	switch (r >> 40 & 7) {
	case 0: /* of a kind nobody knows, full of noise */
		nwords = 2 + (r & 63 ? r % 10 : 510);
		out->hdr.kind = 200 + r % 3;
		for (uint32_t i = 2; i < nwords; i++)
			out->w[i] = random_next(state);
		break;
	case 1: {
		struct pov_switch *s = (struct pov_switch *)out;

		nwords = sizeof(*s) / 8;
		out->hdr.kind = POV_KIND_SWITCH;
		s->next_tid = (uint32_t)(r >> 30) % 7;
		s->cpu = r & 3;
		break;
	}
	default: {
		struct pov_call *c = (struct pov_call *)out;

		out->hdr.kind = POV_KIND_CALL;
		c->dur_ns = 200 + r % 100;
		c->func = (uint16_t)(r >> 32 & 15);
		c->nargs = (uint8_t)(c->func % 9);
		c->site = 0x400000 + c->func;
		for (unsigned int i = 0; i < c->nargs; i++)
			c->args[i] = 0x7f0000000000 + (r >> i & 1) * 0x40;
		nwords = sizeof(*c) / 8 + c->nargs;
	}
	}
	out->hdr.size = (uint16_t)(nwords * 8);
}

void numbered_call(uint64_t n, union any_record *out)
{
	struct pov_call *c = (struct pov_call *)out;
	uint64_t noise = n * 0x9e3779b97f4a7c15ull;

	memset(out, 0, sizeof(*c) + 16);
	c->hdr = (struct pov_hdr){
		.size = sizeof(*c) + 16, .kind = POV_KIND_CALL, .tid = 7, .ts_ns = n};
	c->dur_ns = noise >> 50;
	c->nargs = 2;
	c->args[0] = noise;
	c->args[1] = noise * noise;
}

int add_numbered(struct trace_writer *w, unsigned int stream, uint64_t n)
{
	union any_record rec;

	numbered_call(n, &rec);
	return trace_writer_add(w, stream, &rec.hdr);
}

void file_damage(const char *path, int n, bool cut)
{
	size_t len, at = sizeof(struct trace_file_header), gone;
	struct trace_block_header h;
	uint8_t *data;

	file_load(path, &data, &len);
	for (;; at += sizeof(h) + h.stored_len) {
		if (at + sizeof(h) >= len)
			die("%s has no event block %d", path, n);
		memcpy(&h, data + at, sizeof(h));
		if (h.type == TRACE_BLOCK_EVENTS && !n--)
			break;
	}
	gone = cut ? sizeof(h) + h.stored_len : 0;
	data[at + sizeof(h)] ^= 1;
	memmove(data + at, data + at + gone, len - at - gone);
	file_store(path, data, len - gone);
	free(data);
}

const struct pov_hdr *record_made(const char *fmt, ...)
{
	static struct maker m = {.brief = true};
	const struct record_kind *k = NULL;
	va_list ap;
	char *line, *args;
	size_t len;

	va_start(ap, fmt);
	line = xvasprintf(fmt, ap);
	va_end(ap);
	m.script = (struct script){&line, 1}; /* bad() prints the line */
	len = strcspn(line, " ");
	while ((k = record_kind_next(k)) && (strncmp(k->name, line, len) != 0 || k->name[len]))
		;
	if (!k)
		fail_msg("no record: %s", line);
	args = xstrdup(line + len);
	record_fill(&m, k, args);
	free(args);
	free(line);
	return &m.rec.hdr;
}

static void replay_add(struct replay *r, const struct pov_hdr *rec, uint64_t *last)
{
	size_t n = rec->size / 8u;

	if (r->nwords + n > r->room) {
		r->room = 2 * (r->nwords + n);
		r->words = xrealloc(r->words, r->room * 8);
	}
	memcpy(r->words + r->nwords, rec, n * 8);
	r->nwords += n;
	r->cnt++;
	if (rec->ts_ns < *last)
		r->in_order = false;
	*last = rec->ts_ns;
}

struct replay replay_all(const char *path, const struct trace_merge_options *opt)
{
	struct replay r = {.in_order = true};
	const struct pov_hdr *rec;
	struct trace_merge *m;
	uint64_t last = 0;
	struct trace *t;

	r.err = trace_open(path, &t);
	if (r.err)
		return r;
	r.err = trace_merge_open(t, opt, &m);
	while (!r.err && (r.err = trace_merge_next(m, &rec)) > 0) {
		replay_add(&r, rec, &last);
		r.err = 0;
	}
	trace_merge_close(m);
	r.sum = *trace_get_summary(t);
	trace_close(t);
	return r;
}

struct replay replay_good(const char *path)
{
	struct replay r = replay_all(path, NULL);

	assert_int_equal(r.err, 0);
	return r;
}

void replay_print(const struct replay *r, FILE *out)
{
	const struct pov_hdr *rec = (const struct pov_hdr *)r->words;

	for (size_t i = 0; i < r->cnt; i++) {
		trace_record_print(rec, out);
		fputc('\n', out);
		rec = (const struct pov_hdr *)((const char *)rec + rec->size);
	}
}

struct trace_writer *writer_begin(const char *path)
{
	static const struct trace_writer_options plain = {0};
	struct trace_writer *w;

	assert_int_equal(trace_writer_open(path, &plain, &w), 0);
	return w;
}

void writer_end(struct trace_writer *w)
{
	assert_int_equal(trace_writer_finish(w, NULL), 0);
}

struct trace *trace_opened(const char *path)
{
	struct trace *t;

	assert_int_equal(trace_open(path, &t), 0);
	return t;
}
