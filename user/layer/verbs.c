/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The verbs layer: what is handed to adapters of InfiniBand and its like, and what they say is done. What a work request is
 * stands in verbs_post.c; where its queue pair leads to, which earlier calls told, in verbs_conn.c.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "base/json_get.h"
#include "base/log.h"
#include "layer/arena.h"
#include "layer/call_parts.h"
#include "layer/continuation.h"
#include "layer/layer.h"
#include "layer/signature.h"
#include "layer/verbs_conn.h"
#include "layer/verbs_post.h"

/* What a function returns; FUNC_OWN and up. */
#define RETURNS_VOID 0x100
#define RETURNS_ERRNO 0x200
#define RETURNS_COUNT 0x400
#define RETURNS_POINTER 0x800
/* What it posts receives. */
#define RECEIVES 0x1000
/* What a call teaches for others. */
#define TEACHES 0xf0000
#define TEACHES_CONTEXT 0x10000
#define TEACHES_QP 0x20000
#define TEACHES_QP_ATTR 0x30000
#define TEACHES_QP_FREE 0x40000
#define TEACHES_AH 0x50000
#define TEACHES_AH_FREE 0x60000

#define DEVICE_NAME_BYTES 64
#define POSTS_MAX 8192 /* of one call: no list is longer, but a damaged file may say so */

static const struct func_row rows[] = {
#define POV_FUNC(name, group, attrs, sig) {#name, #group, #attrs, sig},
#include "verbs.def"
};

static const struct sig_role roles[] = {
#define POV_ROLE(role, type, kind) {#role, SIG_##type, SIG_KIND_##kind},
#include "verbs.def"
	{NULL, 0, 0},
};

static const struct func_word words[] = {
	{"VOID", RETURNS_VOID, 0},
	{"ERRNO", RETURNS_ERRNO, 0},
	{"COUNT", RETURNS_COUNT, 0},
	{"POINTER", RETURNS_POINTER, 0},
	{"RECEIVES", RECEIVES, 0},
	{"CONTEXT", TEACHES_CONTEXT, 0},
	{"QP", TEACHES_QP, 0},
	{"QP_ATTR", TEACHES_QP_ATTR, 0},
	{"AH", TEACHES_AH, 0},
	{"AH_FREE", TEACHES_AH_FREE, 0},
	{"QP_FREE", TEACHES_QP_FREE, POV_LEARN_TYPE_FREE},
	{NULL, 0, 0},
};

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *out)
{
	struct pov_fn fn;
	int err;

	recipe_init(sig, &fn);
	if (attrs->flags & FUNC_POLL) {
		fn.flags |= POV_FN_POLL | POV_FN_BY_RETURN;
		fn.poll_arg = 0;
		fn.poll_bytes = 4;
		fn.spin_arg = 0; /* the queue */
	}
	fn.learn = attrs->learn;
	err = recipe_add_fetches(sig, NULL, &fn);
	if (!err)
		*out = fn;
	return err;
}

/* ---- the trace's table ---- */

struct verbs_func {
	struct signature sig;
	struct func_attrs attrs;
};

static int func_parse(const json_t *row, struct func_info *out)
{
	struct verbs_func *f = xcalloc(1, sizeof(*f));
	int err = func_row_parse(row, "verbs", roles, words, &f->sig, &f->attrs, out);

	if (err) {
		free(f);
		return err;
	}
	out->priv = f;
	return 0;
}

/* ---- decoding ---- */

struct layer_decoder {
	struct arena arena; /* what the current view points to */
	struct continuations more;
	struct verbs_conns conns;
};

/* What was read behind an argument. */
struct field {
	const uint8_t *data;
	uint32_t bytes, cnt; /* cnt: true number of elements */
};

/* A call while it is decoded. */
struct verbs_call {
	const struct verbs_func *fn;
	struct call_parts parts;
	struct layer_decoder *d;
	struct field field[POV_CALL_ARGS_MAX];
	uint64_t begin_ns;
	uint32_t accepted; /* requests before the first one that was refused */
	bool has_accepted;
};

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
	verbs_conns_release(&d->conns);
	free(d);
}

static void decoder_meta(struct layer_decoder *d, const json_t *meta)
{
	if (json_is_type(meta, "adapters"))
		verbs_adapters_add(&d->conns.adapters, meta);
}

static void decoder_more(struct layer_decoder *d, const struct pov_more *more)
{
	continuations_add(&d->more, more);
}

/* Bytes of an element of what an argument points to. */
static uint32_t width_of(const struct sig_arg *a)
{
	return a->type == SIG_WORK ? sizeof(struct pov_work) : a->bytes ?: POV_BLOCK_BYTES;
}

