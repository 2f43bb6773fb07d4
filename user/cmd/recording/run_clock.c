/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace clock keeps the running time of each rank, for the rank itself (libpov) and as a table.
 * This file prints the table and, with --cost, the time per context switch. clock/clock.c does the
 * work.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "clock/clock.h"
#include "cmd/recording/options.h"
#include "cmd/recording/recording_common.h"
#include "lib/table.h"
#include "version.h"

#define INTERVAL_USUAL_NS 1000000000ull
#define QUANTILES 1000 /* in the file; enough for the 99.9th percentile */

/* ---- the table ---- */

struct table {
	const struct clock_command_options *opt;
	FILE *out;
	bool clears; /* clear the screen before each table */
	volatile int *stop;
};

TABLE_ORDER(by_rank, struct clock_row, table_compare(a->rank < 0, b->rank < 0),
	    strcmp(a->job, b->job), table_compare(a->rank, b->rank), table_compare(a->pid, b->pid))

/* Sorts ranks to the front. Returns how many rows to print: the ranks, or all if there are none. */
static size_t rows_choose(struct clock_row *rows, size_t cnt)
{
	size_t ranks = 0;

	qsort(rows, cnt, sizeof(*rows), by_rank);
	while (ranks < cnt && rows[ranks].rank >= 0)
		ranks++;
	return ranks ? ranks : cnt;
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void text_print(FILE *out, const struct clock_row *rows, size_t cnt)
{
	char rank[16], cpu[16];

	fprintf(out, "%5s %8s %5s %8s %12s %7s %10s %10s %10s  %s\n", "rank", "pid", "core",
		"threads", "rank-POV s", "% wall", "runnable s", "preempted", "migrated",
		"command");
	for (size_t i = 0; i < cnt; i++) {
		const struct clock_row *r = &rows[i];

		snprintf(rank, sizeof(rank), "%d", r->rank);
		snprintf(cpu, sizeof(cpu), "%d", r->cpu);
		fprintf(out,
			"%5s %8d %5s %8u %12.3f %7.1f %10.3f %10" PRIu64 " %10" PRIu64 "  %s%s\n",
			r->rank < 0 ? "-" : rank, r->pid, r->cpu < 0 ? "-" : cpu, r->threads,
			seconds(r->rank_pov_ns), percent(r->rank_pov_ns, r->wall_ns),
			seconds(r->runnable_ns), r->preempted, r->migrations, r->command,
			r->ended ? " (ended)" : "");
	}
	if (!cnt)
		fprintf(out, "no MPI process yet\n");
}

static void json_print(FILE *out, const struct clock_row *rows, size_t cnt, bool last)
{
	json_t *list = json_array(), *all;

	for (size_t i = 0; i < cnt; i++) {
		const struct clock_row *r = &rows[i];

		json_array_append_new(
			list,
			json_pack(
				"{s:o, s:s, s:i, s:o, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:s, s:b}",
				"rank", r->rank < 0 ? json_null() : json_integer(r->rank), "job",
				r->job, "pid", (int)r->pid, "core",
				r->cpu < 0 ? json_null() : json_integer(r->cpu), "wall_ns",
				(json_int_t)r->wall_ns, "rank_pov_ns", (json_int_t)r->rank_pov_ns,
				"runnable_ns", (json_int_t)r->runnable_ns, "preempted",
				(json_int_t)r->preempted, "migrations", (json_int_t)r->migrations,
				"threads", (int)r->threads, "running", (int)r->running, "command",
				r->command, "ended", r->ended));
	}
	all = json_pack("{s:o, s:b}", "processes", list, "last", last);
	json_dumpf(all, out, JSON_COMPACT);
	fputc('\n', out);
	json_decref(all);
}

static void table_show(void *ctx, const struct clock_row *rows, size_t cnt, bool last)
{
	struct table *t = ctx;
	struct clock_row *mine = xcalloc(cnt + 1, sizeof(*mine));

	/*
	 * --once prints only the table after the interval. Else the last one is printed, too,
	 * unless the screen has shown it.
	 */
	if (!t->opt->quiet && !(last && (t->clears || (t->opt->once && *t->stop)))) {
		memcpy(mine, rows, cnt * sizeof(*mine));
		cnt = rows_choose(mine, cnt);
		if (t->clears)
			fputs("\033[H\033[2J", t->out);
		if (t->opt->json)
			json_print(t->out, mine, cnt, last);
		else
			text_print(t->out, mine, cnt);
		fflush(t->out);
	}
	if (t->opt->once)
		*t->stop = 1;
	free(mine);
}

/* ---- the cost ---- */

/*
 * Each kind of work has a histogram with bins of 1 ns. Another histogram has two readings of the
 * clock with no work between them; all the others include this time.
 */

static const char *const half_name[] = {
	[POV_CLOCK_WORK_SUSPEND] = "suspend",
	[POV_CLOCK_WORK_RESUME] = "resume",
	[POV_CLOCK_WORK_BOTH] = "suspend and resume",
	[POV_CLOCK_WORK_SAME] = "thread to thread",
};

static uint64_t histogram_cnt(const uint64_t *cost)
{
	uint64_t cnt = 0;

	for (size_t ns = 0; ns < POV_CLOCK_COSTS; ns++)
		cnt += cost[ns];
	return cnt;
}

static uint64_t histogram_quantile(const uint64_t *cost, uint64_t cnt, double q)
{
	uint64_t sum = 0;

	for (size_t ns = 0; ns < POV_CLOCK_COSTS; ns++) {
		sum += cost[ns];
		if (sum && (double)sum >= q * (double)cnt)
			return ns;
	}
	return POV_CLOCK_COSTS - 1;
}

/* ---- the cost, for people ---- */

static void row_print(const char *clocks, const char *half, const uint64_t *cost, FILE *out)
{
	uint64_t cnt = histogram_cnt(cost);

	if (!cnt)
		return;
	fprintf(out, "%-9s %-18s %10" PRIu64, clocks, half, cnt);
	for (size_t i = 0; i < 4; i++)
		fprintf(out, " %7" PRIu64,
			histogram_quantile(cost, cnt, (const double[]){0.5, 0.9, 0.99, 0.999}[i]));
	fputc('\n', out);
}

static void cost_print(const struct clock_result *r, FILE *out)
{
	fprintf(out, "%-9s %-18s %10s %7s %7s %7s %7s\n", "clocks", "work, in ns", "switches",
		"median", "90 %", "99 %", "99.9 %");
	for (size_t i = 0; i < POV_CLOCK_WORK_SECTION; i++)
		row_print("rank", half_name[i], r->cost[i], out);
	for (size_t i = 0; i < POV_CLOCK_WORK_SECTION; i++)
		row_print("rank+core", half_name[i], r->cost[POV_CLOCK_WORK_SECTION + i], out);
	row_print("", "(measuring alone)", r->cost[POV_CLOCK_WORK_NONE], out);
}

/* ---- the cost, for povplot ---- */

static json_t *time_pack(const uint64_t *cost, uint64_t cnt)
{
	static const struct {
		const char *name;
		double q;
	} shown[] = {{"min", 0},   {"p25", 0.25}, {"median", 0.5}, {"p75", 0.75},
		     {"p90", 0.9}, {"p99", 0.99}, {"max", 1}};
	json_t *time = json_object(), *list = json_array();

	json_object_set_new(time, "cnt", json_integer((json_int_t)cnt));
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		json_object_set_new(
			time, shown[i].name,
			json_integer((json_int_t)histogram_quantile(cost, cnt, shown[i].q)));
	for (int i = 0; i <= QUANTILES; i++)
		json_array_append_new(list, json_integer((json_int_t)histogram_quantile(
						    cost, cnt, (double)i / QUANTILES)));
	json_object_set_new(time, "quantiles", list);
	return time;
}

static void point_add(json_t *points, const char *half, const uint64_t *cost)
{
	uint64_t cnt = histogram_cnt(cost);

	if (cnt)
		json_array_append_new(points,
				      json_pack("{s:s, s:{s:o}, s:{}}", "work", half, "times",
						"switch", time_pack(cost, cnt), "values"));
}

/* Packs one benchmark result. NULL if no switch did any of this work. */
static json_t *result_pack(const char *name, const char *brief,
			   const uint64_t (*cost)[POV_CLOCK_COSTS], const uint64_t *nothing)
{
	json_t *points = json_array();

	for (size_t i = 0; i < POV_CLOCK_WORK_SECTION; i++)
		point_add(points, half_name[i], cost[i]);
	if (!json_array_size(points)) {
		json_decref(points);
		return NULL;
	}
	point_add(points, "none (measuring alone)", nothing);
	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:{}, s:o}", "benchmark", name, "group",
			 "timers", "kind", "cost", "brief", brief, "ranks", 0, "options", "points",
			 points);
}

