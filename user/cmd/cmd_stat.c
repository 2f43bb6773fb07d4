/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace stat records and reports in one step and keeps no trace. The recording goes to a file
 * without a name, so nothing is left however this ends. The command's own output is on stdout, so
 * the report goes there only if asked for.
 */
#include "cmd/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/own_state.h"
#include "lib/person.h"
#include "lib/progress.h"
#include "cmd/commands.h"
#include "cmd/record_temporary.h"
#include "report/report.h"
#include "trace/trace_join.h"

struct stat_options {
	struct record_options record;
	const char *output;
	bool json, explain;
	uint64_t top, min;
};

#define FIELD(name) offsetof(struct stat_options, name)
static const struct option_def options[] = {
	{"output", 'o', OPTION_STRING, FIELD(output), "FILE",
	 .help = "Write the report to FILE instead of stderr; - is stdout, where it follows "
		 "what COMMAND wrote."},
	{"json", 'j', OPTION_FLAG, FIELD(json),
	 .help = "Write the report as JSON (kmod-docs/REPORT_JSON.md); needs --output, because warnings "
		 "go to stderr."},
	{"explain", 'e', OPTION_FLAG, FIELD(explain),
	 .help = "Explain the columns below each table."},
	{"top", 'n', OPTION_U64, FIELD(top), "N", .dflt = REPORT_TOP, .max = 1000000,
	 .help = "Rows of long tables; 0 for all."},
	{"min", 0, OPTION_U64, FIELD(min), "PERCENT", .dflt = REPORT_MIN_PCT, .max = 100,
	 .help = "Show only causes whose repair may save at least this share of the run."},
	{.name = NULL},
};

/* ---- the report ---- */

struct output {
	const char *path; /* NULL: stderr */
	FILE *file;
};

/*
 * Opens the output before the recording, so that a wrong name costs no time. 0 or -errno (printed).
 */
static int output_open(struct output *o, const char *path, const struct person *owner)
{
	struct person_act act;
	int fd, err;

	*o = (struct output){.path = path, .file = stdout};
	if (path && !strcmp(path, "-"))
		return 0;
	err = person_act_begin(owner, &act);
	if (err)
		return err;
	if (path)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	else
		fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	person_act_end(&act); /* keeps errno */
	if (fd < 0) {
		err = -errno;
		log_error("stat: cannot write to %s%s%s: %s", path ? path : "stderr",
			  owner ? " as " : "", owner ? owner->name : "", strerror(-err));
		return err;
	}
	o->file = fdopen(fd, "w");
	if (!o->file)
		die("out of memory");
	return 0;
}

/* Keeps an existing file's contents until there is a report to replace them. */
static void output_begin(const struct output *o)
{
	struct stat st;

	if (!o->path)
		fputc('\n', o->file);
	else if (o->file != stdout && !fstat(fileno(o->file), &st) && S_ISREG(st.st_mode) &&
		 ftruncate(fileno(o->file), 0))
		log_warn("stat: cannot empty %s: %s", o->path, strerror(errno));
}

/* Closes the output, except stdout, which main closes. 0 or -errno (printed). */
static int output_close(const struct output *o)
{
	if (o->file == stdout || !fclose(o->file) || !o->path)
		return 0;
	log_error("stat: cannot write %s: %s", o->path, log_unwritten(errno));
	return -EIO;
}

static int report_print(const struct stat_options *o, int fd, const struct output *out)
{
	const struct report_options opt = {
		.explain = o->explain, .top = (uint32_t)o->top, .min_pct = (uint32_t)o->min};
	char path[64];
	const struct trace_source source = {.path = path, .temporary = true};
	struct report r;
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace_sources_progress(&source, 1, 0, 1);
	err = report_open(&source, 1, &opt, &r);
	progress_end();
	if (err)
		return err;
	output_begin(out);
	if (o->json)
		err = report_json(&r, out->file);
	else
		report_text(&r, out->file);
	report_close(&r);
	if (err)
		log_error("stat: cannot write: %s", log_unwritten(-err));
	return err;
}

/* ---- both ---- */

/* Reports even if a full disk has cut the recording short. Returns the exit status. */
static int record_and_report(const struct stat_options *o, struct recording *r, int fd,
			     const char *dir, const struct output *out)
{
	char *called = xasprintf("a temporary file in %s", dir);
	int err = record_run(r, called, fd);

	free(called);
	own_signal_give_back(SIGINT); /* no orderly end is needed any more */
	own_signal_give_back(SIGTERM);
	record_hints(r, err, "set TMPDIR to a directory with more room");
	if ((!err || r->result.stored.records) && report_print(o, fd, out))
		return 1;
	return err ? 1 : record_status(r);
}

static int stat_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct stat_options *o = opts;
	const char *dir;
	struct recording r;
	struct output out;
	int status, fd;

	if (o->json && !o->output) {
		log_error("stat: --json needs --output FILE (- is stdout), because warnings go to "
			  "stderr; see `povtrace help stat`");
		return 2;
	}
	status = record_prepare("stat", &o->record, argc, argv, dashdash, &r);
	if (status)
		return status;
	status = 1;
	fd = record_temporary_open("stat", &dir);
	if (fd >= 0 && !output_open(&out, o->output, r.watch.owner)) {
		status = record_and_report(o, &r, fd, dir, &out);
		if (output_close(&out) && !status)
			status = 1;
	}
	if (fd >= 0)
		close(fd);
	record_release(&r);
	return status;
}

static const char *const examples[] = {
	"sudo povtrace stat -- mpirun -np 2 ./app",
	"where the ranks' time went, why, and what to do, once the job has ended",
	"sudo povtrace stat -d 10 -p $(pgrep mpirun)",
	"the same of ten seconds of a job that runs already, and goes on",
	"sudo povtrace stat -o before.txt --mpi p2p,coll -- mpirun -np 2 ./app",
	"only point-to-point and collective calls, and the report in a file",
	"sudo povtrace stat --json -o run.json -- mpirun -np 2 ./app",
	"for programs",
	NULL,
};

const struct command cmd_stat = {
	.name = "stat",
	.brief = "Record a job and print the report; keep no trace.",
	.usage = "[options] -- COMMAND [ARG ...] | -p PID ... | --all",
	.details =
		"Records as `povtrace record` does, with the same options, and then prints the "
		"first screen of `povtrace report`. The recording is not kept: it is in a file "
		"without a name in TMPDIR (if that is not set, in /var/tmp), which disappears "
		"however povtrace ends. For more details, timelines, or a comparison with another "
		"run, use `povtrace record`.\n\n"
		"The report goes to stderr, so that COMMAND's own output stays as it is, or to "
		"--output. Ctrl-C ends the recording, and the report covers what was recorded "
		"until then. The exit status is the command's, or 1 if recording failed, or the "
		"report could not be written.\n\n"
		"Under sudo the command runs as the user who typed it, in the environment of that "
		"user's shell, and --output is written with that user's rights and belongs to that "
		"user; --user root runs and writes as root.",
	.examples = examples,
	.options = options,
	.shared = record_option_rows,
	.options_bytes = sizeof(struct stat_options),
	.run = stat_run,
};
