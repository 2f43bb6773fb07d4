/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace record chooses the file's name and prints the totals at the end. record.h makes the
 * recording; timeline/export.h makes the export that -o FILE.json asks for.
 */
#include "cmd/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "cmd/commands.h"
#include "cmd/record_last.h"
#include "timeline/export.h"

struct record_command_options {
	struct record_options record;
	const char *output, *last;
	struct option_list whens;
};

static const struct option_def options[] = {
	{"output", 'o', OPTION_STRING, offsetof(struct record_command_options, output), "FILE",
	 .dflt = "run.pov",
	 .help = "Output file. If FILE ends in .json, .json.gz, .pftrace, .svg or .folded, the trace "
		 "is exported to it after recording, and kept beside it as .pov. An existing "
		 "recording is kept as FILE.old."},
	{"last", 0, OPTION_STRING, offsetof(struct record_command_options, last), "SECONDS|BYTES",
	 .help = "Keep only the newest part of the recording, in memory: this much time (10s), or "
		 "this many bytes as in a file (64M). It is written when recording ends, and on "
		 "request by `povtrace dump`, SIGUSR1, or --when, then to run.1.pov, run.2.pov … "
		 "if FILE is run.pov."},
	{"when", 0, OPTION_LIST, offsetof(struct record_command_options, whens), "CONDITION",
	 .help = "Write what --last keeps when a call took too long: 'MPI_Allreduce > 50ms' "
		 "(a function, or a shell pattern as in --functions, and a time). Not again within "
		 "--last's time; calls that match meanwhile are counted. May be "
		 "given several times."},
	{.name = NULL},
};

/* Returns the path of the recording: run.json → run.pov. The caller frees it. */
static char *trace_path(const char *output)
{
	const char *base = strrchr(output, '/'), *dot;

	if (!export_wants(output))
		return xstrdup(output);
	dot = strchr(base ? base + 2 : output + 1, '.');
	return xasprintf("%.*s.pov", (int)(dot - output), output);
}

static void totals_print(const char *path, const struct session_result *r)
{
	char wall[HUMAN_BYTES], cpu[HUMAN_BYTES], size[HUMAN_BYTES];
	char lost[HUMAN_BYTES], unstored[HUMAN_BYTES];
	char ranks[64], calls[64], polls[64], switches[64];

	if (log_get_level() < LOG_WARN)
		return;
	fprintf(stderr, "povtrace: %s: %s: %s, %s, %s, %s, %s lost, %s%s%s, own CPU %s (%s)\n",
		path, human_ns(wall, HUMAN_BYTES, r->wall_ns),
		human_plural(ranks, sizeof(ranks), r->ranks, "MPI process", "MPI processes"),
		human_plural(calls, sizeof(calls), r->stored.calls + r->stored.counted, "call",
			     "calls"),
		human_plural(polls, sizeof(polls), r->stored.polls, "empty poll", "empty polls"),
		human_plural(switches, sizeof(switches), r->stored.switches, "switch", "switches"),
		human_count(lost, HUMAN_BYTES, r->lost),
		r->unstored ? human_count(unstored, HUMAN_BYTES, r->unstored) : "",
		r->unstored ? " not stored, " : "", human_bytes(size, HUMAN_BYTES, r->file_bytes),
		human_ns(cpu, HUMAN_BYTES, r->own_cpu_ns), r->reason);
}

/*
 * Warns that tracing has changed the program's behaviour, or has cost more than the limit. It comes
 * last so that users see it.
 */
static void distortion_print(const struct session_result *r, double limit_pct)
{
	char *text;

	if (!distortion_matters(&r->distortion) &&
	    !(limit_pct > 0 && r->distortion.pct > limit_pct))
		return;
	text = distortion_text(&r->distortion);
	log_warn("%s", text);
	free(text);
}

static int record_and_export(struct recording *r, const char *path, const char *output)
{
	int err = record_run(r, path, 0), rc;

	if (r->result.stored.records || r->result.unstored || !err)
		totals_print(path, &r->result);
	record_hints(r, err, "give -o a place with more room");
	if (err || (strcmp(path, output) && export_file(path, output, r->watch.owner)))
		rc = 1;
	else
		rc = record_status(r);
	distortion_print(&r->result, r->max_overhead_pct);
	return rc;
}

