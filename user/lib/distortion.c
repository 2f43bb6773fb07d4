/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The texts; the numbers come from the callers.
 */
#include "lib/distortion.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/log.h"

#define MOST 0.5 /* share of the cost */

void distortion_add_func(struct distortion *d, const char *name, double cost_ns)
{
	unsigned int i = DISTORTION_FUNCS;

	if (cost_ns <= 0)
		return;
	d->funcs_ns += cost_ns;
	while (i && d->func[i - 1].cost_ns < cost_ns) {
		d->func[i] = d->func[i - 1];
		i--;
	}
	if (i == DISTORTION_FUNCS)
		return;
	d->func[i].name = name;
	d->func[i].cost_ns = cost_ns;
}

unsigned int distortion_func_cnt(const struct distortion *d)
{
	double sum_ns = 0;
	unsigned int i;

	for (i = 0; i < DISTORTION_FUNCS && d->func[i].name; i++) {
		if (sum_ns >= MOST * d->funcs_ns)
			break;
		sum_ns += d->func[i].cost_ns;
	}
	return i;
}

/* The functions' names, each after `before`; `between` separates them. */
static char *names(const struct distortion *d, const char *before, const char *between)
{
	unsigned int n = distortion_func_cnt(d);
	char *text = xstrdup(""), *longer;

	for (unsigned int i = 0; i < n; i++) {
		longer = xasprintf("%s%s%s%s", text, i ? between : "", before, d->func[i].name);
		free(text);
		text = longer;
	}
	return text;
}

static int digits(double pct)
{
	return pct < 9.95;
}

#define RECORD_LESS \
	": keep one CPU free of ranks, or record less (-f, --no-functions, --sched ranks)"

/* The recorder was too slow, or had the rank's core. */
static char *recorder_text(const struct distortion *d)
{
	bool core = d->core_pct >= d->room_pct;
	double pct = core ? d->core_pct : d->room_pct;

	return xasprintf(", mostly while %s (%.*f %%)" RECORD_LESS,
			 core ? "povtrace had its core" : "it waited for room to record",
			 digits(pct), pct);
}

static char *functions_text(const struct distortion *d)
{
	char *which, *options, *text;

	which = names(d, "", ", ");
	options = names(d, "--no-functions ", " ");
	text = *which ? xasprintf(", mostly by %s: leave these out with %s, or whole "
				  "groups with --mpi",
				  which, options) :
			xstrdup("");
	free(which);
	free(options);
	return text;
}

/* Names the largest part of the overhead, and what to do about it. */
static char *remedy_text(const struct distortion *d)
{
	const double recording_pct = d->pct - d->core_pct - d->room_pct;

	if (d->core_pct > recording_pct || d->room_pct > recording_pct)
		return recorder_text(d);
	if (d->switches_pct > recording_pct / 2)
		return xstrdup(", mostly by recording context switches: use --sched ranks, or "
			       "--sched off");
	return functions_text(d);
}

/* How much tracing lengthened the run; NULL if a rank's overhead is a larger share. */
static char *run_text(const struct distortion *d)
{
	return d->run_pct > d->pct ?
		       xasprintf("%s %.*f %% of the run is due to tracing, which %s",
				 d->by_cores ? "perhaps" : "about", digits(d->run_pct), d->run_pct,
				 d->by_cores ? "used cores that ranks waited for" :
					       "held up ranks that others waited for") :
		       NULL;
}

char *distortion_text(const struct distortion *d)
{
	char *run = run_text(d), *remedy, others[64] = "", *text;

	/* no rank lost much time itself: to leave out functions would not help */
	if (run && d->by_cores && d->pct <= DISTORTION_PCT) {
		text = xasprintf("%s" RECORD_LESS, run);
		free(run);
		return text;
	}
	if (d->above > 1)
		snprintf(others, sizeof(others), " (%u ranks above %.0f %%)", d->above,
			 DISTORTION_PCT);
	remedy = remedy_text(d);
	text = xasprintf("%s%s took %s%.*f %% of %s's time%s%s", run ? run : "",
			 run ? ". It" : "tracing", d->low ? "at least " : "", digits(d->pct),
			 d->pct, d->who, others, remedy);
	free(remedy);
	free(run);
	return text;
}
