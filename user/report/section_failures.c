/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows what went wrong: ranks that failed or did not finish (analysis/rank_ends.h), MPI calls that
 * failed, and ranks that a wrong launcher started. Under a wrong launcher, each process is alone in
 * MPI_COMM_WORLD, although the launcher's environment variables give each one a different rank of
 * one job. Variables left over from another job do not count, because all processes have the same
 * rank in them. Neither do variables that a rank's children inherit.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/json_out.h"
#include "lib/log.h"
#include "lib/table.h"
#include "analysis/find.h"
#include "report/section.h"
#include "trace/trace_join.h"
#include "trace/trace_read.h"

/* ---- ranks that failed or did not finish ---- */

#define ENDS_SHOWN 4 /* most lines on the first screen */

static bool only_ranks(const struct rank_ends *e)
{
	return !table_any(e->n, i, !e->end[i].process->is_rank);
}

void text_ends(const struct report *r, FILE *out)
{
	const struct rank_ends *e = &r->ends;
	uint32_t shown = 0, hidden = 0;
	char *text;

	if (!e->n)
		return;
	text_section(out, "%s that failed or did not finish, earliest first",
		     only_ranks(e) ? "Ranks" : "Processes");
	for (uint32_t i = 0; i < e->n; i++) {
		text = rank_ends_text(e, i);
		if (!text)
			continue;
		if (r->opt->top && !r->opt->details && shown == ENDS_SHOWN) {
			hidden++;
		} else {
			text_note(out, "! %s.", text);
			shown++;
		}
		free(text);
	}
	if (hidden)
		text_note(out, "%u more; --top 0 shows all.", hidden);
}

static void call_json(struct json_out *j, const struct report *r, const struct rank_end *end)
{
	const struct last_call *c = &end->call;
	char *site;

	json_out_key(j, "call");
	if (!c->func) {
		json_out_null(j);
		return;
	}
	site = c->site.address ? sites_text(r->sites, &c->site) : NULL;
	json_out_object_begin(j);
	json_out_key_string(j, "function", c->func->name);
	json_out_key_string(j, "site", site);
	json_out_key_bool(j, "returned", !end->in_call);
	json_out_key_bool(j, "polls", c->polls);
	json_out_key_uint(j, "begin_ns", json_since_start(r, c->begin_ns));
	json_out_known_uint(j, "end_ns", !end->in_call, json_since_start(r, c->end_ns));
	json_out_object_end(j);
	free(site);
}

static void signal_json(struct json_out *j, const struct report *r, const struct model_process *p)
{
	static const char *const from[] = {[POV_SIGNAL_FROM_OTHER] = "other",
					   [POV_SIGNAL_FROM_PROCESS] = "process",
					   [POV_SIGNAL_FROM_KERNEL] = "kernel",
					   [POV_SIGNAL_FROM_FAULT] = "fault"};
	const struct model_signal *s = p->killed_by;
	bool has_address;
	char *place;

	json_out_key(j, "signal");
	if (!s) {
		json_out_null(j);
		return;
	}
	has_address = s->from == POV_SIGNAL_FROM_FAULT && s->code != SI_KERNEL &&
		      (s->signo == SIGSEGV || s->signo == SIGBUS);
	place = s->at.address ? rank_end_place(&r->ends, &s->at) : NULL;
	json_out_object_begin(j);
	json_out_key_int(j, "number", s->signo);
	json_out_key_int(j, "code", s->code);
	json_out_key_uint(j, "sent_ns", json_since_start(r, s->ts_ns));
	json_out_key_string(j, "from", s->from <= POV_SIGNAL_FROM_FAULT ? from[s->from] : NULL);
	json_out_known_uint(j, "sender_pid", s->sender_pid, s->sender_pid);
	json_out_key_string(j, "sender", s->sender_pid ? s->sender_name : NULL);
	json_out_key_string(j, "place", place);
	json_out_known_uint(j, "address", has_address, s->address);
	json_out_object_end(j);
	free(place);
}

static void end_json(struct json_out *j, const struct report *r, const struct rank_end *end)
{
	const struct model_process *p = end->process;
	char *text = rank_end_text(&r->ends, end);

	json_out_object_begin(j);
	json_out_key_string(j, "kind", rank_end_kinds[end->kind]);
	json_out_known_uint(j, "rank", p->rank >= 0, p->rank >= 0 ? (uint64_t)p->rank : 0);
	json_out_key_int(j, "job", p->job_idx);
	json_out_key_uint(j, "pid", p->host_pid);
	json_out_known_uint(j, "tid", end->thread,
			    end->thread ? trace_host_id(end->thread->tid) : 0);
	json_out_key_uint(j, "at_ns", json_since_start(r, end->at_ns));
	json_out_known_int(j, "exit_status", p->ended_ns, p->exit_code);
	json_out_key_bool(j, "by_launcher", end->by_launcher);
	json_out_key_bool(j, "out_of_memory", p->out_of_memory);
	signal_json(j, r, p);
	call_json(j, r, end);
	json_out_key_string(j, "text", text);
	json_out_object_end(j);
	free(text);
}

