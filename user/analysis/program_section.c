/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Each thread's time is counted up to counted_ns. Since then, its state and its CPU have not
 * changed. The time since then is counted when either changes, and when a thread of the process
 * enters or leaves the section.
 */
#include "analysis/program_section.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"

struct section_thread {
	bool known, in;
	uint64_t counted_ns; /* all time before is counted */
	/* CPU where the thread has been since counted_ns */
	uint16_t place;
	struct core_total at_place; /* what that CPU had run by counted_ns */
	/* calls of the functions that the two edges name */
	uint64_t calls[2];
	bool passed[2]; /* the edge has been passed */
	/* bit mask of the levels at which the open phase has the section's name */
	uint8_t levels;
	uint32_t regions; /* number of open regions of that name */
};

struct section_process {
	uint32_t in;	  /* number of its threads in the section */
	uint32_t *thread; /* idx of all its threads; owned */
	uint32_t nthread;
};

static struct section_process *process_of(struct program_section *a, const struct model_thread *t)
{
	return table_row(a->process, a->nprocess, t->proc->idx);
}

static bool is_in(const struct program_section *a, const struct section_thread *s)
{
	return a->section->is_name ? s->levels || s->regions : s->passed[0] && !s->passed[1];
}

static void place_set(struct program_section *a, const struct model_thread *t,
		      struct section_thread *s, uint16_t cpu, uint64_t ts_ns)
{
	s->place = cpu;
	s->at_place = core_totals_at(&a->totals, cpu, t->proc, ts_ns);
}

/* Adds a new thread of a recorded process. */
static void thread_add(struct program_section *a, const struct model_thread *t, uint64_t ts_ns)
{
	struct section_thread *s = table_row(a->thread, a->nthread, t->idx);
	struct section_process *p;

	if (s->known)
		return;
	p = process_of(a, t);
	*table_append(p->thread, p->nthread) = t->idx;
	s->known = true;
	s->counted_ns = ts_ns;
	place_set(a, t, s, t->cpu, ts_ns);
	for (int i = 0; i < 2; i++)
		s->passed[i] = a->reached[i];
	s->in = is_in(a, s);
	p->in += s->in;
	if (s->in)
		table_row(a->row, a->nrow, t->proc->idx)->entered++;
}

/* NULL: the thread is not followed. */
static struct section_thread *thread_of(const struct program_section *a,
					const struct model_thread *t)
{
	return t->idx < a->nthread && a->thread[t->idx].known ? &a->thread[t->idx] : NULL;
}

/* ---- counting ---- */

/* Counts what a CPU ran for ns while the thread was assigned to it and did not run. */
static void place_count(struct section_core_row *row, const struct core_total *from,
			const struct core_total *to, uint64_t ns)
{
	uint64_t own_ns = u64_minus(to->own_ns, from->own_ns);
	uint64_t ranks_ns = u64_minus(to->ranks_ns, from->ranks_ns);
	uint64_t other_ns = u64_minus(to->other_ns, from->other_ns);
	uint64_t idle_ns = u64_minus(to->idle_ns, from->idle_ns);
	uint64_t known_ns = own_ns + ranks_ns + other_ns + idle_ns;

	if (known_ns > ns) { /* a CPU cannot run two threads at once */
		row->unknown_ns += ns;
		return;
	}
	row->own_ns += own_ns;
	row->ranks_ns += ranks_ns;
	row->other_ns += other_ns;
	row->idle_ns += idle_ns;
	row->unknown_ns += ns - known_ns;
}

static void section_count(struct program_section *a, const struct model_thread *t,
			  const struct section_thread *s, uint64_t ns, enum thread_state state,
			  const struct core_total *now)
{
	struct section_row *row = table_row(a->row, a->nrow, t->proc->idx);
	struct section_cores *cores = table_row(a->cores, a->ncores, t->proc->idx);
	struct section_core_row *place = table_row(cores->row, cores->n, s->place);

	row->wall_ns += ns;
	row->split.ns[state] += ns;
	place->here_ns += ns;
	if (state == THREAD_RUNNING)
		place->running_ns += ns;
	else
		place_count(place, &s->at_place, now, ns);
}

/* Counts up to to_ns: since counted_ns, the thread was in one state at one place. */
static void thread_count(struct program_section *a, const struct model_thread *t,
			 struct section_thread *s, uint64_t to_ns, enum thread_state state,
			 uint16_t cpu)
{
	uint64_t ns = to_ns - s->counted_ns;
	struct core_total now;

	if (to_ns <= s->counted_ns)
		return;
	if (state == THREAD_RUNNING)
		s->place = cpu;
	now = core_totals_at(&a->totals, s->place, t->proc, to_ns);
	if (s->in)
		section_count(a, t, s, ns, state, &now);
	else if (state == THREAD_RUNNING && process_of(a, t)->in)
		table_row(a->row, a->nrow, t->proc->idx)->other_threads_ns += ns;
	s->counted_ns = to_ns;
	s->at_place = now;
}

