/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A writer that keeps the newest part. The kept part is exact, by time and by bytes, whatever comes
 * late. Files made from it are complete, and each has all of it.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "unit/test.h"
#include "lib/json_get.h"
#include "trace/trace_write.h"
#include "trace_help.h"

/* Like temp_path(), but with three results valid at once. */
static const char *file_path(int i, const char *name)
{
	static char path[3][256];

	snprintf(path[i], sizeof(path[i]), "%s", temp_path(name));
	return path[i];
}

static void add(struct trace_writer *w, unsigned int stream, uint64_t n)
{
	assert_int_equal(add_numbered(w, stream, n), 0);
}

static void add_range(struct trace_writer *w, uint64_t from, uint64_t until)
{
	for (uint64_t n = from; n < until; n++)
		add(w, n % 3, n);
}

/* Begins a segment as a session does: with a record that only files that begin here have. */
static void segment(struct trace_writer *w, uint64_t ts_ns)
{
	const struct pov_hdr *begin = record_made("caller ts=%llu tgid=%u",
						  (unsigned long long)ts_ns, (uint32_t)ts_ns);

	trace_writer_segment(w, ts_ns, true);
	trace_writer_place(w, TRACE_PLACE_BEGIN);
	assert_int_equal(trace_writer_meta_text(w, "{\"type\":\"clocks\"}", 0), 0);
	assert_int_equal(trace_writer_add(w, TRACE_STREAM_TASKS, begin), 0);
	trace_writer_place(w, TRACE_PLACE_FILE);
}

static struct trace_writer *open_keeping(const char *path, uint64_t ns, uint64_t bytes)
{
	const struct trace_writer_options opt = {.keep_ns = ns, .keep_bytes = bytes};
	struct trace_writer *w;

	assert_int_equal(trace_writer_open(path, &opt, &w), 0);
	return w;
}

