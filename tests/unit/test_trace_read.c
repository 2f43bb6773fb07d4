/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The reader: exact order, exact selection, and damage that only costs the damaged blocks. */
#include <unistd.h>

#include "lib/table.h"
#include "unit/test.h"
#include "trace/trace_format.h"
#include "trace/record_kinds.h"
#include "trace_help.h"

#define STREAMS 5

struct truth {
	uint64_t ts;
	unsigned int stream;
	size_t n; /* order of adding */
	union any_record rec;
};

TABLE_ORDER(truth_compare, struct truth *, table_compare((*a)->ts, (*b)->ts),
	    table_compare((*a)->stream, (*b)->stream), table_compare((*a)->n, (*b)->n))

/*
 * Writes streams with different speeds and offsets, blocks closed at odd moments, and many equal
 * times. Returns the records in the order in which the reader must return them.
 */
static struct truth **disorderly(const char *path, size_t cnt, uint64_t seed)
{
	struct truth **all = xcalloc(cnt, sizeof(*all));
	uint64_t now[STREAMS] = {0, 5000, 90000, 300, 7};
	struct trace_writer *w = writer_begin(path);

	for (size_t i = 0; i < cnt; i++) {
		struct truth *t = all[i] = xcalloc(1, sizeof(*t));

		t->stream = random_next(&seed) % STREAMS;
		do
			random_record(&seed, &now[t->stream], &t->rec);
		while (t->rec.hdr.size > 600);
		if (random_next(&seed) % 500 == 0)
			t->rec.hdr.ts_ns /= 2; /* a late record */
		t->rec.hdr.ts_ns &= ~63ull;
		t->ts = t->rec.hdr.ts_ns;
		t->n = i;
		assert_int_equal(trace_writer_add(w,
						  t->stream == 4 ? TRACE_STREAM_TASKS : t->stream,
						  &t->rec.hdr),
				 0);
		if (random_next(&seed) % 3000 == 0)
			trace_writer_flush(w, UINT64_MAX);
	}
	writer_end(w);
	qsort(all, cnt, sizeof(*all), truth_compare);
	return all;
}

static void truth_free(struct truth **all, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		free(all[i]);
	free(all);
}

static void assert_replay(const struct replay *r, struct truth **all, size_t cnt,
			  bool (*wanted)(const struct truth *))
{
	size_t at = 0, n = 0;

	assert_int_equal(r->err, 0);
	for (size_t i = 0; i < cnt; i++) {
		if (wanted && !wanted(all[i]))
			continue;
		assert_true(at < r->nwords);
		assert_memory_equal(r->words + at, &all[i]->rec, all[i]->rec.hdr.size);
		at += all[i]->rec.hdr.size / 8u;
		n++;
	}
	assert_int_equal(r->cnt, n);
}

static bool is_task(const struct truth *t)
{
	return t->stream == 4;
}

TEST(order)
{
	const size_t cnt = 30000;
	const char *path = temp_path("order.pov");

	for (uint64_t seed = 1; seed < 3; seed++) {
		struct truth **all = disorderly(path, cnt, seed * 77);
		struct trace_merge_options tasks = {.tasks_only = true};
		struct replay r = replay_all(path, NULL);

		assert_true(r.in_order);
		assert_replay(&r, all, cnt, NULL);
		free(r.words);
		r = replay_all(path, &tasks);
		assert_replay(&r, all, cnt, is_task);
		free(r.words);
		truth_free(all, cnt);
	}
}

/* Writes a small file of several blocks whose records differ in their times. */
static void make_small(const char *path)
{
	union any_record rec;
	uint64_t ts = 0;
	struct trace_writer *w = writer_begin(path);

	trace_writer_meta_text(w, "{\"type\":\"recording\",\"argv\":[\"a\"]}", 0);
	for (int block = 0; block < 6; block++) {
		for (int i = 0; i < 10; i++) {
			struct pov_exit *e = (struct pov_exit *)&rec;

			*e = (struct pov_exit){.hdr = {.size = sizeof(*e), .kind = POV_KIND_EXIT}};
			e->hdr.ts_ns = ++ts;
			e->tgid = (uint32_t)ts * 3;
			e->code = -(int32_t)ts;
			assert_int_equal(trace_writer_add(w, block % 2, &e->hdr), 0);
		}
		trace_writer_flush(w, UINT64_MAX);
	}
	trace_writer_meta_text(w, "{\"type\":\"end\"}", 0);
	writer_end(w);
}

