/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Turns counters into LOST records; reads shared memory only, so it costs nothing to call often. */
#include "collect/drops.h"

#include <string.h>

#include "abi/event.h"
#include "trace/trace_write.h"

#define DROP_DELAY_NS \
	1000000 /* longest time between a record's time and its being counted as dropped */

static const char *const miss_names[POV_MISS_CNT] = {
	[POV_MISS_DEPTH] = "depth",
	[POV_MISS_THREADS] = "threads",
	[POV_MISS_NO_ENTRY] = "no_entry",
	[POV_MISS_SIGNAL] = "signal",
};

void drops_init(struct drops *d, const volatile uint64_t *counters, uint64_t now_ns)
{
	memset(d, 0, sizeof(*d));
	d->counters = counters;
	d->last_ns = now_ns;
}

void drops_sample(struct drops *d, unsigned int rings, struct trace_writer *w, uint64_t now_ns)
{
	struct pov_lost r = {
		.hdr = {.size = sizeof(r), .kind = POV_KIND_LOST, .ts_ns = now_ns},
		/* what was dropped bears the time before it was dropped */
		.since_ns = d->last_ns > DROP_DELAY_NS ? d->last_ns - DROP_DELAY_NS : 0,
	};

	for (unsigned int i = 0; i < (rings + 1) * POV_CLASS_CNT; i++) {
		uint64_t n = d->counters[i];

		if (n == d->last[i])
			continue;
		r.cnt = n - d->last[i];
		r.ring = i / POV_CLASS_CNT;
		r.class = i % POV_CLASS_CNT;
		d->last[i] = n;
		d->total += r.cnt;
		trace_writer_add(w, TRACE_STREAM_TASKS, &r.hdr);
	}
	d->last_ns = now_ns;
}

json_t *drops_json(const struct drops *d, unsigned int rings)
{
	json_t *a = json_array();

	for (unsigned int i = 0; i < (rings + 1) * POV_CLASS_CNT; i++)
		if (d->last[i])
			json_array_append_new(a, json_pack("{s:i,s:i,s:I}", "ring",
							   (int)(i / POV_CLASS_CNT), "class",
							   (int)(i % POV_CLASS_CNT), "cnt",
							   (json_int_t)d->last[i]));
	return a;
}

json_t *drops_misses_json(const struct drops *d)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < POV_MISS_CNT; i++)
		json_object_set_new(o, miss_names[i], json_integer(d->counters[POV_COUNT_MISS(i)]));
	return o;
}

uint64_t drops_of(const struct drops *d, unsigned int rings, enum pov_class class)
{
	uint64_t cnt = 0;

	for (unsigned int i = 0; i <= rings; i++)
		cnt += d->last[i * POV_CLASS_CNT + class];
	return cnt;
}

uint64_t drops_stat(const struct drops *d, enum pov_stat stat)
{
	return d->counters[POV_COUNT_STAT(stat)];
}
