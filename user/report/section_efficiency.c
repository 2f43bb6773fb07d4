/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* How efficient each job was (analysis/efficiency.h): the first screen's line, and JSON. */
#include <math.h>
#include <stdlib.h>

#include "report/section.h"

#define JOBS_SHOWN 8

#define ROW struct efficiency
#define DOUBT .wrong = LOSS_OF_ACCOUNT
const struct figure efficiency_figures[] = {
	{FIGURE_COUNT, "ranks", "ranks", AT(ranks)},
	{FIGURE_NS, "span_ns", "time", AT(span_ns), .wrong = LOSS_OF_CALLS | LOSS_OF_LIVES},
	{FIGURE_NS, "outside_ns", NULL, AT(outside_ns), DOUBT},
	{FIGURE_RATIO, "parallel_efficiency", "parallel efficiency", AT(parallel), DOUBT},
	{FIGURE_RATIO, "load_balance", "load balance", AT(load_balance), DOUBT},
	{FIGURE_RATIO, "communication_efficiency", "communication", AT(communication), DOUBT},
	{FIGURE_RATIO, "serialisation_efficiency", "serialisation", AT(serialisation), DOUBT,
	 .high = LOSS_OF_PATH},
	{FIGURE_RATIO, "transfer_efficiency", "transfer", AT(transfer), DOUBT, .low = LOSS_OF_PATH},
	{FIGURE_RATIO, "had_core", "had a core", AT(had_core), DOUBT},
	{0},
};
#undef ROW

uint32_t efficiency_lost(const struct report *r, uint32_t job)
{
	const struct account_job *j = &r->account.job[job];
	uint32_t lost = r->efficiency[job].partial ? LOSS_OF_PATH : 0;

	for (uint32_t i = j->first; i < j->first + j->n; i++)
		lost |= r->lost[r->account.rank[i].process];
	return lost;
}

/* ---- text ---- */

/* " = load balance 50 %", "≤ 50 %", "~50 %" */
static void factor_print(const char *before, const struct figure *f, const struct efficiency *e,
			 uint32_t lost, FILE *out)
{
	const char *mark = figure_mark(f, lost);
	char buf[RATIO_BYTES];
	double ratio = figure_real(f, e);

	if (isnan(ratio))
		return;
	fprintf(out, "%s%s %s%s%s", before, f->header, mark ? mark : "",
		mark && *mark != '~' ? " " : "", ratio_text(buf, sizeof(buf), ratio));
}

/* The factors' product is the part of rank time that was computing. */
static void efficiency_print(const struct efficiency *e, uint32_t lost, const char *name, FILE *out)
{
	bool core_known = !isnan(e->had_core), path_known = !isnan(e->transfer);
	const char *before = " = ";
	char buf[RATIO_BYTES];

	fprintf(out, "%s %s%s", name, lost & LOSS_OF_ACCOUNT ? "~" : "",
		ratio_text(buf, sizeof(buf), core_known ? e->parallel * e->had_core : e->parallel));
	for (const struct figure *f = efficiency_figures; f->kind; f++) {
		if (f->kind != FIGURE_RATIO || f->at == offsetof(struct efficiency, parallel) ||
		    (path_known && f->at == offsetof(struct efficiency, communication)))
			continue;
		factor_print(before, f, e, lost, out);
		before = " × ";
	}
	fputc('\n', out);
}

void text_efficiency(const struct report *r, FILE *out)
{
	const char *name = r->account.sched ? "Efficiency" : "Parallel efficiency";
	uint32_t jobs = r->account.njob;
	char job[32];

	fputc('\n', out);
	if (jobs > 1)
		fprintf(out, "%s\n", name);
	for (uint32_t i = 0; i < jobs && i < JOBS_SHOWN; i++) {
		if (!r->account.job[i].n || isnan(r->efficiency[i].parallel))
			continue;
		snprintf(job, sizeof(job), "  job %u:", i);
		efficiency_print(&r->efficiency[i], efficiency_lost(r, i), jobs > 1 ? job : name,
				 out);
	}
	if (jobs > JOBS_SHOWN)
		text_note(out, "%u of %u jobs shown; --json has all.", JOBS_SHOWN, jobs);
}

/* ---- JSON ---- */

void json_efficiency_members(struct json_out *j, const struct efficiency *e, uint32_t facts)
{
	/* NULL: they are known. */
	static const char *const unknown[] = {
		[EFFICIENCY_NOTHING_OUTSIDE] = "nothing_outside_mpi",
		[EFFICIENCY_TOO_LONG] = "too_long",
		[EFFICIENCY_NOT_REPLAYED] = "not_replayed",
	};

	figures_json(j, efficiency_figures, e, facts);
	json_out_key_bool(j, "path_is_whole", !e->partial);
	json_out_key_string(j, "path_unknown", unknown[e->unknown]);
}

void json_efficiency(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "efficiency");
	for (uint32_t i = 0; i < r->account.njob; i++) {
		json_out_object_begin(j);
		json_out_key_uint(j, "job", i);
		json_efficiency_members(j, &r->efficiency[i], r->facts);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}
