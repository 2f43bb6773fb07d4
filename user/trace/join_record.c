/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Records of all parts in order of their common time. Each part hands out one at a time, in its own order, which the clocks
 * keep; its copy gets the whole's numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/log.h"
#include "trace/trace_join.h"
#include "trace/trace_joined.h"

#define RECORD_WORDS (65536 / 8)

struct join_source {
	const struct join_part *part;
	struct trace_merge *merge;
	uint64_t *rec; /* the next one, renumbered; owned */
	uint32_t again; /* a loss on a ring of several CPUs: of how many more of them it is to be told */
	bool ended;
};

struct join_merge {
	const struct trace_joined *joined;
	struct join_source *source;
	size_t cnt;
	struct join_source *top; /* handed out last */
};

uint64_t join_time(const struct join_part *p, uint64_t ns)
{
	int64_t since = (int64_t)(ns - p->clock.from_ns), at;

	if (p->clock.drift != 0)
		since += (int64_t)((double)since * p->clock.drift);
	at = (int64_t)p->clock.to_ns + since;
	return at > 0 ? (uint64_t)at : 1; /* before the first host was booted */
}

/* A CPU that its host does not have stays one that nobody has. */
static uint16_t cpu_of(const struct join_part *p, uint16_t cpu)
{
	return cpu < p->cpus ? (uint16_t)(p->cpu_base + cpu) : UINT16_MAX;
}

static uint64_t dur_of(const struct join_part *p, uint64_t end_ns, uint64_t dur_ns)
{
	return join_time(p, end_ns) - join_time(p, end_ns - dur_ns);
}

static void call_map(const struct join_part *p, struct pov_call *c)
{
	c->dur_ns = dur_of(p, c->hdr.ts_ns, c->dur_ns);
	c->tgid = join_id(p, c->tgid);
	c->func = p->func[c->func];
	c->cpu = cpu_of(p, c->cpu);
	c->lib = (uint16_t)(p->lib_base + c->lib);
}

static void spin_map(const struct join_part *p, struct pov_spin *s)
{
	s->dur_ns = dur_of(p, s->hdr.ts_ns, s->dur_ns);
	s->tgid = join_id(p, s->tgid);
	s->cpu = cpu_of(p, s->cpu);
	for (unsigned int i = 0; i < s->nfuncs; i++) {
		s->func[i].func = p->func[s->func[i].func];
		s->func[i].lib = (uint16_t)(p->lib_base + s->func[i].lib);
		if (s->func[i].busy_ns > s->dur_ns) /* by some nanoseconds of drift */
			s->func[i].busy_ns = s->dur_ns;
	}
}

static void task_map(const struct join_part *p, struct pov_task *t)
{
	t->tgid = join_id(p, t->tgid);
	t->ppid = join_id(p, t->ppid);
	t->cpu = cpu_of(p, t->cpu);
	t->start_ns = join_time(p, t->start_ns);
}

static void fork_map(const struct join_part *p, struct pov_fork *f)
{
	f->child_tid = join_id(p, f->child_tid);
	f->child_tgid = join_id(p, f->child_tgid);
	f->parent_tgid = join_id(p, f->parent_tgid);
}

/* In the whole each CPU has a ring of its own, so that it need not matter how each host had them. */
static uint32_t lost_map(const struct join_part *p, uint32_t cpus, struct pov_lost *l)
{
	uint32_t first = l->ring * p->cpus_per_ring, n = p->cpus_per_ring;

	l->since_ns = join_time(p, l->since_ns);
	if (l->ring >= p->rings || first >= p->cpus) {
		l->ring = (uint16_t)cpus; /* of all */
		return 0;
	}
	if (l->ring + 1u == p->rings || n > p->cpus - first)
		n = p->cpus - first;
	l->ring = (uint16_t)(p->cpu_base + first);
	return n - 1;
}

static void signal_map(const struct join_part *p, struct pov_signal *s)
{
	s->tgid = join_id(p, s->tgid);
	if (s->sender)
		s->sender = join_id(p, s->sender);
}

static void region_map(const struct join_part *p, struct pov_region *r)
{
	r->tgid = join_id(p, r->tgid);
	r->region = r->region < POV_REGIONS_MAX ? p->region[r->region] : UINT16_MAX;
	r->cpu = cpu_of(p, r->cpu);
}

static void counted_map(const struct join_part *p, struct pov_counted *c)
{
	c->dur_ns = dur_of(p, c->hdr.ts_ns, c->dur_ns);
	c->tgid = join_id(p, c->tgid);
	c->func = p->func[c->func];
	c->lib = (uint16_t)(p->lib_base + c->lib);
}

static void room_map(const struct join_part *p, struct pov_room *r)
{
	r->dur_ns = dur_of(p, r->hdr.ts_ns, r->dur_ns);
	r->tgid = join_id(p, r->tgid);
}

static void limit_map(const struct join_part *p, struct pov_limit *l)
{
	l->since_ns = join_time(p, l->since_ns);
	if (l->tgid)
		l->tgid = join_id(p, l->tgid);
	if (l->func != POV_LIMIT_ALL)
		l->func = p->func[l->func];
}

