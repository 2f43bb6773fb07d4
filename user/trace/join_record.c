/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Merges the records of all parts in order of their common time. Each part hands out one record at
 * a time in its own order, which the clocks preserve. A copy of the record gets the joined numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/log.h"
#include "trace/record_kinds.h"
#include "trace/trace_join.h"
#include "trace/trace_joined.h"

#define RECORD_WORDS (65536 / 8)

struct join_source {
	const struct join_part *part;
	struct trace_merge *merge;
	uint64_t *rec; /* the next record, renumbered; owned */
	/* a loss on a ring of several CPUs: number of CPUs it must still be repeated for */
	uint32_t again;
	bool ended;
};

struct join_merge {
	const struct trace_joined *joined;
	struct join_source *source;
	size_t cnt;
	struct join_source *top; /* source of the record handed out last */
};

uint64_t join_time(const struct join_part *p, uint64_t ns)
{
	int64_t since = (int64_t)(ns - p->clock.from_ns), at;

	if (p->clock.drift != 0)
		since += (int64_t)((double)since * p->clock.drift);
	at = (int64_t)p->clock.to_ns + since;
	return at > 0 ? (uint64_t)at : 1; /* before the first host was booted */
}

/* A CPU that its host does not have stays invalid. */
static uint16_t part_cpu(const struct join_part *p, uint16_t cpu)
{
	return cpu < p->cpus ? (uint16_t)(p->cpu_base + cpu) : UINT16_MAX;
}

static uint64_t part_dur_ns(const struct join_part *p, uint64_t end_ns, uint64_t dur_ns)
{
	return join_time(p, end_ns) - join_time(p, end_ns - dur_ns);
}

/* A member's value in the joined trace. The record still has its own host's time. */
static uint64_t member_joined(const struct join_part *p, const struct pov_hdr *h,
			      const struct record_member *m, uint64_t v)
{
	switch (m->role) {
	case ROLE_TASK:
		return join_id(p, (uint32_t)v);
	case ROLE_CPU:
		return part_cpu(p, (uint16_t)v);
	case ROLE_TIME:
		return join_time(p, v);
	case ROLE_DURATION:
		return part_dur_ns(p, h->ts_ns, v);
	case ROLE_FUNCTION:
		return p->func[v];
	case ROLE_LIBRARY:
		return (uint16_t)(p->lib_base + v);
	case ROLE_REGION:
		return v < POV_REGIONS_MAX ? p->region[v] : UINT16_MAX;
	case ROLE_INODE:
		return join_ino(p, v);
	}
	return v;
}

static void members_map(const struct join_part *p, const struct record_kind *k, struct pov_hdr *h)
{
	uint64_t v;

	for (const struct record_member *m = k->member; m->name; m++) {
		char *at = (char *)h + m->offset;

		if (m->role == ROLE_PLAIN || m->offset + m->bytes > h->size)
			continue;
		v = 0;
		memcpy(&v, at, m->bytes);
		v = member_joined(p, h, m, v);
		memcpy(at, &v, m->bytes);
	}
}

static void polls_map(const struct join_part *p, struct pov_spin *s)
{
	for (unsigned int i = 0; i < s->nfuncs; i++) {
		s->func[i].func = p->func[s->func[i].func];
		s->func[i].lib = (uint16_t)(p->lib_base + s->func[i].lib);
		if (s->func[i].busy_ns > s->dur_ns) /* drift may add some nanoseconds */
			s->func[i].busy_ns = s->dur_ns;
	}
}

/*
 * In the joined trace each CPU has its own ring, whatever rings the hosts had. Returns the number
 * of further CPUs that the loss affects.
 */
static uint32_t lost_map(const struct join_part *p, uint32_t cpus, struct pov_lost *l)
{
	uint32_t first = l->ring * p->cpus_per_ring, n = p->cpus_per_ring;

	l->since_ns = join_time(p, l->since_ns);
	if (l->ring >= p->rings || first >= p->cpus) {
		l->ring = (uint16_t)cpus; /* all rings */
		return 0;
	}
	if (l->ring + 1u == p->rings || n > p->cpus - first)
		n = p->cpus - first;
	l->ring = (uint16_t)(p->cpu_base + first);
	return n - 1;
}

/* Gives a record joined numbers and times. Returns how often it must be repeated (lost_map). */
static uint32_t record_map(const struct join_part *p, uint32_t cpus, struct pov_hdr *h)
{
	const struct record_kind *k = record_kind_find(h->kind);
	uint32_t again = 0;

	if (h->kind == POV_KIND_LOST || h->kind == POV_KIND_LOSS_BEGIN ||
	    h->kind == POV_KIND_LOSS_END)
		again = lost_map(p, cpus, (struct pov_lost *)h);
	else if (k)
		members_map(p, k, h);
	if (h->kind == POV_KIND_SPIN)
		polls_map(p, (struct pov_spin *)h);
	h->tid = join_id(p, h->tid);
	h->ts_ns = join_time(p, h->ts_ns);
	return again;
}

/* Prepares the next record of a part. 0 or -errno (printed). */
static int source_advance(struct join_merge *m, struct join_source *s)
{
	struct pov_hdr *h = (struct pov_hdr *)s->rec;
	const struct pov_hdr *rec;
	int got;

	if (s->again) {
		s->again--;
		((struct pov_lost *)h)->ring++;
		((struct pov_lost *)h)->cnt = 0; /* counted with the first one */
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
