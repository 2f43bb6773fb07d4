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

/* What is known of all addresses of a process. */
struct ofi_process {
	uint32_t raw_bytes; /* length of its own addresses of unknown form */
	bool raw_differs;   /* these lengths are not all the same */
	uint32_t av_cnt;    /* address vectors with addresses */
};

static struct ofi_process *process_of(const struct ofi_call *c)
{
	return ofi_make(c, OFI_PROCESS, 0, sizeof(struct ofi_process));
}

/* Adds an object and forgets an older one at that address. */
static struct ofi_object *object_new(const struct ofi_call *c, uint64_t address)
{
	struct ofi_object *o = ofi_object(c, address);

	if (o->av)
		map_free(objects_of(&c->d->objects, c->parts.rec->tgid, OFI_ADDRESSES + o->av),
			 free);
	*o = (struct ofi_object){0};
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
static uint32_t address_read(const struct ofi_process *p, const uint8_t *addr, uint32_t bytes,
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
static void ofi_ep_opened(const struct ofi_call *c, uint64_t ep, uint32_t protocol)
{
	struct ofi_object *o = object_new(c, ep);

	if (protocol >= sizeof(protocols) / sizeof(protocols[0]))
		return;
	o->transport = protocols[protocol].name;
	o->carrier = protocols[protocol].carrier;
}

static void ofi_bound(const struct ofi_call *c, uint64_t object, uint64_t to, uint64_t flags)
{
	struct ofi_object *o = ofi_object(c, object);

	if (o->bound_cnt == OFI_BOUND_MAX)
		return;
	o->bound[o->bound_cnt].object = to;
	o->bound[o->bound_cnt].is_for[OFI_TRANSMIT] = flags & FI_TRANSMIT;
	o->bound[o->bound_cnt++].is_for[OFI_RECEIVE] = flags & FI_RECV;
}

static void ofi_named(const struct ofi_call *c, uint64_t ep, const uint8_t *addr, uint32_t bytes)
{
	struct ofi_object *o = ofi_object(c, ep);
	struct ofi_process *l = process_of(c);

	memset(&o->name, 0, sizeof(o->name));
	if (address_known(addr, bytes, &o->name))
		return;
	l->raw_differs |= l->raw_bytes && l->raw_bytes != bytes;
	l->raw_bytes = bytes;
	address_hex(addr, bytes, &o->name);
}

/* bytes: readable bytes at addr; the address may be shorter. */
static void ofi_connected(const struct ofi_call *c, uint64_t ep, const uint8_t *addr,
			  uint32_t bytes)
{
	struct ofi_object *o = ofi_object(c, ep);

	memset(&o->peer, 0, sizeof(o->peer));
	address_read(process_of(c), addr, bytes, &o->peer);
}

/* addr: addresses one after the other; numbers: the cnt words that they got, not aligned. */
static void ofi_inserted(const struct ofi_call *c, uint64_t av, const uint8_t *addr, uint32_t bytes,
			 const uint8_t *numbers, uint32_t cnt)
{
	struct ofi_object *o = ofi_object(c, av);
	struct ofi_address a;
	uint64_t number;
	uint32_t length;

	if (!o->av)
		o->av = ++process_of(c)->av_cnt;
	for (uint32_t i = 0, at = 0; i < cnt; i++, at += length) {
		a = (struct ofi_address){0};
		length = address_read(process_of(c), addr + at, bytes - at, &a);
		if (!length)
			return;
		memcpy(&number, numbers + 8 * (size_t)i, sizeof(number));
		if (number != NUMBER_NONE)
			*(struct ofi_address *)ofi_make(c, OFI_ADDRESSES + o->av, number,
							sizeof(a)) = a;
	}
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

/* ---- a call ---- */

/* Bytes of one element that an argument points to. */
static uint32_t width_of(const struct sig_arg *a)
{
	return a->type == SIG_BLOCK ? a->bytes ?: POV_BLOCK_BYTES : sizeof(uint64_t);
}

static void call_open(struct ofi_call *c, const struct call_parts *parts, struct layer_decoder *d)
{
	*c = (struct ofi_call){.fn = parts->info->priv, .parts = *parts, .d = d};
	call_fields_read(&c->fields, parts, width_of, d);
}

bool ofi_call_is_good(const struct ofi_call *c)
{
	return c->parts.returned && (int32_t)c->parts.rec->ret >= 0 &&
	       c->parts.nargs == c->fn->sig.nargs;
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

static void object_opened(const struct ofi_call *c)
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
			object_new(c, word_of(object))->format = v;
		break;
	case TEACHES_AV:
		object = ofi_call_field(c, "av", 8);
		if (object)
			object_new(c, word_of(object));
		break;
	case TEACHES_EP:
		object = ofi_call_field(c, "new_ep", 8);
		ep_attr = call_parts_data(&c->parts, "info", POV_FIELD_MEMBER, AT_EP_ATTR,
					  EP_ATTR_BYTES);
		if (ep_attr) /* it begins with type and protocol */
			memcpy(&v, ep_attr + 4, sizeof(v));
		if (object)
			ofi_ep_opened(c, word_of(object), v);
		break;
	}
}

static void addresses_inserted(const struct ofi_call *c, uint64_t av)
{
	const struct call_field *addr = ofi_call_field(c, "addr", 1),
				*numbers = ofi_call_field(c, "fi_addr", 8);

	/* a return value of 0 means later, reported by an event */
	if (addr && numbers && (uint32_t)c->parts.rec->ret)
		ofi_inserted(c, av, addr->data, addr->bytes, numbers->data, numbers->bytes / 8);
}

/* Remembers what the call reveals about objects. */
static void ofi_learn(const struct ofi_call *c)
{
	uint64_t first = call_parts_word(&c->parts, 0), bytes;
	const struct call_field *addr, *length;

	if (!ofi_call_is_good(c))
		return;
	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_BIND:
		ofi_bound(c, first, call_parts_word(&c->parts, 1), call_parts_word(&c->parts, 2));
		break;
	case TEACHES_NAME:
		addr = ofi_call_field(c, "addr", 1);
		length = ofi_call_field(c, "addrlen", 8);
		bytes = length ? word_of(length) : 0;
		if (addr && bytes && bytes <= addr->bytes)
			ofi_named(c, first, addr->data, (uint32_t)bytes);
		break;
	case TEACHES_PEER:
		addr = ofi_call_field(c, "addr", 1);
		if (addr)
			ofi_connected(c, first, addr->data, addr->bytes);
		break;
	case TEACHES_INSERT:
		addresses_inserted(c, first);
		break;
	default:
		object_opened(c);
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

	call_open(&c, call, base);
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
	.has_more = true,
	.decode = decode,
	.spin_arg_name = layer_first_arg_name,
};
