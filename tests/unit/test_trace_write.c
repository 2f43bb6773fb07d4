/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The writer: everything accepted is in the file, limits are kept to the byte, failures leave a
 * complete file.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "unit/test.h"
#include "trace/trace_format.h"
#include "trace_help.h"

static const struct trace_writer_options plain = {0};

static void assert_numbered(const struct replay *r, uint64_t cnt)
{
	union any_record rec;
	size_t at = 0;

	assert_int_equal(r->cnt, cnt);
	for (uint64_t i = 1; i <= cnt; i++) {
		numbered_call(i, &rec);
		assert_memory_equal(r->words + at, &rec, rec.hdr.size);
		at += rec.hdr.size / 8u;
	}
}

TEST(all_arrives)
{
	const char *path = temp_path("all.pov");
	struct trace_writer_stats stats;
	struct replay r;
	struct stat st;
	struct trace_writer *w = writer_begin(path);

	assert_int_equal(trace_writer_meta_text(w, "{\"type\":\"recording\"}", 0), 0);
	for (uint64_t i = 1; i <= 20011; i++) {
		assert_int_equal(add_numbered(w, i % 3 ? i % 3 : TRACE_STREAM_TASKS, i), 0);
		if (i % 4000 == 0)
			trace_writer_flush(w, UINT64_MAX);
	}
	trace_writer_get_stats(w, &stats);
	assert_int_equal(stats.accepted.records, 20011);
	writer_end(w);
	r = replay_good(path);
	assert_true(r.sum.complete);
	assert_int_equal(r.sum.bad_blocks + r.sum.lost_tail_bytes + r.sum.bad_records, 0);
	assert_int_equal(r.sum.records, 20011);
	assert_numbered(&r, 20011);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal((uint64_t)st.st_size, r.sum.file_bytes);
	free(r.words);
}

/*
 * Counts of records by kind, and of the polls per function of a spin as far as its record has room.
 */
TEST(tally)
{
	static const uint64_t polls[] = {11, 13, 17};
	uint64_t room[(sizeof(struct pov_spin) + 3 * sizeof(struct pov_spin_func)) / 8] = {0};
	struct pov_spin *spin = (struct pov_spin *)room;
	struct pov_call call = {.hdr = {.size = sizeof(call), .kind = POV_KIND_CALL}};
	struct trace_writer_stats stats;
	struct trace_writer *w = writer_begin(temp_path("tally.pov"));

	*spin = (struct pov_spin){.hdr = {.size = sizeof(room), .kind = POV_KIND_SPIN},
				  .nfuncs = 7};
	for (int i = 0; i < 3; i++)
		spin->func[i].cnt = polls[i];
	assert_int_equal(trace_writer_add(w, 0, &spin->hdr), 0);
	assert_int_equal(trace_writer_add(w, 0, &call.hdr), 0);
	assert_int_equal(trace_writer_add(w, 0, &call.hdr), 0);
	trace_writer_get_stats(w, &stats);
	assert_int_equal(stats.accepted.records, 3);
	assert_int_equal(stats.accepted.spins, 1);
	assert_int_equal(stats.accepted.polls, 11 + 13 + 17);
	assert_int_equal(stats.accepted.calls, 2);
	assert_int_equal(stats.accepted.switches, 0);
	writer_end(w);
}

TEST(empty)
{
	const char *path = temp_path("empty.pov");
	struct replay r;
	struct trace_writer *w = writer_begin(path);

	writer_end(w);
	r = replay_good(path);
	assert_true(r.sum.complete);
	assert_int_equal(r.cnt, 0);
	free(r.words);
	assert_int_equal(trace_writer_finish(NULL, NULL), 0);
}

