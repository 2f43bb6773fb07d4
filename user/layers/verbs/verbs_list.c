/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Calls that are given, or give, a list: its elements become posts. Those that were counted and not kept become posts that say little. */
#include <string.h>

#include "layers/verbs/verbs_call.h"
#include "layers/verbs/verbs_post.h"

static uint64_t queue_of(const struct verbs_call *c)
{
	return signature_find(&c->fn->sig, "qp") == 0 ? call_parts_word(&c->parts, 0) : 0;
}

static void requests_post(const struct verbs_call *c, const struct call_field *f,
			  struct call_view *out)
{
	bool receives = c->fn->attrs.flags & RECEIVES, failed = verbs_call_is_failed(c);
	uint32_t kept = f->bytes / sizeof(struct pov_work), n;
	struct call_post *post;
	struct pov_work w = {0};

	n = f->cnt > kept && kept ? f->cnt : kept;
	n = n < VERBS_POSTS_MAX ? n : VERBS_POSTS_MAX;
	post = arena_alloc(&c->d->arena, n * sizeof(*post));
	for (uint32_t i = 0; i < n; i++) {
		if (i < kept)
			memcpy(&w, f->data + i * sizeof(w), sizeof(w));
		else /* counted, and not kept */
			w = (struct pov_work){.qp = w.qp,
					      .qp_type = w.qp_type,
					      .bytes = POV_WORK_BYTES_UNKNOWN,
					      .opcode = UINT8_MAX};
		verbs_post_request(&c->d->conns, c->parts.rec->tgid, queue_of(c), &w, receives,
				   &c->d->arena, &post[i]);
		post[i].has_id = i < kept;
		/* which of several were refused is said by the call, or not known */
		post[i].failed = failed && (c->fields.sum.data ? i >= c->fields.sum.cnt : n == 1);
	}
	out->posts = post;
	out->nposts = n;
}

static void completions_post(const struct verbs_call *c, const struct call_field *f,
			     struct call_view *out)
{
	uint32_t n = f->bytes / VERBS_WC_BYTES;
	struct call_post *post = arena_alloc(&c->d->arena, n * sizeof(*post));

	for (uint32_t i = 0; i < n; i++)
		verbs_post_completion(f->data + i * VERBS_WC_BYTES, &post[i]);
	out->posts = post;
	out->nposts = n;
}

static void extended_post(const struct verbs_call *c, const uint8_t *wc, struct call_view *out)
{
	struct call_post *post = arena_alloc(&c->d->arena, sizeof(*post));

	verbs_post_extended(
		wc, verbs_cq_queue(&c->d->conns, c->parts.rec->tgid, call_parts_word(&c->parts, 0)),
		post);
	out->posts = post;
	out->nposts = 1;
}

void verbs_list_posts(const struct verbs_call *c, struct call_view *out)
{
	const uint8_t *extended = verbs_call_extended(c);
	int arg = signature_find(&c->fn->sig, "wr");

	if (arg >= 0 && c->fields.arg[arg].data) {
		requests_post(c, &c->fields.arg[arg], out);
		return;
	}
	arg = signature_find(&c->fn->sig, "wc");
	if (arg >= 0 && c->fields.arg[arg].data && c->parts.returned)
		completions_post(c, &c->fields.arg[arg], out);
	if (extended)
		extended_post(c, extended, out);
}
