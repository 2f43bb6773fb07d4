/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where the reader reports scheduler records as missing. The contents of a small file become one
 * line. "[1@40" is a loss of ring 1 that begins at 40, "1@90]" is its end. "(30)" after a begin
 * that was noticed late is its true time. Other records appear as their times, with "?" if they
 * report losses.
 */
#include "unit/test.h"
#include "trace/trace_join.h"
#include "trace_help.h"

#define S UINT64_C(1000000000)

static const struct trace_merge_options losses = {.losses = true};

/* ---- making files ---- */

static void put(struct trace_writer *w, unsigned int stream, uint64_t ts_ns)
{
	const struct pov_exit rec = {.hdr = {sizeof(rec), POV_KIND_EXIT, 0, 5, ts_ns}};

	assert_int_equal(trace_writer_add(w, stream, &rec.hdr), 0);
}

static void put_lost(struct trace_writer *w, unsigned int stream, uint64_t since_ns, uint64_t ts_ns,
		     uint16_t ring, uint16_t class)
{
	const struct pov_lost rec = {
		.hdr = {sizeof(rec), POV_KIND_LOST, 0, 0, ts_ns},
		.since_ns = since_ns,
		.cnt = 1,
		.ring = ring,
		.class = class,
	};

	assert_int_equal(trace_writer_add(w, stream, &rec.hdr), 0);
}

/*
 * Writes records: "1:20" is a record of stream 1 at 20. "t:90<40#1" is in the identity stream and
 * reports that ring 1 lost scheduler records from 40 to 90; "t:90<40#1c" reports lost calls. "/"
 * ends the blocks.
 */
static void fill(struct trace_writer *w, const char *text)
{
	for (char *p; *text; text = p + strspn(p, " ")) {
		unsigned int stream = *text == 't' ? TRACE_STREAM_TASKS :
						     (unsigned int)(*text - '0');
		uint64_t ts_ns, since_ns;
		uint16_t ring;

		if (*text == '/') {
			trace_writer_flush(w, UINT64_MAX);
			p = (char *)text + 1;
			continue;
		}
		ts_ns = strtoull(text + 2, &p, 10);
		if (*p != '<') {
			put(w, stream, ts_ns);
			continue;
		}
		since_ns = strtoull(p + 1, &p, 10);
		ring = (uint16_t)strtoul(p + 1, &p, 10);
		put_lost(w, stream, since_ns, ts_ns, ring,
			 *p == 'c' ? POV_CLASS_CALL : POV_CLASS_SCHED);
		p += *p == 'c';
	}
}

static const char *file_of(const char *name, const char *text)
{
	const char *path = temp_path(name);
	struct trace_writer *w = writer_begin(path);

	fill(w, text);
	writer_end(w);
	return path;
}

/* ---- what the reader makes of them ---- */

static void print(FILE *out, const struct pov_hdr *rec)
{
	const struct pov_lost *l = (const struct pov_lost *)rec;
	unsigned long long ts = rec->ts_ns;

	if (rec->kind == POV_KIND_LOSS_END) {
		fprintf(out, "%u@%llu] ", l->ring, ts);
	} else if (rec->kind == POV_KIND_LOSS_BEGIN) {
		fprintf(out, "[%u@%llu ", l->ring, ts);
		if (l->since_ns != rec->ts_ns)
			fprintf(out, "(%llu) ", (unsigned long long)l->since_ns);
	} else {
		fprintf(out, "%llu%s ", ts, rec->kind == POV_KIND_LOST ? "?" : "");
	}
}

static void assert_merged(struct trace *t, const struct trace_merge_options *opt, const char *want)
{
	const struct pov_hdr *rec;
	struct trace_merge *m;
	uint64_t last = 0;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(trace_merge_open(t, opt, &m), 0);
	while (trace_merge_next(m, &rec) == 1) {
		assert_true(rec->ts_ns >= last);
		last = rec->ts_ns;
		print(out, rec);
	}
	trace_merge_close(m);
	fclose(out);
	if (len)
		text[len - 1] = 0;
	assert_string_equal(text, want);
	free(text);
}

/* Reads twice: another pass must report the same. */
static void assert_read(const char *path, const char *want)
{
	struct trace *t = trace_opened(path);

	assert_merged(t, &losses, want);
	assert_merged(t, &losses, want);
	trace_close(t);
}

/* ---- the tests ---- */

/*
 * A loss begins before all records of its first moment and ends after all of its last, in any
 * stream.
 */
TEST(order)
{
	const char *path = file_of("order.pov",
				   "0:39 0:40 3:40 3:90 3:91 t:90<40#1 t:90<41#1c t:92<93#1");
	struct trace *t;

	assert_read(path, "39 [1@40 40 40 90 90? 90? 1@90] 91 92?");
	t = trace_opened(path);
	assert_merged(t, NULL, "39 40 40 90 90? 90? 91 92?");
	trace_close(t);
}

/* Losses may overlap, in one ring and in several. The ring may not exist. */
TEST(overlap)
{
	const char *path = file_of("overlap.pov",
				   "0:1 t:90<40#1 t:95<50#2 t:99<90#1 / t:200<45#77");

	assert_read(path, "1 [1@40 [77@45 [2@50 [1@90 90? 1@90] 95? 2@95] 99? 1@99] 200? 77@200]");
}

