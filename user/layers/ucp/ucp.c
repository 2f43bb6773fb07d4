/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The UCP layer: functions of UCX by which an MPI library (or a program) sends, receives and makes
 * progress, and those at which UCP's messages arrive. A call's own record holds all that is known
 * of it, except the process at the other end of an endpoint. The meaning of numbers
 * (status codes, datatypes, bits of ucp_request_param_t) has been part of UCX's ABI since 1.8:
 * ucp/api/ucp.h, ucs/type/status.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "layers/call_parts.h"
#include "layers/signature.h"
#include "layers/ucp/ucs_status.h"
#include "lib/json_get.h"

#define LAYER_DEF "layers/ucp/ucp.def"
#include "layers/layer_rows.h"

/* Attributes, from FUNC_OWN on: kind of the return value. */
#define RETURNS_VOID 0x100
#define RETURNS_STATUS 0x200
#define RETURNS_REQUEST 0x400
#define RETURNS_NUMBER 0x800
#define RETURNS_POINTER 0x1000
#define SENDS 0x2000
#define RECEIVES 0x4000
#define ARRIVES 0x8000
#define SAYS_EAGER 0x10000
#define SAYS_RTS 0x20000
#define SAYS_RTR 0x40000
#define SAYS_DATA 0x80000
#define SAYS_FIN 0x100000
#define LEARNS_EP 0x200000	/* it makes an endpoint */
#define LEARNS_ADDRESS 0x400000 /* it reveals a worker's own address */

#define PARAM_HAS_DATATYPE 0x08
#define TYPE_CLASS_BITS 3
#define TYPE_IOV 2

static const struct func_word words[] = {
	{"VOID", RETURNS_VOID, 0},
	{"STATUS", RETURNS_STATUS, 0},
	{"REQUEST", RETURNS_REQUEST, 0},
	{"NUMBER", RETURNS_NUMBER, 0},
	{"POINTER", RETURNS_POINTER, 0},
	{"SENDS", SENDS, 0},
	{"RECEIVES", RECEIVES, 0},
	{"ARRIVES", ARRIVES, 0},
	{"EAGER", SAYS_EAGER, 0},
	{"RTS", SAYS_RTS, 0},
	{"RTR", SAYS_RTR, 0},
	{"DATA", SAYS_DATA, 0},
	{"FIN", SAYS_FIN, 0},
	{"EP", LEARNS_EP, 0},
	{"ADDRESS", LEARNS_ADDRESS, 0},
	{NULL, 0, 0},
};

/* ---- the other ends of endpoints ---- */

/*
 * The process at the other end of UCP's endpoints. The address to which an endpoint connects
 * identifies a worker; the worker gets the same address for itself. Objects are identified by their
 * addresses in the process's memory. Connections made before the recording began, or by a listener,
 * are unknown, and never guessed.
 *
 * A worker's address begins with a header of one or two bytes. It is followed by 64 bits by which
 * UCX identifies workers (ucp/wireup/address.c of UCX 1.9 to 1.20). Offsets in structs are part of
 * UCX's ABI (ucp/api/ucp.h, since 1.8).
 */

#define UCP_WORKER_TEXT 32

struct ucp_worker {
	char end[UCP_WORKER_TEXT]; /* "worker 0x1f00…" */
};

struct ucp_ep {
	uint64_t worker;
	char remote_end[UCP_WORKER_TEXT]; /* "": unknown */
};

#define ADDRESS_BYTES 16 /* bytes kept of an address */
#define ADDRESS_VERSION 0x0f
#define ADDRESS_HAS_ID 0x02 /* in byte 2 of version 2; version 1 always has an id */

#define AT_PARAMS_ADDRESS 8 /* offset in ucp_ep_params_t */
#define PARAMS_HAS_ADDRESS 0x01
#define AT_ATTR_ADDRESS 16 /* offset in ucp_worker_attr_t */
#define ATTR_HAS_ADDRESS 0x02

/* Kinds of objects. */
enum { WORKERS /* struct ucp_worker */, EPS /* struct ucp_ep */ };

/* Role of the argument with a worker's own address, or with a struct that holds it. */
static const char *own_role(const struct signature *sig)
{
	return signature_find(sig, "attr") >= 0 ? "attr" : "address";
}

static uint8_t own_offset(const struct signature *sig)
{
	return signature_find(sig, "attr") >= 0 ? AT_ATTR_ADDRESS : 0;
}

/* Adds fetches that no signature can express. flags: the function's attributes. 0, -E2BIG. */
static int ucp_learn_recipe(uint32_t flags, const struct signature *sig, struct pov_fn *fn)
{
	if (flags & LEARNS_EP)
		return recipe_add_member((uint8_t)signature_find(sig, "params"), AT_PARAMS_ADDRESS,
					 ADDRESS_BYTES, fn);
	if (flags & LEARNS_ADDRESS)
		return recipe_add_member((uint8_t)signature_find(sig, own_role(sig)),
					 own_offset(sig), ADDRESS_BYTES, fn);
	return 0;
}

