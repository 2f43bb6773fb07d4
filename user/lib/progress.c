/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See progress.h. */
#include "lib/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"

#define ERASE "\r\033[K"
#define QUICK_PER_PASS 5 /* quick passes that take the time of another pass */
#define BAR_MAX 40
#define BAR_MIN 5
#define WHAT_COLUMNS 24
#define COLUMNS_UNKNOWN 80
#define COLUMNS_MAX 200

static struct progress the_progress = {.fd = -1};

/* ---- the line ---- */

/* "1.8 M records/s", "250 k records/s", "900 records/s" */
static void rate_text(char *buf, size_t bytes, double per_s)
{
	if (per_s >= 999500)
		snprintf(buf, bytes, "%.1f M records/s", per_s / 1e6);
	else if (per_s >= 1000)
		snprintf(buf, bytes, "%.0f k records/s", per_s / 1e3);
	else
		snprintf(buf, bytes, "%.0f records/s", per_s);
}

/* "12 s", "2 min 03 s", "1 h 05 min"; rounded up, so that it is 0 only at the end. */
static void left_text(char *buf, size_t bytes, double ns)
{
	unsigned long long s = (unsigned long long)(ns / 1e9) + 1;

	if (s < 60)
		snprintf(buf, bytes, "%llu s", s);
	else if (s < 3600)
		snprintf(buf, bytes, "%llu min %02llu s", s / 60, s % 60);
	else
		snprintf(buf, bytes, "%llu h %02llu min", s / 3600, s % 3600 / 60);
}

/* The cost of all passes before this one, in quick passes. */
static unsigned int passes_cost(const struct progress *p, unsigned int pass)
{
	return pass <= p->quick ? pass : p->quick + (pass - p->quick) * QUICK_PER_PASS;
}

/* Assumes that all quick passes take equally long, and so do the others; it is an estimate. */
static double share_done(const struct progress *p)
{
	unsigned int all = p->quick + p->passes;
	unsigned int passes = p->pass + 1 > all ? p->pass + 1 : all;
	double here = p->expected ? (double)p->done / (double)p->expected : 0;
	unsigned int before = passes_cost(p, p->pass), after = passes_cost(p, p->pass + 1);

	return (before + (after - before) * (here < 1 ? here : 1)) / passes_cost(p, passes);
}

/* "[#####.....] ", or nothing if there is no room for it. */
static void bar_text(char *buf, double share, unsigned int room)
{
	unsigned int width = room < BAR_MAX + 3 ? room - 3 : BAR_MAX, full;

	*buf = 0;
	if (room < BAR_MIN + 3)
		return;
	full = (unsigned int)(share * width);
	buf[0] = '[';
	memset(buf + 1, '#', full);
	memset(buf + 1 + full, '.', width - full);
	memcpy(buf + 1 + width, "] ", 3);
}

char *progress_line(const struct progress *p, uint64_t now_ns, unsigned int columns, char *buf)
{
	double share = share_done(p), ns = (double)(now_ns - p->begun_ns);
	char bar[BAR_MAX + 4], rate[48], left[48], tail[128];
	int used;

	columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX;
	rate_text(rate, sizeof(rate), ns > 0 ? (double)p->read / ns * 1e9 : 0);
	left_text(left, sizeof(left), share > 0 ? ns * (1 - share) / share : 0);
	used = snprintf(tail, sizeof(tail), "%3.0f %%, %s", share * 100, rate);
	if (share >= 1)
		snprintf(tail + used, sizeof(tail) - (size_t)used, ", finishing");
	else if (share > 0)
		snprintf(tail + used, sizeof(tail) - (size_t)used, ", %s left", left);
	used = snprintf(buf, PROGRESS_LINE_BYTES, "%.*s ", WHAT_COLUMNS, p->what);
	/* the last column stays free, as some terminals wrap there */
	bar_text(bar, share,
		 columns > (size_t)used + strlen(tail) + 1 ?
			 columns - (unsigned int)used - (unsigned int)strlen(tail) - 1 :
			 0);
	snprintf(buf + used, PROGRESS_LINE_BYTES - (size_t)used, "%s%s", bar, tail);
	if (strlen(buf) >= columns)
		buf[columns ? columns - 1 : 0] = 0;
	return buf;
}

/* ---- the terminal ---- */

static unsigned int columns_of(int fd)
{
	struct winsize w;

	return !ioctl(fd, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : COLUMNS_UNKNOWN;
}

/* One write, so that other programs' lines do not get between. A failure is of no interest. */
static void terminal_write(const struct progress *p, const char *text)
{
	char all[PROGRESS_LINE_BYTES + sizeof(ERASE)];
	int n = snprintf(all, sizeof(all), ERASE "%s", text);

	if (write(p->fd, all, (size_t)n) < 0)
		return;
}

void progress_hide_of(struct progress *p)
{
	if (p->shown)
		terminal_write(p, "");
	p->shown = false;
}

void progress_expect_of(struct progress *p, uint64_t records)
{
	if (p->done) {
		p->pass++;
		p->expected = p->done = 0;
	}
	p->expected += records;
}

void progress_add_to(struct progress *p, uint64_t records, uint64_t now_ns)
{
	char line[PROGRESS_LINE_BYTES];

	p->done += records;
	p->read += records;
	if (now_ns - p->begun_ns < PROGRESS_AFTER_NS ||
	    (now_ns - p->shown_ns < PROGRESS_EVERY_NS && share_done(p) < 1))
		return;
	terminal_write(p, progress_line(p, now_ns, columns_of(p->fd), line));
	p->shown = true;
	p->shown_ns = now_ns;
}

/* ---- the process's own ---- */

static bool terminal_can_erase(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

/* Erases the line; it comes back with the next progress_add(). */
static void progress_hide(void)
{
	progress_hide_of(&the_progress);
}

void progress_begin(const char *what, unsigned int quick, unsigned int passes)
{
	progress_end();
	if (log_get_level() < LOG_INFO || !terminal_can_erase())
		return;
	log_set_before(progress_hide);
	the_progress = (struct progress){.fd = STDERR_FILENO,
					 .what = what,
					 .quick = quick,
					 .passes = passes,
					 .begun_ns = clock_now_ns()};
}

void progress_expect(uint64_t records)
{
	if (the_progress.fd >= 0)
		progress_expect_of(&the_progress, records);
}

void progress_add(uint64_t records)
{
	if (the_progress.fd >= 0)
		progress_add_to(&the_progress, records, clock_now_ns());
}

void progress_end(void)
{
	progress_hide();
	log_set_before(NULL);
	the_progress = (struct progress){.fd = -1};
}