static bool call_open(struct verbs_call *c, const struct func_info *info,
		      const struct pov_call *rec, struct layer_decoder *d)
{
	struct pov_field head;
	const uint8_t *data;
	size_t at = 0;

	*c = (struct verbs_call){.fn = info->priv, .d = d};
	if (!call_parts_open(&c->parts, rec, c->fn->sig.nargs))
		return false;
	c->begin_ns = rec->hdr.ts_ns - rec->dur_ns;
	while (call_parts_field(&c->parts, &at, &head, &data)) {
		if (head.arg >= c->parts.nargs)
			continue;
		if (head.type == POV_FIELD_SUM) {
			c->accepted = head.cnt;
			c->has_accepted = true;
			continue;
		}
		c->field[head.arg] = (struct field){data, head.size, head.cnt};
		if (rec->hdr.flags & POV_CALL_MORE)
			continuations_join(&d->more, rec->hdr.tid, c->begin_ns, head.type, head.arg,
					   width_of(&c->fn->sig.arg[head.arg]), &d->arena,
					   &c->field[head.arg].data, &c->field[head.arg].bytes);
	}
	return true;
}

/* What was read of the argument with a role, if it is so long; or NULL. */
static const uint8_t *data_of(const struct verbs_call *c, const char *role, uint32_t bytes)
{
	int arg = signature_find(&c->fn->sig, role);

	return arg >= 0 && c->field[arg].bytes >= bytes ? c->field[arg].data : NULL;
}

static bool is_failed(const struct verbs_call *c)
{
	uint64_t ret = c->parts.rec->ret;

	return c->parts.returned && (c->fn->attrs.flags & RETURNS_POINTER ? !ret :
				     c->fn->attrs.flags & RETURNS_ERRNO	  ? (int32_t)ret != 0 :
									    (int32_t)ret < 0);
}

/* ---- what it posts ---- */

static uint64_t queue_of(const struct verbs_call *c)
{
	return signature_find(&c->fn->sig, "qp") == 0 ? call_parts_word(&c->parts, 0) : 0;
}

/* Requests that were counted and not kept. */
static void post_unseen(const struct call_post *like, bool receives, struct call_post *out)
{
	*out = (struct call_post){
		.kind = receives ? POST_RECV : POST_OTHER,
		.carrier = CARRIER_NIC,
		.op = receives ? "RECV" : "unknown",
		.transport = like->transport,
		.device = like->device,
		.dest = like->dest,
		.local_end = like->local_end,
		.remote_end = like->remote_end,
		.bytes = BYTES_UNKNOWN,
		.queue = like->queue,
	};
}

static void requests_post(const struct verbs_call *c, const struct field *f, struct call_view *out)
{
	bool receives = c->fn->attrs.flags & RECEIVES, failed = is_failed(c);
	uint32_t kept = f->bytes / sizeof(struct pov_work), n;
	struct call_post *post;
	struct pov_work w;

	n = f->cnt > kept && kept ? f->cnt : kept;
	n = n < POSTS_MAX ? n : POSTS_MAX;
	post = arena_alloc(&c->d->arena, n * sizeof(*post));
	for (uint32_t i = 0; i < n; i++) {
		if (i < kept) {
			memcpy(&w, f->data + i * sizeof(w), sizeof(w));
			verbs_post_request(&c->d->conns, c->parts.rec->tgid, queue_of(c), &w,
					   receives, &c->d->arena, &post[i]);
		} else {
			post_unseen(&post[0], receives, &post[i]);
		}
		/* which of several were refused is said by the call, or not known */
		post[i].failed = failed && (c->has_accepted ? i >= c->accepted : n == 1);
	}
	out->posts = post;
	out->nposts = n;
}

static void completions_post(const struct verbs_call *c, const struct field *f,
			     struct call_view *out)
{
	uint32_t n = f->bytes / VERBS_WC_BYTES;
	struct call_post *post = arena_alloc(&c->d->arena, n * sizeof(*post));

	for (uint32_t i = 0; i < n; i++)
		verbs_post_completion(f->data + i * VERBS_WC_BYTES, &post[i]);
	out->posts = post;
	out->nposts = n;
}

static void posts_make(const struct verbs_call *c, struct call_view *out)
{
	int arg = signature_find(&c->fn->sig, "wr");

	if (arg >= 0 && c->field[arg].data) {
		requests_post(c, &c->field[arg], out);
		return;
	}
	arg = signature_find(&c->fn->sig, "wc");
	if (arg >= 0 && c->field[arg].data && c->parts.returned)
		completions_post(c, &c->field[arg], out);
}

/* ---- what it teaches ---- */

