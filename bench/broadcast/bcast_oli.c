/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The accurate method (de Supinski & Karonis 1999, section 4): the broadcast's latency to each
 * task, OL_i. The largest OL_i is the broadcast's latency (oli.h).
 */
#include "broadcast/oli.h"

static void method(struct bench_run *run, const struct rooted_case *rc)
{
	oli_measure(run, rc, "oli", OLI_FROM_ROOT);
}

static const struct rooted_method rooted = {.ops = rooted_bcasts, .measure = method};

const struct bench bench_bcast_oli = {
	.name = "bcast_oli",
	.group = "broadcast",
	.brief = "broadcast: latency to each task, acknowledged by it alone, and the largest",
	.source = "de Supinski & Karonis 1999, section 4, OL_i",
	.kind = RESULT_BROADCAST,
	.ranks_min = 2,
	.method = &rooted,
	.run = rooted_run,
	.estimate_ns = rooted_estimate_ns,
};
