/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Progress: the line's text, when it appears on a terminal, and that it disappears again. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "unit/test.h"
#include "lib/progress.h"
#include "trace/trace_join.h"
#include "trace_help.h"

#define S UINT64_C(1000000000)

#define MARK '\001'

static char said[8192];
static int written_to; /* the terminal that was opened last */

/* Opens a terminal of 60 columns. */
static int terminal_open(int *slave)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	const struct winsize w = {.ws_row = 24, .ws_col = 60};
	struct termios t;

	assert_true(master >= 0);
	assert_int_equal(grantpt(master), 0);
	assert_int_equal(unlockpt(master), 0);
	*slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(*slave >= 0);
	assert_int_equal(ioctl(*slave, TIOCSWINSZ, &w), 0);
	assert_int_equal(tcgetattr(*slave, &t), 0);
	cfmakeraw(&t); /* \n stays \n */
	assert_int_equal(tcsetattr(*slave, TCSANOW, &t), 0);
	written_to = *slave;
	return master;
}

/*
 * What has been written to the terminal since the last call. The kernel hands it over in the
 * background, so a mark is written after it and waited for.
 */
static const char *terminal_read(int master)
{
	const char mark = MARK;
	size_t used = 0;
	ssize_t n;

	assert_int_equal(write(written_to, &mark, 1), 1);
	do {
		n = read(master, said + used, sizeof(said) - used);
		assert_true(n > 0);
		used += (size_t)n;
	} while (said[used - 1] != MARK && used < sizeof(said));
	said[used - 1] = 0;
	return said;
}

TEST(line)
{
	struct progress p = {.what = "run.pov", .passes = 1, .expected = 400, .begun_ns = S};
	char buf[PROGRESS_LINE_BYTES];

	assert_string_equal(progress_line(&p, 2 * S, 60, buf),
			    "run.pov [..............................]   0 %, 0 records/s");
	p.done = p.read = 100;
	assert_string_equal(progress_line(&p, 3 * S, 60, buf),
			    "run.pov [####...............]  25 %, 50 records/s, 7 s left");
	p.done = p.read = 400;
	assert_string_equal(progress_line(&p, 3 * S, 60, buf),
			    "run.pov [#################] 100 %, 200 records/s, finishing");
	p = (struct progress){.what = "run.pov", .passes = 1, .expected = 4000000, .done = 40000};
	p.read = 1800000;
	assert_string_equal(progress_line(&p, S, 50, buf),
			    "run.pov   1 %, 1.8 M records/s, 1 min 40 s left");
	assert_string_equal(progress_line(&p, 60 * S, 60, buf),
			    "run.pov [..........]   1 %, 30 k records/s, 1 h 39 min left");
	assert_string_equal(progress_line(&p, S, 12, buf), "run.pov   1");
	assert_string_equal(progress_line(&p, S, 0, buf), "");
}

/* A quick pass, then two others: 1/11, 5/11, 5/11. More passes than expected are no overflow. */
TEST(passes)
{
	static const char *const shares[] = {"  5 %", " 32 %", " 77 %", " 84 %"};
	struct progress p = {.fd = -1, .what = "x", .quick = 1, .passes = 2};
	char buf[PROGRESS_LINE_BYTES];

	for (int pass = 0; pass < 4; pass++) {
		progress_expect_of(&p, 60); /* two files that are read together */
		progress_expect_of(&p, 40);
		progress_add_to(&p, 50, S / 2);
		assert_int_equal(p.pass, pass);
		assert_non_null(strstr(progress_line(&p, S, 60, buf), shares[pass]));
	}
}

TEST(terminal)
{
	struct progress p = {.what = "run.pov", .passes = 1};
	int master = terminal_open(&p.fd);

	progress_expect_of(&p, 1000);
	progress_add_to(&p, 100, S - 1); /* too early to be worth a line */
	progress_hide_of(&p);
	assert_string_equal(terminal_read(master), "");
	progress_add_to(&p, 100, 2 * S);
	assert_string_equal(terminal_read(master),
			    "\r\033[Krun.pov [###...............]  20 %, 100 "
			    "records/s, 9 s left");
	progress_add_to(&p, 50, 2 * S + PROGRESS_EVERY_NS - 1); /* too soon after the last */
	assert_string_equal(terminal_read(master), "");
	progress_add_to(&p, 750, 2 * S + PROGRESS_EVERY_NS - 1); /* the end, though */
	assert_non_null(strstr(terminal_read(master), "100 %"));
	progress_hide_of(&p);
	progress_hide_of(&p);
	assert_string_equal(terminal_read(master), "\r\033[K");
	close(p.fd);
	close(master);
}

static void recording_make(const char *path)
{
	struct trace_writer *w = writer_begin(path);
	uint64_t seed = 7, now = 5000;
	union any_record rec;

	for (int i = 0; i < 100; i++) {
		random_record(&seed, &now, &rec);
		assert_int_equal(trace_writer_add(w, 0, &rec.hdr), 0);
	}
	writer_end(w);
}

static void recording_read(const char *path)
{
	const struct trace_source source = {.path = path};
	const struct pov_hdr *rec;
	struct trace_merge *merge;
	struct trace *t;

	trace_sources_progress(&source, 1, 0, 1);
	assert_int_equal(trace_join_open(&source, 1, &t), 0);
	nanosleep(&(struct timespec){1, 10000000}, NULL); /* so that it is worth a line */
	assert_int_equal(trace_merge_open(t, NULL, &merge), 0);
	while (trace_merge_next(merge, &rec) > 0)
		;
	log_info("a message");
	progress_end();
	trace_merge_close(merge);
	trace_close(t);
}

/* The reader of recordings moves the line, messages go over it, and the end erases it. */
TEST(reading_a_recording)
{
	enum log_level before = log_get_level();
	int saved = dup(STDERR_FILENO), slave, master = terminal_open(&slave);
	static const char wanted[] = "\r\033[Krun.pov [";
	const char *path = temp_path("run.pov");

	assert_true(saved >= 0);
	recording_make(path);
	dup2(slave, STDERR_FILENO);
	setenv("TERM", "xterm", 1);
	log_set_level(LOG_INFO);
	recording_read(path);
	terminal_read(master);
	setenv("TERM", "dumb", 1);
	recording_read(path);
	dup2(saved, STDERR_FILENO);
	log_set_level(before);
	assert_memory_equal(said, wanted, strlen(wanted));
	assert_non_null(strstr(said, "100 %"));
	assert_non_null(strstr(said, ", finishing\r\033[Kpovtrace: a message\n"));
	assert_string_equal(strrchr(said, '\n'), "\n"); /* nothing is left on the screen */
	assert_string_equal(terminal_read(master), "povtrace: a message\n");
	close(saved);
	close(slave);
	close(master);
}
