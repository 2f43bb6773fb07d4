/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Advice as text and as JSON (kmod-docs/ADVISE.md has its members). */
#include "advise/advise.h"

#include <stdlib.h>

#include "advise/library.h"
#include "lib/json_out.h"
#include "lib/text.h"

#define NS_PER_S 1e9

static double seconds(uint64_t ns)
{
	return (double)ns / NS_PER_S;
}

/* Anything may be in names that the program chose. */
static void line_print(FILE *out, const char *before, const char *text)
{
	char *clean = text_printable(text, UINT32_MAX);

	fprintf(out, "%s%s\n", before, clean);
	free(clean);
}

static void advice_print(const struct advise *a, const struct advice *d, FILE *out)
{
	double share = a->run_ns ? 100.0 / (double)a->run_ns : 0;

	fprintf(out, "\n ! %s: expected to gain %.3f to %.3f s (%.0f to %.0f %% of the run)\n",
		d->strategy->name, seconds(d->gain.low_ns), seconds(d->gain.high_ns),
		share * (double)d->gain.low_ns, share * (double)d->gain.high_ns);
	line_print(out, "   ", d->text);
	line_print(out, "   set: ", d->setting);
	if (d->warning)
		line_print(out, "   but: ", d->warning);
}

/* What is to be known before anything is believed. */
static void doubts_print(const struct advise *a, FILE *out)
{
	char *text;

	if (a->lost) {
		fputs("Records are missing", out);
		for (int bit = 0, n = 0; bit < LOSS_BITS; bit++) {
			if (a->lost & 1u << bit)
				fprintf(out, "%s%s", n++ ? ", " : ": ", loss_names[bit]);
		}
		fputs("; nothing is advised. povtrace report --coverage says more.\n", out);
	}
	if (!distortion_matters(&a->distortion))
		return;
	text = distortion_text(&a->distortion);
	fprintf(out, "DISTORTED: %s. Gains are of the run as it was recorded.\n", text);
	free(text);
}

void advise_text(const struct advise *a, FILE *out)
{
	uint32_t ranks = 0;

	for (uint32_t i = 0; i < model_process_count(a->model); i++)
		ranks += model_process_get(a->model, i)->is_rank;
	if (!ranks) {
		fputs("No MPI process was recorded: nothing was looked at.\n", out);
		return;
	}
	fprintf(out, "%u %s, %.3f s of MPI", ranks, ranks == 1 ? "rank" : "ranks",
		seconds(a->run_ns));
	if (*library_name(a->library))
		fprintf(out, ", %s", library_name(a->library));
	fputc('\n', out);
	doubts_print(a, out);
	if (!a->nadvice)
		fprintf(out,
			"\nNo advice: of what was looked at, no setting is sure to gain %d %% of the run.\n"
			"What is not a setting of the library or launcher: povtrace report says what cost time, and what to do.\n",
			100 / ADVICE_PART);
	for (uint32_t i = 0; i < a->nadvice; i++)
		advice_print(a, &a->advice[i], out);
	if (a->nadvice > 1)
		fputs("\nGains may be of the same time: they do not add up. Follow the first, record again.\n",
		      out);
	if (a->nnone)
		fputs("\nLooked at, without advice\n", out);
	for (uint32_t i = 0; i < a->nnone; i++) {
		fprintf(out, "   %-11s", a->none[i].strategy->name);
		line_print(out, " ", a->none[i].text);
	}
}

static void advice_json(struct json_out *j, const struct advice *d)
{
	json_out_object_begin(j);
	json_out_key_string(j, "strategy", d->strategy->name);
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
