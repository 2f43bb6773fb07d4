/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The libfabric layer: data passed to endpoints, and their completions. This file has the table and
 * what is shown of a call. Posts are made in ofi_post.c. What later calls can learn from a call
 * goes to ofi_object.c.
 */
#include <stdlib.h>
#include <string.h>

#include "layers/ofi/ofi_call.h"

#define LAYER_DEF "layers/ofi/ofi.def"
#include "layers/layer_rows.h"

#define TRY_AGAIN (-11) /* -FI_EAGAIN */

static const struct func_word words[] = {
	{"SENDS", SENDS, 0},
	{"RECEIVES", RECEIVES, 0},
	{"READS", READS, 0},
	{"WRITES", WRITES, 0},
	{"COMPLETES", COMPLETES, 0},
	{"CQ", TEACHES_CQ, 0},
	{"AV", TEACHES_AV, 0},
	{"EP", TEACHES_EP, 0},
	{"BIND", TEACHES_BIND, 0},
	{"NAME", TEACHES_NAME, 0},
	{"PEER", TEACHES_PEER, 0},
	{"INSERT", TEACHES_INSERT, 0},
	{NULL, 0, 0},
};

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *fn)
{
	int err;

	if (attrs->flags & FUNC_POLL) {
		fn->flags |= POV_FN_POLL | POV_FN_BY_RETURN;
		fn->poll_arg = (uint8_t)TRY_AGAIN;
		fn->poll_bytes = 8;
		fn->spin_arg = 0; /* the endpoint or the queue */
	}
	err = recipe_add_fetches(sig, NULL, fn);
	if (!err && (attrs->flags & TEACHES) == TEACHES_EP)
		err = recipe_add_member((uint8_t)signature_find(sig, "info"), AT_EP_ATTR,
					EP_ATTR_BYTES, fn);
	return err;
}

static void decoder_release(struct layer_decoder *base)
{
	struct ofi_decoder *d = (struct ofi_decoder *)base;

	ofi_objects_release(&d->objects);
	map_free(&d->threads, free);
}

/* ---- a call ---- */

/* Bytes of one element that an argument points to. */
static uint32_t width_of(const struct sig_arg *a)
{
	return a->type == SIG_BLOCK ? a->bytes ?: POV_BLOCK_BYTES : sizeof(uint64_t);
}

static void call_open(struct ofi_call *c, const struct call_parts *parts, struct ofi_decoder *d)
{
	*c = (struct ofi_call){.fn = parts->info->priv, .parts = *parts, .d = d};
	call_fields_read(&c->fields, parts, width_of, &d->base);
}

bool ofi_call_is_good(const struct ofi_call *c)
{
	return c->parts.returned && (int32_t)c->parts.rec->ret >= 0 &&
	       c->parts.nargs == c->fn->sig.nargs;
}

struct ofi_thread *ofi_call_thread(const struct ofi_call *c)
{
	return map_make(&c->d->threads, c->parts.rec->hdr.tid, sizeof(struct ofi_thread));
}

const struct call_field *ofi_call_field(const struct ofi_call *c, const char *role, uint32_t bytes)
{
	return call_fields_find(&c->fields, &c->parts, role, bytes);
}

/* ---- what calls reveal about objects; those that failed reveal nothing ---- */

static uint64_t word_of(const struct call_field *f)
{
	uint64_t v;

	memcpy(&v, f->data, sizeof(v));
	return v;
}

static void object_opened(const struct ofi_call *c, uint32_t pid)
{
	const struct call_field *attr = ofi_call_field(c, "attr", 4), *object;
	const uint8_t *ep_attr;
	uint32_t v = 0;

	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_CQ:
		object = ofi_call_field(c, "cq", 8);
		if (attr)
			memcpy(&v, attr->data, sizeof(v));
		if (object)
			ofi_cq_opened(&c->d->objects, pid, word_of(object), v);
		break;
	case TEACHES_AV:
		object = ofi_call_field(c, "av", 8);
		if (object)
			ofi_av_opened(&c->d->objects, pid, word_of(object));
		break;
	case TEACHES_EP:
		object = ofi_call_field(c, "new_ep", 8);
		ep_attr = call_parts_data(&c->parts, "info", POV_FIELD_MEMBER, AT_EP_ATTR,
					  EP_ATTR_BYTES);
		if (ep_attr) /* it begins with type and protocol */
			memcpy(&v, ep_attr + 4, sizeof(v));
		if (object)
			ofi_ep_opened(&c->d->objects, pid, word_of(object), v);
		break;
	}
}

static void addresses_inserted(const struct ofi_call *c, uint32_t pid, uint64_t av)
{
	const struct call_field *addr = ofi_call_field(c, "addr", 1),
				*numbers = ofi_call_field(c, "fi_addr", 8);

	/* a return value of 0 means later, reported by an event */
	if (addr && numbers && (uint32_t)c->parts.rec->ret)
		ofi_inserted(&c->d->objects, pid, av, addr->data, addr->bytes, numbers->data,
			     numbers->bytes / 8);
}

/* Remembers what the call reveals about objects. */
static void ofi_learn(const struct ofi_call *c)
{
	uint64_t first = call_parts_word(&c->parts, 0), bytes;
	uint32_t pid = c->parts.rec->tgid;
	const struct call_field *addr, *length;

	if (!ofi_call_is_good(c))
		return;
	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_BIND:
		ofi_bound(&c->d->objects, pid, first, call_parts_word(&c->parts, 1),
			  call_parts_word(&c->parts, 2));
		break;
	case TEACHES_NAME:
		addr = ofi_call_field(c, "addr", 1);
		length = ofi_call_field(c, "addrlen", 8);
		bytes = length ? word_of(length) : 0;
		if (addr && bytes && bytes <= addr->bytes)
			ofi_named(&c->d->objects, pid, first, addr->data, (uint32_t)bytes);
		break;
	case TEACHES_PEER:
		addr = ofi_call_field(c, "addr", 1);
		if (addr)
			ofi_connected(&c->d->objects, pid, first, addr->data, addr->bytes);
		break;
	case TEACHES_INSERT:
		addresses_inserted(c, pid, first);
		break;
	default:
		object_opened(c, pid);
	}
}

static void arg_show(const struct sig_arg *a, uint64_t w, struct call_view *out)
{
	if (a->kind == SIG_KIND_NUM && a->dir == SIG_VALUE)
		call_view_add(out, a->role, VALUE_INT)->i = a->type == SIG_INT ? (int32_t)w :
										 (int64_t)w;
	else
		call_view_add(out, a->role, VALUE_HEX)->u = w;
}

static void decode(struct layer_decoder *base, const struct call_parts *call, struct call_view *out)
{
	struct ofi_call c;

	call_open(&c, call, (struct ofi_decoder *)base);
	for (uint32_t i = 0; i < c.parts.nargs; i++)
		arg_show(&c.fn->sig.arg[i], call_parts_word(&c.parts, i), out);
	if (c.parts.returned && (int32_t)call->rec->ret < 0)
		out->roles.error = (int32_t)call->rec->ret;
	out->roles.poll_found = call->returned && call->info->polls;
	ofi_learn(&c);
	ofi_posts(&c, out);
	ofi_completions(&c, out);
}

const struct layer layer_ofi = {
	.name = "ofi",
	LAYER_ROWS,
	.words = words,
	.recipe = recipe,
	.nearness = 2,
	.decoder_bytes = sizeof(struct ofi_decoder),
	.decoder_release = decoder_release,
	.has_more = true,
	.decode = decode,
	.spin_arg_name = layer_first_arg_name,
};