static json_t *file_pack(const struct clock_result *r)
{
	json_t *results = json_array(), *one;
	time_t now = time(NULL);
	struct utsname host;
	char date[32];
	struct tm tm;

	uname(&host);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	one = result_pack("rank_pov_switch", "work at a switch for rank-POV time", r->cost,
			  r->cost[POV_CLOCK_WORK_NONE]);
	if (one)
		json_array_append_new(results, one);
	one = result_pack("core_pov_switch", "work at a switch for rank-POV and core-POV time",
			  r->cost + POV_CLOCK_WORK_SECTION, r->cost[POV_CLOCK_WORK_NONE]);
	if (one)
		json_array_append_new(results, one);
	return json_pack("{s:s, s:i, s:[{s:{s:s, s:s, s:s, s:s+}, s:o}]}", "format", "povbench",
			 "version", 2, "launches", "factors", "povbench", POV_VERSION, "date", date,
			 "host", host.nodename, "kernel", "Linux ", host.release, "results",
			 results);
}

/* Writes povbench's result format, which povplot reads. 0 or -errno (printed). */
static int cost_write(const struct clock_result *r, const char *path)
{
	json_t *file = file_pack(r);
	int err = 0;

	if (json_dump_file(file, path, JSON_COMPACT | JSON_ENSURE_ASCII)) {
		err = errno ? -errno : -EIO;
		log_error("clock: cannot write %s: %s", path, log_unwritten(-err));
	}
	json_decref(file);
	return err;
}

