/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The verbs layer: data passed to InfiniBand and similar adapters, and their completions. This file
 * has the table and what is shown of a call. Posts are made in verbs_post.c; verbs_conn.c learns
 * about connections.
 */
#include <errno.h>
#include <string.h>

#include "layers/verbs/verbs_call.h"
#include "lib/json_get.h"

#define LAYER_DEF "layers/verbs/verbs.def"
#include "layers/layer_rows.h"

static const struct func_word words[] = {
	{"VOID", RETURNS_VOID, 0},
	{"ERRNO", RETURNS_ERRNO, 0},
	{"COUNT", RETURNS_COUNT, 0},
	{"POINTER", RETURNS_POINTER, 0},
	{"RECEIVES", RECEIVES, 0},
	{"NOTE", IS_NOTE, 0},
	{"CONTEXT", TEACHES_CONTEXT, 0},
	{"QP", TEACHES_QP, 0},
	{"QP_ATTR", TEACHES_QP_ATTR, 0},
	{"AH", TEACHES_AH, 0},
	{"AH_FREE", TEACHES_AH_FREE, 0},
	{"START", TEACHES_START, 0},
	{"REQUEST", TEACHES_REQUEST, 0},
	{"DATA", TEACHES_DATA, 0},
	{"ADDRESS", TEACHES_ADDRESS, 0},
	{"COMPLETE", TEACHES_COMPLETE, 0},
	{"ABORT", TEACHES_ABORT, 0},
	{"CQ_FREE", TEACHES_CQ_FREE, 0},
	{"QP_FREE", TEACHES_QP_FREE, POV_LEARN_TYPE_FREE},
	{NULL, 0, 0},
};

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *fn)
{
	if (attrs->flags & FUNC_POLL) {
		fn->flags |= POV_FN_POLL | POV_FN_BY_RETURN;
		fn->poll_arg = attrs->flags & RETURNS_ERRNO ? ENOENT : 0;
		fn->poll_bytes = 4;
		fn->spin_arg = 0; /* the queue */
	}
	fn->learn = attrs->learn;
	return recipe_add_fetches(sig, NULL, fn);
}

/* ---- the trace's table ---- */

static void func_init(const json_t *row, void *priv, struct func_info *out)
{
	((struct verbs_func *)priv)->opcode = verbs_build_opcode(json_get_text(row, "name"));
}

/* ---- decoding ---- */

static void decoder_release(struct layer_decoder *base)
{
	struct verbs_decoder *d = (struct verbs_decoder *)base;

	verbs_conns_release(&d->conns);
	map_free(&d->builds, verbs_build_free);
}

static void decoder_meta(struct layer_decoder *d, const json_t *meta)
{
	if (json_is_type(meta, "adapters"))
		verbs_adapters_add(&((struct verbs_decoder *)d)->conns.adapters, meta);
}

/* ---- a call ---- */

/* Bytes of one element that an argument points to. */
static uint32_t width_of(const struct sig_arg *a)
{
	return a->type == SIG_WORK ? sizeof(struct pov_work) : a->bytes ?: POV_BLOCK_BYTES;
}

static void call_open(struct verbs_call *c, const struct call_parts *parts, struct verbs_decoder *d)
{
	*c = (struct verbs_call){.fn = parts->info->priv, .parts = *parts, .d = d};
	call_fields_read(&c->fields, parts, width_of, &d->base);
}

