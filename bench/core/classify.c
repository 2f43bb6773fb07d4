/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes the sentence of a result by its kind. A rule of more than one function has a file of its
 * own (classify_map.c and others). All rules are described in classify.h.
 */
#include "core/classify.h"

#include "lib/human.h"
#include "lib/log.h"
#include "core/classify_list.h"
#include "core/param_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STENCIL_LIKE 4.0  /* greatest factor between T_comm and T_comp */
#define STENCIL_WIDTH 0.5 /* greatest width of the overlap's interval */

/* ---- stencil ---- */

/* True if a point is meaningful: both phases are of similar length, and its interval is narrow. */
static bool stencil_tells(const struct result_point *p)
{
	double like = result_number(p, "comm") / result_number(p, "comp");
	double width = result_number(p, "overlap_high") - result_number(p, "overlap_low");

	return like <= STENCIL_LIKE && like >= 1 / STENCIL_LIKE && width <= STENCIL_WIDTH;
}

static char *stencil_text(const struct result *r, double ratio)
{
	const struct result_point *p;
	struct samples overlap;
	char *text;
	size_t i;

	samples_init(&overlap);
	for (i = 0; i < result_point_cnt(r); i++) {
		p = result_point_at(r, i);
		if (classify_is(r, i, "ranks_per_core", ratio) && stencil_tells(p))
			samples_add(&overlap, result_number(p, "overlap"));
	}
	if (overlap.cnt)
		text = xasprintf("V = %.0f overlaps %.0f %%", ratio,
				 100 * stats_quantile(&overlap, 0.5));
	else
		text = xasprintf("V = %.0f is unknown", ratio);
	samples_release(&overlap);
	return text;
}

static char *classify_stencil(const struct result *r)
{
	struct samples ratios;
	char *text = NULL;
	size_t i;

	samples_init(&ratios);
	classify_values(r, "ranks_per_core", &ratios);
	for (i = 0; i < ratios.cnt; i++)
		text = classify_joined(text, stencil_text(r, ratios.value[i]), ", ");
	samples_release(&ratios);
	return text;
}

/* ---- timers, curves ---- */

/* Takes the points with most ranks on a core, and among them the largest error of MPI_Wtime. */
static char *classify_timers(const struct result *r)
{
	double ranks = classify_last(r, "ranks_per_core"), factor, most = NAN;
	const struct result_point *p;
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++) {
		p = result_point_at(r, i);
		factor = result_number(p, "wtime") / result_number(p, "cpu");
		if (classify_is(r, i, "ranks_per_core", ranks) && !(factor <= most))
			most = factor;
	}
	if (isnan(most))
		return NULL;
	return xasprintf("with %.0f rank%s on a core MPI_Wtime shows %.2f times the CPU time",
			 ranks, plural_s(ranks), most);
}

/* Reports what reading libpov's rank clock costs, if it was there, less the timing itself. */
static char *classify_cost(const struct result *r)
{
	const struct result_point *p;
	double empty = NAN, median = NAN, most = NAN;
	const char *clock;
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++) {
		p = result_point_at(r, i);
		clock = classify_text(r, i, "clock");
		if (!strcmp(clock, "none"))
			empty = result_number(p, "reading");
		if (!strcmp(clock, "MPIX_Rtime")) {
			median = result_number(p, "reading");
			most = result_number(p, "reading.p99");
		}
	}
	if (isnan(empty) || isnan(median))
		return NULL;
	return xasprintf("MPIX_Rtime is read in %.0f ns, 99 %% of the times in %.0f ns",
			 median - empty, most - empty);
}