/* ---- the command ---- */

static int options_check(const struct clock_command_options *o, int argc, int dashdash)
{
	const char *problem = NULL;

	if (argc && dashdash != 0)
		problem = WATCH_NO_DASHES(o->pids);
	else if (!argc && !o->pids.cnt && !o->all)
		problem = "nothing to watch: give -- COMMAND, -p PID, or --all";
	else if (o->user && !argc)
		problem = "--user needs a command";
	else if (o->once && argc)
		problem =
			"--once needs -p or --all; with a command the table is printed at its end";
	else if (o->output && !o->cost)
		problem = "--output needs --cost";
	else if (o->quiet && (o->once || o->json || o->interval_ns))
		problem = "--quiet prints no table";
	if (problem)
		log_error("clock: %s; see `povtrace help clock`", problem);
	return problem ? -EINVAL : 0;
}

static uint64_t interval_of(const struct clock_command_options *o, bool runs)
{
	if (o->quiet)
		return 0;
	return o->interval_ns || runs ? o->interval_ns : INTERVAL_USUAL_NS;
}

/* Returns a socket path that no other run uses. The caller frees it. */
static char *socket_own(void)
{
	return xasprintf("/run/povtrace/clock-%d.sock", getpid());
}

static int run_watched(const struct clock_command_options *o, const struct watch *w,
		       const char *own)
{
	bool runs = w->plan.program != NULL;
	struct clock_result *res = xcalloc(1, sizeof(*res));
	struct table t = {.opt = o, .out = runs ? stderr : stdout};
	const struct clock_options co = {
		.socket = o->socket    ?:
				  runs ? own :
					 CLOCK_SOCKET_USUAL,
		.socket_else = o->socket || o->quiet ? NULL : own,
		.launch = runs ? &w->plan : NULL,
		.pids = w->pids,
		.pid_cnt = w->pid_cnt,
		.all = o->all,
		.cost = o->cost,
		.interval_ns = interval_of(o, runs),
		.duration_ns = o->duration_ns,
		.show = table_show,
		.ctx = &t,
	};
	int status = 1;

	t.clears = !runs && !o->once && !o->json && isatty(STDOUT_FILENO);
	t.stop = (volatile int *)watch_signals();
	if (!clock_run(&co, t.stop, res)) {
		if (res->child_pid && watch_reap(res->child_pid, &res->child_status))
			res->child_pid = 0;
		if (res->child_pid)
			log_warn("the command is still running, as process %d", res->child_pid);
		if (res->without_slot)
			log_warn("%" PRIu64 " processes got no clock: too many ran at once",
				 res->without_slot);
		if (res->missed || res->settled)
			log_info(
				"the kernel did not report %" PRIu64
				" context switches, and %" PRIu64
				" times a thread's clock was far from the scheduler's time and was "
				"set to it",
				res->missed, res->settled);
		if (o->cost)
			cost_print(res, t.out);
		status = watch_status(res->child_status);
		if (o->output && cost_write(res, o->output))
			status = status ?: 1;
	}
	free(res);
	return status;
}

int clock_command_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct clock_command_options *o = opts;
	struct watch w;
	char *own;
	int status;

	if (options_check(o, argc, dashdash))
		return 2;
	own = socket_own();
	if (argc)
		setenv(CLOCK_SOCKET_VARIABLE, o->socket ?: own, 1); /* the command inherits it */
	status = watch_prepare(&o->pids, o->user, argc, argv, &w);
	if (!status) {
		status = run_watched(o, &w, own);
		watch_release(&w);
	}
	free(own);
	return status;
}
