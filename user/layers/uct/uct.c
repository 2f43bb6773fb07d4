/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The UCT layer: UCX's functions that pass data to a transport. The function's name gives the
 * transport; its arguments and return value give the bytes. The id of an active message gives its
 * purpose. Ids are UCP's, the same in UCX 1.8 to 1.20 (ucp/core/ucp_types.h, ucp_am_id_t).
 * Transport, device and ends are those with which the endpoint and its interface were made
 * (uct_conn.c): some functions serve several transports.
 */
#include <string.h>

#include "abi/event.h"
#include "lib/json_get.h"
#include "layers/call_parts.h"
#include "layers/ucp/ucs_status.h"
#include "layers/uct/uct_conn.h"

#define LAYER_DEF "layers/uct/uct.def"
#include "layers/layer_rows.h"

/* Attributes, from FUNC_OWN on: kind of the return value, and use of the data. */
#define RETURNS_STATUS 0x100
#define RETURNS_BYTES 0x200
#define RETURNS_POINTER 0x400
#define SENDS 0x800
#define WRITES 0x1000
#define READS 0x2000
#define ATOMIC 0x4000
#define SAYS_EAGER 0x8000
#define SAYS_RTS 0x10000
#define RETURNS_VOID 0x20000
/* Further attributes: TEACHES (uct_conn.h). */

#define SHORT_HEADER_BYTES 8 /* a header that is passed by value and sent */

static const struct func_word words[] = {
	{"STATUS", RETURNS_STATUS, 0},
	{"BYTES", RETURNS_BYTES, 0},
	{"POINTER", RETURNS_POINTER, 0},
	{"SENDS", SENDS, 0},
	{"WRITES", WRITES, 0},
	{"READS", READS, 0},
	{"ATOMIC", ATOMIC, 0},
	{"EAGER", SAYS_EAGER, 0},
	{"RTS", SAYS_RTS, 0},
	{"VOID", RETURNS_VOID, 0},
	{"IFACE", TEACHES_IFACE, 0},
	{"IFACE_FREE", TEACHES_IFACE_FREE, 0},
	{"IFACE_ADDRESS", TEACHES_IFACE_ADDRESS, 0},
	{"DEVICE_ADDRESS", TEACHES_DEVICE_ADDRESS, 0},
	{"EP", TEACHES_EP, 0},
	{"EP_FREE", TEACHES_EP_FREE, 0},
	{"EP_ADDRESS", TEACHES_EP_ADDRESS, 0},
	{"EP_PEER", TEACHES_EP_PEER, 0},
	{NULL, 0, 0},
};

/*
 * Carrier by transport. self has none: its data stay within the process. Nor has sm, which is part
 * of both mm and self. mm stands for posix, sysv and xpmem, scopy for cma and knem; the endpoint
 * shows which.
 */
static const struct {
	const char *transport;
	enum post_carrier carrier;
} carriers[] = {
	{"rc_verbs", CARRIER_NIC}, {"rc_mlx5", CARRIER_NIC}, {"dc_mlx5", CARRIER_NIC},
	{"ud_verbs", CARRIER_NIC}, {"ud_mlx5", CARRIER_NIC}, {"gga_mlx5", CARRIER_NIC},
	{"srd", CARRIER_NIC},	   {"tcp", CARRIER_SOCKET},  {"mm", CARRIER_SHM},
	{"posix", CARRIER_SHM},	   {"sysv", CARRIER_SHM},    {"xpmem", CARRIER_SHM},
	{"scopy", CARRIER_CMA},	   {"cma", CARRIER_CMA},     {"knem", CARRIER_CMA},
};

