/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The way from file to file. The output is written without a name (O_TMPFILE) where the file system can do
 * that, so that not even kill -9 leaves half a file; elsewhere under a temporary name.
 */
#include "timeline/export.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/host_clocks.h"
#include "lib/log.h"
#include "lib/person.h"
#include "model/model.h"
#include "site/sites.h"
#include "trace/trace_join.h"
#include "trace/trace_read.h"
#include "timeline/meta.h"
#include "timeline/out.h"
#include "timeline/resolution.h"
#include "timeline/select.h"
#include "timeline/timeline.h"

#define FILE_MODE 0600 /* until it gets the recording's */

struct output {
	const char *path;
	char *tmp;     /* the name it has until it is whole; NULL: none yet, or none needed */
	bool nameless; /* O_TMPFILE */
	const struct person *as;
	FILE *file;
};

static int fail(const char *what, const struct output *o, int err)
{
	if (o->as && (err == EACCES || err == EPERM || err == EROFS))
		log_error(
			"export: cannot %s %s as %s: %s; name a place that %s may write to (-o), or run "
			"povtrace without sudo's variables: sudo env -u SUDO_UID povtrace …",
			what, o->path, o->as->name, strerror(err), o->as->name);
	else
		log_error("export: cannot %s %s: %s", what, o->path, strerror(err));
	return -err;
}

/* Only a new or regular file is replaced as a whole; pipes and devices are written to. */
static bool written_in_place(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static int output_open_tmp(struct output *o)
{
	char *copy = xstrdup(o->path);
	int fd;

	o->tmp = xasprintf("%s.XXXXXX", o->path);
	fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, FILE_MODE);
	o->nameless = fd >= 0;
	if (fd < 0)
		fd = mkostemp(o->tmp, O_CLOEXEC);
	free(copy);
	return fd;
}

static int output_open(struct output *o, const char *path, const struct person *as)
{
	int fd;

	*o = (struct output){.path = path, .as = as};
	if (!strcmp(path, "-")) {
		o->file = stdout;
		return 0;
	}
	fd = written_in_place(path) ? open(path, O_WRONLY | O_CLOEXEC) : output_open_tmp(o);
	if (fd < 0) {
		fd = fail("create", o, errno);
		free(o->tmp);
		return fd;
	}
	o->file = fdopen(fd, "w");
	if (!o->file)
		die("export: out of memory");
	return 0;
}

