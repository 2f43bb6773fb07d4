/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The libfabric layer: data passed to endpoints, and their completions. This file has the table and
 * what is shown of a call. Posts are made in ofi_post.c. What later calls can learn from a call
 * goes to ofi_object.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layers/ofi/ofi_call.h"
#include "lib/log.h"

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

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *out)
{
	struct pov_fn fn;
	int err;

	recipe_init(sig, &fn);
	if (attrs->flags & FUNC_POLL) {
		fn.flags |= POV_FN_POLL | POV_FN_BY_RETURN;
		fn.poll_arg = (uint8_t)TRY_AGAIN;
		fn.poll_bytes = 8;
		fn.spin_arg = 0; /* the endpoint or the queue */
	}
	err = recipe_add_fetches(sig, NULL, &fn);
	if (!err && (attrs->flags & TEACHES) == TEACHES_EP)
		err = recipe_add_member((uint8_t)signature_find(sig, "info"), AT_EP_ATTR,
					EP_ATTR_BYTES, &fn);
	if (!err)
		*out = fn;
	return err;
}

static int func_parse(const json_t *row, struct func_info *out)
{
	return func_priv_parse(row, "ofi", roles, words, sizeof(struct ofi_func), out) ? 0 :
											 -EINVAL;
}

static struct layer_decoder *decoder_new(void)
{
	return xcalloc(1, sizeof(struct layer_decoder));
}

static void decoder_free(struct layer_decoder *d)
{
	if (!d)
		return;
	arena_release(&d->arena);
	continuations_release(&d->more);
	ofi_objects_release(&d->objects);
	map_free(&d->threads, free);
	free(d);
}

static void decoder_more(struct layer_decoder *d, const struct pov_more *more)
{
	continuations_add(&d->more, more);
}

/* ---- a call ---- */

/* Bytes of one element that an argument points to. */
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
		ep_attr = call_parts_data(&c->parts, &c->fn->sig, "info", POV_FIELD_MEMBER,
					  AT_EP_ATTR, EP_ATTR_BYTES);
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

void ofi_learn(const struct ofi_call *c)
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

static void decode(struct layer_decoder *d, const struct func_info *f, const struct pov_call *call,
		   struct call_view *out)
{
	struct ofi_call c;

	arena_reset(&d->arena);
	out->nvalues = out->nposts = 0;
	memset(&out->roles, 0, sizeof(out->roles));
	if (!ofi_call_open(&c, f, call, d))
		return;
	for (uint32_t i = 0; i < c.parts.nargs; i++)
		arg_show(&c.fn->sig.arg[i], call_parts_word(&c.parts, i), out);
	if (c.parts.returned && (int32_t)call->ret < 0)
		out->roles.error = (int32_t)call->ret;
	out->roles.poll_found = c.parts.returned && f->polls;
	ofi_learn(&c);
	ofi_posts(&c, out);
	ofi_completions(&c, out);
	continuations_done(&d->more, call->hdr.tid, c.begin_ns, call->depth);
}

const struct layer layer_ofi = {
	.name = "ofi",
	.rows = rows,
	.row_cnt = sizeof(rows) / sizeof(rows[0]),
	.roles = roles,
	.words = words,
	.recipe = recipe,
	.nearness = 2,
	.func_parse = func_parse,
	.func_release = func_priv_free,
	.decoder_new = decoder_new,
	.decoder_free = decoder_free,
	.decoder_more = decoder_more,
	.decode = decode,
	.spin_arg_name = func_first_arg_name,
};
