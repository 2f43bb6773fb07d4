/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The libfabric layer: what is handed to an endpoint. A call tells its bytes if it is given one buffer; of lists of buffers they
 * are not known. By what the bytes travel is up to the provider, which its functions do not say; one provider may post to another one
 * of the same library (tcp;ofi_rxm), and then the inner calls are the layer's, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "base/log.h"
#include "layer/call_parts.h"
#include "layer/layer.h"
#include "layer/signature.h"

/* FUNC_OWN and up */
#define SENDS 0x100
#define RECEIVES 0x200
#define READS 0x400
#define WRITES 0x800

#define TRY_AGAIN (-11) /* -FI_EAGAIN */

static const struct func_row rows[] = {
#define POV_FUNC(name, group, attrs, sig) {#name, #group, #attrs, sig},
#include "ofi.def"
};

static const struct sig_role roles[] = {
#define POV_ROLE(role, type, kind) {#role, SIG_##type, SIG_KIND_##kind},
#include "ofi.def"
	{NULL, 0, 0},
};

static const struct func_word words[] = {
	{"SENDS", SENDS, 0}, {"RECEIVES", RECEIVES, 0}, {"READS", READS, 0}, {"WRITES", WRITES, 0},
	{NULL, 0, 0},
};

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *out)
{
	recipe_init(sig, out);
	if (attrs->flags & FUNC_POLL) {
		out->flags |= POV_FN_POLL | POV_FN_BY_RETURN;
		out->poll_arg = (uint8_t)TRY_AGAIN;
		out->poll_bytes = 1; /* no other error that is returned ends in the same byte */
		out->spin_arg = 0;   /* the endpoint */
	}
	return 0;
}

struct ofi_func {
	struct signature sig;
	struct func_attrs attrs;
};

static int func_parse(const json_t *row, struct func_info *out)
{
	return func_priv_parse(row, "ofi", roles, words, sizeof(struct ofi_func), out) ? 0 :
											 -EINVAL;
}

struct layer_decoder {
	struct call_post post; /* the current view's */
};

static struct layer_decoder *decoder_new(void)
{
	return xcalloc(1, sizeof(struct layer_decoder));
}

static void decoder_free(struct layer_decoder *d)
{
	free(d);
}

static void arg_show(const struct sig_arg *a, uint64_t w, struct call_view *out)
{
	if (a->kind == SIG_KIND_NUM)
		call_view_add(out, a->role, VALUE_INT)->i = (int64_t)w;
	else
		call_view_add(out, a->role, VALUE_HEX)->u = w;
}

static enum post_kind kind_of(uint32_t flags)
{
	return flags & SENDS	? POST_SEND :
	       flags & RECEIVES ? POST_RECV :
	       flags & READS	? POST_READ :
	       flags & WRITES	? POST_WRITE :
				  POST_OTHER;
}

static void post_tell(struct layer_decoder *d, const struct func_info *f,
		      const struct call_parts *c, struct call_view *out)
{
	const struct ofi_func *fn = f->priv;
	struct call_roles *r = &out->roles;
	uint64_t length;

	d->post = (struct call_post){
		.kind = kind_of(fn->attrs.flags),
		.op = strncmp(f->name, "fi_", 3) ? f->name : f->name + 3,
		.bytes = BYTES_UNKNOWN,
		.failed = r->error != 0,
	};
	if (call_parts_value(c, &fn->sig, "length", &length) && length <= INT64_MAX)
		d->post.bytes = (int64_t)length;
	call_parts_value(c, &fn->sig, "ep", &d->post.queue);
	d->post.has_id = call_parts_value(c, &fn->sig, "context", &d->post.id);
	r->sends = fn->attrs.flags & (SENDS | WRITES);
	r->receives = fn->attrs.flags & (RECEIVES | READS);
	if (r->sends)
		r->send_bytes = d->post.bytes;
	if (r->receives)
		r->recv_bytes = d->post.bytes;
	if (!c->returned || c->nargs < fn->sig.nargs)
		return;
	out->posts = &d->post;
	out->nposts = 1;
}

static void decode(struct layer_decoder *d, const struct func_info *f, const struct pov_call *call,
		   struct call_view *out)
{
	const struct ofi_func *fn = f->priv;
	struct call_parts c;

	out->nvalues = out->nposts = 0;
	memset(&out->roles, 0, sizeof(out->roles));
	if (!call_parts_open(&c, call, fn->sig.nargs))
		return;
	for (uint32_t i = 0; i < c.nargs; i++)
		arg_show(&fn->sig.arg[i], call_parts_word(&c, i), out);
	if (c.returned && (int64_t)call->ret < 0)
		out->roles.error = (int32_t)(int64_t)call->ret;
	out->roles.poll_found = c.returned && f->polls;
	post_tell(d, f, &c, out);
	if (d->post.bytes != BYTES_UNKNOWN)
		call_view_add(out, "bytes", VALUE_INT)->i = d->post.bytes;
}

const struct layer layer_ofi = {
	.name = "ofi",
	.rows = rows,
	.row_cnt = sizeof(rows) / sizeof(rows[0]),
	.roles = roles,
	.words = words,
	.recipe = recipe,
	.nearness = 1, /* it does not know the carrier */
	.func_parse = func_parse,
	.func_release = func_priv_free,
	.decoder_new = decoder_new,
	.decoder_free = decoder_free,
	.decode = decode,
	.spin_arg_name = func_first_arg_name,
};