/* A loss reported by another stream is noticed when that stream's block is due. */
TEST(unannounced)
{
	const char *path = file_of("unannounced.pov",
				   "0:10 0:50 0:99 1:20 / 1:60 1:70<30#1 1:71<61#2");

	assert_read(path, "10 20 50 [1@60 (30) 60 [2@61 70? 1@70] 71? 2@71] 99");
}

/*
 * The damage is unknown until the block's records are due. Later passes know it and report the
 * same.
 */
TEST(damaged_block)
{
	const char *path = file_of("damaged.pov", "1:10 / 1:20 1:30 / 0:15 0:20 0:30 0:31 / t:25");
	struct trace *t;

	file_damage(path, 1, false);
	assert_read(path, "10 15 [1@20 20 25 30 1@30] 31");
	t = trace_opened(path);
	assert_merged(t, NULL, "10 15 20 25 30 31");
	assert_merged(t, &losses, "10 15 [1@20 20 25 30 1@30] 31");
	assert_merged(t, NULL, "10 15 20 25 30 31");
	trace_close(t);
	file_damage(path, 3, false); /* only identity records */
	assert_read(path, "10 15 [1@20 20 30 1@30] 31");
}

/* The last records of a file are damaged: the loss is reported although no record follows. */
TEST(damaged_end)
{
	const char *path = file_of("damaged_end.pov", "1:10 / 1:20 1:30");

	file_damage(path, 1, false);
	assert_read(path, "10 [1@20 1@30]");
}

/*
 * The times of missing blocks are estimated from their neighbors. At the file's end the loss has no
 * end.
 */
TEST(hole)
{
	const char *path = temp_path("hole.pov");
	struct trace_writer *w = writer_begin(path);
	struct trace *t;

	fill(w, "1:10000000000 / 1:20000000000 / 1:30000000000 / 1:40000000000");
	writer_end(w);
	file_damage(path, 1, true);
	t = trace_opened(path);
	assert_true(trace_get_summary(t)->holes);
	trace_close(t);
	assert_read(path,
		    "[65535@8000000000 10000000000 30000000000 65535@32000000000] 40000000000");
	file_damage(path, 0, true); /* nothing precedes the hole any more */
	assert_read(path, "[65535@0 30000000000 65535@32000000000] 40000000000");

	w = writer_begin(path);
	fill(w, "1:10000000000 / 1:20000000000 /");
	trace_writer_meta_text(w, "{\"type\":\"end\"}", 0);
	writer_end(w);
	file_damage(path, 1, true);
	assert_read(path, "[65535@8000000000 10000000000");
}

/* A few KB that report more losses than can be kept. */
TEST(too_many)
{
	const char *path = temp_path("many.pov");
	struct trace_writer *w = writer_begin(path);
	struct trace_merge *m;
	struct trace *t;

	for (uint64_t i = 1; i <= 700000; i++)
		put_lost(w, TRACE_STREAM_TASKS, 10 * i, 10 * i, 1, POV_CLASS_SCHED);
	writer_end(w);
	t = trace_opened(path);
	assert_true(trace_get_summary(t)->file_bytes < 100000);
	assert_int_equal(trace_merge_open(t, &losses, &m), -E2BIG);
	trace_close(t);
}

/* ---- of several recordings ---- */

static struct trace_writer *begin_host(const char *path, uint64_t boot_s)
{
	struct trace_writer *w = writer_begin(path);
	char json[256];

	trace_writer_meta_text(w,
			       "{\"type\":\"recording\",\"config\":{\"sched\":\"all\",\"rings\":2,"
			       "\"cpus_per_ring\":2}}",
			       0);
	trace_writer_meta_text(w, "{\"type\":\"host\",\"hostname\":\"h\",\"cpus\":4}", 0);
	snprintf(json, sizeof(json),
		 "{\"type\":\"clocks\",\"monotonic_ns\":1000,\"realtime_ns\":%llu}",
		 (unsigned long long)(1000 + boot_s * S));
	trace_writer_meta_text(w, json, 0);
	return w;
}

/* In the joined trace each CPU has a ring, and times are those of the first trace. */
TEST(joined)
{
	char *a = xstrdup(temp_path("a.pov")), *b = xstrdup(temp_path("b.pov"));
	const struct trace_source source[] = {{.path = a}, {.path = b}};
	struct trace_writer *w = begin_host(a, 50);
	struct trace *t;

	fill(w, "0:3000000035 0:3000000090");
	writer_end(w);
	w = begin_host(b, 53); /* its clock began 3 s later */
	fill(w, "t:80<30#1 / 0:40 0:50 / 1:95");
	writer_end(w);
	file_damage(b, 1, false); /* the block of 40 and 50 */
	assert_int_equal(trace_join_open(source, 2, &t), 0);
	for (int pass = 0; pass < 2; pass++)
		assert_merged(t, &losses,
			      "[6@3000000030 [7@3000000030 3000000035 "
			      "[4@3000000040 [5@3000000040 4@3000000050] 5@3000000050] "
			      "3000000080? 3000000080? 6@3000000080] 7@3000000080] "
			      "3000000090 3000000095");
	trace_close(t);
	file_damage(b, 1, true); /* on any CPU, 2 s around it, but not before b was booted */
	assert_int_equal(trace_join_open(source, 2, &t), 0);
	assert_true(trace_get_summary(t)->holes);
	assert_merged(t, &losses,
		      "[8@3000000000 [6@3000000030 [7@3000000030 3000000035 "
		      "3000000080? 3000000080? 6@3000000080] 7@3000000080] "
		      "3000000090 3000000095 8@5000000095]");
	trace_close(t);
	free(a);
	free(b);
}