static const struct {
	const char *name;
	enum post_step step;
} messages[] = {
	[1] = {"WIREUP", STEP_NONE},
	[2] = {"EAGER_ONLY", STEP_EAGER},
	[3] = {"EAGER_FIRST", STEP_EAGER},
	[4] = {"EAGER_MIDDLE", STEP_EAGER},
	[6] = {"EAGER_SYNC_ONLY", STEP_EAGER},
	[7] = {"EAGER_SYNC_FIRST", STEP_EAGER},
	[8] = {"EAGER_SYNC_ACK", STEP_FIN},
	[9] = {"RTS", STEP_RTS},
	[10] = {"ATS", STEP_FIN},
	[11] = {"RTR", STEP_RTR},
	[12] = {"DATA", STEP_DATA},
	[14] = {"OFFLOAD_SYNC_ACK", STEP_FIN},
	[15] = {"STREAM_DATA", STEP_EAGER},
	[16] = {"ATP", STEP_FIN},
	[17] = {"PUT", STEP_NONE},
	[18] = {"GET_REQ", STEP_NONE},
	[19] = {"GET_REP", STEP_NONE},
	[20] = {"ATOMIC_REQ", STEP_NONE},
	[21] = {"ATOMIC_REP", STEP_NONE},
	[22] = {"CMPL", STEP_NONE},
	/* the program's active messages; their order changed with 1.9 */
	[23] = {"AM", STEP_EAGER},
	[24] = {"AM", STEP_EAGER},
	[25] = {"AM", STEP_EAGER},
	[26] = {"AM", STEP_EAGER},
};
#define MESSAGES (sizeof(messages) / sizeof(messages[0]))

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *fn)
{
	int err = recipe_add_fetches(sig, NULL, fn);

	if (!err)
		err = uct_learn_recipe(attrs->flags & TEACHES, sig, fn);
	return err;
}

/* ---- the trace's table ---- */

struct uct_func {
	struct signature sig;
	struct func_attrs attrs;
	char transport[32], op[32]; /* "rc_verbs", "am_bcopy"; "" if the name has another form */
};

/* Splits "uct_rc_verbs_ep_am_bcopy" into transport and operation. */
static void func_init(const json_t *row, void *priv, struct func_info *out)
{
	const char *name = json_get_text(row, "name");
	struct uct_func *f = priv;
	const char *mid = strstr(name, "_ep_");
	size_t len = mid ? (size_t)(mid - name) : 0;

	if (strncmp(name, "uct_", 4) || len <= 4 || len - 4 >= sizeof(f->transport) ||
	    strlen(mid + 4) >= sizeof(f->op))
		return;
	memcpy(f->transport, name + 4, len - 4);
	strcpy(f->op, mid + 4);
}

/* ---- decoding ---- */

struct uct_decoder {
	struct layer_decoder base;
	struct call_post post; /* post of the current view */
};

/* A call being decoded. */
struct uct_call {
	const struct uct_func *fn;
	struct call_parts parts;
	struct uct_decoder *d;
	bool has_sum;
	uint64_t sum;
	int status; /* 0, in progress, or an error; not set if the call did not return */
};

static int call_status(const struct uct_call *c)
{
	uint64_t ret = c->parts.rec->ret;

	if (c->fn->attrs.flags & RETURNS_VOID)
		return 0;
	if (c->fn->attrs.flags & RETURNS_STATUS)
		return (int8_t)ret;
	/* byte counts and addresses are far below the errors, which are the highest words */
	return ret >= (uint64_t)UCS_STATUS_LAST ? (int)(int64_t)ret : 0;
}

static void call_open(struct uct_call *c, const struct call_parts *parts, struct uct_decoder *d)
{
	struct pov_field head;
	const uint8_t *data;
	size_t at = 0;

	*c = (struct uct_call){.fn = parts->info->priv, .parts = *parts, .d = d};
	while (call_parts_field(&c->parts, &at, &head, &data)) {
		if (head.type != POV_FIELD_SUM || head.arg >= c->parts.nargs ||
		    head.size != sizeof(c->sum))
			continue;
		memcpy(&c->sum, data, sizeof(c->sum));
		c->has_sum = true;
	}
	if (c->parts.returned)
		c->status = call_status(c);
}

