/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Data passed to an endpoint. A call has one buffer, or a list of buffers whose bytes were summed;
 * functions with names in …msg get a struct with all arguments. A provider may implement one
 * function by another (sockets: fi_send by fi_sendmsg); then the inner call is the post. A provider
 * may also pass the post on to another provider in the same library (tcp;ofi_rxm). If the inner
 * call is known to pass the data to their carrier, the outer call does not report them again.
 */
#include <string.h>

#include "layers/ofi/ofi_call.h"
#include "lib/u64.h"

/* Offsets in struct fi_msg, fi_msg_tagged and fi_msg_rma; the first of these is shorter. */
#define MSG_ADDR 24
#define MSG_CONTEXT 32
#define MSG_LONG_BYTES 64
#define MSG_LONG_CONTEXT 48

static struct ofi_thread *thread_of(const struct ofi_call *c)
{
	return ofi_make(c, OFI_THREADS, c->parts.rec->hdr.tid, sizeof(struct ofi_thread));
}

/* Address that a number stands for in posts to an endpoint; NULL if unknown. */
static const struct ofi_address *address_find(const struct ofi_call *c, uint64_t ep,
					      uint64_t number)
{
	const struct ofi_object *o = ofi_find(c, OFI_OBJECTS, ep), *av;
	const struct ofi_address *a;

	if (!o || *o->peer.end)
		return o ? &o->peer : NULL;
	for (uint32_t i = 0; i < o->bound_cnt; i++) {
		av = ofi_find(c, OFI_OBJECTS, o->bound[i].object);
		a = av ? ofi_find(c, OFI_ADDRESSES + av->av, number) : NULL;
		if (a)
			return a;
	}
	return NULL;
}

/*
 * Called when posts to one endpoint are passed on to another, connected endpoint, which gets the
 * first one's ends.
 */
static void handed_on(const struct ofi_call *c, uint64_t from, const struct ofi_address *to,
		      uint64_t inner)
{
	const struct ofi_object *outer = ofi_object(c, from);
	struct ofi_object *o = ofi_object(c, inner);

	if (*o->name.end || *o->peer.end)
		return;
	o->name = outer->name;
	o->peer = *to;
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

	if (call_parts_value(&c->parts, "count", &cnt) && !cnt)
		return 0;
	if (c->fields.sum.bytes == sizeof(bytes))
		memcpy(&bytes, c->fields.sum.data, sizeof(bytes));
	else if (!call_parts_value(&c->parts, "length", &bytes))
		return BYTES_UNKNOWN;
	return bytes <= INT64_MAX ? (int64_t)bytes : BYTES_UNKNOWN;
}

/* Sets the id that returns in the completion; *number: that of the destination's address. */
static void ids_of(const struct ofi_call *c, struct call_post *p, uint64_t *number)
{
	const struct call_field *msg = ofi_call_field(c, "msg", MSG_CONTEXT + 8);

	*number = UINT64_MAX;
	if (!msg) {
		p->has_id = call_parts_value(&c->parts, "context", &p->id);
		call_parts_value(&c->parts, "address", number);
		return;
	}
	p->has_id = true;
	p->id = u64_at(msg->data + (msg->bytes >= MSG_LONG_BYTES ? MSG_LONG_CONTEXT : MSG_CONTEXT));
	*number = u64_at(msg->data + MSG_ADDR);
}

/*
 * True if a nested call to the same endpoint has reported this post. If the nested post went
 * unchanged to another endpoint, remembers that endpoint.
 */
static bool post_was_reported(const struct ofi_call *c, const struct call_post *p,
			      const struct ofi_address *to)
{
	struct ofi_thread *t = thread_of(c);
	const struct call_post *inner = &t->post;
	bool within = t->posted_ns > c->parts.begin_ns && inner->kind == p->kind,
	     reported = within && inner->queue == p->queue;

	if (within && !reported && to && p->kind != POST_RECV && p->id && p->id == inner->id &&
	    p->bytes == inner->bytes)
		handed_on(c, p->queue, to, inner->queue);
	t->posted_ns = c->parts.begin_ns;
	t->post = (struct call_post){
		.kind = p->kind, .queue = p->queue, .id = p->id, .bytes = p->bytes};
	return reported;
}

