/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Advice as text and as JSON (kmod-docs/ADVISE.md lists the members). */
#include "advise/advise.h"

#include <stdlib.h>

#include "advise/library.h"
#include "lib/human.h"
#include "lib/json_out.h"
#include "lib/log.h"
#include "lib/text.h"

#define NS_PER_S 1e9
#define WIDTH 100

static double seconds(uint64_t ns)
{
	return (double)ns / NS_PER_S;
}

/* The program may put any bytes into its names. */
static void line_print(FILE *out, const char *before, const char *text)
{
	char *clean = text_printable(text, UINT32_MAX);

	fprintf(out, "%s%s\n", before, clean);
	free(clean);
}

/* Prints sentences without their last full stop. */
static void sentences_print(FILE *out, const char *before, const char *text)
{
	char *clean = text_printable(text, UINT32_MAX), *whole = xasprintf("%s.", clean);

	text_wrapped_print(out, before, whole, WIDTH - text_chars(before));
	free(whole);
	free(clean);
}

static void advice_print(const struct advise *a, const struct advice *d, FILE *out)
{
	double share = a->run_ns ? 100.0 / (double)a->run_ns : 0;

	fprintf(out, "%s%s: expected gain %.3f to %.3f s (%.0f to %.0f %% of the run)\n",
		d->cause ? "     " : "\n ! ", d->strategy->name, seconds(d->gain.low_ns),
		seconds(d->gain.high_ns), share * (double)d->gain.low_ns,
		share * (double)d->gain.high_ns);
	sentences_print(out, d->cause ? "     " : "   ", d->text);
	line_print(out, d->cause ? "     set: " : "   set: ", d->setting);
	if (d->warning)
		sentences_print(out, d->cause ? "     but: " : "   but: ", d->warning);
}

/* Returns "~" if the costs of causes may be wrong. */
static const char *cause_mark(const struct advise *a)
{
	return a->lost & (LOSS_OF_CALLS | LOSS_OF_STATES | LOSS_OF_LIVES) ? "~" : "";
}

/*
 * Prints either the causes that a setting removes, or the others without their evidence. Both have
 * the numbers of the report. Returns how many it printed.
 */
static uint32_t causes_print(const struct advise *a, bool by_setting, const char *title, FILE *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->ncause; i++) {
		if (a->reasons.reason[i].by_setting != by_setting)
			continue;
		if (!n++)
			reasons_head_print(&a->reasons, title, true, out);
		reason_print(&a->reasons, &a->reasons.reason[i], i + 1, cause_mark(a), by_setting,
			     out);
		for (uint32_t k = 0; k < a->nadvice; k++)
			if (a->advice[k].cause == i + 1)
				advice_print(a, &a->advice[k], out);
	}
	return n;
}

static uint32_t with_setting(const struct advise *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->ncause; i++)
		n += a->reasons.reason[i].by_setting;
	return n;
}

static uint32_t strategies_print(const struct advise *a, FILE *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->nadvice; i++) {
		if (a->advice[i].cause)
			continue;
		advice_print(a, &a->advice[i], out);
		n++;
	}
	return n;
}

/* No setting is known: prints the largest causes instead. */
static void nothing_print(const struct advise *a, FILE *out)
{
	fprintf(out, "\nNo advice: no setting is sure to gain %d %% of the run.\n",
		100 / ADVICE_PART);
	if (!causes_print(a, false, "What to change instead (evidence: povtrace report)", out) &&
	    !a->opt->nonly)
		fprintf(out, "No cause costs %d %% of the run or more.\n", 100 / ADVICE_PART);
}