const uint8_t *verbs_call_data(const struct verbs_call *c, const char *role, uint32_t bytes)
{
	const struct call_field *f = call_fields_find(&c->fields, &c->parts, role, bytes);

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

/* ---- shown values ---- */

static void text_show(const char *name, const char *text, struct call_view *out)
{
	if (text)
		call_view_add(out, name, VALUE_TEXT)->text = text;
}

static void bytes_add(int64_t *to, int64_t bytes)
{
	*to = *to == BYTES_UNKNOWN || bytes == BYTES_UNKNOWN ? BYTES_UNKNOWN : *to + bytes;
}

/* Shows what all posts have in common, by the first one, and their total bytes. */
static void posts_show(struct call_view *out)
{
	const struct call_post *first = out->posts;
	int64_t bytes = 0;
	bool alike = true;

	if (!out->nposts)
		return;
	for (uint32_t i = 0; i < out->nposts; i++) {
		const struct call_post *p = &out->posts[i];

		alike &= p == first || !strcmp(p->op, first->op);
		bytes_add(&bytes, p->bytes);
	}
	if (out->nposts > 1)
		call_view_add(out, "requests", VALUE_INT)->i = out->nposts;
	text_show("op", alike ? first->op : "several", out);
	if (bytes != BYTES_UNKNOWN)
		call_view_add(out, "bytes", VALUE_INT)->i = bytes;
	if (first->kind == POST_COMPLETION)
		return;
	if (first->queue)
		call_view_add(out, "qp_num", VALUE_UINT)->u = first->queue;
	text_show("device", first->device, out);
	text_show("dest", first->remote_end ?: first->dest, out);
}

/* Shows the completion of an extended queue, which has no more data than these. */
static void completion_show(const struct verbs_call *c, struct call_view *out)
{
	const uint8_t *wc = verbs_call_extended(c);

	if (!wc)
		return;
	call_view_add(out, "wr_id", VALUE_HEX)->u = out->posts->id;
	text_show("status", verbs_wc_ex_status(wc), out);
}

/* Shows a queue pair's type and its new state. */
static void queue_show(const struct verbs_call *c, struct call_view *out)
{
	const uint8_t *attr;
	uint32_t v, mask;

	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_QP:
		attr = verbs_call_data(c, "attr", 2 * sizeof(v));
		if (!attr)
			break;
		memcpy(&v, attr + sizeof(v), sizeof(v));
		text_show("qp_type", verbs_qp_type_name(v), out);
		break;
	case TEACHES_QP_ATTR:
		attr = verbs_call_data(c, "attr", VERBS_QP_ATTR_BYTES);
		mask = (uint32_t)call_parts_word(&c->parts, 2);
		if (attr && mask & 1) {
			memcpy(&v, attr, sizeof(v));
			text_show("qp_state", verbs_qp_state_name(v), out);
		}
		break;
	}
}

static void result_show(const struct verbs_call *c, struct call_view *out)
{
	uint64_t ret = c->parts.rec->ret;

	if (c->fn->attrs.flags & RETURNS_POINTER)
		call_view_add(out, "result", VALUE_HEX)->u = ret;
	else if (c->fn->attrs.flags & (RETURNS_ERRNO | RETURNS_COUNT))
		call_view_add(out, "result", VALUE_INT)->i = (int32_t)ret;
	if (c->fn->attrs.flags & RETURNS_ERRNO)
		out->roles.error = (int32_t)ret;
}

/* Sets the direction of the posted data. */
static void roles_fill(struct call_view *out)
{
	struct call_roles *r = &out->roles;

	for (uint32_t i = 0; i < out->nposts; i++) {
		const struct call_post *p = &out->posts[i];

		if (p->failed)
			continue;
		if (p->kind == POST_SEND || p->kind == POST_WRITE) {
			r->sends = true;
			bytes_add(&r->send_bytes, p->bytes);
		} else if (p->kind == POST_READ || p->kind == POST_RECV) {
			r->receives = true;
			bytes_add(&r->recv_bytes, p->bytes);
		}
	}
}

static bool has_found(const struct verbs_call *c)
{
	int32_t ret = (int32_t)c->parts.rec->ret;

	return c->parts.returned && (c->fn->attrs.flags & RETURNS_ERRNO ? !ret : ret > 0);
}

static void decode(struct layer_decoder *base, const struct call_parts *call, struct call_view *out)
{
	struct verbs_call c;

	call_open(&c, call, (struct verbs_decoder *)base);
	verbs_learn(&c);
	verbs_list_posts(&c, out);
	verbs_build_posts(&c, out);
	verbs_note_posts(&c, out);
	/* a static probe's arguments are shown as its post */
	for (uint32_t i = 0; i < call->nargs && !(c.fn->attrs.flags & IS_NOTE); i++)
		if (call->sig->arg[i].type != SIG_WORK)
			call_view_add_arg(out, call, i);
	queue_show(&c, out);
	posts_show(out);
	completion_show(&c, out);
	if (call->returned)
		result_show(&c, out);
	roles_fill(out);
	out->roles.poll_found = call->info->polls && has_found(&c);
}

const struct layer layer_verbs = {
	.name = "verbs",
	LAYER_ROWS,
	.words = words,
	.uses_adapters = true,
	.nearness = 3,
	.recipe = recipe,
	.func_bytes = sizeof(struct verbs_func),
	.func_init = func_init,
	.decoder_bytes = sizeof(struct verbs_decoder),
	.decoder_release = decoder_release,
	.decoder_meta = decoder_meta,
	.has_more = true,
	.decode = decode,
	.spin_arg_name = layer_first_arg_name,
};
