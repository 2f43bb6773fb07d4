/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes a finding in the words of its rule, followed by the advice: first what another result of
 * the same file shows to help, then settings of the library (setting.h). Disturbed runs get no
 * advice.
 */
#include "page.h"

#include "setting.h"

#include "lib/human.h"
#include "lib/log.h"
#include "core/classify.h"
#include "core/cpu_list.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MOST 0x1p62

/* The result's points in povbench's form; release with result_free. */
static struct result *points_of(const struct data_result *r)
{
	const struct result_about about = {
		.benchmark = r->benchmark, .group = r->group, .ranks = (int)r->ranks};
	struct result *copy = result_new(&about);
	size_t i;

	for (i = 0; i < r->point_cnt; i++)
		result_point_read(copy, (json_t *)r->point[i]);
	return copy;
}

/* ---- maps ---- */

/* Number of sizes of each class, from `from` on. Sizes are whole bytes. */
struct classes {
	size_t cnt[CLASSIFY_MIXED + 1];
};

static struct classes classes_of(const struct result *points, double from)
{
	struct classes c = {0};
	struct samples sizes = {0};
	size_t i;

	classify_values(points, "bytes", &sizes);
	for (i = 0; i < sizes.cnt; i++) {
		if (sizes.value[i] >= from && sizes.value[i] < BYTES_MOST)
			c.cnt[classify_size(points, (uint64_t)sizes.value[i])]++;
	}
	samples_release(&sizes);
	return c;
}

/*
 * The smallest known size from which on nothing overlaps; NaN if the largest known size overlaps.
 */
static double none_from(const struct result *points)
{
	struct samples sizes = {0};
	double from = NAN;
	size_t i;

	classify_values(points, "bytes", &sizes);
	for (i = sizes.cnt; i-- > 0;) {
		enum classify_overlap class = CLASSIFY_UNJUDGED;

		if (sizes.value[i] >= 0 && sizes.value[i] < BYTES_MOST)
			class = classify_size(points, (uint64_t)sizes.value[i]);
		if (class == CLASSIFY_OVERLAP || class == CLASSIFY_PARTIAL ||
		    class == CLASSIFY_MIXED)
			break;
		if (class != CLASSIFY_UNJUDGED)
			from = sizes.value[i];
	}
	samples_release(&sizes);
	return from;
}

/*
 * True if another map of the file, with as many ranks, overlaps there: at some sizes, and at no
 * size not.
 */
static bool other_overlaps(const struct data *d, const struct data_result *r, const char *benchmark,
			   double from)
{
	const struct data_result *other;
	struct result *points;
	struct classes c;
	size_t i;

	for (i = 0; i < d->result_cnt; i++) {
		other = &d->result[i];
		if (other->file != r->file || other->ranks != r->ranks || other->disturbed ||
		    strcmp(other->kind, "map") || strcmp(other->benchmark, benchmark))
			continue;
		points = points_of(other);
		c = classes_of(points, from);
		result_free(points);
		return c.cnt[CLASSIFY_OVERLAP] && !c.cnt[CLASSIFY_NONE] && !c.cnt[CLASSIFY_WORSE] &&
		       !c.cnt[CLASSIFY_MIXED];
	}
	return false;
}

/* What else overlaps by the file's own numbers; NULL if nothing does. */
static char *remedy_shown(const struct data *d, const struct data_result *r, double from)
{
	char *text = NULL;

	/* Both other benchmarks measure the sender's side (bench/overlap/). */
	if (strcmp(r->benchmark, "sender"))
		return NULL;
	if (other_overlaps(d, r, "test_sprinkled", from))
		text = xstrdup("call MPI_Test or MPI_Testall now and then within the computation, "
			       "which overlaps here (test_sprinkled)");
	if (other_overlaps(d, r, "progress_thread", from))
		text = classify_joined(
			text,
			xstrdup("have a thread call MPI meanwhile, which overlaps here "
				"(progress_thread)"),
			"; ");
	return text;
}

/* The advice if no result shows a remedy and no setting is known. */
static char *nothing_known(const struct data_file *f)
{
	const char *name;

	setting_library(f, &name);
	return xasprintf("no setting of %s is known to change that; povbench test_sprinkled tells "
			 "whether MPI_Test within the computation does",
			 *name ? name : "a library that the file does not name");
}

static char *map_advice(const struct data *d, const struct data_result *r,
			const struct result *points)
{
	static const char *const sides[] = {"sender", "receiver", "both_sides", "noncontig"};
	double from = none_from(points);
	char size[HUMAN_BYTES], *todo, *setting, *text;
	size_t i;

	for (i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		if (!strcmp(sides[i], r->benchmark))
			break;
	}
	if (i == sizeof(sides) / sizeof(sides[0]) || isnan(from))
		return NULL;
	todo = remedy_shown(d, r, from);
	setting = setting_progress(r->file);
	if (setting)
		todo = classify_joined(todo, setting, "; ");
	if (!todo)
		todo = nothing_known(r->file);
	text = xasprintf("no overlap from %s on: %s",
			 human_bytes(size, sizeof(size), (uint64_t)from), todo);
	free(todo);
	return text;
}

/* ---- loads ---- */

/* True if the communicating thread shared its CPUs with no load thread. */
static bool is_apart(const struct result *points)
{
	cpu_set_t own, load, both;

	if (!cpu_set_read(&own, classify_text(points, 0, "rank_cpus")) ||
	    !cpu_set_read(&load, classify_text(points, 0, "threads_cpus")))
		return false;
	CPU_AND(&both, &own, &load);
	return !CPU_COUNT(&both);
}

static char *load_advice(const struct data_result *r, const struct result *points)
{
	double without, late;
	char *text, *how, *few;

	classify_load_limits(points, &without, &late);
	if (isnan(late) || isnan(without) || is_apart(points))
		return NULL;
	how = setting_cores(r->file);
	few = without > 0 ? xasprintf("at most %.0f", without) : xstrdup("none");
	text = xasprintf(
		"with %.0f or more computing threads per rank, messages are late; with this "
		"binding, start %s besides the communicating thread, or give each rank one core "
		"more than it has computing threads (%s, N = cores per rank)",
		late, few, how);
	free(few);
	free(how);
	return text;
}

/* ---- all ---- */

char *advice_of(const struct data *d, const struct data_result *r)
{
	struct result *points;
	char *text = NULL;

	if (r->disturbed)
		return NULL;
	points = points_of(r);
	if (!strcmp(r->kind, "map"))
		text = map_advice(d, r, points);
	else if (!strcmp(r->kind, "load"))
		text = load_advice(r, points);
	result_free(points);
	return text;
}
