/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The tables of all layers, one after the other, and the meaning of the options that choose from
 * them.
 */
#include "layers/func_table.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/option.h"
#include "lib/text.h"
#include "layers/signature.h"

size_t func_table_count(void)
{
	size_t n = 0;

	for (size_t l = 0; layers[l]; l++)
		n += layers[l]->row_cnt;
	return n;
}

/* Layer of a row; *at: the row's index in that layer. */
static const struct layer *row_layer(size_t i, size_t *at)
{
	size_t l = 0;

	for (; i >= layers[l]->row_cnt; l++)
		i -= layers[l]->row_cnt;
	*at = i;
	return layers[l];
}

const struct func_row *func_table_get(size_t i)
{
	const struct layer *layer = row_layer(i, &i);

	return &layer->rows[i];
}

const struct layer *func_table_layer(size_t i)
{
	return row_layer(i, &i);
}

int func_table_find(const char *name)
{
	for (size_t i = 0; i < func_table_count(); i++)
		if (!strcmp(func_table_get(i)->name, name))
			return i;
	return -1;
}

char *func_table_signature(size_t i)
{
	static const char poly[] = ":poly", wide[] = ":wide";
	const struct func_row *row = func_table_get(i);
	char *text = xstrdup(row->sig), *at = text;

	while ((at = strstr(at, poly)))
		if (row->large)
			memcpy(at, wide, strlen(wide));
		else
			memmove(at, at + strlen(poly), strlen(at + strlen(poly)) + 1);
	return text;
}

void func_table_recipe(size_t i, struct pov_fn *out)
{
	const struct layer *layer = func_table_layer(i);
	const struct func_row *row = func_table_get(i);
	char *text = func_table_signature(i);
	struct func_attrs attrs;
	struct signature sig;
	const char *why;

	if (signature_parse(text, layer->roles, &sig, &why) ||
	    func_attrs_parse(row->attrs, layer->words, &attrs) ||
	    layer_recipe(layer, &sig, &attrs, out))
		die("function table: %s: \"%s\"", row->name, text);
	free(text);
}

bool func_table_may_throttle(size_t i)
{
	struct func_attrs a;

	func_attrs_parse(func_table_get(i)->attrs, func_table_layer(i)->words, &a);
	return !(a.flags & (FUNC_WAIT | FUNC_INIT | FUNC_FINAL)) && !POV_LEARN_RECORDED(a.learn) &&
	       a.learn != POV_LEARN_TYPE_FREE;
}

bool func_table_is_brief(size_t i)
{
	struct func_attrs a;

	func_attrs_parse(func_table_get(i)->attrs, func_table_layer(i)->words, &a);
	return a.flags & FUNC_BRIEF;
}

static bool row_is_local(size_t i)
{
	struct func_attrs a;

	func_attrs_parse(func_table_get(i)->attrs, func_table_layer(i)->words, &a);
	return a.flags & FUNC_LOCAL;
}

/*
 * True for handle conversion, which belongs to no wider group. Open MPI's Fortran bindings make
 * such calls for every handle, and they would look like the program's own.
 */
static bool row_is_apart(size_t i)
{
	return !strcmp(func_table_get(i)->group, "conv");
}

static bool is_default(const char *group, size_t len)
{
	return len == 7 && !strncmp(group, "default", len);
}

/* True if row i belongs to a group; only the top layer, which defines a rank's time, has groups. */
static bool in_group(size_t i, const char *group, size_t len, bool add)
{
	const char *own = func_table_get(i)->group;

	if (!func_table_layer(i)->is_top)
		return false;
	if (len == 3 && !strncmp(group, "all", len))
		return !add || !row_is_apart(i);
	if (len == 5 && !strncmp(group, "local", len))
		return row_is_local(i) && (!add || !row_is_apart(i));
	if (is_default(group, len))
		return !row_is_local(i);
	return strlen(own) == len && !strncmp(own, group, len);
}

void func_table_groups_print(FILE *out)
{
	for (size_t i = 0; i < func_table_count(); i++) {
		const char *group = func_table_get(i)->group;

		if (func_table_layer(i)->is_top &&
		    (!i || func_table_layer(i - 1) != func_table_layer(i) ||
		     strcmp(group, func_table_get(i - 1)->group)))
			fprintf(out, "%s, ", group);
	}
	fputs("default, local, all", out);
}

void func_table_layers_print(FILE *out)
{
	for (size_t l = 0; layers[l]; l++)
		if (!layers[l]->is_top)
			fprintf(out, "%s, ", layers[l]->name);
	fputs("posts, all", out);
}

static int none_such(const char *what, const char *name, size_t len, void (*print)(FILE *out))
{
	char known[256] = "";
	FILE *f = fmemopen(known, sizeof(known), "w");

	if (f) {
		print(f);
		fclose(f);
	}
	log_error("%s '%.*s'; there are: %s", what, (int)len, name, known);
	return -EINVAL;
}

/* How a function was chosen. */
enum chosen { CHOSEN_NOT = 0, CHOSEN_AS_DEFAULT = 1, CHOSEN_BY_NAME = 2 };

static int group_apply(const char *group, size_t len, bool add, enum chosen *chosen)
{
	size_t hits = 0;

	for (size_t i = 0; i < func_table_count(); i++) {
		if (!in_group(i, group, len, add))
			continue;
		if (!add)
			chosen[i] = CHOSEN_NOT;
		else if (!is_default(group, len))
			chosen[i] = CHOSEN_BY_NAME;
		else if (!chosen[i])
			chosen[i] = CHOSEN_AS_DEFAULT;
		hits++;
	}
	return hits ? 0 : none_such("--mpi: no group", group, len, func_table_groups_print);
}

