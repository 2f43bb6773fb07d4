/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What libibverbs exports to its providers, and no header of its packages declares. The number of functions is more than any release has. */
#ifndef POV_TESTS_VERBS_ABI_H
#define POV_TESTS_VERBS_ABI_H

#include <infiniband/verbs.h>
#include <stdlib.h>

#define VERBS_SLOTS 128
#define VERBS_PRIVATE_BYTES 8192 /* more than what libibverbs keeps of a context */
#define VERBS_QP_ALL UINT32_MAX

typedef void verbs_any_fn(void);
struct verbs_ops {
	verbs_any_fn *slot[VERBS_SLOTS];
};

/*
 * A device as ibv_open_device takes it: behind the public part lies its driver, of which only the function that makes a context is
 * called, and where that stands no header tells; nothing else is there, above all no file in sysfs.
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

/* A queue pair as providers make it: libibverbs looks behind the public part whether that is the extended one. */
struct verbs_loopback_qp {
	struct ibv_qp_ex ex;
	uint32_t comp_mask;
};

void verbs_set_ops(struct verbs_context *context, const struct verbs_ops *ops);
void verbs_init_cq(struct ibv_cq *cq, struct ibv_context *context, struct ibv_comp_channel *channel,
		   void *cq_context);

/* A context of a device that has no more than a name. */
static inline struct verbs_context *verbs_context_new(void)
{
	static struct ibv_device device = {.name = "loopback0"};
	struct verbs_context *v = calloc(1, sizeof(*v));

	v->sz = sizeof(*v);
	v->context.device = &device;
	v->context.abi_compat = (void *)(uintptr_t)-1; /* an extended one */
	v->priv = calloc(1, VERBS_PRIVATE_BYTES);
	return v;
}

/* ---- the provider of the tests ---- */

/* The ways in which it hands over its functions, each of which has functions of its own. */
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