static void learn(const struct verbs_call *c)
{
	uint64_t ret = c->parts.rec->ret, first = call_parts_word(&c->parts, 0), context;
	const uint8_t *attr, *object;
	struct verbs_conns *s = &c->d->conns;
	uint32_t pid = c->parts.rec->tgid;
	char name[DEVICE_NAME_BYTES + 1];

	if (!c->parts.returned || is_failed(c))
		return;
	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_CONTEXT:
		object = data_of(c, "device", DEVICE_NAME_BYTES);
		if (!object)
			break;
		memcpy(name, object, DEVICE_NAME_BYTES);
		name[DEVICE_NAME_BYTES] = '\0';
		verbs_context_opened(s, pid, ret, name);
		break;
	case TEACHES_QP:
		verbs_qp_created(s, pid, ret);
		break;
	case TEACHES_QP_ATTR:
		object = data_of(c, "qp", VERBS_QP_BYTES);
		attr = data_of(c, "attr", VERBS_QP_ATTR_BYTES);
		if (object && attr)
			verbs_qp_modified(s, pid, first, object, attr,
					  (uint32_t)call_parts_word(&c->parts, 2));
		break;
	case TEACHES_QP_FREE:
		verbs_qp_destroyed(s, pid, first);
		break;
	case TEACHES_AH:
		object = data_of(c, "pd", sizeof(context));
		attr = data_of(c, "attr", VERBS_AH_ATTR_BYTES);
		if (!object || !attr)
			break;
		memcpy(&context, object, sizeof(context));
		verbs_ah_created(s, pid, ret, context, attr);
		break;
	case TEACHES_AH_FREE:
		verbs_ah_destroyed(s, pid, first);
		break;
	}
}

/* ---- what is shown ---- */

static void arg_show(const struct sig_arg *a, uint64_t w, struct call_view *out)
{
	if (a->type == SIG_WORK)
		return;
	if (a->kind == SIG_KIND_NUM)
		call_view_add(out, a->role, VALUE_INT)->i = a->type == SIG_INT ? (int32_t)w :
										 (int64_t)w;
	else
		call_view_add(out, a->role, VALUE_HEX)->u = a->type == SIG_INT ? (uint32_t)w : w;
}

static void text_show(const char *name, const char *text, struct call_view *out)
{
	if (text)
		call_view_add(out, name, VALUE_TEXT)->text = text;
}

/* What all posts have in common, by the first one; bytes in all. */
static void posts_show(struct call_view *out)
{
	const struct call_post *first = out->posts;
	int64_t bytes = 0;
	bool alike = true;

	if (!out->nposts)
		return;
	for (uint32_t i = 0; i < out->nposts; i++) {
		const struct call_post *p = &out->posts[i];

		alike &= !strcmp(p->op, first->op);
		bytes = p->bytes == BYTES_UNKNOWN || bytes == BYTES_UNKNOWN ? BYTES_UNKNOWN :
									      bytes + p->bytes;
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

/* Queue pairs: of what type, and what becomes of them. */
static void queue_show(const struct verbs_call *c, struct call_view *out)
{
	const uint8_t *attr;
	uint32_t v, mask;

	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_QP:
		attr = data_of(c, "attr", 2 * sizeof(v));
		if (!attr)
			break;
		memcpy(&v, attr + sizeof(v), sizeof(v));
		text_show("qp_type", verbs_qp_type_name(v), out);
		break;
	case TEACHES_QP_ATTR:
		attr = data_of(c, "attr", VERBS_QP_ATTR_BYTES);
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

static void bytes_add(int64_t *to, int64_t bytes)
{
	*to = *to == BYTES_UNKNOWN || bytes == BYTES_UNKNOWN ? BYTES_UNKNOWN : *to + bytes;
}

/* Which way the data go that it posts. */
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

static void decode(struct layer_decoder *d, const struct func_info *f, const struct pov_call *call,
		   struct call_view *out)
{
	struct verbs_call c;

	arena_reset(&d->arena);
	out->nvalues = out->nposts = 0;
	out->posts = NULL;
	memset(&out->roles, 0, sizeof(out->roles));
	if (!call_open(&c, f, call, d))
		return;
	learn(&c);
	posts_make(&c, out);
	for (uint32_t i = 0; i < c.parts.nargs; i++)
		arg_show(&c.fn->sig.arg[i], call_parts_word(&c.parts, i), out);
	queue_show(&c, out);
	posts_show(out);
	if (c.parts.returned)
		result_show(&c, out);
	roles_fill(out);
	out->roles.poll_found = c.parts.returned && f->polls && (int32_t)call->ret > 0;
	continuations_done(&d->more, call->hdr.tid, c.begin_ns, call->depth);
}

static const char *spin_arg_name(const struct func_info *f)
{
	const struct verbs_func *fn = f->priv;

	return fn->sig.nargs ? fn->sig.arg[0].role : NULL;
}

const struct layer layer_verbs = {
	.name = "verbs",
	.rows = rows,
	.row_cnt = sizeof(rows) / sizeof(rows[0]),
	.roles = roles,
	.words = words,
	.uses_adapters = true,
	.nearness = 3,
	.recipe = recipe,
	.func_parse = func_parse,
	.func_release = func_priv_free,
	.decoder_new = decoder_new,
	.decoder_free = decoder_free,
	.decoder_meta = decoder_meta,
	.decoder_more = decoder_more,
	.decode = decode,
	.spin_arg_name = spin_arg_name,
};