static int groups_select(const char *groups, enum chosen *chosen)
{
	const char *p = groups + strspn(groups, ", ");
	int err = *p == '-' ? group_apply("default", 7, true, chosen) : 0;

	while (!err && *(p += strspn(p, ", "))) {
		bool add = *p != '-';
		size_t len = strcspn(p += !add, ", ");

		err = group_apply(p, len, add, chosen);
		p += len;
	}
	return err;
}

static bool glob_matches(const char *glob, const char *name)
{
	const char *bare = strncmp(name, "MPI_", 4) ? name : name + 4;

	return !fnmatch(glob, name, FNM_CASEFOLD) || !fnmatch(glob, bare, FNM_CASEFOLD);
}

/* Reports that no function matches; suggests a similar name if there is one. */
static int no_function(const char *option, const char *glob)
{
	const char *near = NULL;

	for (size_t i = 0; i < func_table_count() && !strpbrk(glob, "*?["); i++)
		near = suggest_better(glob, near, func_table_get(i)->name);
	if (near)
		log_error("%s: no function is called '%s'; did you mean %s?", option, glob, near);
	else
		log_error("%s: no function is called '%s'; patterns are like "
			  "'MPI_I*' or '*_c'",
			  option, glob);
	return -EINVAL;
}

int func_table_match(const char *option, const char *glob, bool *selected)
{
	size_t hits = 0;

	for (size_t i = 0; i < func_table_count(); i++) {
		if (!glob_matches(glob, func_table_get(i)->name))
			continue;
		selected[i] = true;
		hits++;
	}
	return hits ? 0 : no_function(option, glob);
}

static int globs_apply(const char *option, const struct option_list *globs, enum chosen as,
		       enum chosen *chosen)
{
	bool *hit = xcalloc(func_table_count(), sizeof(*hit));
	int err = 0;

	for (size_t g = 0; globs && g < globs->cnt && !err; g++)
		err = func_table_match(option, globs->item[g], hit);
	for (size_t i = 0; i < func_table_count(); i++)
		chosen[i] = hit[i] ? as : chosen[i];
	free(hit);
	return err;
}

static bool layer_named(const struct layer *layer, const char *name, size_t len)
{
	if (len == 3 && !strncmp(name, "all", len))
		return true;
	if (len == 5 && !strncmp(name, "posts", len))
		return layer->nearness >= NEARNESS_COUNTS;
	return strlen(layer->name) == len && !strncmp(layer->name, name, len);
}

static int layer_select(const char *name, size_t len, enum chosen *chosen)
{
	bool known = false;

	for (size_t l = 0; layers[l]; l++)
		known |= layer_named(layers[l], name, len);
	for (size_t i = 0; i < func_table_count(); i++) {
		const struct layer *layer = func_table_layer(i);

		if (!layer_named(layer, name, len))
			continue;
		if (!layer->is_top && !row_is_local(i)) /* the top layer's are chosen by groups */
			chosen[i] = CHOSEN_BY_NAME;
	}
	return known ? 0 : none_such("--layers: no layer", name, len, func_table_layers_print);
}

static int layers_select(const char *list, enum chosen *chosen)
{
	int err = 0;

	while (!err && list && *(list += strspn(list, ", "))) {
		size_t len = strcspn(list, ", ");

		err = layer_select(list, len, chosen);
		list += len;
	}
	return err;
}

int func_table_select(const struct func_choice *choice, bool *selected, bool *named)
{
	size_t all = func_table_count(), cnt = 0;
	enum chosen *chosen = xcalloc(all, sizeof(*chosen));
	int err = 0;

	if (choice->groups)
		err = groups_select(choice->groups, chosen);
	else if (!choice->functions || !choice->functions->cnt)
		err = groups_select("default", chosen);
	if (!err)
		err = layers_select(choice->layers, chosen);
	if (!err)
		err = globs_apply("--functions", choice->functions, CHOSEN_BY_NAME, chosen);
	if (!err)
		err = globs_apply("--no-functions", choice->no_functions, CHOSEN_NOT, chosen);
	for (size_t i = 0; i < all; i++)
		cnt += chosen[i] != CHOSEN_NOT;
	if (!err && !cnt) {
		log_error("no function is left to record; see --mpi, --layers, --functions, "
			  "--no-functions");
		err = -EINVAL;
	}
	for (size_t i = 0; i < all && !err; i++) {
		selected[i] = chosen[i] != CHOSEN_NOT;
		if (named)
			named[i] = chosen[i] == CHOSEN_BY_NAME;
	}
	free(chosen);
	return err;
}

json_t *func_table_to_json(const struct layer *layer)
{
	json_t *list = json_array(), *row;
	char *text;

	for (size_t i = 0; i < func_table_count(); i++) {
		const struct func_row *r = func_table_get(i);

		if (func_table_layer(i) != layer)
			continue;
		text = func_table_signature(i);
		row = json_pack("{s:i, s:s, s:s, s:s, s:s}", "id", (int)i, "name", r->name, "group",
				r->group, "attrs", r->attrs, "sig", text);
		free(text);
		if (!row || json_array_append_new(list, row))
			die("out of memory");
	}
	return json_pack("{s:s, s:s, s:o}", "type", "functions", "layer", layer->name, "rows",
			 list);
}