/* Returns the bytes of such a file. */
static uint8_t *load_small(size_t *len)
{
	const char *path = temp_path("small.pov");
	uint8_t *data;

	make_small(path);
	file_load(path, &data, len);
	return data;
}

static struct replay replay_of(const void *data, size_t len)
{
	const char *path = temp_path("part.pov");

	file_store(path, data, len);
	return replay_all(path, NULL);
}

/* Asserts that all records returned are true ones, and that those of a block came together. */
static size_t assert_true_records(const struct replay *r)
{
	uint64_t last = 0;

	for (size_t i = 0; i < r->cnt; i++) {
		const struct pov_exit *e = (const struct pov_exit *)(r->words + 3 * i);

		assert_true(e->hdr.ts_ns > last && e->hdr.ts_ns <= 60);
		assert_int_equal(e->tgid, e->hdr.ts_ns * 3);
		assert_int_equal(e->code, -(int32_t)e->hdr.ts_ns);
		last = e->hdr.ts_ns;
	}
	assert_int_equal(r->cnt % 10, 0);
	return r->cnt;
}

TEST(cut_anywhere)
{
	size_t len, last = 0;
	uint8_t *data = load_small(&len);

	for (size_t n = 0; n < len; n++) {
		struct replay r = replay_of(data, n);

		if (n < sizeof(struct trace_file_header)) {
			assert_int_equal(r.err, -EINVAL);
			continue;
		}
		assert_int_equal(r.err, 0);
		assert_false(r.sum.complete);
		assert_int_equal(r.sum.bad_blocks, 0);
		assert_true(assert_true_records(&r) >= last);
		last = r.cnt;
		free(r.words);
	}
	assert_int_equal(last, 60);
	free(data);
}

TEST(flip_anywhere)
{
	size_t len;
	uint8_t *data = load_small(&len);

	for (size_t bit = 0; bit < 8 * len; bit += 1 + bit % 5) {
		struct replay r;

		data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
		r = replay_of(data, len);
		data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
		if (bit < 8 * sizeof(struct trace_file_header)) {
			assert_int_equal(r.err, -EINVAL);
			continue;
		}
		assert_int_equal(r.err, 0);
		/* The damage is noticed and costs at most one block. */
		if (bit / 8 < len - TRACE_END_BYTES)
			assert_int_equal(r.sum.bad_blocks, 1);
		else
			assert_false(r.sum.complete);
		assert_true(assert_true_records(&r) >= 50);
		free(r.words);
	}
	free(data);
}

/* Bytes are inserted and removed: the reader finds the next block. */
TEST(holes)
{
	size_t len;
	uint8_t *data = load_small(&len), *copy = xmalloc(len + 200000);
	uint64_t seed = 5;

	for (int i = 0; i < 300; i++) {
		size_t at = 32 + random_next(&seed) % (len - 32 - TRACE_END_BYTES);
		size_t gone = i & 1 ? random_next(&seed) % (len - at) : 0;
		size_t junk = i & 2 ? random_next(&seed) % 200000 : 0;
		struct replay r;

		memcpy(copy, data, at);
		for (size_t k = 0; k < junk; k++)
			copy[at + k] = (uint8_t)(i & 4 ? random_next(&seed) : data[k % len]);
		memcpy(copy + at + junk, data + at + gone, len - at - gone);
		r = replay_of(copy, len + junk - gone);
		assert_int_equal(r.err, 0);
		if (!(i & 2) || i & 4)
			assert_true_records(&r);
		free(r.words);
	}
	free(copy);
	free(data);
}

/*
 * Copies the file with a block of an unknown type before each of its blocks, all numbered in order.
 */
static uint64_t insert_unknown(const char *from, const char *to)
{
	static const uint8_t payload[] = "from the future";
	struct trace_block_header h;
	uint64_t seq = 0, unknown = 0;
	uint8_t *data, *copy;
	size_t len, at = sizeof(struct trace_file_header), n = at;

	file_load(from, &data, &len);
	copy = xmalloc(len + (len / sizeof(h) + 1) * (sizeof(h) + sizeof(payload)));
	memcpy(copy, data, at);
	while (at < len) {
		h = (struct trace_block_header){.type = (uint8_t)(4 + unknown++ % 200),
						.stream = 9,
						.raw_len = sizeof(payload),
						.stored_len = sizeof(payload),
						.seq = seq++};
		trace_block_header_seal(&h, payload);
		memcpy(copy + n, &h, sizeof(h));
		memcpy(copy + n + sizeof(h), payload, sizeof(payload));
		n += sizeof(h) + sizeof(payload);
		memcpy(&h, data + at, sizeof(h));
		h.seq = seq++;
		trace_block_header_seal(&h, data + at + sizeof(h));
		memcpy(copy + n, &h, sizeof(h));
		memcpy(copy + n + sizeof(h), data + at + sizeof(h), h.stored_len);
		n += sizeof(h) + h.stored_len;
		at += sizeof(h) + h.stored_len;
	}
	file_store(to, copy, n);
	free(copy);
	free(data);
	return unknown;
}

