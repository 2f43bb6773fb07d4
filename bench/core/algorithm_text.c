/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Lists of algorithms, and a parser for MPICH's description of them, which is one line:
 *
 *	Variable to select barrier algorithmauto - Internal … TUNING_JSON_FILE)nb   - Force …
 *
 * The next entries follow in the same way ("… algorithmsmp   - Force …"). The first name after
 * "auto" starts after a closing bracket. All later names are padded to the width of that one.
 */
#include "core/algorithm.h"

#include "lib/log.h"
#include "lib/table.h"

#include <stdlib.h>
#include <string.h>

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_"
#define DASH " - "

void algorithm_add(struct algorithm_list *l, const char *value, const char *name)
{
	*table_append(l->item, l->cnt) = (struct algorithm){xstrdup(value), xstrdup(name)};
}

void algorithm_list_release(struct algorithm_list *l)
{
	for (size_t i = 0; i < l->cnt; i++) {
		free(l->item[i].value);
		free(l->item[i].name);
	}
	free(l->item);
	*l = (struct algorithm_list){0};
}

const struct algorithm *algorithm_find(const struct algorithm_list *l, const char *value)
{
	return table_where(l->item, l->cnt, i, !strcmp(l->item[i].value, value));
}

/* Returns the position of the first dash, and the number of blanks before it. */
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