/* False if the struct's mask was read and lacks the member. */
static bool has_member(const struct call_parts *parts, const char *role, uint64_t bit)
{
	const uint8_t *data = call_parts_data(parts, role, POV_FIELD_IN, 0, sizeof(uint64_t));
	uint64_t mask;

	if (!data)
		return false;
	memcpy(&mask, data, sizeof(mask));
	return mask & bit;
}

/* Text of a worker; "" if the address has another form. address may be NULL. */
static void worker_text(const uint8_t *address, char out[UCP_WORKER_TEXT])
{
	unsigned int version;
	uint64_t id;

	*out = '\0';
	if (!address)
		return;
	version = (address[0] & ADDRESS_VERSION) + 1;
	if (version > 2 || (version == 2 && !(address[1] & ADDRESS_HAS_ID)))
		return;
	memcpy(&id, address + version, sizeof(id));
	snprintf(out, UCP_WORKER_TEXT, "worker 0x%llx", (unsigned long long)id);
}

static void ep_learn(struct objects *objects, const struct call_parts *parts)
{
	const uint8_t *new_ep = call_parts_data(parts, "new_ep", POV_FIELD_OUT, 0,
						sizeof(uint64_t));
	struct ucp_ep *e;
	uint64_t ep;

	if (!new_ep)
		return;
	memcpy(&ep, new_ep, sizeof(ep));
	e = map_make(objects_of(objects, parts->rec->tgid, EPS), ep, sizeof(*e));
	e->worker = call_parts_word(parts, 0);
	worker_text(has_member(parts, "params", PARAMS_HAS_ADDRESS) ?
			    call_parts_data(parts, "params", POV_FIELD_MEMBER, AT_PARAMS_ADDRESS,
					    ADDRESS_BYTES) :
			    NULL,
		    e->remote_end);
}

static void address_learn(struct objects *objects, const struct call_parts *parts)
{
	const char *role = own_role(parts->sig);
	const uint8_t *address = call_parts_data(parts, role, POV_FIELD_MEMBER,
						 own_offset(parts->sig), ADDRESS_BYTES);
	struct ucp_worker *w;

	if (!address || (own_offset(parts->sig) && !has_member(parts, role, ATTR_HAS_ADDRESS)))
		return;
	w = map_make(objects_of(objects, parts->rec->tgid, WORKERS), call_parts_word(parts, 0),
		     sizeof(*w));
	worker_text(address, w->end);
}

/* Learns from a call that succeeded. */
static void ucp_learn(struct objects *objects, uint32_t flags, const struct call_parts *parts)
{
	if (flags & LEARNS_EP)
		ep_learn(objects, parts);
	else if (flags & LEARNS_ADDRESS)
		address_learn(objects, parts);
}

/* ---- recipes ---- */

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *fn)
{
	int err;

	if (attrs->flags & FUNC_POLL) {
		fn->flags |= POV_FN_POLL | POV_FN_BY_RETURN;
		fn->poll_arg = attrs->flags & RETURNS_STATUS ? UCS_STATUS_IN_PROGRESS : 0;
		fn->poll_bytes = attrs->flags & RETURNS_STATUS ? 1 :
				 attrs->flags & RETURNS_NUMBER ? 4 :
								 8;
		fn->spin_arg = 0; /* the worker, endpoint or request */
	}
	err = recipe_add_fetches(sig, NULL, fn);
	if (!err)
		err = ucp_learn_recipe(attrs->flags, sig, fn);
	return err;
}

/* ---- the trace's table ---- */

struct ucp_func {
	struct signature sig;
	struct func_attrs attrs;
	char op[48]; /* name without "ucp_", and for arrivals without "_handler" and what follows */
	bool is_remote; /* it accesses the other side's memory */
};

static void op_name(const char *function, char *op, size_t bytes)
{
	char *tail;

	snprintf(op, bytes, "%s", function + (strncmp(function, "ucp_", 4) ? 0 : 4));
	tail = strstr(op, "_handler");
	if (tail)
		*tail = '\0';
}

static void func_init(const json_t *row, void *priv, struct func_info *out)
{
	struct ucp_func *f = priv;

	op_name(json_get_text(row, "name"), f->op, sizeof(f->op));
	f->is_remote = !strcmp(json_get_text(row, "group"), "rma");
}

/* ---- decoding ---- */

struct ucp_decoder {
	struct layer_decoder base;
	struct call_post post; /* post of the current view */
};

