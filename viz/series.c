/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A parameter varies if two points differ in its words, also if one of them does not have it. Sizes and times are
 * recognised by their names, which end in the unit.
 */
#include "series.h"

#include "axis.h"

#include "lib/human.h"
#include "lib/log.h"
#include "lib/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 5 /* values in a hint */

void series_init(struct series *s, const char *const *axes)
{
	*s = (struct series){.axes = axes};
}

void series_release(struct series *s)
{
	size_t i;

	for (i = 0; i < s->param_cnt; i++)
		free(s->param[i]);
	free(s->param);
	free(s->part);
	free(s->point);
	*s = (struct series){0};
}

void series_add(struct series *s, const json_t *point)
{
	s->point = xrealloc(s->point, (s->cnt + 1) * sizeof(*s->point));
	s->point[s->cnt++] = point;
}

static bool is_axis(const struct series *s, const char *name)
{
	size_t i;

	for (i = 0; s->axes[i]; i++) {
		if (!strcmp(s->axes[i], name))
			return true;
	}
	return false;
}

/* Its index; param_cnt if it is not there. */
static size_t find_param(const struct series *s, const char *name)
{
	size_t i = 0;

	while (i < s->param_cnt && strcmp(s->param[i], name))
		i++;
	return i;
}

/* "64 KiB", "V = 2", "binomial": with the name where the value alone says too little. */
static char *describe(const json_t *point, const char *name)
{
	const char *text = data_param_text(point, name);
	double number = data_param(point, name);
	bool whole = number >= 0 && number < 0x1p63;
	char buf[HUMAN_BYTES], *words, *c;

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
	for (c = words; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return words;
}

/* What reads alike is alike: calibrated times differ in digits that nobody is told. */
static bool does_vary(const struct series *s, const char *name)
{
	bool varies = false, there = json_object_get(s->point[0], name);
	char *first = there ? describe(s->point[0], name) : NULL, *other;
	size_t i;

	for (i = 1; i < s->cnt && !varies; i++) {
		varies = there != !!json_object_get(s->point[i], name);
		if (!there || varies)
			continue;
		other = describe(s->point[i], name);
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
	size_t i;

	for (i = 0; i < s->cnt; i++) {
		/* Iterating wants an object that may be changed, and changes nothing. */
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
	char *name = xstrdup(""), *more, *value;
	size_t i;

	for (i = 0; i < s->param_cnt; i++) {
		if (s->part[i] != part || !json_object_get(point, s->param[i]))
			continue;
		value = describe(point, s->param[i]);
		more = xasprintf("%s%s%s", name, *name ? ", " : "", value);
		free(value);
		free(name);
		name = more;
	}
	return name;
}

char *series_title(const struct series *s, const char *name, const char *between)
{
	char *fixed = series_name(s, s->point[0], SERIES_FIXED);
	char *title = xasprintf("%s%s%s", name, *fixed ? between : "", fixed);

	free(fixed);
	return title;
}

/* The first values of a parameter, as --where takes them. Caller frees. */
static char *values_of(const struct series *s, const char *name)
{
	const json_t *seen[NAMES_MAX];
	size_t cnt = 0, i, k;
	char *list = xstrdup(""), *more;

	for (i = 0; i < s->cnt && cnt < NAMES_MAX; i++) {
		const json_t *value = json_object_get(s->point[i], name);
		const char *text = json_string_value(value);

		for (k = 0; k < cnt && !json_equal(seen[k], value); k++)
			;
		if (!value || k < cnt)
			continue;
		seen[cnt++] = value;
		more = text ? xasprintf("%s %s", list, text) :
			      xasprintf("%s %.9g", list, json_number_value(value));
		free(list);
		list = more;
	}
	more = xasprintf("%s%s", list, cnt == NAMES_MAX ? " …" : "");
	free(list);
	return more;
}

int series_refuse(const struct series *s, const char *benchmark, size_t cnt, const char *what)
{
	char *values;
	size_t i;

	log_error("%s: %zu %s are too many for one picture; choose with --where:", benchmark, cnt,
		  what);
	for (i = 0; i < s->param_cnt; i++) {
		if (s->part[i] == SERIES_FIXED)
			continue;
		values = values_of(s, s->param[i]);
		log_error("  --where %s=…   there are:%s", s->param[i], values);
		free(values);
	}
	return -EINVAL;
}