/* Counts up to ts_ns in the thread's current state. */
static void count_now(struct program_section *a, const struct model_thread *t, uint64_t ts_ns)
{
	struct section_thread *s = thread_of(a, t);

	if (s && t->state != THREAD_DEAD)
		thread_count(a, t, s, ts_ns, t->state, t->cpu);
}

static void process_count(struct program_section *a, const struct section_process *p,
			  uint64_t ts_ns)
{
	for (uint32_t i = 0; i < p->nthread; i++)
		count_now(a, model_thread_get(a->model, p->thread[i]), ts_ns);
}

/* ---- edges ---- */

static void enter_or_leave(struct program_section *a, const struct model_thread *t,
			   struct section_thread *s, uint64_t ts_ns)
{
	struct section_process *p = process_of(a, t);

	if (s->in == is_in(a, s))
		return;
	/* whether a thread is inside decides how the time of the process's other threads counts */
	process_count(a, p, ts_ns);
	s->in = !s->in;
	p->in += s->in ? 1 : -1u;
	if (s->in)
		table_row(a->row, a->nrow, t->proc->idx)->entered++;
}

static void edge_reach(struct program_section *a, int edge)
{
	uint64_t ts_ns = a->edge_ns[edge];

	a->edge_ns[edge] = UINT64_MAX;
	a->reached[edge] = true;
	for (uint32_t i = 0; i < a->nthread; i++) {
		struct section_thread *s = &a->thread[i];

		s->passed[edge] = true;
		if (s->known)
			enter_or_leave(a, model_thread_get(a->model, i), s, ts_ns);
	}
}

/* Passes the edges that are times up to ts_ns, the time of the present record. */
static void now_is(struct program_section *a, uint64_t ts_ns)
{
	for (int i = 0; i < 2; i++)
		if (ts_ns >= a->edge_ns[i])
			edge_reach(a, i);
}

/* ---- records of the model ---- */

static void on_thread(void *ctx, const struct model_thread *t, uint64_t ts_ns)
{
	now_is(ctx, ts_ns);
	if (t->proc->is_target)
		thread_add(ctx, t, ts_ns);
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state state, uint16_t cpu)
{
	struct section_thread *s;

	now_is(ctx, to_ns);
	s = thread_of(ctx, t);
	if (s)
		thread_count(ctx, t, s, to_ns, state, cpu);
}

/* Moves a thread that does not run to another CPU. */
static void thread_moved(struct program_section *a, const struct model_thread *t, uint16_t cpu,
			 uint64_t ts_ns)
{
	struct section_thread *s = thread_of(a, t);

	if (!s)
		return;
	count_now(a, t, ts_ns);
	place_set(a, t, s, cpu, ts_ns);
}

static void on_waking(void *ctx, const struct model_waking *w)
{
	now_is(ctx, w->ts_ns);
	if (w->target->state == THREAD_RUNNABLE)
		thread_moved(ctx, w->target, w->target_cpu, w->ts_ns);
}

static void on_migrate(void *ctx, const struct model_migrate *g)
{
	now_is(ctx, g->ts_ns);
	if (g->thread->state != THREAD_RUNNING)
		thread_moved(ctx, g->thread, g->dest_cpu, g->ts_ns);
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	struct program_section *a = ctx;

	now_is(a, s->ts_ns);
	core_totals_switch(&a->totals, s);
	thread_moved(a, s->next, s->cpu, s->ts_ns);
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	struct program_section *a = ctx;

	core_totals_lost(&a->totals, l);
}

static void mark_learn(struct section_thread *s, const struct call_roles *r, const char *name)
{
	uint8_t finer = (uint8_t)(0xffu << r->mark_level);

	s->levels &= (uint8_t)~finer;
	if (r->mark == MARK_BEGIN && r->mark_name && !strcmp(r->mark_name, name))
		s->levels |= (uint8_t)(1u << r->mark_level);
}

static bool is_edge(const struct section_edge *e, const struct func_info *f)
{
	return e->kind == EDGE_CALL && !strcmp(f->name, e->func);
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct program_section *a = ctx;
	const struct section_edge *edge[2] = {&a->section->from, &a->section->to};
	struct section_thread *s;

	now_is(a, c->end_ns);
	s = thread_of(a, c->thread);
	if (!s || c->nested || c->open || c->unwound)
		return;
	if (a->section->is_name && c->view->roles.mark)
		mark_learn(s, &c->view->roles, a->section->text);
	for (int i = 0; i < 2; i++)
		if (is_edge(edge[i], c->func) && ++s->calls[i] == edge[i]->number)
			s->passed[i] = true;
	enter_or_leave(a, c->thread, s, c->end_ns);
}

static void on_region(void *ctx, const struct model_region *r)
{
	struct program_section *a = ctx;
	struct section_thread *s = thread_of(a, r->thread);
	bool begins = r->ended == REGION_UNDER_WAY;

	if (!s || !a->section->is_name || strcmp(r->name, a->section->text) != 0 ||
	    r->ended == REGION_OPEN)
		return;
	s->regions += begins ? 1 : -1u;
	enter_or_leave(a, r->thread, s, begins ? r->begin_ns : r->end_ns);
}

