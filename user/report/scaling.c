/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Extracts efficiencies from the report of each run, and writes JSON. scaling_text.c writes text.
 */
#include "report/scaling.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "report/section.h"
#include "version.h"

#define SCHEMA_VERSION 1

#define ROW struct scaling_run
const struct figure scaling_figures[] = {
	{FIGURE_RATIO, "computation_scaling", "computation scaling", AT(computation),
	 .wrong = LOSS_OF_ACCOUNT},
	{FIGURE_RATIO, "global_efficiency", "global efficiency", AT(global),
	 .wrong = LOSS_OF_ACCOUNT},
	{FIGURE_FACTOR, "speedup", "speedup", AT(speedup), .wrong = LOSS_OF_CALLS | LOSS_OF_LIVES},
	{0},
};
#undef ROW

/* ---- reading ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static char *name_of(const struct report *r, uint32_t job)
{
	const char *name = base_name(r->source->path);

	return r->account.njob > 1 ? xasprintf("%s:%u", name, job) : xstrdup(name);
}

static void job_add(struct scaling *s, const struct report *r, uint32_t job)
{
	const struct account_job *j = job < r->account.njob ? &r->account.job[job] : NULL;
	const struct model_process *p = NULL;
	struct scaling_run *run = scaling_add(s);

	if (j && j->n)
		p = model_process_get(r->model, r->account.rank[j->first].process);
	run->source = r->source;
	run->nsources = r->nsources;
	run->name = name_of(r, job);
	run->program = xstrdup(p ? p->name : "");
	run->command = xstrdup(p ? p->cmdline : "");
	run->job = job;
	run->unknown = !j ? SCALING_NO_MPI : !j->n ? SCALING_NO_WINDOW : SCALING_KNOWN;
	run->sched = r->account.sched;
	run->distorted = distortion_matters(&r->distortion);
	if (run->unknown != SCALING_KNOWN)
		return;
	run->e = r->efficiency[job];
	run->lost = efficiency_lost(r, job);
}

int scaling_read(struct scaling *s, const struct trace_source *source, size_t nsources)
{
	static const struct report_options opt;
	struct report r;
	int err = report_open(source, nsources, &opt, &r);

	if (err)
		return err;
	for (uint32_t i = 0; i < r.account.njob; i++)
		job_add(s, &r, i);
	if (!r.account.njob)
		job_add(s, &r, 0);
	report_close(&r);
	return 0;
}

/* ---- JSON ---- */

/* Reasons why a run is unknown; NULL: it is known. */
static const char *const unknown_runs[] = {
	[SCALING_NO_MPI] = "no_mpi",
	[SCALING_NO_WINDOW] = "no_window",
};

static void run_print(struct json_out *j, const struct scaling_run *run)
{
	bool known = run->unknown == SCALING_KNOWN;

	json_out_object_begin(j);
	json_out_key_string(j, "name", run->name);
	json_out_key_array(j, "traces");
	for (size_t i = 0; i < run->nsources; i++)
		json_out_string(j, run->source[i].path);
	json_out_array_end(j);
	json_out_key_uint(j, "job", run->job);
	json_out_key_string(j, "program", known ? run->program : NULL);
	json_out_key_string(j, "command", known ? run->command : NULL);
	json_out_key_string(j, "unknown", unknown_runs[run->unknown]);
	json_out_key(j, "efficiency");
	if (known) {
		json_out_object_begin(j);
		json_efficiency_members(j, &run->e, 0);
		json_out_object_end(j);
	} else {
		json_out_null(j);
	}
	figures_json(j, scaling_figures, run, 0);
	json_out_key_bool(j, "distorted", run->distorted);
	json_incomplete(j, run->lost);
	json_out_object_end(j);
}

int scaling_json(const struct scaling *s, FILE *out)
{
	struct json_out *j = json_out_new(out, JSON_OUT_PRETTY);

	json_out_object_begin(j);
	json_out_key_int(j, "schema_version", SCHEMA_VERSION);
	json_out_key_string(j, "povtrace", POV_VERSION);
	json_out_key_string(j, "scaling", s->weak ? "weak" : "strong");
	json_out_key_bool(j, "same_program", scaling_same_program(s));
	json_out_key_array(j, "runs");
	for (uint32_t i = 0; i < s->n; i++)
		run_print(j, &s->run[i]);
	json_out_array_end(j);
	json_out_object_end(j);
	return json_out_finish(j);
}
