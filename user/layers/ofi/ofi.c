/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The libfabric layer: data passed to endpoints, and their completions. This file has the table,
 * what is shown of a call, and what later calls can learn from it. Posts are made in ofi_post.c.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/ofi/ofi_call.h"
#include "lib/log.h"

/*
 * ---- objects ----
 *
 * Addresses are opaque to programs, which pass on what fi_getname gave them. So their bytes are the
 * same at both sides, and so is a text made from them. Some addresses are neither a socket's nor a
 * text. Their length is taken from the process's own addresses.
 */

/* Flags of a binding, rdma/fabric.h. */
#define FI_RECV (1u << 10)
#define FI_TRANSMIT (1u << 11)

#define NUMBER_NONE UINT64_MAX /* FI_ADDR_UNSPEC, FI_ADDR_NOTAVAIL */

struct process {
	struct map objects; /* address → struct ofi_object */
	struct map posted;  /* context → struct posted */
	uint32_t raw_bytes; /* length of its own addresses of unknown form */
	bool raw_differs;   /* these lengths are not all the same */
};

/* Endpoints of the last posts with a context. */
struct posted {
	uint64_t ep[OFI_SIDES];
};

static void object_free(void *value)
{
	struct ofi_object *o = value;

	map_free(&o->addresses, free);
	free(o);
}

static void process_free(void *value)
{
	struct process *p = value;

	map_free(&p->objects, object_free);
	map_free(&p->posted, free);
	free(p);
}

static struct process *process_of(struct ofi_objects *s, uint32_t pid)
{
	return map_make(&s->processes, pid, sizeof(struct process));
}

static struct ofi_object *object_of(struct ofi_objects *s, uint32_t pid, uint64_t object)
{
	return map_make(&process_of(s, pid)->objects, object, sizeof(struct ofi_object));
}

/* Adds an object and forgets an older one at that address. */
static struct ofi_object *object_new(struct ofi_objects *s, uint32_t pid, uint64_t object)
{
	struct ofi_object *o = xcalloc(1, sizeof(*o)),
			  *old = map_set(&process_of(s, pid)->objects, object, o);

	if (old)
		object_free(old);
	return o;
}

/* ---- addresses ---- */

static void sockaddr_text(const char *host, bool is_v6, uint16_t port, struct ofi_address *out)
{
	snprintf(out->dest, sizeof(out->dest), "%s", host);
	snprintf(out->end, sizeof(out->end), is_v6 ? "[%s]:%u" : "%s:%u", host, ntohs(port));
}

static bool is_text(const uint8_t *addr, uint32_t bytes)
{
	uint32_t n = 0;

	while (n < bytes && isprint(addr[n]))
		n++;
	return n > 1 && n < bytes && !addr[n];
}

/* Reads the address of a socket, or a text. Returns its length, 0 if it is neither. */
static uint32_t address_known(const uint8_t *addr, uint32_t bytes, struct ofi_address *out)
{
	static const uint8_t zero[8];
	char host[INET6_ADDRSTRLEN];
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;
	sa_family_t family;

	if (is_text(addr, bytes)) {
		snprintf(out->end, sizeof(out->end), "%s", (const char *)addr);
		memcpy(out->dest, out->end, sizeof(out->dest));
		return (uint32_t)strlen((const char *)addr) + 1;
	}
	if (bytes < sizeof(v4))
		return 0;
	memcpy(&family, addr, sizeof(family));
	memcpy(&v4, addr, sizeof(v4));
	if (family == AF_INET && !memcmp(v4.sin_zero, zero, sizeof(zero))) {
		inet_ntop(AF_INET, &v4.sin_addr, host, sizeof(host));
		sockaddr_text(host, false, v4.sin_port, out);
		return sizeof(v4);
	}
	if (family == AF_INET6 && bytes >= sizeof(v6)) {
		memcpy(&v6, addr, sizeof(v6));
		inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof(host));
		sockaddr_text(host, true, v6.sin6_port, out);
		return sizeof(v6);
	}
	return 0;
}

static void address_hex(const uint8_t *addr, uint32_t bytes, struct ofi_address *out)
{
	for (uint32_t i = 0; i < bytes; i++)
		snprintf(out->end + 2 * (size_t)i, sizeof(out->end) - 2 * (size_t)i, "%02x",
			 addr[i]);
	memcpy(out->dest, out->end, sizeof(out->dest));
}