/* Prepares --last and --when. 0 or the exit status (printed). */
static int last_prepare(const struct record_command_options *o, struct recording *r,
			struct keep_options *keep)
{
	*keep = (struct keep_options){0};
	if (o->last && o->record.max_bytes)
		log_error("record: --last keeps the newest part, --max-size the oldest: give only "
			  "one of them");
	else if (!o->last && o->whens.cnt)
		log_error("record: --when needs --last, which sets how much is written");
	else if (!o->last || !record_last_parse(o->last, &o->whens, r->recorded, keep))
		return 0;
	log_error("record: see `povtrace help record`");
	return 2;
}

static int record_command_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct record_command_options *o = opts;
	struct keep_options keep;
	struct recording r;
	char *path;
	int rc;

	if (!o->output[0] || !strcmp(o->output, "-")) {
		log_error(
			"record: cannot record to standard output: give a file, then use `povtrace "
			"export -o -`; see `povtrace help record`");
		return 2;
	}
	rc = record_prepare("record", &o->record, argc, argv, dashdash, &r);
	if (rc)
		return rc;
	rc = last_prepare(o, &r, &keep);
	if (o->last)
		r.keep = &keep;
	if (!rc) {
		path = trace_path(o->output);
		rc = record_and_export(&r, path, o->output);
		free(path);
	}
	record_last_release(&keep);
	record_release(&r);
	return rc;
}

static const char *const examples[] = {
	"sudo povtrace record -o run.pov -- mpirun -np 2 ./app",
	"record a job from its first instruction",
	"sudo povtrace record -d 10 -p $(pgrep mpirun)",
	"ten seconds of a running job",
	"sudo povtrace record -o run.pftrace --mpi p2p,req -- mpirun -np 2 ./app",
	"only point-to-point calls and completions, exported for ui.perfetto.dev",
	"sudo povtrace record --all --sched ranks -d 60",
	"every MPI process of the node for a minute",
	"sudo povtrace record --region solve --region exchange -- mpirun -np 2 ./app",
	"the time in two functions of the program, and the MPI calls in them",
	"sudo povtrace record --last 10s --when 'MPI_Allreduce > 50ms' -- mpirun -np 2 ./app",
	"keep ten seconds in memory, and write them when a call took too long",
	NULL,
};

const struct command cmd_record = {
	.name = "record",
	.brief = "Record MPI calls and scheduling of a job into a trace file.",
	.usage = "[options] -- COMMAND [ARG ...] | -p PID ... | --all",
	.details =
		"Runs COMMAND, or attaches to running processes, and records every MPI call of "
		"every rank together with what the scheduler did. The programs need no change. The "
		"command starts when the libraries that it will load have been inspected and the "
		"probes are live. Its forks, execs and libraries loaded later are followed: a "
		"thread that maps a library that was not inspected waits in the kernel, at most 10 "
		"s, until its probes are in (before Linux 6.1 it does not wait, and late probes "
		"are reported). No process is stopped or signalled. With -p or --all a line that "
		"begins with \"povtrace: recording\" shows that the probes are live.\n\n"
		"Recording ends when the command or the processes end, after --duration, at "
		"--max-size, or with Ctrl-C. The exit status is the command's, or 1 if recording "
		"failed. If processes that the command left in the background are still running, a "
		"warning names them; record them with -p.\n\n"
		"With --last nothing is written until requested. A file then has all of the newest "
		"part, at least the time given and at most a quarter more, and reads like a "
		"recording that began there. Recording continues while it is written. A trigger "
		"(--when) waits 0.2 s, so that other ranks' calls that ended at about that time "
		"are in the file, too; a call that never returns triggers nothing.\n\n"
		"Under sudo the command runs as the user who typed it, with the PATH, "
		"LD_LIBRARY_PATH and all other variables of that user's shell. The files are "
		"written with that user's rights and belong to that user; --user root runs and "
		"writes as root.",
	.examples = examples,
	.options = options,
	.shared = record_option_rows,
	.options_bytes = sizeof(struct record_command_options),
	.run = record_command_run,
};