/* A file that is already open: it needs no name, stays open, and is not removed. */
TEST(open_file)
{
	const char *path = temp_path("open.pov");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	const struct trace_writer_options opt = {.fd = fd, .keep_old = true};
	struct trace_writer *w;
	struct replay r;
	char link[64];

	assert_true(fd > 0);
	assert_int_equal(trace_writer_open("nowhere/it.pov", &opt, &w), 0);
	trace_writer_undo(w);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(trace_writer_open("nowhere/it.pov", &opt, &w), 0);
	for (uint64_t n = 1; n <= 1009; n++)
		assert_int_equal(add_numbered(w, 3, n), 0);
	writer_end(w);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	r = replay_good(link);
	assert_numbered(&r, 1009);
	free(r.words);
	close(fd);
}

/* A job script may clean its directory while it is recorded, or write to the file itself. */
TEST(touched_file)
{
	const char *path = temp_path("touched.pov");
	struct trace_writer *w = writer_begin(path);

	assert_int_equal(add_numbered(w, 3, 1), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(trace_writer_finish(w, NULL), -ENOENT);
	w = writer_begin(path);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(add_numbered(w, 3, 1), 0);
	assert_int_equal(trace_writer_finish(w, NULL), -EIO);
}

TEST(is_output)
{
	const char *path = temp_path("output.pov");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), output = dup(STDOUT_FILENO);
	struct trace_writer *w;

	dup2(fd, STDOUT_FILENO);
	assert_int_equal(trace_writer_open(path, &plain, &w), -EBUSY);
	dup2(output, STDOUT_FILENO);
	close(output);
	close(fd);
}

TEST(refuses)
{
	static const struct {
		uint16_t size;
		unsigned int stream;
	} bad[] = {{8, 0}, {20, 0}, {4104, 0}, {24, 65536}};
	union any_record rec = {.hdr = {.kind = 1}};
	struct trace_writer *w;

	assert_int_not_equal(trace_writer_open("/", &plain, &w), 0);
	assert_int_equal(trace_writer_open("/dev/null", &plain, &w), -EINVAL);
	assert_int_equal(trace_writer_open("/nonexistent/x.pov", &plain, &w), -ENOENT);
	w = writer_begin(temp_path("refuses.pov"));
	for (size_t i = 0; i < COUNT(bad); i++) {
		rec.hdr.size = bad[i].size;
		assert_int_equal(trace_writer_add(w, bad[i].stream, &rec.hdr), -EINVAL);
	}
	writer_end(w);
}

/* With any limit, the file stays within it, has all that was accepted, and ends properly. */
TEST(limit)
{
	const char *path = temp_path("limit.pov");

	for (uint64_t limit = 100; limit < 500000; limit = limit * 5 + 17) {
		struct trace_writer_options opt = {.max_bytes = limit};
		struct trace_writer_stats stats;
		struct trace_writer *w;
		struct replay r;
		uint64_t n = 0;
		int err;

		assert_int_equal(trace_writer_open(path, &opt, &w), 0);
		do {
			n++;
			err = add_numbered(w, n & 3, n);
		} while (!err);
		assert_int_equal(err, -EFBIG);
		assert_int_equal(add_numbered(w, 0, n), -EFBIG);
		trace_writer_get_stats(w, &stats);
		assert_int_equal(stats.accepted.records, n - 1);
		assert_int_equal(trace_writer_meta_text(w, "{\"type\":\"end\"}", 0), 0);
		err = trace_writer_finish(w, NULL);
		r = replay_good(path);
		assert_true(r.sum.file_bytes <= limit);
		assert_numbered(&r, n - 1);
		if (limit > 1000) {
			assert_int_equal(err, 0);
			assert_true(r.sum.complete);
			assert_int_equal(r.sum.meta_blocks, 1);
		}
		if (limit > 100000) /* the limit is also used */
			assert_true(r.sum.file_bytes > limit - limit / 4 - 65536);
		free(r.words);
	}
}

/*
 * Runs in a child with a file size limit instead of a full disk. In both cases a write fails
 * half-way.
 */