static void ends_set(const struct ofi_call *c, const struct ofi_address *to, struct call_post *p)
{
	const struct ofi_object *ep = ofi_find(c, OFI_OBJECTS, p->queue);
	struct ofi_thread *t = thread_of(c);

	if (to) {
		p->dest = post_text(to->dest);
		p->remote_end = post_text(to->end);
	}
	if (!ep)
		return;
	p->local_end = post_text(ep->name.end);
	p->transport = ep->transport;
	if (t->carried_ns <= c->parts.begin_ns)
		p->carrier = ep->carrier;
	if (p->carrier != CARRIER_UNKNOWN)
		t->carried_ns = c->parts.begin_ns;
}

static void roles_set(uint32_t flags, int64_t bytes, struct call_roles *r)
{
	r->sends = flags & (SENDS | WRITES);
	r->receives = flags & (RECEIVES | READS);
	if (r->sends)
		r->send_bytes = bytes;
	if (r->receives)
		r->recv_bytes = bytes;
}

static void posted_keep(const struct ofi_call *c, const struct call_post *p)
{
	struct ofi_posted *posted = ofi_make(c, OFI_POSTED, p->id, sizeof(*posted));

	posted->ep[p->kind == POST_RECV ? OFI_RECEIVE : OFI_TRANSMIT] = p->queue;
}

void ofi_posts(const struct ofi_call *c, struct call_view *out)
{
	const char *name = c->parts.info->name;
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
	roles_set(c->fn->attrs.flags, p->bytes, &out->roles);
	if (p->bytes != BYTES_UNKNOWN)
		call_view_add(out, "bytes", VALUE_INT)->i = p->bytes;
	if (!c->parts.returned || c->parts.nargs < c->fn->sig.nargs)
		return;
	p->queue = call_parts_word(&c->parts, 0);
	ids_of(c, p, &number);
	to = address_find(c, p->queue, number);
	if (post_was_reported(c, p, to))
		return;
	ends_set(c, to, p);
	if (p->has_id && !p->failed)
		posted_keep(c, p);
	if (p->dest)
		call_view_add(out, "dest", VALUE_TEXT)->text = p->remote_end;
	out->posts = p;
	out->nposts = 1;
}

/* ---- completions ---- */

/*
 * Completions read from queues. The length of an entry was set when the queue was opened. If it is
 * unknown, only the first entry's context is used, because all forms of entries begin with it. An
 * entry does not name its endpoint: it is the endpoint of the last post with the same context, if
 * that is bound to the queue. Short entries do not show whether they are for a send or a receive.
 * If neither the queue's bindings nor the posts show it, it remains unknown.
 */

/* Most completions of one call: only in a damaged file may there be more. */
#define COMPLETIONS_MAX 8192

/* rdma/fabric.h */
#define FI_ATOMIC (1u << 4)
#define FI_TAGGED (1u << 3)
#define FI_READ (1u << 8)
#define FI_WRITE (1u << 9)
#define FI_RECV (1u << 10)
#define FI_SEND (1u << 11)
#define FI_REMOTE_READ (1u << 12)
#define FI_REMOTE_WRITE (1u << 13)

/*
 * Offsets in struct fi_cq_tagged_entry. The shorter forms begin with the same members;
 * fi_cq_err_entry has an error after them.
 */
#define ENTRY_FLAGS 8
#define ENTRY_LENGTH 16
#define ENTRY_BYTES 48
#define ERROR_AT 56
#define ERROR_BYTES 64

/* Indexed by enum fi_cq_format. */
static const uint32_t entry_bytes[] = {0, 8, 24, 40, ENTRY_BYTES};

static bool is_readerr(const struct ofi_call *c)
{
	return signature_find(&c->fn->sig, "count") < 0;
}

