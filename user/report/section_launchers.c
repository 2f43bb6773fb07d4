/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Detects wrong launchers: MPI reports that each process is alone, although a launcher has given
 * each one a different rank of one job. Leftover environment variables give all processes the same
 * rank, so they do not count. Neither do variables that a rank's children inherit.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/json_out.h"
#include "lib/log.h"
#include "report/section.h"
#include "trace/trace_read.h"

/* Processes of one launcher's job that use one library. */
struct group {
	const json_t *started, *library;
	uint32_t cnt;
	bool differ; /* the launcher gave them different ranks */
};

struct groups {
	struct group *v;
	uint32_t cnt;
};

/* Returns the first MPI library of a process; NULL: none. */
static const json_t *library_of(const struct report *r, const json_t *process)
{
	const json_t *libs = json_object_get(process, "libs"), *meta, *names;

	for (size_t i = 0; i < trace_meta_count(r->trace); i++) {
		meta = trace_meta_get(r->trace, i);
		names = json_object_get(meta, "layers");
		if (!json_is_type(meta, "library") || (names && !json_has_text(names, "mpi")))
			continue;
		for (size_t k = 0; k < json_array_size(libs); k++)
			if (json_get_int(json_array_get(libs, k), "id") == json_get_int(meta, "id"))
				return meta;
	}
	return NULL;
}

static struct group *group_find(struct groups *g, const json_t *started, const json_t *library)
{
	for (uint32_t i = 0; i < g->cnt; i++)
		if (g->v[i].library == library &&
		    !strcmp(json_get_text(g->v[i].started, "job"), json_get_text(started, "job")))
			return &g->v[i];
	g->v = xrealloc(g->v, (g->cnt + 1) * sizeof(*g->v));
	g->v[g->cnt] = (struct group){.started = started, .library = library};
	return &g->v[g->cnt++];
}

static struct groups groups_make(const struct report *r)
{
	struct groups g = {NULL, 0};

	for (uint32_t i = 0; i < r->nranks; i++) {
		const struct model_process *p = model_process_get(r->model, i);
		const json_t *started = json_object_get(p->meta, "started"), *library;
		struct group *found;

		library = json_is_object(started) ? library_of(r, p->meta) : NULL;
		if (!library || model_rank_above(r->model, p))
			continue;
		found = group_find(&g, started, library);
		found->differ |= json_get_int(found->started, "rank") !=
				 json_get_int(started, "rank");
		found->cnt++;
	}
	return g;
}

/* Derivatives of MPICH share its flavour. Their paths contain the vendor's name. */
static const char *library_name(const json_t *library)
{
	const char *flavour = json_get_text(library, "flavour"),
		   *path = json_get_text(library, "path");

	if (!strcmp(flavour, "openmpi"))
		return "Open MPI";
	if (strcmp(flavour, "mpich") != 0)
		return "an MPI";
	return strcasestr(path, "mvapich")			       ? "MVAPICH" :
	       strcasestr(path, "intel") || strcasestr(path, "oneapi") ? "Intel MPI" :
									 "MPICH";
}

static const char *launcher_name(const json_t *started)
{
	static const char *const names[][2] = {{"openmpi", "Open MPI's mpirun"},
					       {"hydra", "MPICH's mpirun"},
					       {"mvapich2", "MVAPICH's mpirun"},
					       {"slurm", "Slurm's srun"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(json_get_text(started, "launcher"), names[i][0]))
			return names[i][1];
	return "a launcher";
}

/* Caller frees. */
static char *group_text(const struct group *g)
{
	const char *version = json_get_text(g->library, "version"),
		   *use = json_get_text(g->started, "use");
	char *version_clean = text_printable(version, 40), *use_clean = text_printable(use, 40);
	char *text;

	text = xasprintf(
		"%u processes are jobs of one rank each: they use %s%s%s, but %s started them%s%s%s",
		g->cnt, library_name(g->library), *version_clean ? " " : "", version_clean,
		launcher_name(g->started), *use_clean ? " (use " : "", use_clean,
		*use_clean ? ")" : "");
	free(version_clean);
	free(use_clean);
	return text;
}

void text_launchers(const struct report *r, FILE *out)
{
	struct groups g = groups_make(r);

	for (uint32_t i = 0; i < g.cnt; i++) {
		char *text = g.v[i].differ ? group_text(&g.v[i]) : NULL;

		if (text)
			text_note(out, "%s.", text);
		free(text);
	}
	free(g.v);
}

void json_launchers(struct json_out *j, const struct report *r)
{
	struct groups g = groups_make(r);

	json_out_key_array(j, "wrong_launchers");
	for (uint32_t i = 0; i < g.cnt; i++) {
		char *text = g.v[i].differ ? group_text(&g.v[i]) : NULL;

		if (text) {
			json_out_object_begin(j);
			json_out_key_string(j, "text", text);
			json_out_key_uint(j, "processes", g.v[i].cnt);
			json_out_key_string(j, "launcher",
					    json_get_text(g.v[i].started, "launcher"));
			json_out_key_string(j, "flavour", json_get_text(g.v[i].library, "flavour"));
			json_out_object_end(j);
		}
		free(text);
	}
	json_out_array_end(j);
	free(g.v);
}
