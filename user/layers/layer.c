/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Work that is the same for all layers: parsing a row of the trace's table, making and releasing a
 * decoder, opening a call and clearing its view. A layer adds only what is particular to it.
 */
#include "layers/layer.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "layers/call_parts.h"
#include "layers/post.h"
#include "layers/signature.h"
#include "lib/log.h"

uint32_t func_group_bit(const char *name)
{
	static const struct {
		const char *name;
		enum func_group bit;
	} known[] = {
		{"p2p", GROUP_P2P},   {"part", GROUP_PART},   {"req", GROUP_REQ},
		{"coll", GROUP_COLL}, {"neigh", GROUP_NEIGH}, {"rma", GROUP_RMA},
		{"io", GROUP_IO},     {"comm", GROUP_COMM},   {"topo", GROUP_TOPO},
		{"init", GROUP_INIT}, {"ext", GROUP_EXT},     {"group", GROUP_GROUP},
		{"attr", GROUP_ATTR}, {"info", GROUP_INFO},   {"op", GROUP_OP},
		{"type", GROUP_TYPE},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(name, known[i].name))
			return known[i].bit;
	return 0;
}

int layer_recipe(const struct layer *layer, const struct signature *sig,
		 const struct func_attrs *attrs, struct pov_fn *out)
{
	struct pov_fn fn;
	int err;

	recipe_init(sig, &fn);
	err = layer->recipe(sig, attrs, &fn);
	if (!err)
		*out = fn;
	return err;
}

int layer_func_parse(const struct layer *layer, const json_t *row, struct func_info *out)
{
	struct func_common *f = xcalloc(1, layer->func_bytes ?: sizeof(*f));
	int err = func_row_parse(row, layer->name, layer->roles, layer->words, &f->sig, &f->attrs,
				 out);

	if (err) {
		free(f);
		return err;
	}
	out->priv = f;
	if (layer->func_init)
		layer->func_init(row, f, out);
	return 0;
}

void layer_func_release(struct func_info *f)
{
	free((void *)f->priv);
	f->priv = NULL;
}

const char *layer_first_arg_name(const struct func_info *f)
{
	const struct func_common *priv = f->priv;

	return priv->sig.nargs ? priv->sig.arg[0].role : NULL;
}

struct layer_decoder *layer_decoder_new(const struct layer *layer)
{
	struct layer_decoder *d = xcalloc(1, layer->decoder_bytes ?: sizeof(*d));

	if (layer->decoder_init)
		layer->decoder_init(d);
	return d;
}

void layer_decoder_free(const struct layer *layer, struct layer_decoder *d)
{
	if (!d)
		return;
	if (layer->decoder_release)
		layer->decoder_release(d);
	continuations_release(&d->more);
	arena_release(&d->arena);
	objects_release(&d->objects);
	free(d);
}

void layer_decoder_meta(const struct layer *layer, struct layer_decoder *d, const json_t *meta)
{
	if (layer->decoder_meta)
		layer->decoder_meta(d, meta);
}

void layer_decoder_more(const struct layer *layer, struct layer_decoder *d,
			const struct pov_more *more)
{
	if (layer->has_more)
		continuations_add(&d->more, more);
}

/* A record that only announces a call leaves the call's data to the record of its return. */
static bool call_is_announced(const struct pov_call *call)
{
	return call->hdr.kind == POV_KIND_UNSHOWN && call->hdr.flags & POV_CALL_OPEN;
}

void layer_decode(const struct layer *layer, struct layer_decoder *d, const struct func_info *f,
		  const struct pov_call *call, struct call_view *out)
{
	struct call_parts parts;

	arena_reset(&d->arena);
	out->nvalues = out->nposts = 0;
	out->posts = NULL;
	memset(&out->roles, 0, sizeof(out->roles));
	if (!call_parts_open(&parts, f, call))
		return;
	layer->decode(d, &parts, out);
	if (!call_is_announced(call))
		continuations_done(&d->more, call->hdr.tid, parts.begin_ns, call->depth);
}

/* ---- names of posts' properties in reports and timelines ---- */

const char *post_carrier_name(enum post_carrier carrier)
{
	static const char *const names[CARRIER_CNT] = {
		[CARRIER_UNKNOWN] = "unknown", [CARRIER_NIC] = "nic", [CARRIER_SOCKET] = "socket",
		[CARRIER_CMA] = "cma",	       [CARRIER_SHM] = "shm",
	};

	return names[carrier];
}

const char *post_kind_name(enum post_kind kind)
{
	static const char *const names[POST_KIND_CNT] = {
		[POST_SEND] = "send",
		[POST_RECV] = "receive",
		[POST_WRITE] = "write",
		[POST_READ] = "read",
		[POST_ATOMIC] = "atomic",
		[POST_OTHER] = "other",
		[POST_COMPLETION] = "completion",
		[POST_ARRIVAL] = "arrival",
	};

	return names[kind];
}

const char *post_step_name(enum post_step step)
{
	static const char *const names[STEP_CNT] = {
		[STEP_EAGER] = "eager", [STEP_RTS] = "RTS", [STEP_RTR] = "RTR",
		[STEP_DATA] = "data",	[STEP_FIN] = "FIN",
	};

	return names[step];
}
