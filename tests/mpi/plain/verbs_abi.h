/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Interface that libibverbs exports to its providers but no header of its packages declares. The
 * number of functions exceeds that of any release.
 */
#ifndef POV_TESTS_VERBS_ABI_H
#define POV_TESTS_VERBS_ABI_H

#include <infiniband/verbs.h>
#include <stdlib.h>

#define VERBS_SLOTS 128
#define VERBS_PRIVATE_BYTES 8192 /* more than libibverbs' own data of a context */
#define VERBS_QP_ALL UINT32_MAX

typedef void verbs_any_fn(void);
struct verbs_ops {
	verbs_any_fn *slot[VERBS_SLOTS];
};

/*
 * A device for ibv_open_device(). Its driver comes after the public part. Only the driver's
 * function that creates a context is called, and no header documents its position. Everything else
 * is absent, in particular any file in sysfs.
 */
#define VERBS_DRIVER_SLOTS 16
struct verbs_driver {
	verbs_any_fn *slot[VERBS_DRIVER_SLOTS];
};
struct verbs_driven_device {
	struct ibv_device device;
	const struct verbs_driver *driver;
	uint64_t nothing[64];
};

/*
 * A queue pair as providers make it. libibverbs reads after the public part if it is the extended
 * one.
 */
struct verbs_loopback_qp {
	struct ibv_qp_ex ex;
	uint32_t comp_mask;
};

void verbs_set_ops(struct verbs_context *context, const struct verbs_ops *ops);
void verbs_init_cq(struct ibv_cq *cq, struct ibv_context *context, struct ibv_comp_channel *channel,
		   void *cq_context);

/* Makes a context of a device that only has a name. */
static inline struct verbs_context *verbs_context_new(void)
{
	static struct ibv_device device = {.name = "loopback0"};
	struct verbs_context *v = calloc(1, sizeof(*v));

	v->sz = sizeof(*v);
	v->context.device = &device;
	v->context.abi_compat = (void *)(uintptr_t)-1; /* marks an extended context */
	v->priv = calloc(1, VERBS_PRIVATE_BYTES);
	return v;
}

/* ---- the provider of the tests ---- */

/* The ways in which it passes its functions to libibverbs, each with separate functions. */
enum loopback_way {
	LOOPBACK_FIRST,	 /* a constant table … */
	LOOPBACK_SECOND, /* … or another one that the code chooses */
	LOOPBACK_BUILT,	 /* a table made at run time */
};

/* Functions exported by the library, which programs load at run time. */
typedef struct ibv_context *loopback_open_fn(enum loopback_way way);
/* A device for ibv_open_device() whose contexts are those of LOOPBACK_FIRST. */
typedef struct ibv_device *loopback_device_fn(const char *name);
typedef struct ibv_qp *loopback_qp_fn(struct ibv_context *context);
typedef struct ibv_cq_ex *loopback_cq_ex_fn(struct ibv_context *context);

#endif