static void sched_map(const struct join_part *p, struct pov_hdr *h)
{
	struct pov_switch *s = (struct pov_switch *)h;
	struct pov_waking *w = (struct pov_waking *)h;
	struct pov_migrate *g = (struct pov_migrate *)h;
	struct pov_irq *q = (struct pov_irq *)h;

	switch (h->kind) {
	case POV_KIND_SWITCH:
		s->next_tid = join_id(p, s->next_tid);
		s->cpu = cpu_of(p, s->cpu);
		break;
	case POV_KIND_WAKING:
		w->target_tid = join_id(p, w->target_tid);
		w->cpu = cpu_of(p, w->cpu);
		w->target_cpu = cpu_of(p, w->target_cpu);
		break;
	case POV_KIND_MIGRATE:
		g->orig_cpu = cpu_of(p, g->orig_cpu);
		g->dest_cpu = cpu_of(p, g->dest_cpu);
		g->cpu = cpu_of(p, g->cpu);
		break;
	case POV_KIND_IRQ:
		q->dur_ns = dur_of(p, h->ts_ns, q->dur_ns);
		q->cpu = cpu_of(p, q->cpu);
		break;
	}
}

/* What bears a thread group's number behind its header, and nothing else of a host. */
struct of_process {
	struct pov_hdr hdr;
	pov_u32 tgid;
};

/* Gives a record the whole's numbers and times. How often more it is to be told (lost_map). */
static uint32_t record_map(const struct join_part *p, uint32_t cpus, struct pov_hdr *h)
{
	struct pov_call_begin *begin = (struct pov_call_begin *)h;
	struct pov_more *more = (struct pov_more *)h;
	struct pov_image *image = (struct pov_image *)h;
	uint32_t again = 0;

	switch (h->kind) {
	case POV_KIND_CALL:
	case POV_KIND_UNSHOWN:
		call_map(p, (struct pov_call *)h);
		break;
	case POV_KIND_SPIN:
		spin_map(p, (struct pov_spin *)h);
		break;
	case POV_KIND_CALL_BEGIN:
		begin->begin_ns = join_time(p, begin->begin_ns);
		begin->tgid = join_id(p, begin->tgid);
		begin->func = p->func[begin->func];
		break;
	case POV_KIND_MORE:
		more->begin_ns = join_time(p, more->begin_ns);
		break;
	case POV_KIND_COUNTED:
		counted_map(p, (struct pov_counted *)h);
		break;
	case POV_KIND_ROOM:
		room_map(p, (struct pov_room *)h);
		break;
	case POV_KIND_LIMIT:
		limit_map(p, (struct pov_limit *)h);
		break;
	case POV_KIND_REGION:
		region_map(p, (struct pov_region *)h);
		break;
	case POV_KIND_TASK:
	case POV_KIND_EXEC:
	case POV_KIND_RENAME:
		task_map(p, (struct pov_task *)h);
		break;
	case POV_KIND_FORK:
		fork_map(p, (struct pov_fork *)h);
		break;
	case POV_KIND_SIGNAL:
		signal_map(p, (struct pov_signal *)h);
		break;
	case POV_KIND_IMAGE:
		image->ino = join_ino(p, image->ino);
		/* fall through */
	case POV_KIND_SAMPLE:
	case POV_KIND_EXIT:
	case POV_KIND_AFFINITY:
	case POV_KIND_CALLER:
	case POV_KIND_WRITTEN:
		((struct of_process *)h)->tgid = join_id(p, ((struct of_process *)h)->tgid);
		break;
	case POV_KIND_LOST:
	case POV_KIND_LOSS_BEGIN:
	case POV_KIND_LOSS_END:
		again = lost_map(p, cpus, (struct pov_lost *)h);
		break;
	default:
		sched_map(p, h);
	}
	h->tid = join_id(p, h->tid);
	h->ts_ns = join_time(p, h->ts_ns);
	return again;
}

/* Has the next record of a part ready. 0 or -errno (printed). */
static int source_advance(struct join_merge *m, struct join_source *s)
{
	struct pov_hdr *h = (struct pov_hdr *)s->rec;
	const struct pov_hdr *rec;
	int got;

	if (s->again) {
		s->again--;
		((struct pov_lost *)h)->ring++;
		((struct pov_lost *)h)->cnt = 0; /* counted with the first */
		return 0;
	}
	got = trace_merge_next(s->merge, &rec);
	if (got != 1) {
		s->ended = true;
		return got;
	}
	memcpy(h, rec, rec->size);
	s->again = record_map(s->part, m->joined->cpus, h);
	return 0;
}

int join_merge_open(struct trace_joined *j, const struct trace_merge_options *opt,
		    struct join_merge **out)
{
	struct join_merge *m = xcalloc(1, sizeof(*m));
	int err = 0;

	m->joined = j;
	m->source = xcalloc(j->cnt, sizeof(*m->source));
	for (; m->cnt < j->cnt && !err; m->cnt++) {
		struct join_source *s = &m->source[m->cnt];

		s->part = &j->part[m->cnt];
		s->rec = xcalloc(RECORD_WORDS, sizeof(*s->rec));
		err = trace_merge_open(s->part->trace, opt, &s->merge);
		if (!err)
			err = source_advance(m, s);
	}
	if (err) {
		join_merge_close(m);
		return err;
	}
	*out = m;
	return 0;
}

int join_merge_next(struct join_merge *m, const struct pov_hdr **rec)
{
	struct join_source *first = NULL;
	int err = m->top ? source_advance(m, m->top) : 0;

	m->top = NULL;
	if (err)
		return err;
	for (size_t i = 0; i < m->cnt; i++) {
		struct join_source *s = &m->source[i];

		if (!s->ended && (!first || ((struct pov_hdr *)s->rec)->ts_ns <
						    ((struct pov_hdr *)first->rec)->ts_ns))
			first = s;
	}
	if (!first)
		return 0;
	m->top = first;
	*rec = (const struct pov_hdr *)first->rec;
	return 1;
}

void join_merge_close(struct join_merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->cnt; i++) {
		trace_merge_close(m->source[i].merge);
		free(m->source[i].rec);
	}
	free(m->source);
	free(m);
}
