/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A field belongs to an argument; the only sum that is read is that of a list of pieces. */
#include "layers/ofi/ofi_call.h"

#include <string.h>

/* Bytes of an element of what an argument points to. */
static uint32_t width_of(const struct sig_arg *a)
{
	return a->type == SIG_BLOCK ? a->bytes ?: POV_BLOCK_BYTES : sizeof(uint64_t);
}

bool ofi_call_open(struct ofi_call *c, const struct func_info *info, const struct pov_call *rec,
		   struct layer_decoder *d)
{
	*c = (struct ofi_call){.info = info, .fn = info->priv, .d = d};
	if (!call_parts_open(&c->parts, rec, c->fn->sig.nargs))
		return false;
	c->begin_ns = rec->hdr.ts_ns - rec->dur_ns;
	call_fields_read(&c->fields, &c->parts, &c->fn->sig, width_of, &d->more, &d->arena);
	return true;
}

bool ofi_call_is_good(const struct ofi_call *c)
{
	return c->parts.returned && (int32_t)c->parts.rec->ret >= 0 &&
	       c->parts.nargs == c->fn->sig.nargs;
}

bool ofi_call_value(const struct ofi_call *c, const char *role, uint64_t *out)
{
	return call_parts_value(&c->parts, &c->fn->sig, role, out);
}

struct ofi_thread *ofi_call_thread(const struct ofi_call *c)
{
	return map_make(&c->d->threads, c->parts.rec->hdr.tid, sizeof(struct ofi_thread));
}

const struct call_field *ofi_call_field(const struct ofi_call *c, const char *role, uint32_t bytes)
{
	return call_fields_find(&c->fields, &c->fn->sig, role, bytes);
}