/* Blocks of later versions are skipped and harm nothing else. */
TEST(unknown_blocks)
{
	char *known = xstrdup(temp_path("small.pov"));
	const char *path = temp_path("newer.pov");
	const struct trace_merge_options losses = {.losses = true};
	struct replay want, got;
	uint64_t unknown;

	make_small(known);
	unknown = insert_unknown(known, path);
	want = replay_all(known, NULL);
	got = replay_all(path, &losses);
	assert_int_equal(got.err, 0);
	assert_int_equal(got.sum.unknown_blocks, unknown);
	assert_int_equal(got.sum.bad_blocks, 0);
	assert_true(got.sum.complete);
	assert_int_equal(got.nwords, want.nwords);
	assert_memory_equal(got.words, want.words, want.nwords * sizeof(*want.words));
	free(want.words);
	free(got.words);
	free(known);
}

TEST(no_trace)
{
	const char *path = temp_path("none.pov");
	struct trace_file_header h;
	struct trace *t;

	assert_int_equal(trace_open("/nonexistent", &t), -ENOENT);
	assert_int_equal(trace_open("/", &t), -EINVAL);
	assert_int_equal(trace_open("/dev/zero", &t), -EINVAL);
	file_store(path, "", 0);
	assert_int_equal(trace_open(path, &t), -EINVAL);
	file_store(path, "{\"traceEvents\":[]} and a good deal more text", 44);
	assert_int_equal(trace_open(path, &t), -EINVAL);
	trace_file_header_init(&h);
	h.major++;
	trace_file_header_seal(&h);
	file_store(path, &h, sizeof(h));
	assert_int_equal(trace_open(path, &t), -EINVAL);
	trace_file_header_init(&h);
	h.minor++;
	trace_file_header_seal(&h);
	file_store(path, &h, sizeof(h));
	t = trace_opened(path);
	assert_false(trace_get_summary(t)->complete);
	trace_close(t);
}

TEST(metas)
{
	const char *path = temp_path("meta.pov");
	struct trace *t;
	struct trace_writer *w = writer_begin(path);

	trace_writer_meta_text(w, "{\"type\":\"host\",\"hostname\":\"a\"}", 0);
	trace_writer_meta_text(w, "not JSON", 0);
	trace_writer_meta_text(w, "[1]", 0);
	trace_writer_meta_text(w, "{\"type\":5}", 0);
	trace_writer_meta_text(w, "{\"type\":\"host\",\"hostname\":\"b\"}", 0);
	writer_end(w);
	t = trace_opened(path);
	assert_int_equal(trace_meta_count(t), 2);
	assert_int_equal(trace_get_summary(t)->bad_blocks, 3);
	assert_string_equal(
		json_string_value(json_object_get(trace_meta_find(t, "host"), "hostname")), "a");
	assert_null(trace_meta_find(t, "clocks"));
	assert_null(trace_meta_get(t, 2));
	trace_close(t);
}

