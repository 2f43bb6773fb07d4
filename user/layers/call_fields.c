/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See call_fields.h. */
#include "layers/call_fields.h"

void call_fields_read(struct call_fields *f, const struct call_parts *c,
		      const struct signature *sig, uint32_t (*width_of)(const struct sig_arg *arg),
		      struct continuations *more, struct arena *arena)
{
	const struct pov_call *rec = c->rec;
	struct call_field *field;
	struct pov_field head;
	const uint8_t *data;
	size_t at = 0;

	while (call_parts_field(c, &at, &head, &data)) {
		if (head.arg >= c->nargs)
			continue;
		field = head.type == POV_FIELD_SUM ? &f->sum : &f->arg[head.arg];
		*field = (struct call_field){data, head.size, head.cnt};
		if (rec->hdr.flags & POV_CALL_MORE && head.type != POV_FIELD_SUM)
			continuations_join(more, rec->hdr.tid, rec->hdr.ts_ns - rec->dur_ns,
					   head.type, head.arg, width_of(&sig->arg[head.arg]),
					   arena, &field->data, &field->bytes);
	}
}

const struct call_field *call_fields_find(const struct call_fields *f, const struct signature *sig,
					  const char *role, uint32_t bytes)
{
	int arg = signature_find(sig, role);

	return arg >= 0 && f->arg[arg].data && f->arg[arg].bytes >= bytes ? &f->arg[arg] : NULL;
}