/* Reads the address at addr. Returns its length, 0 if that is unknown. */
static uint32_t address_read(const struct process *p, const uint8_t *addr, uint32_t bytes,
			     struct ofi_address *out)
{
	uint32_t length = address_known(addr, bytes, out);

	if (length)
		return length;
	if (!p->raw_bytes || p->raw_differs || p->raw_bytes > bytes)
		return 0;
	address_hex(addr, p->raw_bytes, out);
	return p->raw_bytes;
}

/* ---- learning from calls ---- */

/*
 * Carriers by enum fi_proto. Two kinds are left out: those that pass posts on to another provider,
 * and those that choose by peer.
 */
static const struct {
	const char *name;
	enum post_carrier carrier;
} protocols[] = {
	[1] = {"verbs", CARRIER_NIC},
	[2] = {"iwarp", CARRIER_NIC},
	[3] = {"ib_ud", CARRIER_NIC},
	[5] = {"udp", CARRIER_SOCKET},
	[6] = {"tcp", CARRIER_SOCKET},
	[11] = {"rxm", 0},
	[12] = {"rxd", 0},
	[15] = {"psm2", 0},
	[16] = {"shm", CARRIER_SHM},
	[19] = {"xrc", CARRIER_NIC},
	[20] = {"efa", 0},
	[21] = {"psm3", 0},
	[22] = {"rxm", 0},
	[23] = {"opx", 0},
	[24] = {"cxi", CARRIER_NIC},
	[25] = {"tcp", CARRIER_SOCKET},
	[27] = {"ucx", 0},
	[28] = {"sm2", CARRIER_SHM},
};

/* protocol: from the endpoint's attributes, 0 if unknown. */
static void ofi_ep_opened(struct ofi_objects *s, uint32_t pid, uint64_t ep, uint32_t protocol)
{
	struct ofi_object *o = object_new(s, pid, ep);

	if (protocol >= sizeof(protocols) / sizeof(protocols[0]))
		return;
	o->transport = protocols[protocol].name;
	o->carrier = protocols[protocol].carrier;
}

static void ofi_bound(struct ofi_objects *s, uint32_t pid, uint64_t object, uint64_t to,
		      uint64_t flags)
{
	struct ofi_object *o = object_of(s, pid, object);

	if (o->bound_cnt == OFI_BOUND_MAX)
		return;
	o->bound[o->bound_cnt].object = to;
	o->bound[o->bound_cnt].is_for[OFI_TRANSMIT] = flags & FI_TRANSMIT;
	o->bound[o->bound_cnt++].is_for[OFI_RECEIVE] = flags & FI_RECV;
}

static void ofi_named(struct ofi_objects *s, uint32_t pid, uint64_t ep, const uint8_t *addr,
		      uint32_t bytes)
{
	struct ofi_object *o = object_of(s, pid, ep);
	struct process *p = process_of(s, pid);

	memset(&o->name, 0, sizeof(o->name));
	if (address_known(addr, bytes, &o->name))
		return;
	p->raw_differs |= p->raw_bytes && p->raw_bytes != bytes;
	p->raw_bytes = bytes;
	address_hex(addr, bytes, &o->name);
}

/* bytes: readable bytes at addr; the address may be shorter. */
static void ofi_connected(struct ofi_objects *s, uint32_t pid, uint64_t ep, const uint8_t *addr,
			  uint32_t bytes)
{
	struct ofi_object *o = object_of(s, pid, ep);

	memset(&o->peer, 0, sizeof(o->peer));
	address_read(process_of(s, pid), addr, bytes, &o->peer);
}

void ofi_handed_on(struct ofi_objects *s, uint32_t pid, uint64_t from, const struct ofi_address *to,
		   uint64_t inner)
{
	struct ofi_object *outer = object_of(s, pid, from), *o = object_of(s, pid, inner);

	if (*o->name.end || *o->peer.end)
		return;
	o->name = outer->name;
	o->peer = *to;
}

