/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The verbs layer: what is handed to adapters of InfiniBand and its like, and what they say is done. All that a call tells is in its own
 * record.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "base/log.h"
#include "layer/call_parts.h"
#include "layer/layer.h"
#include "layer/signature.h"

/* What a function returns; FUNC_OWN and up. */
#define RETURNS_VOID 0x100
#define RETURNS_ERRNO 0x200
#define RETURNS_COUNT 0x400
#define RETURNS_POINTER 0x800

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

static struct layer_decoder *decoder_new(void)
{
	return xcalloc(1, 1);
}

static void decoder_free(struct layer_decoder *d)
{
	free(d);
}

static void arg_show(const struct sig_arg *a, uint64_t w, struct call_view *out)
{
	if (a->kind == SIG_KIND_NUM)
		call_view_add(out, a->role, VALUE_INT)->i = a->type == SIG_INT ? (int32_t)w :
										 (int64_t)w;
	else
		call_view_add(out, a->role, VALUE_HEX)->u = a->type == SIG_INT ? (uint32_t)w : w;
}

static void result_show(const struct verbs_func *fn, uint64_t ret, struct call_view *out)
{
	if (fn->attrs.flags & RETURNS_POINTER)
		call_view_add(out, "result", VALUE_HEX)->u = ret;
	else if (fn->attrs.flags & (RETURNS_ERRNO | RETURNS_COUNT))
		call_view_add(out, "result", VALUE_INT)->i = (int32_t)ret;
	if (fn->attrs.flags & RETURNS_ERRNO)
		out->roles.error = (int32_t)ret;
}

static void decode(struct layer_decoder *d, const struct func_info *f, const struct pov_call *call,
		   struct call_view *out)
{
	const struct verbs_func *fn = f->priv;
	struct call_parts parts;

	(void)d;
	out->nvalues = 0;
	memset(&out->roles, 0, sizeof(out->roles));
	if (!call_parts_open(&parts, call, fn->sig.nargs))
		return;
	for (uint32_t i = 0; i < parts.nargs; i++)
		arg_show(&fn->sig.arg[i], call_parts_word(&parts, i), out);
	if (parts.returned)
		result_show(fn, parts.rec->ret, out);
	out->roles.poll_found = parts.returned && f->polls && (int32_t)parts.rec->ret > 0;
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
	.nearness = 3,
	.recipe = recipe,
	.func_parse = func_parse,
	.func_release = func_priv_free,
	.decoder_new = decoder_new,
	.decoder_free = decoder_free,
	.decode = decode,
	.spin_arg_name = spin_arg_name,
};