/* Id of an active message; 0 for other operations, which have none. */
static uint8_t message_id(const struct uct_call *c)
{
	uint64_t id = 0;

	call_parts_value(&c->parts, "id", &id);
	return (uint8_t)id;
}

static void arg_show(const struct uct_call *c, uint32_t arg, struct call_view *out)
{
	const struct sig_arg *a = &c->fn->sig.arg[arg];
	uint8_t id = message_id(c);

	if (a->kind != SIG_KIND_AM_ID) {
		call_view_add_arg(out, &c->parts, arg);
		return;
	}
	call_view_add(out, a->role, VALUE_UINT)->u = id;
	if (id < MESSAGES && messages[id].name)
		call_view_add(out, "message", VALUE_TEXT)->text = messages[id].name;
}

static int64_t header_bytes(const struct uct_call *c)
{
	int header = signature_find(&c->fn->sig, "header");
	uint64_t length;

	if (call_parts_value(&c->parts, "header_length", &length))
		return (int64_t)length;
	return header >= 0 && c->fn->sig.arg[header].type == SIG_WIDE ? SHORT_HEADER_BYTES : 0;
}

/* Bytes without the header, which functions that return bytes do not count. */
static int64_t payload_bytes(const struct uct_call *c)
{
	uint64_t bytes, cnt;

	if (c->fn->attrs.flags & SAYS_RTS) /* the other side will get the data */
		return 0;
	if (c->fn->attrs.flags & RETURNS_BYTES) {
		if (!c->parts.returned || c->status < 0)
			return BYTES_UNKNOWN;
		bytes = c->parts.rec->ret;
	} else if (c->fn->attrs.flags & ATOMIC) {
		int operand = signature_find(&c->fn->sig, "compare");

		if (operand < 0)
			operand = signature_find(&c->fn->sig, "value");
		if (operand < 0)
			return BYTES_UNKNOWN;
		bytes = c->fn->sig.arg[operand].type == SIG_INT ? 4 : 8;
	} else if (call_parts_value(&c->parts, "iovcnt", &cnt)) {
		if (cnt && !c->has_sum)
			return BYTES_UNKNOWN;
		bytes = c->sum;
	} else if (!call_parts_value(&c->parts, "length", &bytes)) {
		return BYTES_UNKNOWN;
	}
	return bytes <= INT64_MAX / 2 ? (int64_t)bytes : BYTES_UNKNOWN;
}

static int64_t bytes_of(const struct uct_call *c)
{
	int64_t payload = payload_bytes(c);

	return payload == BYTES_UNKNOWN ? payload : header_bytes(c) + payload;
}

static void result_show(const struct uct_call *c, int64_t bytes, struct call_view *out)
{
	uint32_t flags = c->fn->attrs.flags;

	if (flags & SENDS && bytes != BYTES_UNKNOWN && header_bytes(c))
		call_view_add(out, "payload_bytes", VALUE_INT)->i = payload_bytes(c);
	if (flags & (SENDS | WRITES | READS | ATOMIC) && bytes != BYTES_UNKNOWN)
		call_view_add(out, "bytes", VALUE_INT)->i = bytes;
	if (!c->parts.returned)
		return;
	if (flags & RETURNS_STATUS || c->status < 0)
		call_view_add(out, "status", VALUE_TEXT)->text = ucs_status_text(&c->d->base.arena,
										 c->status);
	out->roles.error = c->status < 0 ? c->status : 0;
}

static void roles_set(const struct uct_call *c, int64_t bytes, struct call_roles *r)
{
	uint32_t flags = c->fn->attrs.flags;

	r->sends = flags & (SENDS | WRITES | ATOMIC);
	r->receives = flags & (READS | ATOMIC);
	if (r->sends)
		r->send_bytes = bytes;
	if (r->receives)
		r->recv_bytes = bytes;
}

/* ---- posts ---- */

static enum post_carrier carrier_of(const char *transport)
{
	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++)
		if (!strcmp(carriers[i].transport, transport))
			return carriers[i].carrier;
	return CARRIER_UNKNOWN;
}

