/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The sentence of the load; the rule is in classify.h. */
#include "core/classify.h"
#include "core/classify_list.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "core/nominal.h"

#define LATE_PCT_LEAST 10.0
#define SLOWER_LEAST 0.5

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
		if (!classify_is(r, i, "threads", threads) ||
		    !(result_number(p, "comm") < LOAD_LATE_NS))
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
	if (from < cnt && !l[from].threads)
		return xasprintf("not told: %.0f %% of the messages are late without any load",
				 l[from].late_pct);
	if (from < cnt)
		return xasprintf(
			"delays of milliseconds from %.0f thread%s on: %.0f %% of the messages "
			"late, by %.1f ms in the median",
			l[from].threads, nominal_plural(l[from].threads), l[from].late_pct,
			l[from].late_ns / 1e6);
	if (l[worst].ratio > SLOWER_LEAST)
		return xasprintf("slower, by %.1f times the reference with %.0f thread%s, "
				 "but no delay of milliseconds",
				 l[worst].ratio, l[worst].threads,
				 nominal_plural(l[worst].threads));
	return xasprintf("no delay with up to %.0f thread%s", l[cnt - 1].threads,
			 nominal_plural(l[cnt - 1].threads));
}

char *classify_load(const struct result *r)
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
