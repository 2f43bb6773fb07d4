/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes the sentence of a result by its kind. The longest rules have files of their own
 * (classify_map.c, classify_load.c). All rules are described in classify.h.
 */
#include "core/classify.h"

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"
#include "core/param_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- selecting points, joining parts of sentences ---- */

void classify_values(const struct result *r, const char *param, struct samples *out)
{
	size_t kept = 0;
	double v;

	samples_clear(out);
	for (size_t i = 0; i < result_point_cnt(r); i++) {
		v = result_number(result_point_at(r, i), param);
		if (!isnan(v))
			samples_add(out, v);
	}
	if (!out->cnt)
		return;
	qsort(out->value, out->cnt, sizeof(*out->value), stats_compare);
	for (size_t i = 1; i < out->cnt; i++) {
		if (out->value[i] > out->value[kept])
			out->value[++kept] = out->value[i];
	}
	out->cnt = kept + 1;
}

bool classify_is(const struct result *r, size_t idx, const char *param, double value)
{
	return fabs(result_number(result_point_at(r, idx), param) - value) < 0.5;
}

const char *classify_text(const struct result *r, size_t idx, const char *param)
{
	const json_t *points = json_object_get(result_json(r), "points");
	const char *text = json_string_value(json_object_get(json_array_get(points, idx), param));

	return text ? text : "";
}

/* The least or largest value of a parameter; NaN if there is none. */
static double end_of(const struct result *r, const char *param, bool last)
{
	struct samples s = {0};
	double v;

	classify_values(r, param, &s);
	v = s.cnt ? s.value[last ? s.cnt - 1 : 0] : NAN;
	samples_release(&s);
	return v;
}

static double classify_first(const struct result *r, const char *param)
{
	return end_of(r, param, false);
}

static double classify_last(const struct result *r, const char *param)
{
	return end_of(r, param, true);
}

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
	struct samples overlap = {0};
	char *text;

	for (size_t i = 0; i < result_point_cnt(r); i++) {
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
	struct samples ratios = {0};
	char *text = NULL;

	classify_values(r, "ranks_per_core", &ratios);
	for (size_t i = 0; i < ratios.cnt; i++)
		text = text_joined(text, ", ", stencil_text(r, ratios.value[i]));
	samples_release(&ratios);
	return text;
}

/* ---- timers, curves ---- */

