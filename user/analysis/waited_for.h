/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Who waited for whom, and how long: a table by pairs of processes, as the analyses of such waits keep it, one for each way to wait. */
#ifndef POV_ANALYSIS_WAITED_FOR_H
#define POV_ANALYSIS_WAITED_FOR_H

#include "lib/map.h"
#include "model/model.h"

/* What one process waited for another one. */
struct waited_for {
	uint32_t waiter, late; /* idx of processes */
	uint64_t cnt, ns;
	uint64_t worst_ns, worst_from_ns, worst_to_ns;
	const struct func_info *worst_in; /* the call that waited; or NULL: not known */
};

/* A wait from..to in a call of `in`, of which ns count. pairs: waiter, late → struct waited_for; to be freed with free(). */
void waited_for_add(struct map *pairs, const struct model_process *waiter,
		    const struct model_process *late, uint64_t ns, uint64_t from_ns, uint64_t to_ns,
		    const struct func_info *in);
/* NULL: never. */
const struct waited_for *waited_for_get(const struct map *pairs, uint32_t waiter, uint32_t late);
/* Those who waited for one process together, the longest first. Caller frees. */
struct waited_for *waited_for_list(const struct map *pairs, uint32_t *n);
/* Of n who waited for one process (1 at least): all of it, and the worst. waiter is no certain one. */
struct waited_for waited_for_sum(const struct waited_for *w, uint32_t n);

#endif
