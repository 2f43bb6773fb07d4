/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints the files and how they differ, then anything that may spoil the comparison, then a line
 * for each benchmark with its points below, if they are wanted.
 */
#include "compare/compare.h"

#include "core/param_text.h"
#include "core/result_file.h"
#include "core/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIFFERING_MAX 12 /* greatest number of differing factors to list */

static const char letters[SIDES] = {'A', 'B'};

static size_t file_launches(const struct compare_file *f)
{
	return json_array_size(json_object_get(f->root, "launches"));
}

static void show_files(const struct shown *s, FILE *out)
{
	for (int side = 0; side < SIDES; side++) {
		const struct compare_file *f = &s->c->file[side];
		size_t cnt = file_launches(f);

		fprintf(out, "%c: %s, %zu launch%s\n", letters[side], f->path, cnt,
			cnt == 1 ? "" : "es");
	}
}

static void show_differing(const struct shown *s, FILE *out)
{
	size_t cnt = json_array_size(s->differing), i;
	const json_t *one;

	if (!cnt) {
		fputs("All factors and options are equal, except for the dates.\n", out);
		return;
	}
	fputs("What differs, A and B:\n", out);
	json_array_foreach(s->differing, i, one)
	{
		char *a, *b;

		if (i == DIFFERING_MAX) {
			fprintf(out, "  and %zu more; --json has all\n", cnt - i);
			break;
		}
		a = factors_text(json_object_get(one, "a"));
		b = factors_text(json_object_get(one, "b"));
		fprintf(out, "  %s: %s, %s\n", json_string_value(json_object_get(one, "name")), a,
			b);
		free(a);
		free(b);
	}
}

static void show_spread(const struct shown *s, FILE *out)
{
	const json_t *one;
	char *text;
	size_t i;

	for (int side = 0; side < SIDES; side++) {
		json_array_foreach(s->spread[side], i, one)
		{
			text = spread_text(one);
			fprintf(out, "%c: %s\n", letters[side], text);
			free(text);
		}
	}
}

static void show_alone(const struct shown *s, FILE *out)
{
	const json_t *one;
	size_t i;

	for (int side = 0; side < SIDES; side++) {
		json_array_foreach(s->c->alone[side], i, one)
			fprintf(out, "Only in %c: %s\n", letters[side], json_string_value(one));
	}
}

/* Writes "1.03 to 1.05", or nothing if the interval is unknown. Returns buf. */
static const char *interval_text(const struct ratio *r, char *buf, size_t bytes)
{
	buf[0] = '\0';
	if (isfinite(r->low) && isfinite(r->high))
		snprintf(buf, bytes, "%.3f to %.3f", r->low, r->high);
	return buf;
}

/* The point with a verdict that is farthest from 1; null if there is none. */
static const struct judged *farthest(const struct compare_result *r, const struct judgement *j,
				     const struct compare_point **point)
{
	const struct judged *best = NULL;

	for (size_t i = 0; i < r->point_cnt; i++) {
		const struct judged *one = &j->point[i];

		if (one->verdict != VERDICT_SLOWER && one->verdict != VERDICT_FASTER)
			continue;
		if (best && fabs(log(one->ratio.value)) <= fabs(log(best->ratio.value)))
			continue;
		best = one;
		*point = &r->point[i];
	}
	return best;
}

static void show_counts(const struct compare_result *r, const struct judgement *j, FILE *out)
{
	const struct compare_point *point;
	const struct judged *most = farthest(r, j, &point);
	char *name;

	if (!most)
		return;
	name = collect_point_name(point->json);
	fprintf(out, "; of %zu point%s", r->point_cnt, plural_s((double)r->point_cnt));
	if (j->slower_cnt)
		fprintf(out, " %zu slower", j->slower_cnt);
	fprintf(out, "%s", j->slower_cnt && j->faster_cnt ? "," : "");
	if (j->faster_cnt)
		fprintf(out, " %zu faster", j->faster_cnt);
	fprintf(out, ", most at %s: %.3f", name, most->ratio.value);
	free(name);
}

static void show_launches(const struct compare_result *r, FILE *out)
{
	fprintf(out, "%zu and %zu launch%s", r->launch_cnt[A], r->launch_cnt[B],
		r->launch_cnt[B] == 1 ? "" : "es");
}

static const char *summary(const struct judgement *j)
{
	if (j->all.verdict == VERDICT_UNKNOWN)
		return j->repeated ? "too few launches to tell" : "launches were not repeated";
	if (j->all.verdict == VERDICT_NONE && j->slower_cnt + j->faster_cnt)
		return "no difference in the mean, but at some points";
	return judge_verdict_name(j->all.verdict);
}

static void show_point(const struct compare_result *r, const struct judgement *j, size_t idx,
		       FILE *out)
{
	const struct judged *one = &j->point[idx];
	char *name = collect_point_name(r->point[idx].json), interval[64];

	fprintf(out, "  %-36s %8.3f   %-16s   %s\n", name, one->ratio.value,
		interval_text(&one->ratio, interval, sizeof(interval)),
		one->verdict == VERDICT_UNKNOWN ? "" : judge_verdict_name(one->verdict));
	free(name);
}

