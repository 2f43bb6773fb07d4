/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Writes the sentence of the load (see classify.h). */
#include "core/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/text.h"
#include "core/param_text.h"

#define LATE_PCT_LEAST 1.0 /* a smaller share may be ordinary noise of the machine */

struct load {
	size_t cnt; /* usable points: their T_comm is below LOAD_LATE_NS */
	double threads, late_pct, late_ns;
	double mean; /* time of a message in units of T_comm */
};

static void load_add(const struct result_point *p, const char *name, struct samples *out)
{
	double value = result_number(p, name);

	if (!isnan(value))
		samples_add(out, value);
}

static struct load load_of(const struct result *r, double threads)
{
	struct samples pct = {0}, late = {0}, ratio = {0};
	struct load l = {.threads = threads};
	const struct result_point *p;
	struct summary sum;

	for (size_t i = 0; i < result_point_cnt(r); i++) {
		p = result_point_at(r, i);
		if (!classify_is(r, i, "threads", threads) ||
		    !(result_number(p, "comm") < LOAD_LATE_NS))
			continue;
		load_add(p, "late_pct", &pct);
		load_add(p, "late", &late);
		load_add(p, "ratio_mean", &ratio);
	}
	stats_summarize(&pct, &sum);
	l.cnt = pct.cnt;
	l.late_pct = sum.mean;
	l.late_ns = stats_quantile(&late, 0.5);
	l.mean = 1 + stats_quantile(&ratio, 0.5);
	samples_release(&ratio);
	samples_release(&late);
	samples_release(&pct);
	return l;
}

static bool is_late(const struct load *l)
{
	return l->late_pct >= LATE_PCT_LEAST;
}

/* Lists the numbers of threads with which messages are late: "2", "1 to 4", "1, 3 and 4". */
static char *late_threads(const struct load *l, size_t cnt)
{
	size_t first = cnt, last = 0, late = 0;
	char *text = NULL;

	for (size_t i = 0; i < cnt; i++) {
		if (!is_late(&l[i]))
			continue;
		first = first == cnt ? i : first;
		last = i;
		late++;
	}
	if (late > 2 && late == last - first + 1)
		return xasprintf("%.0f to %.0f", l[first].threads, l[last].threads);
	for (size_t i = first; i <= last; i++) {
		if (is_late(&l[i]))
			text = text_joined(text, i == last ? " and " : ", ",
					   xasprintf("%.0f", l[i].threads));
	}
	return text;
}

/* Decimals after the point, for three significant digits in all. */
static int mean_decimals(double value)
{
	return value < 10 ? 2 : value < 100 ? 1 : 0;
}

/* Returns the largest mean time, among the late ones if there are any. */
static const struct load *worst_of(const struct load *l, size_t cnt)
{
	const struct load *worst = &l[0];

	for (size_t i = 1; i < cnt; i++) {
		if (is_late(&l[i]) != is_late(worst) ? is_late(&l[i]) : l[i].mean > worst->mean)
			worst = &l[i];
	}
	return worst;
}

/*
 * Returns "with 2 to 4 threads, worst with 4: 90 % …", or "with 4 threads: 90 % …" for one number.
 */
static char *late_text(const struct load *l, size_t cnt, const struct load *worst)
{
	char *threads = late_threads(l, cnt), *only = xasprintf("%.0f", worst->threads), *which,
	     *text;

	which = strcmp(threads, only) ? xasprintf(", worst with %s", only) : xstrdup("");
	text = xasprintf("messages late by 0.5 ms or more with %s thread%s%s: %.0f %% of them, by "
			 "%.1f ms in the median, and one takes %.*f times T_comm on average",
			 threads, strcmp(threads, "1") ? "s" : "", which, worst->late_pct,
			 worst->late_ns / 1e6, mean_decimals(worst->mean), worst->mean);
	free(which);
	free(only);
	free(threads);
	return text;
}

static char *load_text(const struct load *l, size_t cnt)
{
	const struct load *worst = worst_of(l, cnt);
	size_t i;

	for (i = 0; i < cnt && !l[i].cnt; i++)
		;
	if (i == cnt)
		return xasprintf(
			"unknown: without load a message takes 0.5 ms or more, whatever its size");
	if (!l[0].threads && is_late(&l[0]))
		return xasprintf("unknown: %.0f %% of the messages are late without any load",
				 l[0].late_pct);
	if (!is_late(worst))
		return xasprintf(
			"no message late by 0.5 ms or more with up to %.0f thread%s; one takes "
			"up to %.*f times T_comm on average (%.0f thread%s)",
			l[cnt - 1].threads, plural_s(l[cnt - 1].threads),
			mean_decimals(worst->mean), worst->mean, worst->threads,
			plural_s(worst->threads));
	return late_text(l, cnt, worst);
}

/* Returns an entry for each number of threads, ascending; the caller frees the array. */
static struct load *loads_of(const struct result *r, size_t *cnt)
{
	struct samples threads = {0};
	struct load *l;

	classify_values(r, "threads", &threads);
	l = xcalloc(threads.cnt + 1, sizeof(*l));
	for (size_t i = 0; i < threads.cnt; i++)
		l[i] = load_of(r, threads.value[i]);
	*cnt = threads.cnt;
	samples_release(&threads);
	return l;
}

void classify_load_limits(const struct result *r, double *without, double *late)
{
	size_t i, cnt;
	struct load *l = loads_of(r, &cnt);

	for (i = 0; i < cnt && !is_late(&l[i]); i++)
		;
	*without = i ? l[i - 1].threads : NAN;
	*late = i < cnt ? l[i].threads : NAN;
	free(l);
}

char *classify_load(const struct result *r)
{
	char *text = NULL;
	size_t cnt;
	struct load *l = loads_of(r, &cnt);

	if (cnt)
		text = load_text(l, cnt);
	if (text && *classify_text(r, 0, "rank_cpus"))
		text = text_joined(text, "; ",
				   xasprintf("rank 0 on CPUs %s, its threads on %s",
					     classify_text(r, 0, "rank_cpus"),
					     classify_text(r, 0, "threads_cpus")));
	free(l);
	return text;
}