/* Bytes of an entry; 0 if unknown. */
static uint32_t width_of(const struct ofi_call *c, uint64_t cq)
{
	const struct ofi_object *o = ofi_find(c, OFI_OBJECTS, cq);

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

static void entry_read(const uint8_t *entry, uint32_t bytes, struct call_post *p)
{
	uint64_t flags, length;

	p->id = u64_at(entry);
	p->has_id = true;
	if (bytes < ENTRY_LENGTH + 8)
		return;
	flags = u64_at(entry + ENTRY_FLAGS);
	length = u64_at(entry + ENTRY_LENGTH);
	p->op = op_of(flags);
	if (flags & (FI_REMOTE_READ | FI_REMOTE_WRITE)) {
		p->kind = POST_ARRIVAL;
		p->has_id = false;
	}
	if (flags & (FI_RECV | FI_REMOTE_WRITE) && length <= INT64_MAX && !p->failed)
		p->bytes = (int64_t)length;
}

/*
 * The endpoint of the last post with that context, if it reports its completions to this queue;
 * else 0.
 */
static uint64_t poster_find(const struct ofi_call *c, uint64_t cq, uint64_t context,
			    enum ofi_side side)
{
	const struct ofi_posted *posted = ofi_find(c, OFI_POSTED, context);
	const struct ofi_object *ep = posted ? ofi_find(c, OFI_OBJECTS, posted->ep[side]) : NULL;

	for (uint32_t i = 0; ep && i < ep->bound_cnt; i++)
		if (ep->bound[i].object == cq && ep->bound[i].is_for[side])
			return posted->ep[side];
	return 0;
}

/* Sets the endpoint: by its side if the entry has it, else the only candidate. */
static void endpoint_set(const struct ofi_call *c, uint64_t cq, struct call_post *p)
{
	uint64_t ep[OFI_SIDES];

	for (int side = 0; side < OFI_SIDES; side++)
		ep[side] = poster_find(c, cq, p->id, side);
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

static void source_set(const struct ofi_call *c, uint64_t number, struct call_post *p)
{
	const struct ofi_address *from = address_find(c, p->queue, number);

	if (!from || !*from->end)
		return;
	p->dest = from->dest;
	p->remote_end = from->end;
}

/* True if a nested call has read the same entries and reported them: then this call does not. */
static bool entries_were_reported(const struct ofi_call *c, uint64_t cq)
{
	uint64_t entries = call_parts_word(&c->parts, 1);
	struct ofi_thread *t = thread_of(c);
	bool reported = t->read_ns > c->parts.begin_ns && t->cq == cq && t->entries == entries;

	t->read_ns = c->parts.begin_ns;
	t->cq = cq;
	t->entries = entries;
	return reported;
}

static void completions_make(const struct ofi_call *c, uint64_t cq, uint32_t n,
			     struct call_post *post)
{
	const struct call_field *entries = ofi_call_field(c, "entries", 8),
				*from = ofi_call_field(c, "src_addr", 8);
	uint32_t width = width_of(c, cq), room = entries ? entries->bytes : 0;

	for (uint32_t i = 0; i < n; i++) {
		post[i] = (struct call_post){
			.kind = POST_COMPLETION, .bytes = BYTES_UNKNOWN, .failed = is_readerr(c)};
		if (width && room / width > i)
			entry_read(entries->data + (size_t)i * width, width, &post[i]);
		else if (!width && !i && room)
			entry_read(entries->data, sizeof(uint64_t), &post[i]);
		if (post[i].has_id)
			endpoint_set(c, cq, &post[i]);
		if (from && from->bytes / 8 > i)
			source_set(c, u64_at(from->data + 8 * (size_t)i), &post[i]);
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

	if (!(c->fn->attrs.flags & COMPLETES) || !ofi_call_is_good(c) || !n ||
	    entries_were_reported(c, cq))
		return;
	if (n > COMPLETIONS_MAX)
		n = COMPLETIONS_MAX;
	post = arena_alloc(&c->d->arena, n * sizeof(*post));
	completions_make(c, cq, (uint32_t)n, post);
	out->posts = post;
	out->nposts = (uint32_t)n;
	completions_show(c, out);
}
