/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A table of who waited for whom, and how long, by pairs of processes. Analyses of waits keep one
 * table for each kind of wait.
 */
#ifndef POV_ANALYSIS_WAITED_FOR_H
#define POV_ANALYSIS_WAITED_FOR_H

#include "lib/map.h"
#include "model/model.h"

/* How long one process waited for another. */
struct waited_for {
	uint32_t waiter, late; /* idx of processes */
	uint64_t cnt, ns;
	uint64_t worst_ns, worst_from_ns, worst_to_ns;
	const struct func_info *worst_in; /* the call that waited; NULL: unknown */
};

/*
 * Adds a wait from from_ns to to_ns in a call of `in`; only ns of it count. pairs: waiter, late →
 * struct waited_for. The map's values are freed with free().
 */
void waited_for_add(struct map *pairs, const struct model_process *waiter,
		    const struct model_process *late, uint64_t ns, uint64_t from_ns, uint64_t to_ns,
		    const struct func_info *in);
/* NULL: it never waited for that process. */
const struct waited_for *waited_for_get(const struct map *pairs, uint32_t waiter, uint32_t late);
/*
 * All pairs, grouped by the process that was waited for, the longest first. The caller frees the
 * list.
 */
struct waited_for *waited_for_list(const struct map *pairs, uint32_t *n);
/*
 * Sums up n >= 1 pairs with the same late process and keeps their worst wait. The result's waiter
 * is arbitrary.
 */
struct waited_for waited_for_sum(const struct waited_for *w, uint32_t n);

#endif