static char *classify_curve(const struct result *r)
{
	double small = classify_first(r, "bytes"), large = classify_last(r, "bytes");
	double latency_ns = NAN, time_ns = NAN, per_s = NAN;
	char from[HUMAN_BYTES], to[HUMAN_BYTES];
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++) {
		if (classify_is(r, i, "bytes", small)) {
			latency_ns = result_number(result_point_at(r, i), "measured");
			per_s = result_number(result_point_at(r, i), "messages_per_s");
		}
		if (classify_is(r, i, "bytes", large))
			time_ns = result_number(result_point_at(r, i), "measured");
	}
	if (isnan(latency_ns) || isnan(time_ns))
		return NULL;
	human_bytes(from, sizeof(from), (uint64_t)small);
	human_bytes(to, sizeof(to), (uint64_t)large);
	if (!isnan(per_s))
		return xasprintf("%.3g million messages of %s per second, %.2f GB/s with %s",
				 per_s / 1e6, from, large / time_ns, to);
	return xasprintf("%.2f us for %s, %.2f GB/s with %s", latency_ns / 1e3, from,
			 large / time_ns, to);
}

/* ---- all ---- */

char *classify_sentence(const struct result *r)
{
	static const struct {
		const char *kind;
		char *(*text)(const struct result *r);
	} rules[] = {
		{"map", classify_map},
		{"load", classify_load},
		{"broadcast", classify_broadcast},
		{"stencil", classify_stencil},
		{"timers", classify_timers},
		{"cost", classify_cost},
		{"curve", classify_curve},
		{"protocol", classify_protocol},
	};
	const char *kind = json_string_value(json_object_get(result_json(r), "kind"));
	const char *name = json_string_value(json_object_get(result_json(r), "benchmark"));
	char *text = NULL, *sentence;
	size_t i;

	for (i = 0; kind && i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!strcmp(kind, rules[i].kind))
			text = rules[i].text(r);
	}
	if (!text)
		return NULL;
	sentence = xasprintf("%s: %s", name, text);
	free(text);
	return sentence;
}

void classify_set(struct result *r)
{
	const char *disturbed = json_string_value(json_object_get(result_json(r), "disturbed"));
	char *text = classify_sentence(r);

	if (text && disturbed)
		text = classify_joined(text, xasprintf("disturbed: %s", disturbed), "; ");
	if (text)
		result_sentence_set(r, text);
	free(text);
}

/* ---- protocols ---- */

/* Writes the sentence of the eager limit (see classify.h). */

struct limit {
	double eager; /* largest size below the first one that was not eager; 0: none */
	double above; /* first size that was not eager; infinite: none */
};

static struct limit limit_of(const struct result *r, const char *receiver)
{
	struct limit l = {.eager = 0, .above = INFINITY};
	double bytes;
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++) {
		bytes = result_number(result_point_at(r, i), "bytes");
		if (!strcmp(classify_text(r, i, "receiver"), receiver) &&
		    result_number(result_point_at(r, i), "eager") < 0.5)
			l.above = fmin(l.above, bytes);
	}
	for (i = 0; i < result_point_cnt(r); i++) {
		bytes = result_number(result_point_at(r, i), "bytes");
		if (!strcmp(classify_text(r, i, "receiver"), receiver) && bytes < l.above)
			l.eager = fmax(l.eager, bytes);
	}
	return l;
}

static char *limit_text(const struct limit *l)
{
	if (isinf(l->above))
		return xasprintf("eager up to %.0f byte%s at least", l->eager, plural_s(l->eager));
	if (l->eager <= 0)
		return xasprintf("rendezvous from %.0f byte%s on", l->above, plural_s(l->above));
	return xasprintf("eager up to %.0f byte%s, rendezvous from %.0f on", l->eager,
			 plural_s(l->eager), l->above);
}

char *classify_protocol(const struct result *r)
{
	struct limit in_mpi = limit_of(r, "in_mpi"), computing = limit_of(r, "computing");
	char *text;

	if (!result_point_cnt(r))
		return NULL;
	text = limit_text(&in_mpi);
	if (computing.above >= in_mpi.above)
		return text;
	if (computing.eager <= 0)
		return classify_joined(text,
				       xasprintf("while the receiver computes not even %.0f byte%s",
						 computing.above, plural_s(computing.above)),
				       "; ");
	return classify_joined(
		text, xasprintf("while the receiver computes only up to %.0f", computing.eager),
		"; ");
}
