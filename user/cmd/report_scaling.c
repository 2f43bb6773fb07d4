/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See report_scaling.h. report/scaling.h makes the numbers, timeline/svg_scaling.h the picture. */
#include "cmd/report_scaling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/output_file.h"
#include "lib/person.h"
#include "lib/progress.h"
#include "lib/text.h"
#include "report/scaling.h"
#include "cmd/sources.h"
#include "trace/trace_limit.h"
#include "timeline/svg_scaling.h"

/* The trace files of each run. */
struct runs {
	struct trace_source **source; /* the files of each run; owned */
	size_t *nsources;
	size_t n;
};

static void runs_release(struct runs *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->source[i]);
	free(r->source);
	free(r->nsources);
}

/* Adds a run with the files from *begin up to end. */
static int run_add(struct runs *r, char **argv, int *begin, int end, bool one_run)
{
	static const struct option_list no_offsets;
	int n = end - *begin;
	struct trace_source *source = n ? sources_parse(argv + *begin, n, &no_offsets, one_run) :
					  NULL;

	*begin = end;
	if (!n)
		log_error(
			"report: --scaling: \"--\" separates the files of one run from those of the next, and one run has none");
	if (!source)
		return -EINVAL;
	r->source[r->n] = source;
	r->nsources[r->n++] = (size_t)n;
	return 0;
}

/*
 * Splits the files at "--". The option parser has removed the first one, which was at dashdash;
 * this removes the others, so that *argc files are left.
 */
static int runs_parse(struct runs *r, int *argc, char **argv, int dashdash, bool one_run)
{
	int begin = 0, kept = 0, err = 0;

	r->source = xcalloc((size_t)*argc + 2, sizeof(struct trace_source *));
	r->nsources = xcalloc((size_t)*argc + 2, sizeof(*r->nsources));
	for (int i = 0; i <= *argc && !err; i++) {
		bool is_end = i == *argc;
		bool between = !is_end && dashdash >= 0 && !strcmp(argv[i], "--");

		if (i == dashdash || (dashdash < 0 && !is_end && kept > begin))
			err = run_add(r, argv, &begin, kept, one_run);
		if (!err && (between || is_end))
			err = run_add(r, argv, &begin, kept, one_run);
		if (!between && !is_end)
			argv[kept++] = argv[i];
	}
	*argc = kept;
	return err;
}

static int picture_write(const struct scaling *s, const char *path)
{
	struct person *user = person_behind();
	struct output_file o;
	int err = output_file_begin(&o, "report", s->run[0].source->path, path, user);

	if (!err) {
		err = svg_scaling_write(s, o.file);
		if (err)
			log_error("report: cannot write %s: %s", path, log_unwritten(-err));
		err = output_file_end(&o, err);
	}
	if (!err)
		log_info("wrote %s: efficiencies of %u runs", path, s->nknown);
	person_free(user);
	return err;
}

static int scaling_print(const struct scaling *s, const struct report_scaling_options *o)
{
	int err = 0;

	if (o->json)
		err = scaling_json(s, stdout);
	else
		scaling_text(s, stdout);
	if (err)
		log_error("report: cannot write: %s", log_unwritten(-err));
	if (!err && o->output)
		err = picture_write(s, o->output);
	return err;
}

/* Scaling needs two runs with known efficiencies. */
static int scaling_check(const struct scaling *s)
{
	if (s->nknown >= 2)
		return 0;
	if (s->n < 2)
		log_error("report: --scaling compares runs, and %s is one: name several",
			  s->run[0].source->path);
	else
		log_error(
			"report: --scaling: of %u runs, %s MPI ranks between MPI_Init and MPI_Finalize",
			s->n, s->nknown ? "only one has" : "none has");
	return -ENODATA;
}

static int runs_report(const struct runs *r, const struct report_scaling_options *o)
{
	struct scaling s = {.weak = o->weak};
	int err = 0;

	for (size_t i = 0; i < r->n && !err; i++) {
		trace_sources_progress(r->source[i], r->nsources[i], 0, 1);
		err = scaling_read(&s, r->source[i], r->nsources[i]);
		progress_end();
	}
	if (!err) {
		scaling_make(&s);
		err = scaling_check(&s);
	}
	if (!err)
		err = scaling_print(&s, o);
	scaling_release(&s);
	return err;
}

int report_scaling(const struct report_scaling_options *o, int argc, char **argv, int dashdash)
{
	struct runs runs = {0};
	int status = 2;

	if (o->output && !text_ends_in(o->output, strlen(o->output), ".svg")) {
		log_error("report: -o %s: the picture's name must end in .svg", o->output);
		return 2;
	}
	if (!runs_parse(&runs, &argc, argv, dashdash, o->one_run)) {
		trace_limit_memory(argv, argc);
		status = runs_report(&runs, o) ? 1 : 0;
	}
	runs_release(&runs);
	return status;
}
