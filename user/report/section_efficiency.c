/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows how efficient each job was (analysis/efficiency.h): first screen, factors for the page,
 * JSON.
 */
#include <math.h>
#include <stdlib.h>

#include "report/section.h"

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
	{FIGURE_RATIO, "had_core", "on a core", AT(had_core), DOUBT},
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

/* Adds a factor with text "50 %", "≤ 50 %" or "~50 %". */
static void factor_add(struct efficiency_factors *to, const char *name, const char *mark,
		       double ratio)
{
	struct efficiency_factor *f = &to->factor[to->n++];
	char buf[RATIO_BYTES];

	f->name = name;
	f->ratio = ratio;
	snprintf(f->text, sizeof(f->text), "%s%s%s", mark, *mark && *mark != '~' ? " " : "",
		 ratio_text(buf, sizeof(buf), ratio));
}

struct efficiency_factors efficiency_factors_of(const struct report *r, uint32_t job)
{
	const struct efficiency *e = &r->efficiency[job];
	uint32_t lost = efficiency_lost(r, job);
	bool core_known = !isnan(e->had_core), path_known = !isnan(e->transfer);
	struct efficiency_factors out = {.n = 0};

	factor_add(&out, r->account.sched ? "Efficiency" : "Parallel efficiency",
		   lost & LOSS_OF_ACCOUNT ? "~" : "",
		   core_known ? e->parallel * e->had_core : e->parallel);
	for (const struct figure *f = efficiency_figures; f->kind; f++) {
		const char *mark = figure_mark(f, lost);

		if (f->kind != FIGURE_RATIO || f->at == offsetof(struct efficiency, parallel) ||
		    (path_known && f->at == offsetof(struct efficiency, communication)) ||
		    isnan(figure_real(f, e)))
			continue;
		factor_add(&out, f->header, mark ? mark : "", figure_real(f, e));
	}
	return out;
}

bool efficiency_is_shown(const struct report *r, uint32_t job)
{
	return r->account.job[job].n && !isnan(r->efficiency[job].parallel);
}

static void efficiency_print(const struct efficiency_factors *f, const char *name, FILE *out)
{
	fprintf(out, "%s %s", name, f->factor[0].text);
	for (uint32_t i = 1; i < f->n; i++)
		fprintf(out, " %s %s %s", i == 1 ? "=" : "×", f->factor[i].name, f->factor[i].text);
	fputc('\n', out);
}

void text_efficiency(const struct report *r, FILE *out)
{
	uint32_t jobs = r->account.njob;
	struct efficiency_factors f;
	char job[32];

	fputc('\n', out);
	if (jobs > 1)
		fprintf(out, "%s\n", r->account.sched ? "Efficiency" : "Parallel efficiency");
	for (uint32_t i = 0; i < jobs && i < EFFICIENCY_JOBS_SHOWN; i++) {
		if (!efficiency_is_shown(r, i))
			continue;
		f = efficiency_factors_of(r, i);
		snprintf(job, sizeof(job), "  job %u:", i);
		efficiency_print(&f, jobs > 1 ? job : f.factor[0].name, out);
	}
	if (jobs > EFFICIENCY_JOBS_SHOWN)
		text_note(out, "%u of %u jobs shown; --json has all.", EFFICIENCY_JOBS_SHOWN, jobs);
}

/* ---- JSON ---- */

void json_efficiency_members(struct json_out *j, const struct efficiency *e, uint32_t facts)
{
	/* Why serialisation and transfer are unknown; NULL: they are known. */
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
