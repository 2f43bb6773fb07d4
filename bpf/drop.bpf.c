// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Records that found no room. Their number and start time share one word, so that the collector
 * reads both at once: nothing counted there began before that time. The collector adds the upper
 * bound, the time when it reads.
 */
#include "core.bpf.h"

#define TRIES 32

/*
 * One attempt to count a drop. Returns 1 if the word is full or another CPU was faster. Not part of
 * the loop, so that the verifier checks it only once.
 */
__noinline int drop_try(u32 idx, u64 unit)
{
	u64 old, first;

	if (idx >= POV_DROPS)
		return 0;
	old = drops[idx];
	if ((old & POV_DROP_CNT_MASK) == POV_DROP_CNT_MASK)
		return 1;
	first = old >> POV_DROP_CNT_BITS;
	if (!old || unit < first)
		first = unit;
	return __sync_val_compare_and_swap(&drops[idx], old,
					   first << POV_DROP_CNT_BITS |
						   ((old & POV_DROP_CNT_MASK) + 1)) != old;
}

__noinline int drop_note(u32 ring, u32 class, u64 begin_ns)
{
	u64 unit = begin_ns >> POV_DROP_UNIT_BITS & POV_DROP_UNIT_MASK;
	u32 idx = POV_COUNT_DROP(ring, class), i;

	if (idx >= POV_DROPS)
		return -1;
	for (i = 0; i < TRIES; i++)
		if (!drop_try(idx, unit))
			return 0;
	count(idx);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
