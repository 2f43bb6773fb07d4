/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The sentences of all results but maps (classify_map.c). The rules are in classify.h. */
#include "core/classify.h"
#include "core/classify_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/log.h"

#define LATE_NS 5e5 /* what is called milliseconds; as nload has it */
#define LATE_PCT_LEAST 10.0
#define SLOWER_LEAST 0.5
#define STENCIL_LIKE 4.0 /* factor between T_comm and T_comp */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void classify_values(const struct result *r, const char *param, struct samples *out)
{
	size_t i, kept = 0;
	double v;

	samples_clear(out);
	for (i = 0; i < result_point_cnt(r); i++) {
		v = result_number(result_point_at(r, i), param);
		if (!isnan(v))
			samples_add(out, v);
	}
	if (!out->cnt)
		return;
	qsort(out->value, out->cnt, sizeof(*out->value), compare);
	for (i = 1; i < out->cnt; i++) {
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

/* Appends, with a separator between two. Takes over more. */
static char *joined(char *text, char *more, const char *separator)
{
	char *both;

	if (!text)
		return more;
	both = xasprintf("%s%s%s", text, separator, more);
	free(text);
	free(more);
	return both;
}

static double last_of(const struct result *r, const char *param)
{
	struct samples s;
	double v;

	samples_init(&s);
	classify_values(r, param, &s);
	v = s.cnt ? s.value[s.cnt - 1] : NAN;
	samples_release(&s);
	return v;
}

static double first_of(const struct result *r, const char *param)
{
	struct samples s;
	double v;

	samples_init(&s);
	classify_values(r, param, &s);
	v = s.cnt ? s.value[0] : NAN;
	samples_release(&s);
	return v;
}

/* ---- load ---- */

struct load {
	double threads, late_pct, late_ns, ratio;
};

static void load_add(const struct result_point *p, const char *name, struct samples *out)
{
	double value = result_number(p, name);

	if (!isnan(value))
		samples_add(out, value);
}

static struct load load_of(const struct result *r, double threads)
{
	struct samples pct, late, ratio;
	struct load l = {.threads = threads};
	const struct result_point *p;
	struct summary sum;
	size_t i;

	samples_init(&pct);
	samples_init(&late);
	samples_init(&ratio);
	for (i = 0; i < result_point_cnt(r); i++) {
		p = result_point_at(r, i);
		if (!classify_is(r, i, "threads", threads) || !(result_number(p, "comm") < LATE_NS))
			continue;
		load_add(p, "late_pct", &pct);
		load_add(p, "late", &late);
		load_add(p, "ratio", &ratio);
	}
	stats_summarize(&pct, &sum);
	l.late_pct = sum.mean;
	l.late_ns = stats_quantile(&late, 0.5);
	l.ratio = stats_quantile(&ratio, 0.5);
	samples_release(&ratio);
	samples_release(&late);
	samples_release(&pct);
	return l;
}

static char *load_text(const struct load *l, size_t cnt)
{
	size_t i, from = cnt, worst = 0;

	while (from && l[from - 1].late_pct >= LATE_PCT_LEAST)
		from--;
	for (i = 0; i < cnt; i++)
		worst = l[i].ratio > l[worst].ratio ? i : worst;
	if (from < cnt)
		return xasprintf(
			"delays of milliseconds from %.0f thread%s on: %.0f %% of the messages "
			"late, by %.1f ms in the median",
			l[from].threads, l[from].threads > 1 ? "s" : "", l[from].late_pct,
			l[from].late_ns / 1e6);
	if (l[worst].ratio > SLOWER_LEAST)
		return xasprintf("slower, by %.1f times the reference with %.0f threads, "
				 "but no delay of milliseconds",
				 l[worst].ratio, l[worst].threads);
	return xasprintf("no delay with up to %.0f threads", l[cnt - 1].threads);
}

static char *classify_load(const struct result *r)
{
	struct samples threads;
	char *text = NULL;
	struct load *l;
	size_t i;

	samples_init(&threads);
	classify_values(r, "threads", &threads);
	l = xcalloc(threads.cnt + 1, sizeof(*l));
	for (i = 0; i < threads.cnt; i++)
		l[i] = load_of(r, threads.value[i]);
	if (threads.cnt)
		text = load_text(l, threads.cnt);
	free(l);
	samples_release(&threads);
	return text;
}

/* ---- broadcast ---- */

static bool text_varies(const struct result *r, const char *param)
{
	size_t i;

	for (i = 1; i < result_point_cnt(r); i++) {
		if (strcmp(classify_text(r, i, param), classify_text(r, 0, param)))
			return true;
	}
	return false;
}

/* What tells the point from the others of its method: the algorithm, the operation, or both. */
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

static char *broadcast_figure(const struct result *r, size_t idx)
{
	const struct result_point *p = result_point_at(r, idx);
	double latency = result_number(p, "max_oli"), task = result_number(p, "max_task");
	char *label, *text;

	if (isnan(latency))
		latency = result_number(p, "latency");
	if (isnan(latency))
		return NULL;
	label = broadcast_label(r, idx);
	text = xasprintf("%s %.*f us", label, latency < 1e4 ? 2 : 1, latency / 1e3);
	if (!isnan(task))
		text = joined(text, xasprintf("(task %.0f)", task), " ");
	free(label);
	return text;
}

/* The figures of the method that point `first` is of. */
static char *broadcast_method(const struct result *r, size_t first, double tasks, double bytes)
{
	const char *method = classify_text(r, first, "method");
	char *text = NULL, *more;
	size_t i;

	for (i = first; i < result_point_cnt(r); i++) {
		if (strcmp(classify_text(r, i, "method"), method) ||
		    !classify_is(r, i, "tasks", tasks) || !classify_is(r, i, "bytes", bytes))
			continue;
		more = broadcast_figure(r, i);
		if (more)
			text = joined(text, more, ", ");
	}
	return text;
}

static bool method_is_new(const struct result *r, size_t idx)
{
	size_t i;

	for (i = 0; i < idx; i++) {
		if (!strcmp(classify_text(r, i, "method"), classify_text(r, idx, "method")))
			return false;
	}
	return true;
}

static char *classify_broadcast(const struct result *r)
{
	double tasks = last_of(r, "tasks"), bytes = first_of(r, "bytes");
	char size[HUMAN_BYTES], *text = NULL, *more, *named;
	bool several = text_varies(r, "method");
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++) {
		more = method_is_new(r, i) ? broadcast_method(r, i, tasks, bytes) : NULL;
		if (!more)
			continue;
		named = several ? xasprintf("%s: %s", classify_text(r, i, "method"), more) :
				  xstrdup(more);
		free(more);
		text = joined(text, named, "; ");
	}
	if (!text)
		return NULL;
	more = xasprintf("%.0f tasks, %s: %s", tasks,
			 human_bytes(size, sizeof(size), (uint64_t)bytes), text);
	free(text);
	return more;
}

/* ---- stencil ---- */

static char *stencil_text(const struct result *r, double ratio)
{
	const struct result_point *p;
	struct samples overlap;
	char *text = NULL;
	double like;
	size_t i;

	samples_init(&overlap);
	for (i = 0; i < result_point_cnt(r); i++) {
		p = result_point_at(r, i);
		like = result_number(p, "comm") / result_number(p, "comp");
		if (classify_is(r, i, "ranks_per_core", ratio) && like <= STENCIL_LIKE &&
		    like >= 1 / STENCIL_LIKE)
			samples_add(&overlap, result_number(p, "overlap"));
	}
	if (overlap.cnt)
		text = xasprintf("V = %.0f overlaps %.0f %%", ratio,
				 100 * stats_quantile(&overlap, 0.5));
	samples_release(&overlap);
	return text;
}

static char *classify_stencil(const struct result *r)
{
	char *text = NULL, *more;
	struct samples ratios;
	size_t i;

	samples_init(&ratios);
	classify_values(r, "ranks_per_core", &ratios);
	for (i = 0; i < ratios.cnt; i++) {
		more = stencil_text(r, ratios.value[i]);
		if (more)
			text = joined(text, more, ", ");
	}
	samples_release(&ratios);
	return text;
}

/* ---- timers, curves ---- */

/* Of the points with most ranks on a core, the one where MPI_Wtime is farthest from CPU time. */
static char *classify_timers(const struct result *r)
{
	double ranks = last_of(r, "ranks_per_core"), factor, most = NAN;
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
	return xasprintf("with %.0f rank%s on a core MPI_Wtime says %.2f times the CPU time", ranks,
			 ranks > 1 ? "s" : "", most);
}

static char *classify_curve(const struct result *r)
{
	double small = first_of(r, "bytes"), large = last_of(r, "bytes");
	double latency_ns = NAN, time_ns = NAN;
	char from[HUMAN_BYTES], to[HUMAN_BYTES];
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++) {
		if (classify_is(r, i, "bytes", small))
			latency_ns = result_number(result_point_at(r, i), "measured");
		if (classify_is(r, i, "bytes", large))
			time_ns = result_number(result_point_at(r, i), "measured");
	}
	if (isnan(latency_ns) || isnan(time_ns))
		return NULL;
	return xasprintf("%.2f us for %s, %.2f GB/s with %s", latency_ns / 1e3,
			 human_bytes(from, sizeof(from), (uint64_t)small), large / time_ns,
			 human_bytes(to, sizeof(to), (uint64_t)large));
}

/* ---- protocol ---- */

struct limit {
	double eager; /* the largest size below the first one that was not; 0: none */
	double above; /* that one; infinite: none */
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
		return xasprintf("eager up to %.0f bytes at least", l->eager);
	if (l->eager <= 0)
		return xasprintf("rendezvous from %.0f bytes on", l->above);
	return xasprintf("eager up to %.0f bytes, rendezvous from %.0f on", l->eager, l->above);
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
		return joined(text, xstrdup("while the receiver computes none is sent"), "; ");
	return joined(text,
		      xasprintf("while the receiver computes only up to %.0f", computing.eager),
		      "; ");
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
	char *text = classify_sentence(r);

	if (text)
		result_sentence_set(r, text);
	free(text);
}