/* addr: addresses one after the other; numbers: the cnt words that they got, not aligned. */
static void ofi_inserted(struct ofi_objects *s, uint32_t pid, uint64_t av, const uint8_t *addr,
			 uint32_t bytes, const uint8_t *numbers, uint32_t cnt)
{
	struct ofi_object *o = object_of(s, pid, av);
	const struct process *p = process_of(s, pid);
	struct ofi_address *a;
	uint64_t number;
	uint32_t length;

	for (uint32_t i = 0, at = 0; i < cnt; i++, at += length) {
		a = xcalloc(1, sizeof(*a));
		length = address_read(p, addr + at, bytes - at, a);
		memcpy(&number, numbers + 8 * (size_t)i, sizeof(number));
		if (length && number != NUMBER_NONE)
			a = map_set(&o->addresses, number, a);
		free(a);
		if (!length)
			return;
	}
}

void ofi_posted(struct ofi_objects *s, uint32_t pid, uint64_t context, enum ofi_side side,
		uint64_t ep)
{
	struct posted *p = map_make(&process_of(s, pid)->posted, context, sizeof(*p));

	p->ep[side] = ep;
}

/* ---- queries ---- */

const struct ofi_object *ofi_object_find(const struct ofi_objects *s, uint32_t pid, uint64_t object)
{
	const struct process *p = map_get(&s->processes, pid);

	return p ? map_get(&p->objects, object) : NULL;
}

const struct ofi_address *ofi_address_find(const struct ofi_objects *s, uint32_t pid, uint64_t ep,
					   uint64_t number)
{
	const struct ofi_object *o = ofi_object_find(s, pid, ep), *av;
	const struct ofi_address *a;

	if (!o || *o->peer.end)
		return o ? &o->peer : NULL;
	for (uint32_t i = 0; i < o->bound_cnt; i++) {
		av = ofi_object_find(s, pid, o->bound[i].object);
		a = av ? map_get(&av->addresses, number) : NULL;
		if (a)
			return a;
	}
	return NULL;
}

uint64_t ofi_poster_find(const struct ofi_objects *s, uint32_t pid, uint64_t cq, uint64_t context,
			 enum ofi_side side)
{
	const struct process *p = map_get(&s->processes, pid);
	const struct posted *posted = p ? map_get(&p->posted, context) : NULL;
	const struct ofi_object *ep = posted ? ofi_object_find(s, pid, posted->ep[side]) : NULL;

	for (uint32_t i = 0; ep && i < ep->bound_cnt; i++)
		if (ep->bound[i].object == cq && ep->bound[i].is_for[side])
			return posted->ep[side];
	return 0;
}

/* ---- the layer ---- */

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

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *fn)
{
	int err;

	if (attrs->flags & FUNC_POLL) {
		fn->flags |= POV_FN_POLL | POV_FN_BY_RETURN;
		fn->poll_arg = (uint8_t)TRY_AGAIN;
		fn->poll_bytes = 8;
		fn->spin_arg = 0; /* the endpoint or the queue */
	}
	err = recipe_add_fetches(sig, NULL, fn);
	if (!err && (attrs->flags & TEACHES) == TEACHES_EP)
		err = recipe_add_member((uint8_t)signature_find(sig, "info"), AT_EP_ATTR,
					EP_ATTR_BYTES, fn);
	return err;
}

static void decoder_release(struct layer_decoder *base)
{
	struct ofi_decoder *d = (struct ofi_decoder *)base;

	map_free(&d->objects.processes, process_free);
	map_free(&d->threads, free);
}

/* ---- a call ---- */

/* Bytes of one element that an argument points to. */
static uint32_t width_of(const struct sig_arg *a)
{
	return a->type == SIG_BLOCK ? a->bytes ?: POV_BLOCK_BYTES : sizeof(uint64_t);
}

static void call_open(struct ofi_call *c, const struct call_parts *parts, struct ofi_decoder *d)
{
	*c = (struct ofi_call){.fn = parts->info->priv, .parts = *parts, .d = d};
	call_fields_read(&c->fields, parts, width_of, &d->base);
}

bool ofi_call_is_good(const struct ofi_call *c)
{
	return c->parts.returned && (int32_t)c->parts.rec->ret >= 0 &&
	       c->parts.nargs == c->fn->sig.nargs;
}

struct ofi_thread *ofi_call_thread(const struct ofi_call *c)
{
	return map_make(&c->d->threads, c->parts.rec->hdr.tid, sizeof(struct ofi_thread));
}

const struct call_field *ofi_call_field(const struct ofi_call *c, const char *role, uint32_t bytes)
{
	return call_fields_find(&c->fields, &c->parts, role, bytes);
}

/* ---- what calls reveal about objects; those that failed reveal nothing ---- */

