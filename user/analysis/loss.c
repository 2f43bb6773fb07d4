/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Keeps the times of LOST records, and what the end block and the reader report as missing.
 */
#include "analysis/loss.h"

#include <stdlib.h>

#include "lib/json_get.h"
#include "lib/table.h"
#include "trace/trace_read.h"

const char *const loss_names[LOSS_BITS] = {
	[POV_CLASS_CALL] = "call",
	[POV_CLASS_SPIN] = "spin",
	[POV_CLASS_MORE] = "more",
	[POV_CLASS_SCHED] = "sched",
	[POV_CLASS_IRQ] = "irq",
	[POV_CLASS_TASK] = "task",
	[6] = "damaged",
	[7] = "missed_calls",
	[8] = "missed",
	[9] = "counted",
	[10] = "detached",
};

static void span_add(struct loss_class *c, uint64_t from_ns, uint64_t to_ns)
{
	struct loss_span *last;

	if (!c->span)
		c->span = xcalloc(LOSS_SPANS_MAX, sizeof(*c->span));
	last = c->n ? &c->span[c->n - 1] : NULL;
	if (last && (c->n == LOSS_SPANS_MAX || from_ns <= last->to_ns)) {
		last->from_ns = u64_min(from_ns, last->from_ns);
		last->to_ns = u64_max(to_ns, last->to_ns);
		return;
	}
	c->span[c->n++] = (struct loss_span){from_ns, to_ns};
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	struct losses *a = ctx;
	uint64_t from_ns;

	if (l->class >= POV_CLASS_CNT) { /* a newer recorder's class: it may be anything */
		a->everywhere |= LOSS_MISSED;
		return;
	}
	from_ns = u64_min(l->since_ns, l->ts_ns);
	if (l->left_out) {
		span_add(&a->left_out[l->counted], from_ns, l->ts_ns);
		return;
	}
	a->class[l->class].cnt += l->cnt;
	span_add(&a->class[l->class], from_ns, l -> ts_ns);
	if (l->class == POV_CLASS_SCHED)
		*table_row(a->ring, a->nring, l->ring) = true;
}

/* Class by number or by name. -1: a newer recorder's class. */
static int class_index(const json_t *v)
{
	if (json_is_integer(v) && json_integer_value(v) >= 0 &&
	    json_integer_value(v) < POV_CLASS_CNT)
		return (int)json_integer_value(v);
	for (int i = 0; json_is_string(v) && i < POV_CLASS_CNT; i++) {
		if (!strcmp(json_string_value(v), loss_names[i]))
			return i;
	}
	return -1;
}

void losses_counted(const json_t *end, uint64_t cnt[POV_CLASS_CNT])
{
	const json_t *drops = json_object_get(end, "drops");
	int class;

	memset(cnt, 0, POV_CLASS_CNT * sizeof(*cnt));
	for (size_t i = 0; i < json_array_size(drops); i++) {
		class = class_index(json_object_get(json_array_get(drops, i), "class"));
		if (class >= 0)
			cnt[class] += json_get_u64(json_array_get(drops, i), "cnt");
	}
}

/* Finds losses that the recorder counted but that have no record with a time. */
static void counted_read(struct losses *a, const json_t *end)
{
	uint64_t cnt[POV_CLASS_CNT];

	losses_counted(end, cnt);
	for (int k = 0; k < POV_CLASS_CNT; k++) {
		if (cnt[k] > a->class[k].cnt)
			a->everywhere |= 1u << k;
	}
}

/* Finds events that never became records. An unknown name may mean anything. */
static void misses_read(struct losses *a, const json_t *end)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} known[] = {
		{"depth", 0},	 /* only nested calls, which are in no sum */
		{"no_entry", 0}, /* the calls began before the recording */
		{"wait", LOSS_MISSED_CALLS},
		{"threads", LOSS_MISSED_CALLS},
		{"handlers", LOSS_MISSED_CALLS},
		{"unprobed", LOSS_MISSED_CALLS},
	};
	const char *name;
	uint32_t bits;
	json_t *v;

	json_object_foreach(json_object_get(end, "misses"), name, v)
	{
		bits = LOSS_MISSED;
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
			if (!strcmp(name, known[i].name))
				bits = known[i].bits;
		}
		if (json_integer_value(v) > 0)
			a->everywhere |= bits;
	}
}

static void on_finish(void *ctx, const struct model *m)
{
	struct trace *t = model_get_trace(m);
	const json_t *config = json_object_get(trace_meta_find(t, "recording"), "config");
	struct losses *a = ctx;

	a->rings = json_get_u32(config, "rings");
	a->cpus_per_ring = json_get_u32(config, "cpus_per_ring");
	counted_read(a, trace_meta_find(t, "end"));
	misses_read(a, trace_meta_find(t, "end"));
	if (trace_get_summary(t)->bad_blocks)
		a->everywhere |= LOSS_DAMAGED;
}

static bool class_in(const struct loss_class *c, uint64_t from_ns, uint64_t to_ns)
{
	return table_any(c->n, i, c->span[i].from_ns <= to_ns && c->span[i].to_ns >= from_ns);
}

uint32_t losses_in(const struct losses *a, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t bits = a->everywhere;

	for (uint32_t class = 0; class < POV_CLASS_CNT; class ++)
		bits |= class_in(&a->class[class], from_ns, to_ns) ? 1u << class : 0;
	bits |= class_in(&a->left_out[false], from_ns, to_ns) ? LOSS_DETACHED : 0;
	bits |= class_in(&a->left_out[true], from_ns, to_ns) ? LOSS_COUNTED : 0;
	return bits;
}

uint32_t losses_of_core(const struct losses *a, uint32_t cpu)
{
	uint32_t ring = a->cpus_per_ring ? cpu / a->cpus_per_ring : 0;
	uint32_t bits = a->everywhere & (LOSS_OF_STATES | LOSS_OF_LIVES);

	if (a->class[POV_CLASS_TASK].n)
		bits |= LOSS_TASK;
	for (uint32_t i = 0; i < a->nring; i++) {
		/* the rescue ring, the last one, belongs to no CPU */
		if (a->ring[i] && (i == ring || !a->cpus_per_ring || i >= a->rings))
			bits |= LOSS_SCHED;
	}
	return bits;
}

void losses_init(struct losses *a)
{
	*a = (struct losses){.sink = {.ctx = a, .lost = on_lost, .finish = on_finish}};
}

void losses_release(struct losses *a)
{
	for (int i = 0; i < POV_CLASS_CNT; i++)
		free(a->class[i].span);
	free(a->left_out[0].span);
	free(a->left_out[1].span);
	free(a->ring);
}
