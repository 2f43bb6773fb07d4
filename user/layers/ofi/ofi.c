/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The libfabric layer: what is handed to an endpoint, and what comes back: its table, and what is shown of a call. Posts are made in
 * ofi_post.c and ofi_completion.c; what a call teaches for others is handed on in ofi_learn.c and kept in ofi_object.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
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

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *out)
{
	struct pov_fn fn;
	int err;

	recipe_init(sig, &fn);
	if (attrs->flags & FUNC_POLL) {
		fn.flags |= POV_FN_POLL | POV_FN_BY_RETURN;
		fn.poll_arg = (uint8_t)TRY_AGAIN;
		fn.poll_bytes = 8;
		fn.spin_arg = 0; /* the endpoint, or the queue */
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