/* Cuts at end_ns and writes a file. */
static void dump(struct trace_writer *w, const char *path, uint64_t end_ns)
{
	const struct trace_writer_options opt = {.keep_old = true};
	struct stat st;
	uint64_t bytes;

	assert_int_equal(trace_writer_dump_open(w, path, &opt), 0);
	trace_writer_segment(w, end_ns, false);
	trace_writer_place(w, TRACE_PLACE_HEAD);
	assert_int_equal(trace_writer_meta_text(w, "{\"type\":\"recording\"}", 0), 0);
	trace_writer_place(w, TRACE_PLACE_TAIL);
	assert_int_equal(trace_writer_meta_text(w, "{\"type\":\"end\"}", 0), 0);
	trace_writer_place(w, TRACE_PLACE_FILE);
	trace_writer_dump(w);
	assert_int_equal(trace_writer_dumped(w, true, &bytes), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal((uint64_t)st.st_size, bytes);
}

/* Asserts that the file is complete, with a beginning and each call from … until once. */
static void assert_file(const char *path, uint64_t begin_ns, uint64_t from, uint64_t until)
{
	struct replay r = replay_all(path, NULL);
	const struct pov_hdr *rec = (const struct pov_hdr *)r.words;

	assert_int_equal(r.err, 0);
	assert_true(r.sum.complete && r.in_order);
	assert_int_equal(r.sum.bad_blocks + r.sum.bad_records + r.sum.lost_tail_bytes, 0);
	assert_int_equal(r.cnt, 1 + until - from);
	for (uint64_t i = 0, next = from; i < r.cnt; i++) {
		if (rec->kind == POV_KIND_CALLER)
			assert_int_equal(rec->ts_ns, begin_ns);
		else
			assert_int_equal(rec->ts_ns, next++);
		rec = (const struct pov_hdr *)((const char *)rec + rec->size);
	}
	free(r.words);
}

TEST(time)
{
	const char *path = file_path(0, "time.pov"), *one = file_path(1, "time.1.pov");
	struct trace_writer *w = open_keeping(path, 4000, 0);
	struct trace_kept kept;

	for (uint64_t t = 1000; t < 20000; t += 1000) {
		segment(w, t);
		add_range(w, t, t + 1000);
	}
	trace_writer_kept(w, false, &kept);
	assert_int_equal(kept.begin_ns, 15000);
	assert_int_equal(kept.tally.calls, 5000);
	dump(w, one, 20000);
	assert_file(one, 16000, 16000, 20000);
	add_range(w, 20000, 20500);
	writer_end(w);
	assert_file(path, 16000, 16000, 20500);
}

/*
 * Half a second of noise in 1 MiB: the bound holds, most of it is used, and the content is the
 * newest.
 */
TEST(bytes)
{
	const uint64_t limit = 1 << 20, all = 400000;
	const char *path = file_path(0, "bytes.pov");
	struct trace_writer *w = open_keeping(path, 0, limit);
	struct trace_writer_stats stats;
	struct trace_kept kept;
	struct stat st;

	segment(w, 1);
	for (uint64_t n = 1; n < all; n++) {
		add(w, 0, n);
		if (n % 1000 == 0)
			trace_writer_drain(w);
		if (n % 1000 == 0 && trace_writer_segment_full(w))
			segment(w, n + 1);
		if (n % 1000)
			continue;
		trace_writer_get_stats(w, &stats);
		assert_true(stats.file_bytes <= limit + limit / 16);
	}
	trace_writer_kept(w, false, &kept);
	writer_end(w);
	assert_file(path, kept.begin_ns, kept.begin_ns, all);
	assert_int_equal(stat(path, &st), 0);
	assert_true((uint64_t)st.st_size <= limit + limit / 16);
	assert_true((uint64_t)st.st_size >= limit / 2);
}

/*
 * Records of earlier times come after the beginning of the next segment. The oldest are from before
 * everything.
 */
TEST(late)
{
	const char *path = file_path(0, "late.pov"), *one = file_path(1, "late.1.pov");
	struct trace_writer *w = open_keeping(path, 2000, 0);

	for (uint64_t t = 1000; t < 6000; t += 1000) {
		segment(w, t);
		if (t > 1000)
			add_range(w, t - 300, t);
		add_range(w, t, t + 700);
	}
	add(w, 0, 500); /* from before all that is kept */
	segment(w, 6000);
	add_range(w, 5700, 6500);
	dump(w, one, 6500);
	assert_file(one, 4000, 4000, 6500);
	add_range(w, 6500, 7000);
	add(w, 1, 1700);
	writer_end(w);
	assert_file(path, 4000, 4000, 7000);
}

/*
 * Each file has everything. Late records of the cut part go to it, and records for one file are in
 * no other.
 */
TEST(twice)
{
	const char *path = file_path(0, "twice.pov"),
		   *file[] = {file_path(1, "1.pov"), file_path(2, "2.pov")};
	struct trace_writer *w = open_keeping(path, 100000, 0);
	struct trace *t;

	assert_int_equal(trace_writer_meta_text(w, "{\"type\":\"host\"}", 0), 0);
	segment(w, 1000);
	add_range(w, 1000, 2000);
	dump(w, file[0], 2000);
	add_range(w, 2000, 3000);
	dump(w, file[1], 3000);
	writer_end(w);
	assert_file(file[0], 1000, 1000, 2000);
	assert_file(file[1], 1000, 1000, 3000);
	for (int i = 0; i < 2; i++) {
		static const char *const types[] = {"recording", "host", "clocks", "end"};

		t = trace_opened(file[i]);
		assert_int_equal(trace_meta_count(t), 4);
		for (size_t k = 0; k < 4; k++)
			assert_true(json_is_type(trace_meta_get(t, k), types[k]));
		trace_close(t);
	}
}

static bool is_three(void *ctx, uint32_t pid)
{
	return pid == 3;
}

static size_t metas_in(const char *path)
{
	size_t cnt;
	struct trace *t = trace_opened(path);

	cnt = trace_meta_count(t);
	trace_close(t);
	return cnt;
}

/* Data about a process is in files that begin before its end, and in no later one. */
TEST(gone)
{
	const char *path = file_path(0, "gone.pov"), *one = file_path(1, "gone.1.pov");
	struct trace_writer *w = open_keeping(path, 1000, 0);

	segment(w, 1000);
	for (uint32_t pid = 2; pid < 5; pid++)
		assert_int_equal(trace_writer_meta_text(w, "{\"type\":\"process\"}", pid), 0);
	add(w, 0, 1500);
	trace_writer_drain(w);
	segment(w, 2000);
	trace_writer_gone(w, is_three, NULL, 2000);
	add(w, 0, 2500);
	dump(w, one, 2600);
	assert_int_equal(metas_in(one), 3 + 3);
	segment(w, 3000);
	segment(w, 4000);
	add(w, 0, 4500);
	writer_end(w);
	assert_int_equal(metas_in(path), 2 + 1);
}

/* A file that cannot be written is not kept. The kept part stays, and the next file has it. */
TEST(fails)
{
	const char *path = file_path(0, "fails.pov"), *one = file_path(1, "fails.1.pov");
	const struct trace_writer_options opt = {0};
	struct trace_writer *w = open_keeping(path, 1000, 0);

	segment(w, 1000);
	add_range(w, 1000, 1100);
	assert_int_equal(trace_writer_dump_open(w, "/nonexistent/x.pov", &opt), -ENOENT);
	dump(w, one, 1100);
	assert_file(one, 1000, 1000, 1100);
	writer_end(w);
	assert_file(path, 1000, 1000, 1100);
}
