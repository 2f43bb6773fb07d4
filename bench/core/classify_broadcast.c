/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The sentence of broadcasts and other collectives: figures by method; the rule is in classify.h. */
#include "core/classify_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"

static bool text_varies(const struct result *r, const char *param)
{
	size_t i;

	for (i = 1; i < result_point_cnt(r); i++) {
		if (strcmp(classify_text(r, i, param), classify_text(r, 0, param)))
			return true;
	}
	return false;
}

/* What tells the point from the others of its method: the algorithm, the operation, or both. */
static char *broadcast_label(const struct result *r, size_t idx)
{
	const char *algorithm = classify_text(r, idx, "algorithm");
	const char *op = classify_text(r, idx, "op");

	if (!text_varies(r, "op"))
		return xstrdup(algorithm);
	if (!text_varies(r, "algorithm"))
		return xstrdup(op);
	return xasprintf("%s %s", algorithm, op);
}

/* Which task OL_i was the largest to, and what speaks against the figure; null: nothing. */
static char *broadcast_notes(const struct result_point *p)
{
	double task = result_number(p, "max_task"), steady = result_number(p, "steady");
	char *text = isnan(task) ? NULL : xasprintf("task %.0f", task);

	if (result_number(p, "above_gaps") == 0)
		text = classify_joined(text, xstrdup("E not above the gap"), ", ");
	if (steady == 0)
		text = classify_joined(text, xstrdup("not steady"), ", ");
	return text;
}

static char *broadcast_figure(const struct result *r, size_t idx)
{
	const struct result_point *p = result_point_at(r, idx);
	double latency = result_number(p, "latency");
	bool at_most = result_number(p, "above_gaps") == 0;
	char *label, *text, *notes;

	if (isnan(latency))
		return NULL;
	label = broadcast_label(r, idx);
	text = xasprintf("%s %s%.*f us", label, at_most ? "at most " : "", latency < 1e4 ? 2 : 1,
			 latency / 1e3);
	notes = broadcast_notes(p);
	if (notes)
		text = classify_joined(text, xasprintf("(%s)", notes), " ");
	free(notes);
	free(label);
	return text;
}

/* The figures of the method that point `first` is of. */
static char *broadcast_method(const struct result *r, size_t first, double tasks, double bytes)
{
	const char *method = classify_text(r, first, "method");
	char *text = NULL, *more;
	size_t i;

	for (i = first; i < result_point_cnt(r); i++) {
		if (strcmp(classify_text(r, i, "method"), method) ||
		    !classify_is(r, i, "tasks", tasks) || !classify_is(r, i, "bytes", bytes))
			continue;
		more = broadcast_figure(r, i);
		if (more)
			text = classify_joined(text, more, ", ");
	}
	return text;
}

static bool method_is_new(const struct result *r, size_t idx)
{
	size_t i;

	for (i = 0; i < idx; i++) {
		if (!strcmp(classify_text(r, i, "method"), classify_text(r, idx, "method")))
			return false;
	}
	return true;
}

char *classify_broadcast(const struct result *r)
{
	double tasks = classify_last(r, "tasks"), bytes = classify_first(r, "bytes");
	char size[HUMAN_BYTES], *text = NULL, *more, *named;
	bool several = text_varies(r, "method");
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++) {
		more = method_is_new(r, i) ? broadcast_method(r, i, tasks, bytes) : NULL;
		if (!more)
			continue;
		named = several ? xasprintf("%s: %s", classify_text(r, i, "method"), more) :
				  xstrdup(more);
		free(more);
		text = classify_joined(text, named, "; ");
	}
	if (!text)
		return NULL;
	more = xasprintf("%.0f tasks, %s: %s", tasks,
			 human_bytes(size, sizeof(size), (uint64_t)bytes), text);
	free(text);
	return more;
}