/* Takes the points with most ranks on a core, and among them the largest error of MPI_Wtime. */
static char *classify_timers(const struct result *r)
{
	double ranks = classify_last(r, "ranks_per_core"), factor, most = NAN;
	const struct result_point *p;

	for (size_t i = 0; i < result_point_cnt(r); i++) {
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

	for (size_t i = 0; i < result_point_cnt(r); i++) {
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

	for (size_t i = 0; i < result_point_cnt(r); i++) {
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

/* ---- protocols ---- */

struct limit {
	double eager; /* largest size below the first one that was not eager; 0: none */
	double above; /* first size that was not eager; infinite: none */
};

static struct limit limit_of(const struct result *r, const char *receiver)
{
	struct limit l = {.eager = 0, .above = INFINITY};
	double bytes;

	for (size_t i = 0; i < result_point_cnt(r); i++) {
		bytes = result_number(result_point_at(r, i), "bytes");
		if (!strcmp(classify_text(r, i, "receiver"), receiver) &&
		    result_number(result_point_at(r, i), "eager") < 0.5)
			l.above = fmin(l.above, bytes);
	}
	for (size_t i = 0; i < result_point_cnt(r); i++) {
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

static char *classify_protocol(const struct result *r)
{
	struct limit in_mpi = limit_of(r, "in_mpi"), computing = limit_of(r, "computing");
	char *text;

	if (!result_point_cnt(r))
		return NULL;
	text = limit_text(&in_mpi);
	if (computing.above >= in_mpi.above)
		return text;
	if (computing.eager <= 0)
		return text_joined(text, "; ",
				   xasprintf("while the receiver computes not even %.0f byte%s",
					     computing.above, plural_s(computing.above)));
	return text_joined(text, "; ",
			   xasprintf("while the receiver computes only up to %.0f",
				     computing.eager));
}

/* ---- broadcasts and other collectives: figures by method ---- */

static bool text_varies(const struct result *r, const char *param)
{
	for (size_t i = 1; i < result_point_cnt(r); i++) {
		if (strcmp(classify_text(r, i, param), classify_text(r, 0, param)))
			return true;
	}
	return false;
}

/* Labels a point among those of its method: by algorithm, operation or both. */
static char *broadcast_label(const struct result *r, size_t idx)
{
	const char *algorithm = classify_text(r, idx, "algorithm");
	const char *op = classify_text(r, idx, "op");

	if (!text_varies(r, "op"))
		return xstrdup(algorithm);
	if (!text_varies(r, "algorithm"))
		return xstrdup(op);
	return xasprintf("%s %s", algorithm, op);
}

/* Names the task with the largest OL_i and any doubt about the figure; null if there is none. */
static char *broadcast_notes(const struct result_point *p)
{
	double task = result_number(p, "max_task"), steady = result_number(p, "steady");
	char *text = isnan(task) ? NULL : xasprintf("task %.0f", task);

	if (result_number(p, "above_gaps") == 0)
		text = text_joined(text, ", ", xstrdup("E not above the gap"));
	if (steady == 0)
		text = text_joined(text, ", ", xstrdup("not steady"));
	return text;
}

static char *broadcast_figure(const struct result *r, size_t idx)
{
	const struct result_point *p = result_point_at(r, idx);
	double latency = result_number(p, "latency");
	bool at_most = result_number(p, "above_gaps") == 0;
	char *label, *text, *notes;

	if (isnan(latency))
		return NULL;
	label = broadcast_label(r, idx);
	text = xasprintf("%s %s%.*f us", label, at_most ? "at most " : "", latency < 1e4 ? 2 : 1,
			 latency / 1e3);
	notes = broadcast_notes(p);
	if (notes)
		text = text_joined(text, " ", xasprintf("(%s)", notes));
	free(notes);
	free(label);
	return text;
}

/* Lists the figures of all points that have the same method as point `first`. */
static char *broadcast_method(const struct result *r, size_t first, double tasks, double bytes)
{
	const char *method = classify_text(r, first, "method");
	char *text = NULL, *more;

	for (size_t i = first; i < result_point_cnt(r); i++) {
		if (strcmp(classify_text(r, i, "method"), method) ||
		    !classify_is(r, i, "tasks", tasks) || !classify_is(r, i, "bytes", bytes))
			continue;
		more = broadcast_figure(r, i);
		if (more)
			text = text_joined(text, ", ", more);
	}
	return text;
}

static bool method_is_new(const struct result *r, size_t idx)
{
	return !table_any(idx, i,
			  !strcmp(classify_text(r, i, "method"), classify_text(r, idx, "method")));
}

static char *classify_broadcast(const struct result *r)
{
	double tasks = classify_last(r, "tasks"), bytes = classify_first(r, "bytes");
	char size[HUMAN_BYTES], *text = NULL, *more, *named;
	bool several = text_varies(r, "method");

	for (size_t i = 0; i < result_point_cnt(r); i++) {
		more = method_is_new(r, i) ? broadcast_method(r, i, tasks, bytes) : NULL;
		if (!more)
			continue;
		named = several ? xasprintf("%s: %s", classify_text(r, i, "method"), more) :
				  xstrdup(more);
		free(more);
		text = text_joined(text, "; ", named);
	}
	if (!text)
		return NULL;
	more = xasprintf("%.0f tasks, %s: %s", tasks,
			 human_bytes(size, sizeof(size), (uint64_t)bytes), text);
	free(text);
	return more;
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

	for (size_t i = 0; kind && i < sizeof(rules) / sizeof(rules[0]); i++) {
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
		text = text_joined(text, "; ", xasprintf("disturbed: %s", disturbed));
	if (text)
		result_sentence_set(r, text);
	free(text);
}
