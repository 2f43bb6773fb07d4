// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Variables that all files share, with each other and with the collector (described in core.bpf.h).
 */
#include "core.bpf.h"

const volatile struct pov_config cfg = {};

__u64 counters[POV_COUNTERS] = {};
volatile __u64 drops[POV_DROPS] = {};
volatile __u64 calls_until = 0;
volatile __u64 exchanges = 0;
__u64 collector_ns = 0;
__u64 type_generation = 0;
struct pov_step binding_steps[POV_STEPS] = {};
__u64 bindings_changes = 0;
__u64 threads_stored = 0;
__u16 slot_hints[SLOT_HINTS] = {};

char LICENSE[] __weak SEC("license") = "Dual BSD/GPL";
