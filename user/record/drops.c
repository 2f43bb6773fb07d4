/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Turns the kernel half's loss counters into LOST records. It only touches shared memory, so
 * frequent calls cost nothing.
 */
#include "record/drops.h"

#include <string.h>

#include "abi/event.h"
#include "lib/json_get.h"
#include "trace/trace_write.h"

static const char *const miss_names[POV_MISS_CNT] = {
	[POV_MISS_DEPTH] = "depth",	  [POV_MISS_THREADS] = "threads",
	[POV_MISS_NO_ENTRY] = "no_entry", [POV_MISS_WAIT] = "wait",
	[POV_MISS_BUSY] = "handlers",
};

void drops_init(struct drops *d, const volatile uint64_t *counters, volatile uint64_t *words,
		unsigned int rings, uint64_t start_ns)
{
	memset(d, 0, sizeof(*d));
	d->counters = counters;
	d->words = words;
	d->rings = rings;
	d->start_ns = start_ns;
}

void drops_take(struct drops *d)
{
	for (unsigned int i = 0; i < (d->rings + 1) * POV_CLASS_CNT; i++)
		d->taken[i] = d->words[i] ? __atomic_exchange_n(&d->words[i], 0, __ATOMIC_SEQ_CST) :
					    0;
}

static void lost_write(struct drops *d, unsigned int i, uint64_t cnt, uint64_t since_ns,
		       struct trace_writer *w, uint64_t now_ns)
{
	const struct pov_lost r = {
		.hdr = {.size = sizeof(r), .kind = POV_KIND_LOST, .ts_ns = now_ns},
		.since_ns = since_ns,
		.cnt = cnt,
		.ring = i / POV_CLASS_CNT,
		.class = i % POV_CLASS_CNT,
	};

	if (!cnt || since_ns > now_ns)
		return;
	d->cnt[i] += cnt;
	d->total += cnt;
	trace_writer_add(w, TRACE_STREAM_TASKS, &r.hdr);
}

void drops_write(struct drops *d, struct trace_writer *w, uint64_t now_ns)
{
	for (unsigned int i = 0; i < (d->rings + 1) * POV_CLASS_CNT; i++) {
		uint64_t word = d->taken[i], timeless = d->counters[i];

		lost_write(d, i, word & POV_DROP_CNT_MASK,
			   (word >> POV_DROP_CNT_BITS) << POV_DROP_UNIT_BITS, w, now_ns);
		lost_write(d, i, timeless - d->timeless[i], d->start_ns, w, now_ns);
		d->taken[i] = 0;
		d->timeless[i] = timeless;
	}
}

void drops_preloaded(struct drops *d, const struct preload_counts *counts, struct trace_writer *w,
		     uint64_t now_ns)
{
	uint64_t since_ns = d->preloaded_ns ?: d->start_ns;

	for (unsigned int i = 0; i < POV_CLASS_CNT; i++)
		lost_write(d, d->rings * POV_CLASS_CNT + i, counts->lost[i] - d->preloaded.lost[i],
			   since_ns, w, now_ns);
	d->preloaded = *counts;
	d->preloaded_ns = now_ns;
}

static uint64_t miss_cnt(const struct drops *d, unsigned int i)
{
	return d->counters[POV_COUNT_MISS(i)] + d->preloaded.miss[i];
}

static uint64_t stat_cnt(const struct drops *d, unsigned int i)
{
	return d->counters[POV_COUNT_STAT(i)] + (i == POV_STAT_FOLDED ? d->preloaded.folded : 0);
}

void drops_mark(const struct drops *d, struct drops_mark *out)
{
	memcpy(out->cnt, d->cnt, sizeof(out->cnt));
	for (unsigned int i = 0; i < POV_MISS_CNT; i++)
		out->miss[i] = miss_cnt(d, i);
	for (unsigned int i = 0; i < POV_STAT_CNT; i++)
		out->stat[i] = stat_cnt(d, i);
}

static uint64_t drop_cnt(const struct drops *d, unsigned int i)
{
	return d->cnt[i] - d->base.cnt[i];
}

json_t *drops_json(const struct drops *d)
{
	json_t *a = json_array();

	for (unsigned int i = 0; i < (d->rings + 1) * POV_CLASS_CNT; i++)
		if (drop_cnt(d, i))
			json_array_append_new(a, json_pack("{s:i,s:i,s:I}", "ring",
							   (int)(i / POV_CLASS_CNT), "class",
							   (int)(i % POV_CLASS_CNT), "cnt",
							   (json_int_t)drop_cnt(d, i)));
	return a;
}

json_t *drops_misses_json(const struct drops *d)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < POV_MISS_CNT; i++)
		json_set_int(o, miss_names[i], miss_cnt(d, i) - d->base.miss[i]);
	return o;
}

uint64_t drops_stat(const struct drops *d, enum pov_stat stat)
{
	return stat_cnt(d, stat) - d->base.stat[stat];
}