/* Probes added to a library later become part of its data. Data about no library harms none. */
TEST(probes)
{
	const char *path = temp_path("probes.pov");
	const json_t *lib;
	struct trace *t;
	json_t *wanted;
	struct trace_writer *w = writer_begin(path);

	trace_writer_meta_text(w, "{\"type\":\"probes\",\"library\":1,\"attached\":100}", 0);
	trace_writer_meta_text(
		w, "{\"type\":\"library\",\"id\":0,\"attached\":5,\"missing\":[\"a\"]}", 0);
	trace_writer_meta_text(
		w,
		"{\"type\":\"library\",\"id\":1,\"attached\":7,\"emulated\":6,\"stepped\":1,"
		"\"stepped_names\":[\"s\"],\"missing\":[\"a\",\"b\",\"c\"],\"failed\":[]}",
		0);
	trace_writer_meta_text(w,
			       "{\"type\":\"probes\",\"library\":1,\"attached\":1,\"emulated\":1,"
			       "\"functions\":[\"b\"],\"missing\":[\"a\",\"d\"]}",
			       0);
	trace_writer_meta_text(
		w,
		"{\"type\":\"probes\",\"library\":1,\"attached\":1,\"emulated\":0,\"stepped\":2,"
		"\"stepped_names\":[\"c\",\"e\"],\"functions\":[\"c\",\"e\"],"
		"\"missing\":[\"d\"],\"failed\":[\"e\"],\"refused\":\"why\"}",
		0);
	trace_writer_meta_text(
		w, "{\"type\":\"probes\",\"library\":9,\"attached\":-1,\"missing\":5}", 0);
	trace_writer_meta_text(w, "{\"type\":\"probes\"}", 0);
	writer_end(w);
	t = trace_opened(path);
	lib = trace_meta_get(t, 2);
	wanted = json_pack("{s:s,s:i,s:i,s:i,s:i,s:[sss],s:[ss],s:[s],s:s}", "type", "library",
			   "id", 1, "attached", 9, "emulated", 7, "stepped", 3, "stepped_names",
			   "s", "c", "e", "missing", "a", "d", "failed", "e", "refused", "why");
	assert_true(json_equal(lib, wanted));
	json_decref(wanted);
	/* An object without a number is about library 0, and changes nothing. */
	assert_int_equal(json_integer_value(json_object_get(trace_meta_get(t, 1), "attached")), 5);
	trace_close(t);
}

/*
 * Records whose size does not fit their kind never reach a caller, nor do kinds that are in no
 * file.
 */
TEST(malformed_records)
{
	const char *path = temp_path("malformed.pov");
	union any_record rec = {.hdr = {.size = 16, .kind = POV_KIND_SWITCH, .ts_ns = 1}};
	struct trace_writer *w;
	struct replay r;
	size_t known = 0;

	for (const struct record_kind *k = NULL; (k = record_kind_next(k));)
		known++;
	w = writer_begin(path);
	for (int kind = 0; kind < 256; kind++) {
		rec.hdr.kind = (uint8_t)kind;
		assert_int_equal(trace_writer_add(w, 0, &rec.hdr), 0);
	}
	writer_end(w);
	known += 7; /* PATH, HANDED, UNREACHED, INIT, STACK, LOSS_BEGIN, LOSS_END */
	r = replay_good(path);
	assert_int_equal(r.cnt, 256 - known);
	assert_int_equal(r.sum.bad_records, known);
	free(r.words);
}

/*
 * Blocks that all reach back to the beginning must be in memory together. The reader accepts as
 * much as a recording of the file's size can hold, and refuses more. The difference here is how
 * well the records compress.
 */
TEST(overlap)
{
	static const struct {
		size_t random_words;
		int err;
	} cases[] = {{8, 0}, {0, -E2BIG}};
	static union any_record rec = {.hdr = {.size = 4096, .kind = 200}};
	uint64_t random = 1;

	for (size_t k = 0; k < 2; k++) {
		const char *path = temp_path("overlap.pov");
		const struct pov_hdr *got;
		struct trace_writer *w;
		struct trace_merge *m;
		struct trace *t;
		int err;

		w = writer_begin(path);
		for (uint64_t n = 0; n < 65 * 256; n++) {
			rec.hdr.ts_ns = n % 256 ? 1000 + n : 1;
			for (size_t i = 0; i < cases[k].random_words; i++)
				rec.w[2 + i] = random = random * 6364136223846793005u + 1;
			assert_int_equal(trace_writer_add(w, 0, &rec.hdr), 0);
		}
		writer_end(w);
		t = trace_opened(path);
		assert_int_equal(trace_merge_open(t, NULL, &m), 0);
		err = trace_merge_next(m, &got);
		assert_int_equal(err < 0 ? err : 0, cases[k].err);
		trace_merge_close(m);
		trace_close(t);
	}
}

/* The file is truncated while it is read: that is an error, not a signal. */
TEST(cut_while_reading)
{
	const char *path = temp_path("shrinks.pov");
	const struct pov_hdr *rec;
	struct trace_merge *m;
	struct trace *t;
	int n = 0;

	make_small(path);
	t = trace_opened(path);
	assert_int_equal(trace_merge_open(t, NULL, &m), 0);
	assert_int_equal(truncate(path, 400), 0);
	while (trace_merge_next(m, &rec) == 1)
		n++;
	assert_true(n < 60);
	assert_true(trace_get_summary(t)->bad_blocks > 0);
	trace_merge_close(m);
	trace_close(t);
}
