/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Lists of algorithms, and reading one from a description. MPICH's looks so, in one line:
 *
 *	Variable to select barrier algorithmauto - Internal … TUNING_JSON_FILE)nb            - Force … algorithmsmp           - Force …
 *
 * The first name behind "auto" begins behind a bracket. With its padding it is as wide as each that follows.
 */
#include "core/algorithm.h"

#include "lib/log.h"

#include <stdlib.h>
#include <string.h>

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"
#define DASH " - "

void algorithm_add(struct algorithm_list *l, const char *value, const char *name)
{
	l->item = xrealloc(l->item, (l->cnt + 1) * sizeof(*l->item));
	l->item[l->cnt++] = (struct algorithm){xstrdup(value), xstrdup(name)};
}

void algorithm_list_release(struct algorithm_list *l)
{
	size_t i;

	for (i = 0; i < l->cnt; i++) {
		free(l->item[i].value);
		free(l->item[i].name);
	}
	free(l->item);
	*l = (struct algorithm_list){0};
}

const struct algorithm *algorithm_find(const struct algorithm_list *l, const char *value)
{
	size_t i;

	for (i = 0; i < l->cnt; i++) {
		if (!strcmp(l->item[i].value, value))
			return &l->item[i];
	}
	return NULL;
}

/* The first dash's place, and how many blanks are before it. */
static const char *dash_find(const char *text, size_t *blanks)
{
	const char *dash = strstr(text, DASH), *at;

	if (!dash)
		return NULL;
	for (at = dash; at > text && at[-1] == ' '; at--)
		;
	*blanks = (size_t)(dash - at);
	return dash;
}

static void name_add(struct algorithm_list *l, const char *name, size_t bytes)
{
	char *text = xasprintf("%.*s", (int)bytes, name);

	if (bytes && strspn(text, NAME_LETTERS) == bytes && !algorithm_find(l, text))
		algorithm_add(l, text, text);
	free(text);
}

void algorithm_read_text(struct algorithm_list *l, const char *text)
{
	const char *at = strstr(text, "auto" DASH), *dash;
	size_t width, blanks, bytes;

	at = at ? strchr(at, ')') : NULL;
	if (!at)
		return;
	at++;
	at += strspn(at, " \n");
	bytes = strspn(at, NAME_LETTERS);
	dash = dash_find(at, &blanks);
	if (!dash || at + bytes + blanks != dash)
		return;
	width = bytes + blanks;
	while (dash) {
		if (blanks < width && (size_t)(dash - text) >= width)
			name_add(l, dash - width, width - blanks);
		dash = dash_find(dash + strlen(DASH), &blanks);
	}
}
