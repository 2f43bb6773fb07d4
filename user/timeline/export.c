/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Exports a file to a file. */
#include "timeline/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/host_clocks.h"
#include "lib/log.h"
#include "lib/output_file.h"
#include "lib/progress.h"
#include "model/model.h"
#include "site/site_names.h"
#include "trace/trace_join.h"
#include "trace/trace_read.h"
#include "timeline/meta.h"
#include "timeline/out.h"
#include "timeline/resolution.h"
#include "timeline/select.h"
#include "timeline/timeline.h"

static const struct writer *writer_choose(const char *out, const char *format, bool *gzip)
{
	const struct writer *w = writer_find(format ? format : out, gzip);

	if (!w && format)
		log_error(
			"export: unknown format \"%s\"; known: json, json.gz, pftrace, svg, folded",
			format);
	else if (!w && !strcmp(out, "-"))
		log_error("export: say with --format what to write to stdout");
	else if (!w)
		log_error("export: %s: unknown ending; use .json, .json.gz, .pftrace, .svg or "
			  ".folded, or --format",
			  out);
	return w;
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

/* A timeline may need a pass that chooses its resolution. None is shown among text on stdout. */
static void export_progress(const struct trace_source *source, size_t cnt, const char *out,
			    const struct writer *w, const struct writer_select *sel)
{
	bool census = w->kind == WRITER_TIMELINE && !sel->all_calls && !sel->resolution_ns;

	if (strcmp(out, "-") || !isatty(STDOUT_FILENO))
		trace_sources_progress(source, cnt, census, w->passes);
}

static int sources_export(const struct trace_source *source, size_t cnt, const char *out,
			  const struct export_options *opt, const struct writer *w, bool gzip,
			  struct writer_totals *totals)
{
	const struct model_options mopt = {.counters = true};
	struct writer_totals written = {0};
	struct model *m = NULL;
	struct output_file o;
	struct trace *t;
	uint64_t resolution_ns = 0;
	int err = host_clocks_join(source, cnt, &t);

	if (err)
		return err;
	err = model_open(t, &mopt, &m);
	if (!err)
		err = select_check(m, source->path, &opt->select);
	if (!err && w->kind == WRITER_TIMELINE) /* a picture has columns instead */
		err = resolution_choose(m, &opt->select, sources_bytes(source, cnt),
					&resolution_ns);
	if (!err)
		err = output_file_begin(&o, "export", source->path, out, opt->as);
	if (!err) {
		err = timeline_write(m, w, &opt->select, resolution_ns, o.file, gzip, &written);
		err = output_file_end(&o, err);
	}
	model_close(m);
	trace_close(t);
	if (!err)
		*totals = written;
	return err;
}

int export_timeline(const struct trace_source *source, size_t cnt, const char *out,
		    const struct export_options *opt, struct writer_totals *totals)
{
	const struct writer *w;
	bool gzip;
	int err;

	w = writer_choose(out, opt->format, &gzip);
	if (!w)
		return -ENOTSUP;
	for (size_t i = 0; i < cnt; i++)
		if (strcmp(out, "-") && output_file_is_recording("export", out, source[i].path))
			return -EINVAL;
	export_progress(source, cnt, out, w, &opt->select);
	err = sources_export(source, cnt, out, opt, w, gzip, totals);
	progress_end();
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
