/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What is read from completion queues. How long an entry is was said when the queue was opened; where that is not known, only the first
 * one's context is, with which all forms begin. An entry does not name its endpoint: that is the one by which something with that context
 * was posted last, if it is bound to the queue. Nor do short entries tell whether it was a send or a receive: where neither the queue's
 * bindings nor what was posted do, that is not known.
 */
#include <string.h>

#include "layers/ofi/ofi_call.h"

#define COMPLETIONS_MAX \
	8192 /* of one call: nobody reads more at once, but a damaged file may say so */

/* rdma/fabric.h */
#define FI_ATOMIC (1u << 4)
#define FI_TAGGED (1u << 3)
#define FI_READ (1u << 8)
#define FI_WRITE (1u << 9)
#define FI_RECV (1u << 10)
#define FI_SEND (1u << 11)
#define FI_REMOTE_READ (1u << 12)
#define FI_REMOTE_WRITE (1u << 13)

/* struct fi_cq_tagged_entry, of which the others are the beginning; fi_cq_err_entry goes on with an error. */
#define ENTRY_FLAGS 8
#define ENTRY_LENGTH 16
#define ENTRY_BYTES 48
#define ERROR_AT 56
#define ERROR_BYTES 64

/* By enum fi_cq_format. */
static const uint32_t entry_bytes[] = {0, 8, 24, 40, ENTRY_BYTES};

static uint64_t word_at(const uint8_t *p, size_t at)
{
	uint64_t v;

	memcpy(&v, p + at, sizeof(v));
	return v;
}

static bool is_readerr(const struct ofi_call *c)
{
	return signature_find(&c->fn->sig, "count") < 0;
}

/* Bytes of an entry; 0 if not known. */
static uint32_t width_of(const struct ofi_call *c, uint64_t cq)
{
	const struct ofi_object *o = ofi_object_find(&c->d->objects, c->parts.rec->tgid, cq);

	if (is_readerr(c))
		return ERROR_BYTES;
	return o && o->format < sizeof(entry_bytes) / sizeof(entry_bytes[0]) ?
		       entry_bytes[o->format] :
		       0;
}

static const char *op_of(uint64_t flags)
{
	return flags & FI_REMOTE_WRITE ? "remote_write" :
	       flags & FI_REMOTE_READ  ? "remote_read" :
	       flags & FI_ATOMIC       ? "atomic" :
	       flags & FI_READ	       ? "read" :
	       flags & FI_WRITE	       ? "write" :
	       flags & FI_RECV	       ? flags & FI_TAGGED ? "trecv" : "recv" :
	       flags & FI_SEND	       ? flags & FI_TAGGED ? "tsend" : "send" :
					 NULL;
}

static void entry_tell(const uint8_t *entry, uint32_t bytes, struct call_post *p)
{
	uint64_t flags, length;

	p->id = word_at(entry, 0);
	p->has_id = true;
	if (bytes < ENTRY_LENGTH + 8)
		return;
	flags = word_at(entry, ENTRY_FLAGS);
	length = word_at(entry, ENTRY_LENGTH);
	p->op = op_of(flags);
	if (flags & (FI_REMOTE_READ | FI_REMOTE_WRITE)) {
		p->kind = POST_ARRIVAL;
		p->has_id = false;
	}
	if (flags & (FI_RECV | FI_REMOTE_WRITE) && length <= INT64_MAX && !p->failed)
		p->bytes = (int64_t)length;
}

/* Whose it is: by its side if the entry said so, else by the one that may be meant. */
static void endpoint_tell(const struct ofi_call *c, uint64_t cq, struct call_post *p)
{
	uint64_t ep[OFI_SIDES];

	for (int side = 0; side < OFI_SIDES; side++)
		ep[side] = ofi_poster_find(&c->d->objects, c->parts.rec->tgid, cq, p->id, side);
	if (p->op) {
		p->queue = ep[!strcmp(p->op, "recv") || !strcmp(p->op, "trecv")];
		return;
	}
	p->has_id = !ep[OFI_TRANSMIT] != !ep[OFI_RECEIVE];
	if (!p->has_id)
		return;
	p->queue = ep[OFI_TRANSMIT] ?: ep[OFI_RECEIVE];
	if (ep[OFI_RECEIVE])
		p->op = "recv";
}

static void source_tell(const struct ofi_call *c, uint64_t number, struct call_post *p)
{
	const struct ofi_address *from = ofi_address_find(&c->d->objects, c->parts.rec->tgid,
							  p->queue, number);

	if (!from || !*from->end)
		return;
	p->dest = from->dest;
	p->remote_end = from->end;
}

/* It is a part of the call in which it is made, which reads the same: that does not tell it again. */
static bool was_told(const struct ofi_call *c, uint64_t cq)
{
	uint64_t entries = call_parts_word(&c->parts, 1);
	struct ofi_thread *t = ofi_call_thread(c);
	bool told = t->read_ns > c->begin_ns && t->cq == cq && t->entries == entries;

	t->read_ns = c->begin_ns;
	t->cq = cq;
	t->entries = entries;
	return told;
}

static void completions_tell(const struct ofi_call *c, uint64_t cq, uint32_t n,
			     struct call_post *post)
{
	const struct call_field *entries = ofi_call_field(c, "entries", 8),
				*from = ofi_call_field(c, "src_addr", 8);
	uint32_t width = width_of(c, cq), room = entries ? entries->bytes : 0;

	for (uint32_t i = 0; i < n; i++) {
		post[i] = (struct call_post){
			.kind = POST_COMPLETION, .bytes = BYTES_UNKNOWN, .failed = is_readerr(c)};
		if (width && room / width > i)
			entry_tell(entries->data + (size_t)i * width, width, &post[i]);
		else if (!width && !i && room)
			entry_tell(entries->data, sizeof(uint64_t), &post[i]);
		if (post[i].has_id)
			endpoint_tell(c, cq, &post[i]);
		if (from && from->bytes / 8 > i)
			source_tell(c, word_at(from->data, 8 * (size_t)i), &post[i]);
	}
}

static void completions_show(const struct ofi_call *c, struct call_view *out)
{
	const struct call_field *e = ofi_call_field(c, "entries", ERROR_BYTES);
	int64_t bytes = 0;
	int32_t error;

	call_view_add(out, "completions", VALUE_INT)->i = out->nposts;
	if (out->nposts == 1 && out->posts->op)
		call_view_add(out, "op", VALUE_TEXT)->text = out->posts->op;
	for (uint32_t i = 0; i < out->nposts; i++)
		bytes += out->posts[i].bytes == BYTES_UNKNOWN ? 0 : out->posts[i].bytes;
	if (bytes)
		call_view_add(out, "bytes", VALUE_INT)->i = bytes;
	if (!is_readerr(c) || !e)
		return;
	memcpy(&error, e->data + ERROR_AT, sizeof(error));
	call_view_add(out, "completed_with", VALUE_INT)->i = error;
}

void ofi_completions(const struct ofi_call *c, struct call_view *out)
{
	uint64_t cq = call_parts_word(&c->parts, 0), n = (uint32_t)c->parts.rec->ret;
	struct call_post *post;

	if (!(c->fn->attrs.flags & COMPLETES) || !ofi_call_is_good(c) || !n || was_told(c, cq))
		return;
	if (n > COMPLETIONS_MAX)
		n = COMPLETIONS_MAX;
	post = arena_alloc(&c->d->arena, n * sizeof(*post));
	completions_tell(c, cq, (uint32_t)n, post);
	out->posts = post;
	out->nposts = (uint32_t)n;
	completions_show(c, out);
}
