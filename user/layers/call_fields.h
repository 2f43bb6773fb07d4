/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Memory read through the arguments of a call, including the parts in its continuation records. */
#ifndef POV_LAYERS_CALL_FIELDS_H
#define POV_LAYERS_CALL_FIELDS_H

#include "layers/arena.h"
#include "layers/call_parts.h"
#include "layers/continuation.h"
#include "layers/signature.h"

struct call_field {
	/* in the record or in the arena, not aligned; NULL: nothing was read */
	const uint8_t *data;
	uint32_t bytes, cnt; /* cnt: true number of elements */
};

struct call_fields {
	struct call_field arg[POV_CALL_ARGS_MAX];
	struct call_field sum; /* the POV_FIELD_SUM; data is NULL if there is none */
};

/*
 * Reads all fields of a call. width_of: returns the bytes of one element that an argument points
 * to.
 */
void call_fields_read(struct call_fields *f, const struct call_parts *c,
		      const struct signature *sig, uint32_t (*width_of)(const struct sig_arg *arg),
		      struct continuations *more, struct arena *arena);
/* Field of the argument with a role, if at least `bytes` bytes were read; or NULL. */
const struct call_field *call_fields_find(const struct call_fields *f, const struct signature *sig,
					  const char *role, uint32_t bytes);

#endif
