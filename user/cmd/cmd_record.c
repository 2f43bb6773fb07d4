/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace record: the file's name, and the lines said of it at the end. The recording itself is record.h; what -o FILE.json
 * exports afterwards is timeline/export.h.
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
	 .help = "Where to record to. If FILE ends in .json, .json.gz, .pftrace or .svg, the trace is exported to it "
		 "after recording, and kept beside it as .pov. A recording that is there already is kept as "
		 "FILE.old."},
	{"last", 0, OPTION_STRING, offsetof(struct record_command_options, last), "SECONDS|BYTES",
	 .help = "Keep only the newest part of the recording, in memory: so much time (10s), or so many bytes as it has in a file "
		 "(64M). It is written when recording ends, and whenever it is asked for: by `povtrace dump`, by SIGUSR1, or "
		 "by --when; then to run.1.pov, run.2.pov … if FILE is run.pov."},
	{"when", 0, OPTION_LIST, offsetof(struct record_command_options, whens), "CONDITION",
	 .help = "Have what --last keeps written when a call took too long: 'MPI_Allreduce > 50ms' (a function, or a shell pattern "
		 "as of --functions, and a time). Not again before --last's time has passed since; meanwhile calls that match are "
		 "counted. May be given several times."},
	{.name = NULL},
};

/* Where the recording itself goes: run.json → run.pov. The caller frees. */
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

/* Said last, where it is seen: what was recorded is not what the program does by itself. */
static void distortion_print(const struct session_result *r)
{
	char *text;

	if (!distortion_matters(&r->distortion))
		return;
	text = distortion_text(&r->distortion);
	log_warn("%s", text);
	free(text);
}

static int record(struct recording *r, const char *path, const char *output)
{
	int err = record_run(r, path, 0), rc;

	if (r->result.stored.records || r->result.unstored || !err)
		totals_print(path, &r->result);
	record_hints(r, err, "give -o a place with more room");
	if (err || (strcmp(path, output) && export_file(path, output, r->watch.owner)))
		rc = 1;
	else
		rc = record_status(r);
	distortion_print(&r->result);
	return rc;
}

/* 0 or the exit status (printed). */
static int last_prepare(const struct record_command_options *o, struct recording *r,
			struct keep_options *keep)
{
	*keep = (struct keep_options){0};
	if (o->last && o->record.max_bytes)
		log_error(
			"record: --last keeps the newest part, --max-size the oldest: give one of them");
	else if (!o->last && o->whens.cnt)
		log_error("record: --when needs --last: how much is to be written");
	else if (!o->last || !record_last_parse(o->last, &o->whens, r->recorded, keep))
		return 0;
	log_error("record: see `povtrace help record`");
	return 2;
}

static int run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct record_command_options *o = opts;
	struct keep_options keep;
	struct recording r;
	char *path;
	int rc;

	if (!o->output[0] || !strcmp(o->output, "-")) {
		log_error(
			"record: a recording cannot go to standard output: give a file, then `povtrace export -o -`; "
			"see `povtrace help record`");
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
		rc = record(&r, path, o->output);
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
	"ten seconds of a job that runs already",
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
		"Runs COMMAND, or attaches to running processes, and records every MPI call of every rank "
		"together with what the scheduler did. The programs need no change. A command is started when what "
		"it will load has been looked at and the probes are live; its forks, execs and libraries loaded "
		"later are followed: a thread that maps a library nobody has looked at waits in the kernel, at most "
		"10 s, until its probes are in (before Linux 6.1 it does not wait, and late probes are reported). No "
		"process is stopped or signalled. With -p or --all a line that begins \"povtrace: recording\" says "
		"when the probes are live.\n\n"
		"Recording ends when the command or the processes end, after --duration, at --max-size, or with "
		"Ctrl-C. The exit status is the command's, or 1 if recording failed. A command that puts processes into the background ends "
		"before them: they are named, and -p follows them.\n\n"
		"With --last nothing is written until it is asked for. A file then has all of the newest part, at least so much time, at most a "
		"quarter more, and reads as a recording that began there; while it is written, recording goes on. A trigger (--when) waits "
		"0.2 s, so that the calls of other ranks that ended about then are in the file, too; a call that never returns triggers "
		"nothing.\n\n"
		"Under sudo the command runs as the user who typed it, with the PATH, LD_LIBRARY_PATH and all else "
		"of that user's shell, and the files are written with that user's rights and belong to that user; "
		"--user root runs and writes as root.",
	.examples = examples,
	.options = options,
	.shared = record_option_rows,
	.options_bytes = sizeof(struct record_command_options),
	.run = run,
};