static void show_result(const struct shown *s, size_t idx, FILE *out)
{
	const struct compare_result *r = &s->c->result[idx];
	const struct judgement *j = &s->j[idx];
	bool single = r->launch_cnt[A] == 1 && r->launch_cnt[B] == 1;
	char interval[64];

	fprintf(out, "%s, %d rank%s: ", r->benchmark, r->ranks, plural_s(r->ranks));
	if (!r->point_cnt) {
		fprintf(out, "no point that all launches have (%zu that some have)\n",
			r->uneven_cnt);
		return;
	}
	interval_text(&j->all.ratio, interval, sizeof(interval));
	fprintf(out, "B/A %.3f%s%s%s, %s", j->all.ratio.value, *interval ? " (" : "", interval,
		*interval ? ")" : "", summary(j));
	show_counts(r, j, out);
	fputs("; ", out);
	show_launches(r, out);
	if (r->uneven_cnt)
		fprintf(out, "; %zu point%s that not all launches have left out", r->uneven_cnt,
			plural_s((double)r->uneven_cnt));
	fputc('\n', out);
	if (s->points)
		fprintf(out, "  %-36s %8s   %s\n", "point", "B/A",
			single ? "within the launches" : "95 % interval");
	for (size_t i = 0; i < r->point_cnt && s->points; i++)
		show_point(r, j, i, out);
}

/* Explains the limits of the comparison. */
static void show_limits(const struct shown *s, FILE *out)
{
	bool once = false, few = false;

	for (size_t i = 0; i < s->c->cnt; i++) {
		once |= !s->j[i].repeated;
		few |= s->j[i].repeated && !s->j[i].able;
	}
	if (once)
		fputs("Without repeated launches nothing can be concluded about differences "
		      "between A and B: two\n"
		      "launches of the same program differ, too. Intervals of single launches are "
		      "those within them.\n",
		      out);
	if (once || few)
		fprintf(out,
			"A verdict needs %zu launches in each file: povbench-run --launches "
			"%zu -- …\n",
			judge_launches_needed(s->c), judge_launches_needed(s->c));
}

void show_text(const struct shown *s, FILE *out)
{
	show_files(s, out);
	show_differing(s, out);
	show_spread(s, out);
	show_alone(s, out);
	fputc('\n', out);
	for (size_t i = 0; i < s->c->cnt; i++)
		show_result(s, i, out);
	show_limits(s, out);
}

/* ---- JSON ---- */

/* The members are in kmod-docs/BENCH_FORMAT.md. Unknown values are left out. */

#define VERSION 1

static const char *const side_names[SIDES] = {"a", "b"};

static void put_real(json_t *object, const char *key, double value)
{
	if (isfinite(value))
		json_put(object, key, json_real(value));
}

static void put_count(json_t *object, const char *key, size_t value)
{
	json_put(object, key, json_integer((json_int_t)value));
}

static void put_judged(json_t *object, const struct judged *one, bool able)
{
	put_real(object, "ratio", one->ratio.value);
	put_real(object, "low", one->ratio.low);
	put_real(object, "high", one->ratio.high);
	if (able)
		put_real(object, "p", one->p);
	json_put(object, "verdict", json_string(judge_verdict_name(one->verdict)));
}

/* The point's parameters, then its results. */
static json_t *point_json(const struct compare_result *r, const struct judgement *j, size_t idx)
{
	const double *time = r->time + idx * collect_launches(r);
	const struct compare_point *p = &r->point[idx];
	json_t *out = json_object(), *value;
	const char *name;

	json_object_foreach((json_t *)p->json, name, value)
	{
		if (json_is_integer(value) || json_is_string(value))
			json_object_set(out, name, value);
	}
	json_put(out, "time", json_string(p->time));
	put_real(out, "a_ns", stats_median(time, r->launch_cnt[A]));
	put_real(out, "b_ns", stats_median(time + r->launch_cnt[A], r->launch_cnt[B]));
	put_judged(out, &j->point[idx], j->able);
	return out;
}

static json_t *result_json_of(const struct compare_result *r, const struct judgement *j)
{
	json_t *out = json_object(), *launches = json_object(), *points = json_array();
	json_t *all = json_object(), *list;

	json_put(out, "benchmark", json_string(r->benchmark));
	json_put(out, "kind", json_string(r->kind));
	json_put(out, "ranks", json_integer(r->ranks));
	for (int side = 0; side < SIDES; side++) {
		list = json_array();
		for (size_t i = 0; i < r->launch_cnt[side]; i++)
			json_array_append_new(list, json_integer((json_int_t)r->launch[side][i]));
		json_put(launches, side_names[side], list);
	}
	json_put(out, "launches", launches);
	json_put(out, "interval",
		 json_string(r->launch_cnt[A] == 1 && r->launch_cnt[B] == 1 ? "within" :
									      "launches"));
	put_count(out, "slower", j->slower_cnt);
	put_count(out, "faster", j->faster_cnt);
	put_count(out, "left_out", r->uneven_cnt);
	if (r->point_cnt)
		put_judged(all, &j->all, j->able);
	json_put(out, "all", all);
	for (size_t i = 0; i < r->point_cnt; i++)
		json_array_append_new(points, point_json(r, j, i));
	json_put(out, "points", points);
	return out;
}

static json_t *file_json(const struct shown *s, int side)
{
	const struct compare_file *f = &s->c->file[side];
	json_t *out = json_object();

	json_put(out, "path", json_string(f->path));
	put_count(out, "launches", json_array_size(json_object_get(f->root, "launches")));
	json_object_set(out, "apart", (json_t *)s->spread[side]);
	json_object_set(out, "alone", s->c->alone[side]);
	return out;
}

void show_json(const struct shown *s, FILE *out)
{
	json_t *root = json_object(), *list = json_array();

	json_put(root, "format", json_string("povbench compare"));
	json_put(root, "version", json_integer(VERSION));
	for (int side = 0; side < SIDES; side++)
		json_put(root, side_names[side], file_json(s, side));
	json_object_set(root, "differing", (json_t *)s->differing);
	for (size_t i = 0; i < s->c->cnt; i++)
		json_array_append_new(list, result_json_of(&s->c->result[i], &s->j[i]));
	json_put(root, "results", list);
	json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	fputc('\n', out);
	json_decref(root);
}
