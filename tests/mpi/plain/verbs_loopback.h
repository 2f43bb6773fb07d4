/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The ways in which the provider of the tests hands over its functions, each of which has functions of its own. */
#ifndef POV_TESTS_VERBS_LOOPBACK_H
#define POV_TESTS_VERBS_LOOPBACK_H

#include "verbs_abi.h"

enum loopback_way {
	LOOPBACK_FIRST,	 /* a constant table … */
	LOOPBACK_SECOND, /* … or another: the code chooses */
	LOOPBACK_BUILT,	 /* a table that is made at run time */
};

/* Exported by the library, which programs load at run time. */
typedef struct ibv_context *loopback_open_fn(enum loopback_way way);
/* A device for ibv_open_device, whose contexts are those of LOOPBACK_FIRST. */
typedef struct ibv_device *loopback_device_fn(const char *name);
typedef struct ibv_qp *loopback_qp_fn(struct ibv_context *context);
typedef struct ibv_cq_ex *loopback_cq_ex_fn(struct ibv_context *context);

#endif
