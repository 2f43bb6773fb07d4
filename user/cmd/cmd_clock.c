/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace clock keeps the running time of each rank, for the rank itself (libpov) and as a table.
 * This file has the options and the output; clock/clock.c does the work.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "clock/clock.h"
#include "cmd/clock_cost.h"
#include "record/recorder.h"
#include "cmd/commands.h"
#include "cmd/watch.h"

#define SOCKET_USUAL "/run/povtrace/clock.sock"
#define SOCKET_VARIABLE "POVTRACE_CLOCK"
#define INTERVAL_USUAL_NS 1000000000ull

struct clock_command_options {
	struct option_list pids;
	bool all, once, json, cost, quiet;
	const char *user, *socket, *output;
	uint64_t interval_ns, duration_ns;
};

#define FIELD(name) offsetof(struct clock_command_options, name)
static const struct option_def options[] = {
	{"pid", 'p', OPTION_LIST, FIELD(pids), "PID",
	 .help = "Keep the times of a running process, its threads and its children; a launcher's "
		 "PID covers its ranks. May be given several times."},
	{"all", 'a', OPTION_FLAG, FIELD(all),
	 .help = "Keep the times of all MPI processes of the node, and of every process that uses "
		 "libpov, as a service does. Each process can read only its own times."},
	{"interval", 'i', OPTION_SECONDS, FIELD(interval_ns), "SECONDS",
	 .help = "Time between tables. If not given: one second; with -- COMMAND one table at "
		 "its end."},
	{"once", '1', OPTION_FLAG, FIELD(once),
	 .help = "Print one table after the interval, and exit."},
	{"json", 'j', OPTION_FLAG, FIELD(json), .help = "Print each table as a line of JSON."},
	{"quiet", 'q', OPTION_FLAG, FIELD(quiet), .help = "Print no table; only serve."},
	{"duration", 'd', OPTION_SECONDS, FIELD(duration_ns), "SECONDS",
	 .help = "Exit after this time. The processes run on; libpov then uses the kernel's CPU "
		 "time."},
	{"cost", 0, OPTION_FLAG, FIELD(cost),
	 .help = "Measure how long the work at each context switch takes, and print the "
		 "distribution at the end. This adds four clock readings to each switch; the "
		 "measured times include one of them (shown alone in the last line)."},
	{"output", 'o', OPTION_STRING, FIELD(output), "FILE",
	 .help = "With --cost: also write the distributions to FILE, for povplot."},
	{"socket", 0, OPTION_STRING, FIELD(socket), "PATH",
	 .help = "Socket at which libpov finds the times. If not given: " SOCKET_USUAL
		 "; with -- COMMAND a socket for this run, whose path is in " SOCKET_VARIABLE
		 ". Only root may write to its directory."},
	{"user", 'u', OPTION_STRING, FIELD(user), "NAME",
	 .help = "Run COMMAND as this user. If not given: as the user who ran sudo, in the "
		 "environment of the shell where sudo was typed."},
	{.name = NULL},
};

/* ---- the table ---- */

struct table {
	const struct clock_command_options *opt;
	FILE *out;
	bool clears; /* clear the screen before each table */
	volatile int *stop;
};

static int by_rank(const void *a, const void *b)
{
	const struct clock_row *x = a, *y = b;
	int jobs = strcmp(x->job, y->job);

	if ((x->rank < 0) != (y->rank < 0))
		return x->rank < 0 ? 1 : -1;
	if (jobs)
		return jobs;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

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

/* ---- the command ---- */

static int options_check(const struct clock_command_options *o, int argc, int dashdash)
{
	const char *problem = NULL;

	if (argc && dashdash != 0)
		problem = "put the command to run after --";
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
	const struct recorder *half = recorder_load("clock");
	bool runs = w->plan.program != NULL;
	struct clock_result *res = xcalloc(1, sizeof(*res));
	struct table t = {.opt = o, .out = runs ? stderr : stdout};
	const struct clock_options co = {
		.socket = o->socket    ?:
				  runs ? own :
					 SOCKET_USUAL,
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
	if (half && !half->clock_run(&co, t.stop, res)) {
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
			clock_cost_print(res, t.out);
		status = watch_status(res->child_status);
		if (o->output && clock_cost_write(res, o->output))
			status = status ?: 1;
	}
	free(res);
	return status;
}

static int clock_command_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct clock_command_options *o = opts;
	struct watch w;
	char *own;
	int status;

	if (options_check(o, argc, dashdash))
		return 2;
	own = socket_own();
	if (argc)
		setenv(SOCKET_VARIABLE, o->socket ?: own, 1); /* the command inherits it */
	status = watch_prepare(&o->pids, o->user, argc, argv, &w);
	if (!status) {
		status = run_watched(o, &w, own);
		watch_release(&w);
	}
	free(own);
	return status;
}

static const char *const examples[] = {
	"sudo povtrace clock -- mpirun -np 4 ./app",
	"run a job; its ranks may call MPIX_Rtime, and a table at the end shows how long each was "
	"running",
	"sudo povtrace clock -p $(pgrep mpirun)",
	"print a table of a running job every second, like top",
	"sudo povtrace clock --all --once --json",
	"print what each MPI process of the node did in one second, as JSON",
	"sudo povtrace clock --all --quiet",
	"serve all users of libpov, as the systemd unit does",
	NULL,
};

const struct command cmd_clock = {
	.name = "clock",
	.brief = "Keep each rank's running time, for the rank itself and as a table.",
	.usage = "[options] -- COMMAND [ARG ...] | -p PID ... | --all",
	.details =
		"Rank-POV time is the time that a rank's threads were on a CPU, summed over the "
		"threads; runnable is the time that they waited for a CPU. Both count from when "
		"povtrace first saw the process (for -- COMMAND: from its first instruction). % "
		"wall is rank-POV time divided by the time since then, so two threads may have "
		"200. core is the CPU of a thread now or when it last ran; preempted and migrated "
		"count how often a thread lost its core and moved to another one.\n\n"
		"A program reads its own times with libpov (pov.h, MPIX_Rtime and MPIX_Ptime of "
		"Nigay et al. 2020), without a system call. For an unmodified program, "
		"LD_PRELOAD=libpov-wtime.so makes MPI_Wtime return the rank's running time.\n\n"
		"With -- COMMAND the table goes to stderr, so that COMMAND's own output stays as "
		"it is, and the exit status is COMMAND's.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct clock_command_options),
	.run = clock_command_run,
};
