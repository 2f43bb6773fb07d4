/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The words that reports and timelines have for posts. */
#include "layers/post.h"

#include <stddef.h>

const char *post_carrier_name(enum post_carrier carrier)
{
	static const char *const names[CARRIER_CNT] = {
		[CARRIER_UNKNOWN] = "unknown", [CARRIER_NIC] = "nic", [CARRIER_SOCKET] = "socket",
		[CARRIER_CMA] = "cma",	       [CARRIER_SHM] = "shm",
	};

	return names[carrier];
}

const char *post_kind_name(enum post_kind kind)
{
	static const char *const names[POST_KIND_CNT] = {
		[POST_SEND] = "send",
		[POST_RECV] = "receive",
		[POST_WRITE] = "write",
		[POST_READ] = "read",
		[POST_ATOMIC] = "atomic",
		[POST_OTHER] = "other",
		[POST_COMPLETION] = "completion",
		[POST_ARRIVAL] = "arrival",
	};

	return names[kind];
}

const char *post_step_name(enum post_step step)
{
	static const char *const names[STEP_CNT] = {
		[STEP_EAGER] = "eager", [STEP_RTS] = "RTS", [STEP_RTR] = "RTR",
		[STEP_DATA] = "data",	[STEP_FIN] = "FIN",
	};

	return names[step];
}