/*
 * Called when a thread or the recording ends. Counts the section as open if the thread is still in
 * it.
 */
static void life_end(struct program_section *a, const struct model_thread *t,
		     struct section_thread *s)
{
	if (!s->in)
		return;
	process_of(a, t)->in--;
	s->in = false;
	if (a->section->is_name || a->section->to.kind == EDGE_CALL)
		table_row(a->row, a->nrow, t->proc->idx)->open++;
}

static void on_thread_exit(void *ctx, const struct model_thread *t, uint64_t ts_ns)
{
	struct program_section *a = ctx;
	struct section_thread *s;

	now_is(a, ts_ns);
	s = thread_of(a, t);
	if (!s)
		return;
	process_count(a, process_of(a, t), ts_ns);
	life_end(a, t, s);
}

static void on_finish(void *ctx, const struct model *m)
{
	struct program_section *a = ctx;

	now_is(a, model_get_info(m)->end_ns);
	for (uint32_t i = 0; i < a->nthread; i++)
		if (a->thread[i].known)
			life_end(a, model_thread_get(m, i), &a->thread[i]);
}

static void on_start(void *ctx, const struct model *m)
{
	struct program_section *a = ctx;
	const struct section_edge *edge[2] = {&a->section->from, &a->section->to};

	a->model = m;
	a->reached[0] = edge[0]->kind == EDGE_NONE;
	for (int i = 0; i < 2; i++)
		a->edge_ns[i] = edge[i]->kind == EDGE_TIME ?
					model_get_info(m)->start_ns + edge[i]->at_ns :
					UINT64_MAX;
}

/* ---- init and release ---- */

void program_section_init(struct program_section *a, const struct section *section)
{
	*a = (struct program_section){.section = section};
	if (!section->text)
		return;
	a->sink = (struct model_sink){
		.ctx = a,
		.start = on_start,
		.thread = on_thread,
		.thread_exit = on_thread_exit,
		.on_switch = on_switch,
		.waking = on_waking,
		.migrate = on_migrate,
		.state = on_state,
		.call = on_call,
		.region = on_region,
		.lost = on_lost,
		.finish = on_finish,
	};
}

void program_section_release(struct program_section *a)
{
	for (uint32_t i = 0; i < a->ncores; i++)
		free(a->cores[i].row);
	for (uint32_t i = 0; i < a->nprocess; i++)
		free(a->process[i].thread);
	free(a->cores);
	free(a->process);
	free(a->thread);
	free(a->row);
	core_totals_release(&a->totals);
}

const struct section_row *program_section_row(const struct program_section *a, uint32_t process_idx)
{
	return table_get(a->row, a->nrow, process_idx);
}

const struct section_core_row *program_section_core(const struct program_section *a,
						    uint32_t process_idx, uint32_t cpu)
{
	static const struct section_core_row none;

	return process_idx < a->ncores && cpu < a->cores[process_idx].n ?
		       &a->cores[process_idx].row[cpu] :
		       &none;
}

uint32_t program_section_cpus(const struct program_section *a)
{
	uint32_t cpus = 0;

	for (uint32_t i = 0; i < a->ncores; i++)
		if (a->cores[i].n > cpus)
			cpus = a->cores[i].n;
	return cpus;
}

/* ---- how a user names a section ---- */

static bool call_parse(char *p, struct section_edge *out)
{
	char *mark = strchr(p, '#');

	out->kind = EDGE_CALL;
	out->number = 1;
	if (mark) {
		*mark = 0;
		if (human_parse_u64(mark + 1, &out->number) || !out->number)
			return false;
	}
	for (const char *c = p; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	strcpy(out->func, p);
	return *p;
}

/* Parses the text between two pointers. Empty text is no edge. */
static bool edge_parse(const char *p, const char *end, struct section_edge *out)
{
	size_t bytes = (size_t)(end - p);
	char piece[SECTION_FUNC_BYTES];

	if (!bytes)
		return true;
	if (bytes >= sizeof(piece))
		return false;
	memcpy(piece, p, bytes);
	piece[bytes] = 0;
	if (!isdigit((unsigned char)*p))
		return call_parse(piece, out);
	out->kind = EDGE_TIME;
	return !human_parse_ns(piece, &out->at_ns);
}

/* Text with two dots is a span. Text that begins with a digit is a time. */
int section_parse(const char *text, struct section *out)
{
	const char *dots = strstr(text, "..");
	struct section s = {.text = text, .is_name = !dots};
	bool good = *text;

	if (dots)
		good = (dots > text || dots[2]) && edge_parse(text, dots, &s.from) &&
		       edge_parse(dots + 2, text + strlen(text), &s.to);
	if (s.from.kind == EDGE_TIME && s.to.kind == EDGE_TIME)
		good = good && s.from.at_ns < s.to.at_ns;
	if (!good) {
		log_error("--section \"%s\": not a section; try the name of a phase or region, "
			  "MPI_Barrier#2..MPI_Barrier#3 (from the return of a thread's second call "
			  "to that of its third), or "
			  "1.5..2 (seconds)",
			  text);
		return -EINVAL;
	}
	*out = s;
	return 0;
}