/* A call being decoded. */
struct ucp_call {
	const struct ucp_func *fn;
	struct call_parts parts;
	struct arena *arena;
	bool has_param;
	struct {
		uint32_t op_attr_mask, flags;
		uint64_t request, callback, datatype;
	} param; /* start of the ucp_request_param_t */
};
_Static_assert(sizeof(((struct ucp_call *)0)->param) == POV_BLOCK_BYTES, "as it is recorded");

static void call_open(struct ucp_call *c, const struct call_parts *parts, struct arena *arena)
{
	struct pov_field head;
	const uint8_t *data;
	size_t at = 0;

	*c = (struct ucp_call){.fn = parts->info->priv, .parts = *parts, .arena = arena};
	while (call_parts_field(&c->parts, &at, &head, &data)) {
		if (head.type != POV_FIELD_IN || head.arg >= c->parts.nargs ||
		    c->fn->sig.arg[head.arg].kind != SIG_KIND_PARAM ||
		    head.size != sizeof(c->param))
			continue;
		memcpy(&c->param, data, sizeof(c->param));
		c->has_param = true;
	}
}

static const char *type_text(const struct ucp_call *c, uint64_t type)
{
	static const char *const classes[1 << TYPE_CLASS_BITS] = {
		[1] = "strided", [TYPE_IOV] = "iov", [7] = "generic"};
	const char *class = classes[type & ((1 << TYPE_CLASS_BITS) - 1)];

	if (!(type & ((1 << TYPE_CLASS_BITS) - 1)))
		return arena_printf(c->arena, "contig(%llu)",
				    (unsigned long long)(type >> TYPE_CLASS_BITS));
	return class ? class : arena_printf(c->arena, "0x%llx", (unsigned long long)type);
}

static void arg_show(const struct ucp_call *c, uint32_t arg, struct call_view *out)
{
	const struct sig_arg *a = &c->fn->sig.arg[arg];

	if (a->type == SIG_STRING)
		return;
	switch (a->kind) {
	case SIG_KIND_PARAM:
		if (c->has_param && c->param.op_attr_mask & PARAM_HAS_DATATYPE)
			call_view_add(out, "datatype", VALUE_TEXT)->text =
				type_text(c, c->param.datatype);
		break;
	case SIG_KIND_UCP_TYPE:
		call_view_add(out, a->role, VALUE_TEXT)->text =
			type_text(c, call_parts_word(&c->parts, arg));
		break;
	default:
		call_view_add_arg(out, &c->parts, arg);
	}
}

/* Shows the return value, and whether it is an error. */
static void result_show(const struct ucp_call *c, struct call_view *out)
{
	uint32_t flags = c->fn->attrs.flags;
	uint64_t ret = c->parts.rec->ret;
	int status;

	if (!c->parts.returned)
		return;
	if (flags & RETURNS_REQUEST && ret && ret < (uint64_t)UCS_STATUS_LAST) {
		call_view_add(out, flags & FUNC_POLL ? "result" : "request", VALUE_HEX)->u = ret;
		return;
	}
	if (flags & (RETURNS_STATUS | RETURNS_REQUEST)) {
		status = flags & RETURNS_STATUS ? (int8_t)ret : (int)(int64_t)ret;
		call_view_add(out, "status", VALUE_TEXT)->text = ucs_status_text(c->arena, status);
		out->roles.error = status < 0 ? status : 0;
	} else if (flags & RETURNS_NUMBER) {
		call_view_add(out, "result", VALUE_INT)->i = (int32_t)ret;
	} else if (flags & RETURNS_POINTER) {
		call_view_add(out, "result", VALUE_HEX)->u = ret;
	}
}

/* Bytes in buffer and header, or BYTES_UNKNOWN. */
static int64_t bytes_of(const struct ucp_call *c)
{
	uint64_t count, type = 1 << TYPE_CLASS_BITS, header = 0, bytes;

	call_parts_value(&c->parts, "header_length", &header);
	if (call_parts_value(&c->parts, "length", &bytes))
		goto out;
	if (!call_parts_value(&c->parts, "count", &count))
		return BYTES_UNKNOWN;
	if (!call_parts_value(&c->parts, "datatype", &type) &&
	    signature_find(&c->fn->sig, "param") >= 0) {
		if (!c->has_param)
			return BYTES_UNKNOWN;
		if (c->param.op_attr_mask & PARAM_HAS_DATATYPE)
			type = c->param.datatype;
	}
	if (type & ((1 << TYPE_CLASS_BITS) - 1) ||
	    __builtin_mul_overflow(count, type >> TYPE_CLASS_BITS, &bytes))
		return BYTES_UNKNOWN;
out:
	if (__builtin_add_overflow(bytes, header, &bytes) || bytes > INT64_MAX)
		return BYTES_UNKNOWN;
	return (int64_t)bytes;
}

