/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds ranks that a CPU time limit throttled. The evidence is the kernel's statistics of the
 * control group, which the recorder has read. Without them, it is behaviour that only such a limit
 * causes (analysis/moves.h).
 */
#include <stdlib.h>

#include "analysis/label.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/text.h"
#include "finding/find.h"
#include "trace/trace_read.h"

#define GROUP_CHARS 60

static char *advice(void)
{
	return xstrdup(
		"a limit of CPU time holds it back: raise cpu.max or cpu.cfs_quota_us of its "
		"cgroup (CPUQuota= of systemd's units, cpu limits of containers)");
}

/* Returns the row with the longer time that a core was idle. */
static const struct moves_process *longer(const struct moves_process *a,
					  const struct moves_process *b)
{
	return !a || b->held_worst_ns > a->held_worst_ns ? b : a;
}

static char *words_idle(const struct findings *f, char *text, const struct moves_process *row)
{
	char cpu[CPU_LABEL_BYTES];

	text = words_ns(text, ", most ", row->held_worst_ns, "");
	text = words_when(f, text, row->held_worst_from_ns);
	return words(text, " on cpu %s", cpu_label(f->model, row->held_worst_cpu, cpu));
}

/* ---- by the kernel's statistics ---- */

struct group {
	const json_t *meta;
	uint32_t n; /* number of its ranks whose losses count */
	const struct model_process *first;
	const struct moves_process *worst;
	uint64_t idle_ns;
	char *names; /* owned */
};

/* A pid may be reused: picks the process that lived while the group was watched. */
static const struct model_process *member_of(const struct findings *f, const json_t *meta,
					     const json_t *pid)
{
	uint64_t from_ns = json_get_u64(meta, "ts_ns"), to_ns = json_get_u64(meta, "to_ns");

	for (uint32_t i = 0; i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);

		if (finding_counts(f, p) && p->pid == json_integer_value(pid) &&
		    p->start_ns <= to_ns && p->end_ns >= from_ns)
			return p;
	}
	return NULL;
}

static void member_add(struct findings *f, struct group *g, const struct model_process *p)
{
	const struct moves_process *row = &f->moves.process[p->idx];

	f->limited[p->idx] = true;
	g->first = g->first ?: p;
	g->worst = longer(g->worst, row);
	g->idle_ns += row->held_back_ns + row->held_back_woken_ns;
	if (g->n++ < NAMED)
		g->names = words_process(f, words(g->names, g->n > 1 ? ", " : ""), p);
}

static char *group_text(const struct findings *f, struct group *g)
{
	char *text = words_more(g->names, g->n), *name, buf[HUMAN_BYTES];

	name = text_printable(json_get_text(g->meta, "cgroup"), GROUP_CHARS);
	text = words(text, " %s held back by a limit of CPU time", g->n > 1 ? "were" : "was");
	text = words_ns(text, " (", json_get_u64(g->meta, "quota_us") * 1000, " in each ");
	text = words_ns(text, "", json_get_u64(g->meta, "period_us") * 1000, ", ");
	text = words_ns(words(text, "cgroup %s)", name), " for ",
			json_get_u64(g->meta, "throttled_ns"), "");
	free(name);
	human_count(buf, sizeof(buf), json_get_u64(g->meta, "throttled"));
	text = words_count(words(text, ", in %s of ", buf), json_get_u64(g->meta, "periods"),
			   "period", "periods");
	text = words(text, ", says the kernel");
	if (!g->idle_ns)
		return text;
	text = words_ns(text, "; a core was idle meanwhile for ", g->idle_ns, "");
	return words_idle(f, text, g->worst);
}

static void group_find(struct findings *f, const json_t *meta)
{
	struct group g = {.meta = meta, .names = xstrdup("")};
	const struct model_process *p;
	const json_t *pid;
	size_t i;

	json_array_foreach(json_object_get(meta, "pids"), i, pid)
	{
		p = member_of(f, meta, pid);
		if (p)
			member_add(f, &g, p);
	}
	if (!g.n) {
		free(g.names);
		return;
	}
	finding_add(f, &(struct finding){
			       .kind = "cpu_quota",
			       .cost_ns = json_get_u64(meta, "throttled_ns"),
			       .text = group_text(f, &g),
			       .advice = advice(),
			       .process = g.n > 1 ? FINDING_NOBODY : g.first->idx,
			       .from_ns = g.worst->held_worst_from_ns,
			       .to_ns = g.worst->held_worst_from_ns + g.worst->held_worst_ns,
		       });
}

/* ---- by behaviour ---- */

static void held_back_find(struct findings *f, const struct model_process *p)
{
	const struct moves_process *row = &f->moves.process[p->idx];
	uint64_t ns = row->held_back_ns + row->held_back_woken_ns;
	char *text = words_process(f, xstrdup(""), p);

	text = words(text, " could have run, and its core was idle");
	text = words_ns(text, ", for ", ns, "");
	text = words_count(words(text, " ("), row->held_back + row->held_back_woken, "time",
			   "times");
	text = words(words_idle(f, text, row), ")");
	finding_add(f, &(struct finding){
			       .kind = "cpu_quota",
			       .cost_ns = ns,
			       .text = text,
			       .advice = advice(),
			       .process = p->idx,
			       .from_ns = row->held_worst_from_ns,
			       .to_ns = row->held_worst_from_ns + row->held_worst_ns,
		       });
}

void find_limits(struct findings *f)
{
	const struct trace *t = model_get_trace(f->model);

	f->limited = xcalloc(model_process_count(f->model) + 1, sizeof(*f->limited));
	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i);

		if (json_is_type(meta, "cpu_limit") && json_get_u64(meta, "throttled"))
			group_find(f, meta);
	}
	for (uint32_t i = 0; i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);

		if (finding_counts(f, p) && !f->limited[i] && f->moves.process[i].held_back)
			held_back_find(f, p);
	}
}
