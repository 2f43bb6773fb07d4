/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A parameter varies if its text differs between two points, or if one of them lacks it. Sizes and
 * times are recognised by their names, which end in the unit.
 */
#include "series.h"

#include "script.h"

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 5 /* greatest number of values in a hint */

void series_init(struct series *s, const char *const *axes)
{
	*s = (struct series){.axes = axes};
}

void series_release(struct series *s)
{
	for (size_t i = 0; i < s->param_cnt; i++)
		free(s->param[i]);
	free(s->param);
	free(s->part);
	free(s->point);
	*s = (struct series){0};
}

void series_add(struct series *s, const json_t *point)
{
	*table_append(s->point, s->cnt) = point;
}

static bool is_axis(const struct series *s, const char *name)
{
	for (size_t i = 0; s->axes[i]; i++) {
		if (!strcmp(s->axes[i], name))
			return true;
	}
	return false;
}

/* The parameter's index; param_cnt if it is missing. */
static size_t find_param(const struct series *s, const char *name)
{
	size_t i = 0;

	while (i < s->param_cnt && strcmp(s->param[i], name))
		i++;
	return i;
}

/* "64 KiB", "V = 2", "binomial": with the name if the value alone would be unclear. */
static char *param_describe(const json_t *point, const char *name)
{
	const char *text = data_param_text(point, name);
	double number = data_param(point, name);
	bool whole = number >= 0 && number < 0x1p63;
	char buf[HUMAN_BYTES], *words;

	if (!strcmp(name, "ranks_per_core"))
		return xasprintf("V = %.9g", number);
	if (whole && text_ends_in(name, strlen(name), "bytes"))
		return xstrdup(human_bytes(buf, sizeof(buf), (uint64_t)number));
	if (text)
		words = xstrdup(text);
	else if (whole && text_ends_in(name, strlen(name), "_ns"))
		words = xasprintf("%.*s %s", (int)strlen(name) - 3, name,
				  axis_time_text(number, buf, sizeof(buf)));
	else
		words = xasprintf("%s %.9g", name, number);
	for (char *c = words; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return words;
}

/* Compares by text, because calibrated times differ in digits that are not shown. */
static bool does_vary(const struct series *s, const char *name)
{
	bool varies = false, there = json_object_get(s->point[0], name);
	char *first = there ? param_describe(s->point[0], name) : NULL, *other;

	for (size_t i = 1; i < s->cnt && !varies; i++) {
		varies = there != !!json_object_get(s->point[i], name);
		if (!there || varies)
			continue;
		other = param_describe(s->point[i], name);
		varies = strcmp(first, other);
		free(other);
	}
	free(first);
	return varies;
}

void series_find_params(struct series *s)
{
	const char *key;
	json_t *value;

	for (size_t i = 0; i < s->cnt; i++) {
		/* The iteration needs a non-const object but changes nothing. */
		json_object_foreach((json_t *)(uintptr_t)s->point[i], key, value)
		{
			if ((!json_is_number(value) && !json_is_string(value)) || is_axis(s, key) ||
			    find_param(s, key) < s->param_cnt)
				continue;
			s->param = xrealloc(s->param, (s->param_cnt + 1) * sizeof(*s->param));
			s->part = xrealloc(s->part, (s->param_cnt + 1) * sizeof(*s->part));
			s->part[s->param_cnt] = does_vary(s, key) ? SERIES_VARYING : SERIES_FIXED;
			s->param[s->param_cnt++] = xstrdup(key);
		}
	}
}

void series_init_from(struct series *s, const char *const *axes, const struct data_result *r,
		      bool (*is_drawable)(const json_t *point))
{
	series_init(s, axes);
	for (size_t i = 0; i < r->point_cnt; i++) {
		if (is_drawable(r->point[i]))
			series_add(s, r->point[i]);
	}
	series_find_params(s);
}

bool series_varies(const struct series *s, const char *name)
{
	size_t i = find_param(s, name);

	return i < s->param_cnt && s->part[i] != SERIES_FIXED;
}

void series_set_apart(struct series *s, const char *name)
{
	if (series_varies(s, name))
		s->part[find_param(s, name)] = SERIES_APART;
}

char *series_name(const struct series *s, const json_t *point, enum series_part part)
{
	char *name = xstrdup("");

	for (size_t i = 0; i < s->param_cnt; i++) {
		if (s->part[i] == part && json_object_get(point, s->param[i]))
			name = text_joined(name, ", ", param_describe(point, s->param[i]));
	}
	return name;
}

char *series_title(const struct series *s, const char *name, const char *between)
{
	return text_joined(xstrdup(name), between, series_name(s, s->point[0], SERIES_FIXED));
}

/* The first values of a parameter, in the form of --where. Caller frees. */
static char *values_of(const struct series *s, const char *name)
{
	const json_t *seen[NAMES_MAX];
	size_t cnt = 0, k;
	char *list = NULL;

	for (size_t i = 0; i < s->cnt && cnt < NAMES_MAX; i++) {
		const json_t *value = json_object_get(s->point[i], name);
		const char *text = json_string_value(value);

		for (k = 0; k < cnt && !json_equal(seen[k], value); k++)
			;
		if (!value || k < cnt)
			continue;
		seen[cnt++] = value;
		list = text_joined(list, " ",
				   text ? xstrdup(text) :
					  xasprintf("%.9g", json_number_value(value)));
	}
	return text_joined(list, " ", xstrdup(cnt == NAMES_MAX ? "…" : ""));
}

int series_refuse(const struct series *s, const char *benchmark, size_t cnt, const char *what)
{
	char *values;

	log_error("%s: %zu %s are too many for one picture; choose with --where:", benchmark, cnt,
		  what);
	for (size_t i = 0; i < s->param_cnt; i++) {
		if (s->part[i] == SERIES_FIXED)
			continue;
		values = values_of(s, s->param[i]);
		log_error("  --where %s=…   there are: %s", s->param[i], values);
		free(values);
	}
	return -EINVAL;
}
