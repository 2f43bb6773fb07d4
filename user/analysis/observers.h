/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A list of callbacks for the events of an analysis: matches, waits, held cores. They are called in
 * the order in which they were added. The header of the analysis names the type of its events.
 */
#ifndef POV_ANALYSIS_OBSERVERS_H
#define POV_ANALYSIS_OBSERVERS_H

#include <stdint.h>

#include "lib/log.h"

#define OBSERVERS_MAX 12

struct observer {
	void (*notify)(void *ctx, const void *event);
	void *ctx;
};

struct observers {
	struct observer list[OBSERVERS_MAX];
	uint32_t n;
};

static inline void observers_add(struct observers *o, void (*notify)(void *ctx, const void *event),
				 void *ctx)
{
	if (o->n == OBSERVERS_MAX)
		die("more than %d observers of one analysis", OBSERVERS_MAX);
	o->list[o->n++] = (struct observer){notify, ctx};
}

static inline void observers_notify(const struct observers *o, const void *event)
{
	for (uint32_t i = 0; i < o->n; i++)
		o->list[i].notify(o->list[i].ctx, event);
}

#endif