void json_ends(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "ends");
	for (uint32_t i = 0; i < r->ends.n; i++)
		end_json(j, r, &r->ends.end[i]);
	json_out_array_end(j);
}

/* ---- calls that failed ---- */

#define FAILED_SHOWN 8
#define RANKS_NAMED 4

/* Returns the number of rows like row i, from i on. *cnt, *first_ns: only calls of ranks shown. */
static uint32_t alike(const struct report *r, uint32_t i, uint64_t *cnt, uint64_t *first_ns)
{
	const struct failed *a = &r->failed;
	uint32_t n = 0;

	*cnt = 0;
	*first_ns = UINT64_MAX;
	for (; i + n < a->nrow && failed_alike(&a->row[i], &a->row[i + n]); n++) {
		const struct failed_row *row = &a->row[i + n];

		if (!r->chosen[row->process->idx])
			continue;
		*cnt += row->cnt;
		*first_ns = row->first_ns < *first_ns ? row->first_ns : *first_ns;
	}
	return n;
}

/* ": rank 0 22, rank 1 22 and 3 more" */
static char *ranks_text(const struct report *r, uint32_t i, uint32_t n)
{
	char *text = xstrdup("");
	uint32_t named = 0, more = 0;

	for (uint32_t k = i; k < i + n; k++) {
		const struct failed_row *row = &r->failed.row[k];

		if (!r->chosen[row->process->idx])
			continue;
		if (named++ < RANKS_NAMED)
			text = words(text, "%srank %s %s", named == 1 ? ": " : ", ",
				     RANK_LABEL(r, row->process), COUNT_TEXT(row->cnt));
		else
			more++;
	}
	if (more)
		text = words(text, " and %u more", more);
	return text;
}

static void alike_print(const struct report *r, uint32_t i, uint32_t n, uint64_t cnt,
			uint64_t first_ns, FILE *out)
{
	const struct failed_row *row = &r->failed.row[i];
	char *site = sites_text(r->sites, &row->site), *ranks = ranks_text(r, i, n);
	char code[32];

	snprintf(code, sizeof(code), "error %d", row->code);
	text_note(out, "! %s of %s%s%s returned %s%s; the first at %.3f s",
		  PLURAL_TEXT(cnt, "call", "calls"), row->func->name,
		  row->site.module ? " in " : "", row->site.module ? site : "",
		  row->error ? row->error : code, ranks,
		  (double)json_since_start(r, first_ns) / 1e9);
	free(ranks);
	free(site);
}

void text_failed(const struct report *r, FILE *out)
{
	uint64_t cnt, first_ns, all = 0, shown_cnt = 0;
	uint32_t shown = 0, n;

	for (uint32_t i = 0; i < r->failed.nrow; i += n) {
		n = alike(r, i, &cnt, &first_ns);
		if (!cnt)
			continue;
		if (!all)
			text_section(out, "MPI calls that failed");
		all += cnt;
		if (r->opt->top && shown == FAILED_SHOWN)
			continue;
		alike_print(r, i, n, cnt, first_ns, out);
		shown_cnt += cnt;
		shown++;
	}
	if (all > shown_cnt)
		text_note(out, "%s more: --top 0 shows all.",
			  PLURAL_TEXT(all - shown_cnt, "call", "calls"));
	if (r->failed.left_out)
		text_note(out, "%s that failed, too, are not listed.",
			  PLURAL_TEXT(r->failed.left_out, "further call", "further calls"));
}

void json_failed(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "failed_calls");
	for (uint32_t i = 0; i < r->failed.nrow; i++) {
		const struct failed_row *row = &r->failed.row[i];
		const struct model_process *p = row->process;
		char *site;

		if (!r->chosen[p->idx])
			continue;
		site = sites_text(r->sites, &row->site);
		json_out_object_begin(j);
		json_out_key_string(j, "function", row->func->name);
		json_out_key_string(j, "error", row->error);
		json_out_key_int(j, "code", row->code);
		json_out_key_string(j, "called_from", site);
		json_out_key_uint(j, "pid", p->host_pid);
		json_rank(j, p);
		json_out_key_uint(j, "calls", row->cnt);
		json_out_key_uint(j, "first_ns", json_since_start(r, row->first_ns));
		json_out_object_end(j);
		free(site);
	}
	json_out_array_end(j);
}

/* ---- wrong launchers ---- */

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
	struct group *found;

	for (uint32_t i = 0; i < g->cnt; i++)
		if (g->v[i].library == library &&
		    !strcmp(json_get_text(g->v[i].started, "job"), json_get_text(started, "job")))
			return &g->v[i];
	found = table_append(g->v, g->cnt);
	*found = (struct group){.started = started, .library = library};
	return found;
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

	text = xasprintf("%u processes are jobs of one rank each: they use %s%s%s, but %s started "
			 "them%s%s%s",
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