/* Bytes moved by an operation on a word in the other side's memory. */
static int64_t atomic_bytes(const struct ucp_call *c)
{
	int value = signature_find(&c->fn->sig, "value");
	uint64_t bytes;

	if (call_parts_value(&c->parts, "op_size", &bytes))
		return bytes <= INT64_MAX ? (int64_t)bytes : BYTES_UNKNOWN;
	if (value < 0)
		return bytes_of(c);
	return c->fn->sig.arg[value].type == SIG_INT ? 4 : 8;
}

static void data_show(const struct ucp_call *c, int64_t bytes, struct call_view *out)
{
	struct call_roles *r = &out->roles;

	r->sends = c->fn->attrs.flags & SENDS;
	r->receives = c->fn->attrs.flags & (RECEIVES | ARRIVES);
	if (!r->sends && !r->receives)
		return;
	if (r->sends)
		r->send_bytes = bytes;
	else
		r->recv_bytes = bytes;
	if (bytes != BYTES_UNKNOWN)
		call_view_add(out, "bytes", VALUE_INT)->i = bytes;
}

/* ---- posts ---- */

static enum post_kind kind_of(const struct ucp_func *f)
{
	uint32_t flags = f->attrs.flags;

	if (flags & ARRIVES)
		return POST_ARRIVAL;
	if (f->is_remote)
		return flags & SENDS ? POST_WRITE : flags & RECEIVES ? POST_READ : POST_ATOMIC;
	return flags & SENDS ? POST_SEND : flags & RECEIVES ? POST_RECV : POST_OTHER;
}

static enum post_step step_of(uint32_t flags)
{
	return flags & SAYS_EAGER ? STEP_EAGER :
	       flags & SAYS_RTS	  ? STEP_RTS :
	       flags & SAYS_RTR	  ? STEP_RTR :
	       flags & SAYS_DATA  ? STEP_DATA :
	       flags & SAYS_FIN	  ? STEP_FIN :
				    STEP_NONE;
}

/*
 * The worker of a post: the endpoint's, or that of an argument, which is the first one of arrivals.
 */
static uint64_t worker_of(const struct ucp_call *c, const struct ucp_ep *ep)
{
	uint64_t worker = 0;

	if (ep)
		return ep->worker;
	if (c->fn->attrs.flags & ARRIVES)
		return call_parts_word(&c->parts, 0);
	call_parts_value(&c->parts, "worker", &worker);
	return worker;
}

/*
 * Adds the post that UCP is asked for, an arrival, or the owner of an address. UCP chooses the
 * carrier later.
 */
static void post_make(const struct ucp_call *c, enum post_kind kind, int64_t bytes,
		      struct ucp_decoder *d, struct call_view *out)
{
	uint32_t pid = c->parts.rec->tgid;
	const struct ucp_worker *worker;
	const struct ucp_ep *ep;
	uint64_t handle = 0;

	if (!c->parts.returned || (kind == POST_OTHER && !(c->fn->attrs.flags & LEARNS_ADDRESS)))
		return;
	call_parts_value(&c->parts, "ep", &handle);
	ep = object_get(&d->base.objects, pid, EPS, handle);
	worker = object_get(&d->base.objects, pid, WORKERS, worker_of(c, ep));
	d->post = (struct call_post){
		.kind = kind,
		.step = step_of(c->fn->attrs.flags),
		.op = c->fn->op,
		.local_end = worker && *worker->end ? worker->end : NULL,
		.remote_end = ep && *ep->remote_end ? ep->remote_end : NULL,
		.bytes = kind == POST_OTHER ? 0 : bytes,
		.queue = handle,
		.failed = out->roles.error < 0,
	};
	out->posts = &d->post;
	out->nposts = 1;
}

static void decode(struct layer_decoder *base, const struct call_parts *call, struct call_view *out)
{
	struct ucp_decoder *d = (struct ucp_decoder *)base;
	enum post_kind kind;
	struct ucp_call c;
	int64_t bytes;

	call_open(&c, call, &base->arena);
	for (uint32_t i = 0; i < call->nargs; i++)
		arg_show(&c, i, out);
	result_show(&c, out);
	kind = kind_of(c.fn);
	bytes = kind == POST_ATOMIC ? atomic_bytes(&c) : bytes_of(&c);
	data_show(&c, bytes, out);
	if (call->returned && out->roles.error >= 0)
		ucp_learn(&base->objects, c.fn->attrs.flags, call);
	post_make(&c, kind, bytes, d, out);
	out->roles.poll_found = call->returned && call->info->polls;
}

const struct layer layer_ucp = {
	.name = "ucp",
	LAYER_ROWS,
	.words = words,
	.recipe = recipe,
	.nearness = 1,
	.func_bytes = sizeof(struct ucp_func),
	.func_init = func_init,
	.decoder_bytes = sizeof(struct ucp_decoder),
	.decode = decode,
	.spin_arg_name = layer_first_arg_name,
};
