/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The function table as data, and the --mpi, --functions and --no-functions options' meaning.
 * What a row says is read by mpi_sig.c.
 */
#include "layer/func_table.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/option.h"
#include "layer/mpi_sig.h"

static const struct func_row rows[] = {
#define POV_MPI(name, group, attrs, sig) {#name, #group, #attrs, sig},
#include "mpi.def"
};

#define ROWS_CNT (sizeof(rows) / sizeof(rows[0]))
_Static_assert(ROWS_CNT <= POV_FUNCS_MAX, "the kernel half has room for every row");

size_t func_table_count(void)
{
	return ROWS_CNT;
}

const struct func_row *func_table_get(size_t i)
{
	return &rows[i];
}

int func_table_find(const char *name)
{
	for (size_t i = 0; i < ROWS_CNT; i++)
		if (!strcmp(rows[i].name, name))
			return i;
	return -1;
}

static bool row_is_local(size_t i)
{
	struct mpi_attrs a;

	mpi_attrs_parse(rows[i].attrs, &a);
	return a.flags & MPI_ATTR_LOCAL;
}

/*
 * Handle conversion belongs to no wider group: Open MPI's Fortran bindings make such calls for every handle, and
 * they would look like the program's own.
 */
static bool row_is_apart(size_t i)
{
	return !strcmp(rows[i].group, "conv");
}

static bool in_group(size_t i, const char *group, size_t len, bool add)
{
	if (len == 3 && !strncmp(group, "all", len))
		return !add || !row_is_apart(i);
	if (len == 5 && !strncmp(group, "local", len))
		return row_is_local(i) && (!add || !row_is_apart(i));
	if (len == 7 && !strncmp(group, "default", len))
		return !row_is_local(i);
	return strlen(rows[i].group) == len && !strncmp(rows[i].group, group, len);
}

void func_table_groups_print(FILE *out)
{
	for (size_t i = 0; i < ROWS_CNT; i++)
		if (!i || strcmp(rows[i].group, rows[i - 1].group))
			fprintf(out, "%s, ", rows[i].group);
	fputs("default, local, all", out);
}

static int group_apply(const char *group, size_t len, bool add, bool *selected)
{
	char known[256] = "";
	size_t hits = 0;
	FILE *f;

	for (size_t i = 0; i < ROWS_CNT; i++) {
		if (!in_group(i, group, len, add))
			continue;
		selected[i] = add;
		hits++;
	}
	if (hits)
		return 0;
	f = fmemopen(known, sizeof(known), "w");
	if (f) {
		func_table_groups_print(f);
		fclose(f);
	}
	log_error("--mpi: no group '%.*s'; there are: %s", (int)len, group, known);
	return -EINVAL;
}

static int groups_select(const char *groups, bool *selected)
{
	const char *p = groups + strspn(groups, ", ");
	int err;

	if (*p == '-') {
		err = group_apply("default", 7, true, selected);
		if (err)
			return err;
	}
	while (*(p += strspn(p, ", "))) {
		bool add = *p != '-';
		size_t len = strcspn(p += !add, ", ");

		err = group_apply(p, len, add, selected);
		if (err)
			return err;
		p += len;
	}
	return 0;
}

static bool glob_matches(const char *glob, const char *name)
{
	const char *bare = strchr(name, '_') + 1;

	return !fnmatch(glob, name, FNM_CASEFOLD) || !fnmatch(glob, bare, FNM_CASEFOLD);
}

static int globs_apply(const char *option, const struct option_list *globs, bool add,
		       bool *selected)
{
	for (size_t g = 0; globs && g < globs->cnt; g++) {
		size_t hits = 0;

		for (size_t i = 0; i < ROWS_CNT; i++) {
			if (!glob_matches(globs->item[g], rows[i].name))
				continue;
			selected[i] = add;
			hits++;
		}
		if (!hits) {
			log_error("%s: no MPI function is called '%s'; patterns are like "
				  "'MPI_I*' or '*_c'",
				  option, globs->item[g]);
			return -EINVAL;
		}
	}
	return 0;
}

int func_table_select(const char *groups, const struct option_list *functions,
		      const struct option_list *no_functions, bool *selected)
{
	bool chosen[ROWS_CNT] = {false};
	size_t cnt = 0;
	int err = 0;

	if (groups)
		err = groups_select(groups, chosen);
	else if (!functions || !functions->cnt)
		err = groups_select("default", chosen);
	if (!err)
		err = globs_apply("--functions", functions, true, chosen);
	if (!err)
		err = globs_apply("--no-functions", no_functions, false, chosen);
	if (err)
		return err;
	for (size_t i = 0; i < ROWS_CNT; i++)
		cnt += chosen[i];
	if (!cnt) {
		log_error("no MPI function is left to record; see --mpi, --functions, "
			  "--no-functions");
		return -EINVAL;
	}
	memcpy(selected, chosen, sizeof(chosen));
	return 0;
}

json_t *func_table_to_json(void)
{
	json_t *list = json_array(), *row;

	for (size_t i = 0; i < ROWS_CNT; i++) {
		row = json_pack("{s:i, s:s, s:s, s:s, s:s}", "id", (int)i, "name", rows[i].name,
				"group", rows[i].group, "attrs", rows[i].attrs, "sig", rows[i].sig);
		if (!row || json_array_append_new(list, row))
			die("out of memory");
	}
	return json_pack("{s:s, s:s, s:o}", "type", "functions", "layer", "mpi", "rows", list);
}