static uint64_t word_of(const struct call_field *f)
{
	uint64_t v;

	memcpy(&v, f->data, sizeof(v));
	return v;
}

static void object_opened(const struct ofi_call *c, uint32_t pid)
{
	const struct call_field *attr = ofi_call_field(c, "attr", 4), *object;
	const uint8_t *ep_attr;
	uint32_t v = 0;

	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_CQ:
		object = ofi_call_field(c, "cq", 8);
		if (attr)
			memcpy(&v, attr->data, sizeof(v));
		if (object)
			object_new(&c->d->objects, pid, word_of(object))->format = v;
		break;
	case TEACHES_AV:
		object = ofi_call_field(c, "av", 8);
		if (object)
			object_new(&c->d->objects, pid, word_of(object));
		break;
	case TEACHES_EP:
		object = ofi_call_field(c, "new_ep", 8);
		ep_attr = call_parts_data(&c->parts, "info", POV_FIELD_MEMBER, AT_EP_ATTR,
					  EP_ATTR_BYTES);
		if (ep_attr) /* it begins with type and protocol */
			memcpy(&v, ep_attr + 4, sizeof(v));
		if (object)
			ofi_ep_opened(&c->d->objects, pid, word_of(object), v);
		break;
	}
}

static void addresses_inserted(const struct ofi_call *c, uint32_t pid, uint64_t av)
{
	const struct call_field *addr = ofi_call_field(c, "addr", 1),
				*numbers = ofi_call_field(c, "fi_addr", 8);

	/* a return value of 0 means later, reported by an event */
	if (addr && numbers && (uint32_t)c->parts.rec->ret)
		ofi_inserted(&c->d->objects, pid, av, addr->data, addr->bytes, numbers->data,
			     numbers->bytes / 8);
}

/* Remembers what the call reveals about objects. */
static void ofi_learn(const struct ofi_call *c)
{
	uint64_t first = call_parts_word(&c->parts, 0), bytes;
	uint32_t pid = c->parts.rec->tgid;
	const struct call_field *addr, *length;

	if (!ofi_call_is_good(c))
		return;
	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_BIND:
		ofi_bound(&c->d->objects, pid, first, call_parts_word(&c->parts, 1),
			  call_parts_word(&c->parts, 2));
		break;
	case TEACHES_NAME:
		addr = ofi_call_field(c, "addr", 1);
		length = ofi_call_field(c, "addrlen", 8);
		bytes = length ? word_of(length) : 0;
		if (addr && bytes && bytes <= addr->bytes)
			ofi_named(&c->d->objects, pid, first, addr->data, (uint32_t)bytes);
		break;
	case TEACHES_PEER:
		addr = ofi_call_field(c, "addr", 1);
		if (addr)
			ofi_connected(&c->d->objects, pid, first, addr->data, addr->bytes);
		break;
	case TEACHES_INSERT:
		addresses_inserted(c, pid, first);
		break;
	default:
		object_opened(c, pid);
	}
}

static void arg_show(const struct sig_arg *a, uint64_t w, struct call_view *out)
{
	if (a->kind == SIG_KIND_NUM && a->dir == SIG_VALUE)
		call_view_add(out, a->role, VALUE_INT)->i = a->type == SIG_INT ? (int32_t)w :
										 (int64_t)w;
	else
		call_view_add(out, a->role, VALUE_HEX)->u = w;
}

static void decode(struct layer_decoder *base, const struct call_parts *call, struct call_view *out)
{
	struct ofi_call c;

	call_open(&c, call, (struct ofi_decoder *)base);
	for (uint32_t i = 0; i < c.parts.nargs; i++)
		arg_show(&c.fn->sig.arg[i], call_parts_word(&c.parts, i), out);
	if (c.parts.returned && (int32_t)call->rec->ret < 0)
		out->roles.error = (int32_t)call->rec->ret;
	out->roles.poll_found = call->returned && call->info->polls;
	ofi_learn(&c);
	ofi_posts(&c, out);
	ofi_completions(&c, out);
}

const struct layer layer_ofi = {
	.name = "ofi",
	LAYER_ROWS,
	.words = words,
	.recipe = recipe,
	.nearness = 2,
	.decoder_bytes = sizeof(struct ofi_decoder),
	.decoder_release = decoder_release,
	.has_more = true,
	.decode = decode,
	.spin_arg_name = layer_first_arg_name,
};