static void full_disk_child(const char *path, uint64_t limit)
{
	struct rlimit small = {limit, limit};
	struct trace_writer_stats stats;
	struct trace_writer *w;
	struct replay r;
	uint64_t n = 0;

	setrlimit(RLIMIT_FSIZE, &small);
	if (trace_writer_open(path, &plain, &w))
		_exit(10);
	do
		if (++n % 500 == 0)
			trace_writer_flush(w, UINT64_MAX);
	while (!add_numbered(w, n & 1, n) && n < 10000000);
	trace_writer_drain(w);
	trace_writer_get_stats(w, &stats);
	if (stats.accepted.records != n - 1)
		_exit(11);
	if (trace_writer_finish(w, NULL) != -EDQUOT)
		_exit(12);
	r = replay_all(path, NULL);
	if (r.err || r.sum.complete || r.sum.bad_blocks || r.sum.lost_tail_bytes)
		_exit(13);
	if (r.sum.file_bytes > limit || r.cnt + 1 >= n || r.cnt != r.sum.records || !r.cnt)
		_exit(14);
	if (r.cnt != stats.accepted.records - stats.lost.records ||
	    r.cnt != stats.accepted.calls - stats.lost.calls)
		_exit(15);
	free(r.words);
	_exit(0);
}

TEST(full_disk)
{
	int status;
	pid_t pid;

	for (uint64_t limit = 30000; limit < 300000; limit *= 3) {
		const char *path = temp_path("full.pov");

		pid = fork();
		if (!pid)
			full_disk_child(path, limit);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

static void killed_child(const char *path)
{
	struct trace_writer *w;

	if (trace_writer_open(path, &plain, &w))
		_exit(1);
	for (uint64_t n = 1;; n++) {
		if (add_numbered(w, 0, n))
			_exit(2);
		if (n % 100 == 0)
			trace_writer_flush(w, UINT64_MAX);
	}
}

TEST(killed)
{
	const char *path = temp_path("killed.pov");
	struct replay r;
	struct stat st;
	int status;
	pid_t pid;

	for (off_t size = 20000; size < 1000000; size *= 6) {
		pid = fork();
		if (!pid)
			killed_child(path);
		do
			usleep(200);
		while (stat(path, &st) || st.st_size < size);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status));
		r = replay_good(path);
		assert_false(r.sum.complete);
		assert_int_equal(r.sum.bad_blocks, 0);
		assert_true(r.cnt >= 100 && r.cnt % 100 == 0);
		assert_numbered(&r, r.cnt);
		free(r.words);
	}
}

/* Blocks that began after the given time stay open: the file must not grow. */
TEST(flush_age)
{
	uint64_t began = clock_now_ns();
	struct trace_writer_stats before, after;
	struct trace_writer *w = writer_begin(temp_path("age.pov"));

	assert_int_equal(add_numbered(w, 0, 1), 0);
	trace_writer_get_stats(w, &before);
	trace_writer_flush(w, began - 1);
	usleep(20000);
	trace_writer_get_stats(w, &after);
	assert_int_equal(before.file_bytes, after.file_bytes);
	trace_writer_flush(w, clock_now_ns());
	for (int i = 0; i < 1000 && after.file_bytes == before.file_bytes; i++) {
		usleep(1000);
		trace_writer_get_stats(w, &after);
	}
	assert_true(after.file_bytes > before.file_bytes);
	writer_end(w);
}

/* Incompressible payloads are stored unchanged. */
TEST(noise)
{
	const char *path = temp_path("noise.pov");
	uint64_t seed = 3, n = 0;
	union any_record rec;
	struct replay r;
	struct trace_writer *w = writer_begin(path);

	for (n = 0; n < 1500; n++) {
		for (int i = 1; i < 512; i++)
			rec.w[i] = random_next(&seed) << 1 | 1;
		rec.hdr = (struct pov_hdr){.size = 4096, .kind = 255, .ts_ns = n};
		assert_int_equal(trace_writer_add(w, 0, &rec.hdr), 0);
	}
	writer_end(w);
	r = replay_good(path);
	assert_int_equal(r.cnt, 1500);
	assert_memory_equal(r.words + 1499 * 512, &rec, 4096);
	free(r.words);
}