/* A nameless file gets its temporary name: linkat() cannot replace what is there. */
static int output_link(struct output *o)
{
	char fd_path[64];

	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fileno(o->file));
	for (int tries = 0; tries < 100; tries++) {
		char *x = o->tmp + strlen(o->tmp) - 6;

		snprintf(x, 7, "%06x",
			 ((unsigned int)getpid() * 100 + (unsigned int)tries) & 0xffffff);
		if (!linkat(AT_FDCWD, fd_path, AT_FDCWD, o->tmp, AT_SYMLINK_FOLLOW)) {
			o->nameless = false;
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return fail("name", o, errno);
}

/* What may be read in the recording is in the output, too: the same people may read it. */
static void output_own(struct output *o, const char *pov)
{
	struct stat st;

	if (!o->tmp || stat(pov, &st) || !S_ISREG(st.st_mode))
		return;
	if (fchmod(fileno(o->file), st.st_mode & 0666))
		log_warn("export: %s keeps its own mode: %s", o->path, strerror(errno));
}

/* Gives the file its name if all went well, else removes it. Returns the first error. */
static int output_close(struct output *o, int err)
{
	bool replaced;

	if (o->file == stdout)
		return err;
	if (!err && o->nameless)
		err = output_link(o);
	if (fclose(o->file) && !err)
		err = fail("write", o, errno);
	replaced = !err && o->tmp && !access(o->path, F_OK);
	if (!err && o->tmp && rename(o->tmp, o->path))
		err = fail("name", o, errno);
	else if (replaced)
		log_info("%s existed and was replaced", o->path);
	if (err && o->tmp && !o->nameless)
		unlink(o->tmp);
	free(o->tmp);
	return err;
}

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static const struct writer *writer_choose(const char *out, const char *format, bool *gzip)
{
	const struct writer *w = writer_find(format ? format : out, gzip);

	if (!w && format)
		log_error("export: unknown format \"%s\"; known: json, json.gz, pftrace, svg",
			  format);
	else if (!w && !strcmp(out, "-"))
		log_error("export: say with --format what to write to stdout");
	else if (!w)
		log_error(
			"export: %s: unknown ending; use .json, .json.gz, .pftrace or .svg, or --format",
			out);
	return w;
}

/* The output's file is opened and named as the user that it is for, the recording is read as ourselves. */
static int output_begin(struct output *o, const char *pov, const char *out, const struct person *as)
{
	struct person_act act;
	int err;

	err = person_act_begin(as, &act);
	if (err)
		return err;
	err = output_open(o, out, as);
	person_act_end(&act);
	if (!err)
		output_own(o, pov);
	return err;
}

static int output_end(struct output *o, int err)
{
	struct person_act act;
	int e = person_act_begin(o->as, &act);

	err = output_close(o, err ? err : e);
	person_act_end(&act);
	return err;
}

static uint64_t sources_bytes(const struct trace_source *source, size_t cnt)
{
	uint64_t bytes = 0;
	struct stat st;

	for (size_t i = 0; i < cnt; i++)
		bytes += stat(source[i].path, &st) ? 0 : (uint64_t)st.st_size;
	return bytes;
}

static int timeline_write(struct model *m, const struct writer *w, const struct writer_select *sel,
			  uint64_t resolution_ns, FILE *file, bool gzip,
			  struct writer_totals *totals)
{
	struct writer_args *recording = xmalloc(sizeof(*recording));
	struct out *out = out_new(file, gzip);
	struct timeline_options opt;
	int err, write_err;

	meta_fill(recording, m, sel);
	timeline_options_fill(&opt, m, sel, recording);
	opt.resolution_ns = totals->resolution_ns = resolution_ns;
	opt.sites = sites_new();
	err = w->write(m, out, &opt, totals);
	sites_free(opt.sites);
	totals->raw_bytes = out_raw_bytes(out);
	write_err = out_finish(out, &totals->bytes);
	if (write_err)
		log_error("export: cannot write: %s", log_unwritten(-write_err));
	free(recording);
	return err ? err : write_err;
}

int export_timeline(const struct trace_source *source, size_t cnt, const char *out,
		    const struct export_options *opt, struct writer_totals *totals)
{
	const struct writer *w;
	const struct model_options mopt = {.counters = true};
	struct writer_totals written = {0};
	struct model *m = NULL;
	struct output o;
	struct trace *t;
	uint64_t resolution_ns = 0;
	bool gzip;
	int err;

	w = writer_choose(out, opt->format, &gzip);
	if (!w)
		return -ENOTSUP;
	for (size_t i = 0; i < cnt; i++)
		if (strcmp(out, "-") && same_file(source[i].path, out)) {
			log_error("export: %s is the recording itself; name another output", out);
			return -EINVAL;
		}
	err = host_clocks_join(source, cnt, &t);
	if (err)
		return err;
	err = model_open(t, &mopt, &m);
	if (!err)
		err = select_check(m, source->path, &opt->select);
	if (!err && !w->picture) /* which has columns */
		err = resolution_choose(m, &opt->select, sources_bytes(source, cnt),
					&resolution_ns);
	if (!err)
		err = output_begin(&o, source->path, out, opt->as);
	if (!err) {
		err = timeline_write(m, w, &opt->select, resolution_ns, o.file, gzip, &written);
		err = output_end(&o, err);
	}
	model_close(m);
	trace_close(t);
	if (!err)
		*totals = written;
	return err;
}

int export_file(const char *pov, const char *out, const struct person *as)
{
	const struct export_options opt = {.as = as};
	struct writer_totals totals;
	const struct trace_source source = {.path = pov};
	int err = export_timeline(&source, 1, out, &opt, &totals);

	if (!err)
		export_report(out, NULL, &totals);
	return err;
}

bool export_wants(const char *out)
{
	bool gzip;

	return writer_find(out, &gzip) != NULL;
}
