/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What is handed to an endpoint. A call has one buffer, or a list of them whose bytes have been summed; …msg calls are given a struct
 * that tells all. A provider may make one function of another one (sockets: fi_send of fi_sendmsg): the inner call is the post. One
 * provider may post to another one of the same library (tcp;ofi_rxm): where the inner call is known to hand the data to what
 * carries them, the outer one does not say so again.
 */
#include <string.h>

#include "layers/ofi/ofi_call.h"

/* Of struct fi_msg, fi_msg_tagged and fi_msg_rma; the first is shorter. */
#define MSG_ADDR 24
#define MSG_CONTEXT 32
#define MSG_LONG_BYTES 64
#define MSG_LONG_CONTEXT 48

static uint64_t word_at(const struct call_field *f, uint32_t at)
{
	uint64_t v;

	memcpy(&v, f->data + at, sizeof(v));
	return v;
}

static enum post_kind kind_of(uint32_t flags)
{
	return flags & SENDS	? POST_SEND :
	       flags & RECEIVES ? POST_RECV :
	       flags & READS	? POST_READ :
				  POST_WRITE;
}

static int64_t bytes_of(const struct ofi_call *c)
{
	uint64_t bytes, cnt;

	if (ofi_call_value(c, "count", &cnt) && !cnt)
		return 0;
	if (c->fields.sum.bytes == sizeof(bytes))
		memcpy(&bytes, c->fields.sum.data, sizeof(bytes));
	else if (!ofi_call_value(c, "length", &bytes))
		return BYTES_UNKNOWN;
	return bytes <= INT64_MAX ? (int64_t)bytes : BYTES_UNKNOWN;
}

/* The number of the address it goes to, and what comes back in the completion. */
static void ids_of(const struct ofi_call *c, struct call_post *p, uint64_t *number)
{
	const struct call_field *msg = ofi_call_field(c, "msg", MSG_CONTEXT + 8);

	*number = UINT64_MAX;
	if (!msg) {
		p->has_id = ofi_call_value(c, "context", &p->id);
		ofi_call_value(c, "address", number);
		return;
	}
	p->has_id = true;
	p->id = word_at(msg, msg->bytes >= MSG_LONG_BYTES ? MSG_LONG_CONTEXT : MSG_CONTEXT);
	*number = word_at(msg, MSG_ADDR);
}

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

/* Whether it was made of another one; and what that other one is, if it was handed on as it is. */
static bool was_told(const struct ofi_call *c, const struct call_post *p,
		     const struct ofi_address *to)
{
	struct ofi_thread *t = ofi_call_thread(c);
	const struct call_post *inner = &t->post;
	bool within = t->posted_ns > c->begin_ns && inner->kind == p->kind,
	     told = within && inner->queue == p->queue;

	if (within && !told && to && p->kind != POST_RECV && p->id && p->id == inner->id &&
	    p->bytes == inner->bytes)
		ofi_handed_on(&c->d->objects, c->parts.rec->tgid, p->queue, to, inner->queue);
	t->posted_ns = c->begin_ns;
	t->post = (struct call_post){
		.kind = p->kind, .queue = p->queue, .id = p->id, .bytes = p->bytes};
	return told;
}

static void ends_tell(const struct ofi_call *c, const struct ofi_address *to, struct call_post *p)
{
	const struct ofi_object *ep = ofi_object_find(&c->d->objects, c->parts.rec->tgid, p->queue);
	struct ofi_thread *t = ofi_call_thread(c);

	if (to) {
		p->dest = text_or_null(to->dest);
		p->remote_end = text_or_null(to->end);
	}
	if (!ep)
		return;
	p->local_end = text_or_null(ep->name.end);
	p->transport = ep->transport;
	if (t->carried_ns <= c->begin_ns)
		p->carrier = ep->carrier;
	if (p->carrier != CARRIER_UNKNOWN)
		t->carried_ns = c->begin_ns;
}

static void roles_tell(uint32_t flags, int64_t bytes, struct call_roles *r)
{
	r->sends = flags & (SENDS | WRITES);
	r->receives = flags & (RECEIVES | READS);
	if (r->sends)
		r->send_bytes = bytes;
	if (r->receives)
		r->recv_bytes = bytes;
}

void ofi_posts(const struct ofi_call *c, struct call_view *out)
{
	const char *name = c->info->name;
	const struct ofi_address *to;
	struct call_post *p;
	uint64_t number;

	if (!(c->fn->attrs.flags & POSTS))
		return;
	p = arena_alloc(&c->d->arena, sizeof(*p));
	*p = (struct call_post){
		.kind = kind_of(c->fn->attrs.flags),
		.op = strncmp(name, "fi_", 3) ? name : name + 3,
		.bytes = bytes_of(c),
		.failed = out->roles.error != 0,
	};
	roles_tell(c->fn->attrs.flags, p->bytes, &out->roles);
	if (p->bytes != BYTES_UNKNOWN)
		call_view_add(out, "bytes", VALUE_INT)->i = p->bytes;
	if (!c->parts.returned || c->parts.nargs < c->fn->sig.nargs)
		return;
	p->queue = call_parts_word(&c->parts, 0);
	ids_of(c, p, &number);
	to = ofi_address_find(&c->d->objects, c->parts.rec->tgid, p->queue, number);
	if (was_told(c, p, to))
		return;
	ends_tell(c, to, p);
	if (p->has_id && !p->failed)
		ofi_posted(&c->d->objects, c->parts.rec->tgid, p->id,
			   p->kind == POST_RECV ? OFI_RECEIVE : OFI_TRANSMIT, p->queue);
	if (p->dest)
		call_view_add(out, "dest", VALUE_TEXT)->text = p->remote_end;
	out->posts = p;
	out->nposts = 1;
}
