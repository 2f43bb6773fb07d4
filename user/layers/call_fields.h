/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What was read behind the arguments of a call, with what its continuation records hold of it. */
#ifndef POV_LAYERS_CALL_FIELDS_H
#define POV_LAYERS_CALL_FIELDS_H

#include "layers/arena.h"
#include "layers/call_parts.h"
#include "layers/continuation.h"
#include "layers/signature.h"

struct call_field {
	const uint8_t *data; /* NULL: nothing was read. Not aligned; in the record or in the arena */
	uint32_t bytes, cnt; /* cnt: true number of elements */
};

struct call_fields {
	struct call_field arg[POV_CALL_ARGS_MAX];
	struct call_field sum; /* of POV_FIELD_SUM; data is NULL if there is none */
};

/* width_of: bytes of an element of what an argument points to. */
void call_fields_read(struct call_fields *f, const struct call_parts *c,
		      const struct signature *sig, uint32_t (*width_of)(const struct sig_arg *arg),
		      struct continuations *more, struct arena *arena);
/* Of the argument with a role, if so many bytes were read; or NULL. */
const struct call_field *call_fields_find(const struct call_fields *f, const struct signature *sig,
					  const char *role, uint32_t bytes);

#endif