/* Prints the caveats that the reader needs before the advice. */
static void doubts_print(const struct advise *a, FILE *out)
{
	char *text, *whole;

	if (a->lost) {
		fputs("Records are missing", out);
		for (int bit = 0, n = 0; bit < LOSS_BITS; bit++) {
			if (a->lost & 1u << bit)
				fprintf(out, "%s%s", n++ ? ", " : ": ", loss_names[bit]);
		}
		fputs(". No strategy gives advice then; see povtrace report --coverage.\n", out);
	}
	if (!model_get_info(a->model)->sched_all && !a->opt->nonly)
		fprintf(out, "%s: who had cores is unknown.\n",
			a->account.sched ? "Only switches of recorded processes were recorded" :
					   "The scheduler was not recorded");
	if (!distortion_matters(&a->distortion))
		return;
	text = distortion_text(&a->distortion);
	whole = xasprintf("%s. Gains are those of this slowed run", text);
	sentences_print(out, "DISTORTED: ", whole);
	free(whole);
	free(text);
}

void advise_text(const struct advise *a, FILE *out)
{
	uint32_t ranks = 0, n;

	for (uint32_t i = 0; i < model_process_count(a->model); i++)
		ranks += model_process_get(a->model, i)->is_rank;
	if (!ranks) {
		fputs("No MPI process was recorded, so there is nothing to advise.\n", out);
		return;
	}
	fprintf(out, "%u %s, %s between MPI_Init and MPI_Finalize", ranks,
		ranks == 1 ? "rank" : "ranks", ROUND_NS_TEXT(a->run_ns));
	if (*library_name(a->library))
		fprintf(out, ", %s", library_name(a->library));
	fputc('\n', out);
	doubts_print(a, out);
	n = causes_print(a, true, "Causes with a setting, numbered as in povtrace report", out);
	n += strategies_print(a, out);
	if (n && with_setting(a) < a->ncause)
		causes_print(a, false, "Causes without a setting (evidence: povtrace report)", out);
	if (!n)
		nothing_print(a, out);
	if (n > 1)
		fputs("\nGains may overlap, so they do not add up. Act on the largest, then "
		      "record again.\n",
		      out);
	if (a->nnone)
		fputs("\nExamined without advice\n", out);
	for (uint32_t i = 0; i < a->nnone; i++) {
		char before[32];

		snprintf(before, sizeof(before), "   %-11s ", a->none[i].strategy->name);
		sentences_print(out, before, a->none[i].text);
	}
}

static void advice_json(struct json_out *j, const struct advice *d)
{
	json_out_object_begin(j);
	json_out_key_string(j, "strategy", d->strategy->name);
	if (d->cause)
		json_out_key_uint(j, "cause", d->cause);
	json_out_key_string(j, "text", d->text);
	json_out_key_string(j, "setting", d->setting);
	if (d->warning)
		json_out_key_string(j, "warning", d->warning);
	json_out_key_uint(j, "gain_low_ns", d->gain.low_ns);
	json_out_key_uint(j, "gain_high_ns", d->gain.high_ns);
	json_out_key_object(j, "evidence");
	for (uint32_t i = 0; i < d->nnumber; i++)
		json_out_key_uint(j, d->number[i].name, d->number[i].value);
	json_out_object_end(j);
	json_out_object_end(j);
}

int advise_json(const struct advise *a, FILE *out)
{
	struct json_out *j = json_out_new(out, JSON_OUT_PRETTY);

	json_out_object_begin(j);
	json_out_key_uint(j, "run_ns", a->run_ns);
	json_out_key_string(j, "library", library_name(a->library));
	json_out_key_array(j, "missing");
	for (int bit = 0; bit < LOSS_BITS; bit++) {
		if (a->lost & 1u << bit)
			json_out_string(j, loss_names[bit]);
	}
	json_out_array_end(j);
	json_out_key_bool(j, "distorted", distortion_matters(&a->distortion));
	json_out_key_array(j, "causes");
	for (uint32_t i = 0; i < a->ncause; i++) {
		json_out_object_begin(j);
		json_out_key_uint(j, "number", i + 1);
		reason_json(j, a->model, &a->reasons.reason[i]);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_key_array(j, "advice");
	for (uint32_t i = 0; i < a->nadvice; i++)
		advice_json(j, &a->advice[i]);
	json_out_array_end(j);
	json_out_key_array(j, "none");
	for (uint32_t i = 0; i < a->nnone; i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "strategy", a->none[i].strategy->name);
		json_out_key_string(j, "text", a->none[i].text);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_object_end(j);
	return json_out_finish(j);
}
