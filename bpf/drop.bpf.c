// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Records that found no room. How many and from when is one word, so that the collector takes both at one moment:
 * whatever was counted began no earlier than the time it gets. It adds the other bound, which is when it looks.
 */
#include "core.bpf.h"

#define TRIES 32

__noinline int drop_note(u32 ring, u32 class, u64 begin_ns)
{
	u64 unit = begin_ns >> POV_DROP_UNIT_BITS & POV_DROP_UNIT_MASK, old, first;
	u32 idx = POV_COUNT_DROP(ring, class), i;

	if (idx >= POV_DROPS)
		return -1;
	for (i = 0; i < TRIES; i++) {
		old = drops[idx];
		if ((old & POV_DROP_CNT_MASK) == POV_DROP_CNT_MASK)
			break;
		first = old >> POV_DROP_CNT_BITS;
		if (!old || unit < first)
			first = unit;
		if (__sync_val_compare_and_swap(&drops[idx], old,
						first << POV_DROP_CNT_BITS |
							((old & POV_DROP_CNT_MASK) + 1)) == old)
			return 0;
	}
	count(idx);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