static enum post_step step_of(const struct uct_call *c)
{
	uint8_t id = message_id(c);

	if (c->fn->attrs.flags & SAYS_EAGER)
		return STEP_EAGER;
	if (c->fn->attrs.flags & SAYS_RTS)
		return STEP_RTS;
	return id < MESSAGES ? messages[id].step : STEP_NONE;
}

/* Sets what is known of the interface that a call posts to, or whose address it asks for. */
static void iface_set(const struct uct_iface *iface, struct call_post *p)
{
	p->transport = iface->transport;
	p->device = post_text(iface->device);
	p->local_end = post_text(iface->local.end);
}

/*
 * Sets transport and ends. The function's name gives the transport, unless its endpoint is known.
 */
static void ends_set(const struct uct_call *c, struct call_post *p)
{
	uint32_t pid = c->parts.rec->tgid;
	const struct objects *objects = &c->d->base.objects;
	const struct uct_ep *ep = object_get(objects, pid, UCT_EPS, p->queue);
	const struct uct_iface *iface = ep ? object_get(objects, pid, UCT_IFACES, ep->iface) : NULL;

	p->transport = c->fn->transport;
	if (!iface)
		return;
	iface_set(iface, p);
	if (*ep->local.end)
		p->local_end = ep->local.end;
	p->remote_end = post_text(ep->remote.end);
	p->dest = post_text(ep->remote.dest);
}

static bool data_post(const struct uct_call *c, int64_t bytes, struct call_post *p)
{
	uint32_t flags = c->fn->attrs.flags;
	uint64_t ep = 0;

	if (!(flags & (SENDS | WRITES | READS | ATOMIC)))
		return false;
	call_parts_value(&c->parts, "ep", &ep);
	*p = (struct call_post){
		.kind = flags & SENDS  ? POST_SEND :
			flags & WRITES ? POST_WRITE :
			flags & READS  ? POST_READ :
					 POST_ATOMIC,
		.step = step_of(c),
		.op = c->fn->op,
		.bytes = bytes,
		.queue = ep,
		.failed = c->status < 0,
	};
	ends_set(c, p);
	return true;
}

/* Reports the owner of an address, even of a process that only receives by it. */
static bool address_post(const struct uct_call *c, struct call_post *p)
{
	const struct uct_iface *iface = object_get(&c->d->base.objects, c->parts.rec->tgid,
						   UCT_IFACES, call_parts_word(&c->parts, 0));

	if ((c->fn->attrs.flags & TEACHES) != TEACHES_IFACE_ADDRESS || !iface || !*iface->local.end)
		return false;
	*p = (struct call_post){.kind = POST_OTHER, .op = "get_address"};
	iface_set(iface, p);
	return true;
}

static void posts_add(const struct uct_call *c, int64_t bytes, struct call_view *out)
{
	struct call_post *p = &c->d->post;

	if (!c->parts.returned || (!data_post(c, bytes, p) && !address_post(c, p)))
		return;
	p->carrier = carrier_of(p->transport);
	out->posts = p;
	out->nposts = 1;
}

static void decode(struct layer_decoder *base, const struct call_parts *call, struct call_view *out)
{
	struct uct_decoder *d = (struct uct_decoder *)base;
	struct uct_call c;
	int64_t bytes;

	call_open(&c, call, d);
	for (uint32_t i = 0; i < call->nargs; i++)
		arg_show(&c, i, out);
	bytes = bytes_of(&c);
	result_show(&c, bytes, out);
	roles_set(&c, bytes, &out->roles);
	if (call->returned && c.status >= 0)
		uct_learn(&base->objects, c.fn->attrs.flags & TEACHES, call);
	posts_add(&c, bytes, out);
}

const struct layer layer_uct = {
	.name = "uct",
	LAYER_ROWS,
	.words = words,
	.recipe = recipe,
	.nearness = 2,
	.func_bytes = sizeof(struct uct_func),
	.func_init = func_init,
	.decoder_bytes = sizeof(struct uct_decoder),
	.decode = decode,
};
