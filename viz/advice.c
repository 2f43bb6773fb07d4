/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes a finding in the words of its rule, followed by the advice: first what another result of
 * the same file shows to help, then settings of the library. Disturbed runs get no
 * advice.
 */
#include "draw.h"

#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/text.h"
#include "core/classify.h"
#include "core/cpu_list.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MOST 0x1p62

/* ---- settings ---- */

/*
 * Settings that exist in the versions at hand, by the file's factors (kmod-docs/BENCH_FORMAT.md);
 * unknown factors yield no setting. kmod-docs/BENCH_PICTURES.md, "What to change" reports which
 * ones were tried and what they brought. Larger eager limits are not suggested, because they made
 * some messages faster and others slower.
 */

enum setting_library { SETTING_OTHER, SETTING_OPENMPI, SETTING_MPICH };

enum path { PATH_UNKNOWN, PATH_SHARED, PATH_TCP };

/* *name: the library's name without version, for sentences; "" if the file does not name it. */
static enum setting_library setting_library(const struct data_file *f, const char **name)
{
	const char *text = json_get_text(json_object_get(f->factors, "mpi"), "library");

	*name = "";
	if (text_begins(text, "Open MPI ")) {
		*name = "Open MPI";
		return SETTING_OPENMPI;
	}
	if (text_begins(text, "MPICH ")) {
		*name = "MPICH";
		return SETTING_MPICH;
	}
	if (*text)
		*name = "this library";
	return SETTING_OTHER;
}

/* ---- Open MPI ---- */

static bool has_component(const struct data_file *f, const char *name)
{
	const json_t *list = json_object_get(f->factors, "components"), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (json_is_string(one) && text_begins(json_string_value(one), name))
			return true;
	}
	return false;
}

/* 1: all ranks were on one host; 0: unknown. */
static size_t host_cnt(const struct data_file *f)
{
	const json_t *ranks = json_object_get(f->factors, "ranks");
	const char *first = json_get_text(json_array_get(ranks, 0), "host");
	const json_t *rank;
	size_t i;

	json_array_foreach(ranks, i, rank)
	{
		if (strcmp(json_get_text(rank, "host"), first))
			return 2;
	}
	return *first ? 1 : 0;
}

/* Judges by the loaded components, because the library unloads those that it does not choose. */
static enum path openmpi_path(const struct data_file *f)
{
	static const char *const networks[] = {"mca_btl_openib",   "mca_btl_uct",
					       "mca_btl_ofi",	   "mca_btl_usnic",
					       "mca_btl_portals4", "mca_btl_ugni"};
	size_t hosts = host_cnt(f);

	if (!hosts || !has_component(f, "mca_pml_ob1"))
		return PATH_UNKNOWN;
	for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
		if (has_component(f, networks[i]))
			return PATH_UNKNOWN;
	}
	if (hosts == 1 && (has_component(f, "mca_btl_vader") || has_component(f, "mca_btl_sm")))
		return PATH_SHARED;
	return has_component(f, "mca_btl_tcp") ? PATH_TCP : PATH_UNKNOWN;
}

static char *openmpi_progress(const struct data_file *f)
{
	const json_t *env = json_object_get(f->factors, "environment");

	if (openmpi_path(f) != PATH_TCP ||
	    !strcmp(json_get_text(env, "OMPI_MCA_btl_tcp_progress_thread"), "1"))
		return NULL;
	return xstrdup(
		"try mpirun --mca btl_tcp_progress_thread 1. A library thread then moves the data "
		"and uses CPU time of its own, so compare the total times");
}

/* ---- MPICH ---- */

/* True if rank 0 may use twice as many CPUs as there are ranks that share them. */
static bool has_free_cores(const struct data_file *f)
{
	const json_t *ranks = json_object_get(f->factors, "ranks");
	const json_t *first = json_array_get(ranks, 0), *rank;
	cpu_set_t cpus;
	size_t i, sharing = 0;

	if (!cpu_set_read(&cpus, json_get_text(first, "cpus")))
		return false;
	json_array_foreach(ranks, i, rank)
	{
		sharing += !strcmp(json_get_text(rank, "host"), json_get_text(first, "host")) &&
			   !strcmp(json_get_text(rank, "cpus"), json_get_text(first, "cpus"));
	}
	return (size_t)CPU_COUNT(&cpus) >= 2 * sharing;
}

static char *mpich_progress(const struct data_file *f)
{
	const json_t *set = json_object_get(json_object_get(f->factors, "transport"),
					    "MPIR_CVAR_ASYNC_PROGRESS");

	if (!json_is_integer(set) || json_integer_value(set) || !has_free_cores(f))
		return NULL;
	return xstrdup(
		"try MPIR_CVAR_ASYNC_PROGRESS=1, since each rank has a free core for the thread "
		"that polls then");
}

/* ---- both ---- */

/*
 * A setting that lets messages progress while ranks compute, in a few words. NULL if none is known
 * or it is already set. Caller frees.
 */
static char *setting_progress(const struct data_file *f)
{
	const char *name;

	switch (setting_library(f, &name)) {
	case SETTING_OPENMPI:
		return openmpi_progress(f);
	case SETTING_MPICH:
		return mpich_progress(f);
	default:
		return NULL;
	}
}

/* How to start a rank with as many cores as threads. Caller frees. */
static char *setting_cores(const struct data_file *f)
{
	const char *name;

	switch (setting_library(f, &name)) {
	case SETTING_OPENMPI:
		return xstrdup("mpirun --map-by slot:PE=N --bind-to core");
	case SETTING_MPICH:
		return xstrdup("mpiexec -bind-to core:N");
	default:
		return xstrdup("the launcher's binding");
	}
}

/* ---- results ---- */

/* The result's points in povbench's form; release with result_free. */
static struct result *points_of(const struct data_result *r)
{
	const struct result_about about = {
		.benchmark = r->benchmark, .group = r->group, .ranks = (int)r->ranks};
	struct result *copy = result_new(&about);

	for (size_t i = 0; i < r->point_cnt; i++)
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

	classify_values(points, "bytes", &sizes);
	for (size_t i = 0; i < sizes.cnt; i++) {
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

	classify_values(points, "bytes", &sizes);
	for (size_t i = sizes.cnt; i-- > 0;) {
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
 * True if the file's map of another benchmark, with as many ranks, shows overlap at some sizes from
 * `from` on and no overlap at none of them.
 */
static bool other_overlaps(const struct data *d, const struct data_result *r, const char *benchmark,
			   double from)
{
	const struct data_result *other;
	struct result *points;
	struct classes c;

	for (size_t i = 0; i < d->result_cnt; i++) {
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
		text = text_joined(text, "; ",
				   xstrdup("have a thread call MPI meanwhile, which overlaps here "
					   "(progress_thread)"));
	return text;
}

/* The advice if no result shows a remedy and no setting is known. */
static char *nothing_known(const struct data_file *f)
{
	const char *name;

	setting_library(f, &name);
	return xasprintf("no setting of %s is known to change that; povbench test_sprinkled shows "
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
		todo = text_joined(todo, "; ", setting);
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
