/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The sentence of the load; the rule is in classify.h. */
#include "core/classify.h"
#include "core/classify_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "core/param_text.h"

#define LATE_PCT_LEAST 1.0 /* that so few are late may be the machine's own affair */

struct load {
	size_t cnt; /* points that can tell: late is more than T_comm */
	double threads, late_pct, late_ns;
	double mean; /* of a message's time, in terms of T_comm */
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

/* "2", "1 to 4", "1, 3 and 4": the numbers of threads with which messages are late. */
static char *late_threads(const struct load *l, size_t cnt)
{
	size_t i, first = cnt, last = 0, late = 0;
	char *text = NULL;

	for (i = 0; i < cnt; i++) {
		if (!is_late(&l[i]))
			continue;
		first = first == cnt ? i : first;
		last = i;
		late++;
	}
	if (late > 2 && late == last - first + 1)
		return xasprintf("%.0f to %.0f", l[first].threads, l[last].threads);
	for (i = first; i <= last; i++) {
		if (is_late(&l[i]))
			text = classify_joined(text, xasprintf("%.0f", l[i].threads),
					       i == last ? " and " : ", ");
	}
	return text;
}

/* Behind the point, for three in all. */
static int digits(double value)
{
	return value < 10 ? 2 : value < 100 ? 1 : 0;
}

/* Where the average is largest, of those that are late if any are. */
static const struct load *worst_of(const struct load *l, size_t cnt)
{
	const struct load *worst = &l[0];
	size_t i;

	for (i = 1; i < cnt; i++) {
		if (is_late(&l[i]) != is_late(worst) ? is_late(&l[i]) : l[i].mean > worst->mean)
			worst = &l[i];
	}
	return worst;
}

/* "with 2 to 4 threads, worst with 4: 90 % …"; of a single number "with 4 threads: 90 % …". */
static char *late_text(const struct load *l, size_t cnt, const struct load *worst)
{
	char *threads = late_threads(l, cnt), *only = xasprintf("%.0f", worst->threads), *which,
	     *text;

	which = strcmp(threads, only) ? xasprintf(", worst with %s", only) : xstrdup("");
	text = xasprintf("messages late by 0.5 ms or more with %s thread%s%s: %.0f %% of them, by "
			 "%.1f ms in the median, and one takes %.*f times T_comm on average",
			 threads, strcmp(threads, "1") ? "s" : "", which, worst->late_pct,
			 worst->late_ns / 1e6, digits(worst->mean), worst->mean);
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
			"not told: without load a message takes 0.5 ms or more, whatever its size");
	if (!l[0].threads && is_late(&l[0]))
		return xasprintf("not told: %.0f %% of the messages are late without any load",
				 l[0].late_pct);
	if (!is_late(worst))
		return xasprintf(
			"no message late by 0.5 ms or more with up to %.0f thread%s; one takes "
			"up to %.*f times T_comm on average (%.0f thread%s)",
			l[cnt - 1].threads, plural_s(l[cnt - 1].threads), digits(worst->mean),
			worst->mean, worst->threads, plural_s(worst->threads));
	return late_text(l, cnt, worst);
}

/* Of each number of threads, ascending; to be freed. */
static struct load *loads_of(const struct result *r, size_t *cnt)
{
	struct samples threads;
	struct load *l;
	size_t i;

	samples_init(&threads);
	classify_values(r, "threads", &threads);
	l = xcalloc(threads.cnt + 1, sizeof(*l));
	for (i = 0; i < threads.cnt; i++)
		l[i] = load_of(r, threads.value[i]);
	*cnt = threads.cnt;
	samples_release(&threads);
	return l;
}

void classify_load_limits(const struct result *r, double *without, double *late)
{
	struct load *l;
	size_t i, cnt;

	l = loads_of(r, &cnt);
	for (i = 0; i < cnt && !is_late(&l[i]); i++)
		;
	*without = i ? l[i - 1].threads : NAN;
	*late = i < cnt ? l[i].threads : NAN;
	free(l);
}

char *classify_load(const struct result *r)
{
	char *text = NULL;
	struct load *l;
	size_t cnt;

	l = loads_of(r, &cnt);
	if (cnt)
		text = load_text(l, cnt);
	if (text && *classify_text(r, 0, "rank_cpus"))
		text = classify_joined(text,
				       xasprintf("rank 0 on CPUs %s, its threads on %s",
						 classify_text(r, 0, "rank_cpus"),
						 classify_text(r, 0, "threads_cpus")),
				       "; ");
	free(l);
	return text;
}
