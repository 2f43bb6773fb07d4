/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Each kind of work has a histogram, a ns a bin. A measurement of nothing, two readings of the clock one behind the other, is beside:
 * what it takes is in all the others, too.
 */
#include "cmd/clock_cost.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "lib/log.h"
#include "version.h"

#define QUANTILES 1000 /* of the file: P99.9 can be told */

static const char *const half_name[] = {
	[POV_CLOCK_WORK_SUSPEND] = "suspend",
	[POV_CLOCK_WORK_RESUME] = "resume",
	[POV_CLOCK_WORK_BOTH] = "suspend and resume",
	[POV_CLOCK_WORK_SAME] = "thread to thread",
};

static uint64_t histogram_cnt(const uint64_t *cost)
{
	uint64_t cnt = 0;

	for (size_t ns = 0; ns < POV_CLOCK_COSTS; ns++)
		cnt += cost[ns];
	return cnt;
}

static uint64_t histogram_quantile(const uint64_t *cost, uint64_t cnt, double q)
{
	uint64_t sum = 0;

	for (size_t ns = 0; ns < POV_CLOCK_COSTS; ns++) {
		sum += cost[ns];
		if (sum && (double)sum >= q * (double)cnt)
			return ns;
	}
	return POV_CLOCK_COSTS - 1;
}

/* ---- for people ---- */

static void row_print(const char *clocks, const char *half, const uint64_t *cost, FILE *out)
{
	uint64_t cnt = histogram_cnt(cost);

	if (!cnt)
		return;
	fprintf(out, "%-9s %-18s %10" PRIu64, clocks, half, cnt);
	for (size_t i = 0; i < 4; i++)
		fprintf(out, " %7" PRIu64,
			histogram_quantile(cost, cnt, (const double[]){0.5, 0.9, 0.99, 0.999}[i]));
	fputc('\n', out);
}

void clock_cost_print(const struct clock_result *r, FILE *out)
{
	fprintf(out, "%-9s %-18s %10s %7s %7s %7s %7s\n", "clocks", "work, in ns", "switches",
		"median", "90 %", "99 %", "99.9 %");
	for (size_t i = 0; i < POV_CLOCK_WORK_SECTION; i++)
		row_print("rank", half_name[i], r->cost[i], out);
	for (size_t i = 0; i < POV_CLOCK_WORK_SECTION; i++)
		row_print("rank+core", half_name[i], r->cost[POV_CLOCK_WORK_SECTION + i], out);
	row_print("", "(measuring alone)", r->cost[POV_CLOCK_WORK_NONE], out);
}

/* ---- for povplot ---- */

static json_t *time_pack(const uint64_t *cost, uint64_t cnt)
{
	static const struct {
		const char *name;
		double q;
	} told[] = {{"min", 0},	  {"p25", 0.25}, {"median", 0.5}, {"p75", 0.75},
		    {"p90", 0.9}, {"p99", 0.99}, {"max", 1}};
	json_t *time = json_object(), *list = json_array();

	json_object_set_new(time, "cnt", json_integer((json_int_t)cnt));
	for (size_t i = 0; i < sizeof(told) / sizeof(*told); i++)
		json_object_set_new(
			time, told[i].name,
			json_integer((json_int_t)histogram_quantile(cost, cnt, told[i].q)));
	for (int i = 0; i <= QUANTILES; i++)
		json_array_append_new(list, json_integer((json_int_t)histogram_quantile(
						    cost, cnt, (double)i / QUANTILES)));
	json_object_set_new(time, "quantiles", list);
	return time;
}

static void point_add(json_t *points, const char *half, const uint64_t *cost)
{
	uint64_t cnt = histogram_cnt(cost);

	if (cnt)
		json_array_append_new(points,
				      json_pack("{s:s, s:{s:o}, s:{}}", "work", half, "times",
						"switch", time_pack(cost, cnt), "values"));
}

/* A result of those clocks; NULL if no switch had any of that work. */
static json_t *result_pack(const char *name, const char *brief,
			   const uint64_t (*cost)[POV_CLOCK_COSTS], const uint64_t *nothing)
{
	json_t *points = json_array();

	for (size_t i = 0; i < POV_CLOCK_WORK_SECTION; i++)
		point_add(points, half_name[i], cost[i]);
	if (!json_array_size(points)) {
		json_decref(points);
		return NULL;
	}
	point_add(points, "none (measuring alone)", nothing);
	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:{}, s:o}", "benchmark", name, "group",
			 "timers", "kind", "cost", "brief", brief, "ranks", 0, "options", "points",
			 points);
}

static json_t *file_pack(const struct clock_result *r)
{
	json_t *results = json_array(), *one;
	time_t now = time(NULL);
	struct utsname host;
	char date[32];
	struct tm tm;

	uname(&host);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	one = result_pack("rank_pov_switch", "work at a switch for rank-POV time", r->cost,
			  r->cost[POV_CLOCK_WORK_NONE]);
	if (one)
		json_array_append_new(results, one);
	one = result_pack("core_pov_switch", "work at a switch for rank-POV and core-POV time",
			  r->cost + POV_CLOCK_WORK_SECTION, r->cost[POV_CLOCK_WORK_NONE]);
	if (one)
		json_array_append_new(results, one);
	return json_pack("{s:s, s:i, s:[{s:{s:s, s:s, s:s, s:s+}, s:o}]}", "format", "povbench",
			 "version", 2, "launches", "factors", "povbench", POV_VERSION, "date", date,
			 "host", host.nodename, "kernel", "Linux ", host.release, "results",
			 results);
}

int clock_cost_write(const struct clock_result *r, const char *path)
{
	json_t *file = file_pack(r);
	int err = 0;

	if (json_dump_file(file, path, JSON_COMPACT | JSON_ENSURE_ASCII)) {
		err = errno ? -errno : -EIO;
		log_error("clock: cannot write %s: %s", path, log_unwritten(-err));
	}
	json_decref(file);
	return err;
}
