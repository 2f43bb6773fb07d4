/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A field belongs to an argument; the only sum that is read tells how many requests were accepted. */
#include "layers/verbs/verbs_call.h"

#include "layers/verbs/verbs_post.h"

/* Bytes of an element of what an argument points to. */
static uint32_t width_of(const struct sig_arg *a)
{
	return a->type == SIG_WORK ? sizeof(struct pov_work) : a->bytes ?: POV_BLOCK_BYTES;
}

bool verbs_call_open(struct verbs_call *c, const struct func_info *info, const struct pov_call *rec,
		     struct layer_decoder *d)
{
	*c = (struct verbs_call){.fn = info->priv, .d = d};
	if (!call_parts_open(&c->parts, rec, c->fn->sig.nargs))
		return false;
	c->begin_ns = rec->hdr.ts_ns - rec->dur_ns;
	call_fields_read(&c->fields, &c->parts, &c->fn->sig, width_of, &d->more, &d->arena);
	return true;
}

const uint8_t *verbs_call_data(const struct verbs_call *c, const char *role, uint32_t bytes)
{
	const struct call_field *f = call_fields_find(&c->fields, &c->fn->sig, role, bytes);

	return f ? f->data : NULL;
}

bool verbs_call_is_failed(const struct verbs_call *c)
{
	uint32_t returns = c->fn->attrs.flags;
	uint64_t ret = c->parts.rec->ret;

	if (!c->parts.returned || returns & RETURNS_VOID)
		return false;
	return returns & RETURNS_POINTER ? !ret :
	       returns & RETURNS_ERRNO	 ? (int32_t)ret != 0 :
					   (int32_t)ret < 0;
}

const uint8_t *verbs_call_extended(const struct verbs_call *c)
{
	if (!c->parts.returned || verbs_call_is_failed(c))
		return NULL;
	return verbs_call_data(c, "cq", VERBS_WC_EX_BYTES);
}
