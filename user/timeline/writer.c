/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds the writer for a path or a format name. */
#include "timeline/writer.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/text.h"
#include "model/model.h"

const struct writer *writer_find(const char *path_or_name, bool *gzip)
{
	size_t len = strlen(path_or_name);
	bool zip = text_ends_in(path_or_name, len, ".gz");

	if (zip)
		len -= 3;
	for (uint32_t i = 0; writers[i]; i++) {
		const struct writer *w = writers[i];
		bool hit = strlen(w->name) == len && !memcmp(path_or_name, w->name, len);

		for (uint32_t j = 0; !hit && w->endings[j]; j++)
			hit = text_ends_in(path_or_name, len, w->endings[j]);
		if (hit) {
			*gzip = zip;
			return w;
		}
	}
	return NULL;
}

/* ---- selecting ---- */

/*
 * An empty selection is a spelling mistake, which is reported before anything is written. Selecting
 * something that the recording knows but did not call is no mistake.
 */

uint32_t select_ranks(const struct model *m, const struct writer_select *sel, uint32_t *nranks)
{
	uint32_t chosen = 0;

	*nranks = 0;
	for (uint32_t i = 0; i < model_process_count(m); i++) {
		const struct model_process *p = model_process_get(m, i);

		if (!p->is_rank)
			continue;
		(*nranks)++;
		chosen += rank_list_has(&sel->ranks, p->job_idx, p->rank);
	}
	return chosen;
}

bool select_process(const struct writer_select *sel, const struct model_process *p)
{
	if (!sel || !sel->ranks.n)
		return true;
	return p && p->is_rank && rank_list_has(&sel->ranks, p->job_idx, p->rank);
}

bool *select_processes(const struct model *m, const struct writer_select *sel)
{
	uint32_t n = model_process_count(m);
	bool *chosen = xcalloc(n + 1, sizeof(*chosen));

	for (uint32_t i = 0; i < n; i++)
		chosen[i] = select_process(sel, model_process_get(m, i));
	return chosen;
}

static bool pattern_matches(const struct model *m, const char *pattern)
{
	for (uint32_t i = 0; i < model_func_count(m); i++) {
		if (!fnmatch(pattern, model_func_get(m, i)->name, 0))
			return true;
	}
	return false;
}

static int times_check(const struct model *m, const char *path, const struct writer_select *sel)
{
	const struct model_info *info = model_get_info(m);
	uint64_t ns = info->end_ns - info->start_ns;

	if (sel->from_ns <= ns)
		return 0;
	log_error("export: --from %g is past the end of %s (%s)", (double)sel->from_ns / 1e9, path,
		  ROUND_NS_TEXT(ns));
	return -ENOENT;
}

int select_check(const struct model *m, const char *path, const struct writer_select *sel)
{
	uint32_t nranks;

	if (sel->ranks.n && !select_ranks(m, sel, &nranks)) {
		log_error("export: none of the ranks asked for is in %s; it has %u: \"povtrace "
			  "info\" lists them",
			  path, nranks);
		return -ENOENT;
	}
	for (uint32_t i = 0; i < sel->nfunctions && model_func_count(m); i++) {
		if (pattern_matches(m, sel->functions[i]))
			continue;
		log_error("export: --function \"%s\" matches no function that %s knows; capitals "
			  "matter: try 'MPI_*[Ss]end'",
			  sel->functions[i], path);
		return -ENOENT;
	}
	return times_check(m, path, sel);
}
