/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Static probes of providers (rows with NOTE): one tells of one request that is being posted, by its queue pair, the name of its kind, and
 * either its bytes or the number of its pieces of memory, without its id and where it goes to.
 */
#include <string.h>

#include "layers/verbs/verbs_call.h"
#include "layers/verbs/verbs_post.h"

/* The text that an argument points to, or NULL. */
static const char *text_of(const struct verbs_call *c, const char *role)
{
	const uint8_t *data = verbs_call_data(c, role, POV_BLOCK_BYTES);
	char *text;

	if (!data)
		return NULL;
	text = arena_alloc(&c->d->arena, POV_BLOCK_BYTES + 1);
	memcpy(text, data, POV_BLOCK_BYTES);
	text[POV_BLOCK_BYTES] = '\0';
	return text;
}

static bool value_of(const struct verbs_call *c, const char *role, uint64_t *out)
{
	return call_parts_value(&c->parts, &c->fn->sig, role, out);
}

/* They are told, or follow if there is no piece at all. */
static uint32_t bytes_of(const struct verbs_call *c)
{
	uint64_t v;

	if (value_of(c, "num", &v))
		return v ? POV_WORK_BYTES_UNKNOWN : 0;
	return value_of(c, "length", &v) && v < POV_WORK_BYTES_UNKNOWN ? (uint32_t)v :
									 POV_WORK_BYTES_UNKNOWN;
}

void verbs_note_posts(const struct verbs_call *c, struct call_view *out)
{
	const char *opcode, *device;
	struct call_post *post;
	struct pov_work w = {0};
	uint64_t qp;

	/* one that could not be read in full means nothing */
	if (!(c->fn->attrs.flags & IS_NOTE) || c->parts.rec->hdr.flags & POV_CALL_FAULT)
		return;
	opcode = text_of(c, "opcode");
	device = text_of(c, "device");
	w.qp = value_of(c, "qp_num", &qp) ? (uint32_t)qp : 0;
	w.opcode = opcode ? verbs_post_opcode(opcode) : UINT8_MAX;
	w.bytes = bytes_of(c);
	post = arena_alloc(&c->d->arena, sizeof(*post));
	verbs_post_request(&c->d->conns, c->parts.rec->tgid, 0, &w, false, &c->d->arena, post);
	post->has_id = false;
	post->device = device && *device ? device : NULL;
	out->posts = post;
	out->nposts = 1;
}
