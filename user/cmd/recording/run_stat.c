/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace stat records and reports in one step and keeps no trace. The recording goes to a file
 * without a name, so nothing is left however this ends. The command's own output is on stdout, so
 * the report goes there only if asked for.
 */
#include "cmd/recording/recording_common.h"

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
#include "report/report.h"
#include "trace/trace_join.h"

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
	/* the command may still run for long */
	if (fflush(out->file) && !err)
		err = -errno;
	if (err)
		log_error("stat: cannot write: %s", log_unwritten(-err));
	return err;
}

/* ---- both ---- */

/* Reports even if a full disk has cut the recording short. Closes fd. Returns the exit status. */
static int record_and_report(const struct stat_options *o, struct recording *r, int fd,
			     const char *dir, const struct output *out)
{
	char *called = xasprintf("a temporary file in %s", dir);
	int err = record_run(r, called, fd), unprinted;

	free(called);
	own_signal_give_back(SIGINT); /* from here on, a signal may end povtrace at once */
	own_signal_give_back(SIGTERM);
	record_hints(r, err, "set TMPDIR to a directory with more room");
	unprinted = (!err || r->result.stored.records) && report_print(o, fd, out);
	close(fd); /* frees its room: the command may still run for long */
	record_wait(r);
	return err || unprinted ? 1 : record_status(r);
}

int stat_command_run(const void *opts, int argc, char **argv, int dashdash)
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
	record_release(&r);
	return status;
}
