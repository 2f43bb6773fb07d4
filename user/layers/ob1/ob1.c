/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The layer of Open MPI's point-to-point layer ob1: the protocol of each message and its steps. A
 * sender chooses by calling one of several functions (user/layers/ob1/ob1.def); the last one called
 * for a message counts. The header of an arriving message shows what the message is. It is trusted
 * only if it begins with the type that the called function expects. The headers are the same from
 * Open MPI 4.0 to 5.0 (ompi/mca/pml/ob1/pml_ob1_hdr.h).
 *
 * call_post.message is a request of this process. For a sender it is its own request, which RTRs
 * bring back. For a receiver it is the request that it names in its RTR, which the data bring back.
 * An announcement and a FIN name requests of the other side only: 0.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/json_get.h"
#include "lib/map.h"
#include "layers/call_parts.h"

#define LAYER_DEF "layers/ob1/ob1.def"
#include "layers/layer_rows.h"

/* Attributes, from FUNC_OWN on. */
#define RETURNS_VOID 0x100
#define CHOICE 0x200
#define INLINE 0x400
#define SENDS 0x800
#define READS 0x1000
#define ARRIVES 0x2000
#define MATCH 0x4000
#define RNDV 0x8000
#define RGET 0x10000
#define ACK 0x20000
#define PUT 0x40000
#define FRAG 0x80000
#define GET 0x100000
#define FIN 0x200000

#define FLAG_NETWORK_ORDER 2 /* header flag: for a machine of the other byte order */
#define MODE_SYNCHRONOUS 0   /* mca_pml_base_send_mode_t */
#define INLINE_BYTES_MAX 256 /* longest message that is sent without a request */
#define POSTS_MAX 2

static const struct func_word words[] = {
	{"VOID", RETURNS_VOID, 0}, {"CHOICE", CHOICE, 0}, {"INLINE", INLINE, 0},
	{"SENDS", SENDS, 0},	   {"READS", READS, 0},	  {"ARRIVES", ARRIVES, 0},
	{"MATCH", MATCH, 0},	   {"RNDV", RNDV, 0},	  {"RGET", RGET, 0},
	{"ACK", ACK, 0},	   {"PUT", PUT, 0},	  {"FRAG", FRAG, 0},
	{"GET", GET, 0},	   {"FIN", FIN, 0},	  {NULL, 0, 0},
};

/* Start of a header, by its type. */
struct header {
	uint32_t flag;
	enum post_step step;
	const char *op;
	uint8_t type;	    /* its first byte; 0: there is no such header */
	bool has_data;	    /* data follow it */
	uint8_t bytes;	    /* has_data: length of the header; 0: not always the same */
	uint8_t request_at; /* offset of the receiver's request; 0: it names none */
};
static const struct header headers[] = {
	{MATCH, STEP_EAGER, "MATCH", 65, true, 0, 0}, {RNDV, STEP_RTS, "RNDV", 66, true, 32, 0},
	{RGET, STEP_RTS, "RGET", 67, false, 0, 0},    {ACK, STEP_RTR, "ACK", 68, false, 0, 8},
	{FRAG, STEP_DATA, "FRAG", 70, true, 32, 24},  {PUT, STEP_RTR, "PUT", 72, false, 0, 8},
	{FIN, STEP_FIN, "FIN", 73, false, 0, 0},      {GET, STEP_DATA, "GET", 0, false, 0, 0},
};

/* ---- the trace's table ---- */

struct ob1_func {
	struct signature sig;
	struct func_attrs attrs;
	const struct header *header; /* NULL: unknown to this version */
};

static void func_init(const json_t *row, void *priv, struct func_info *out)
{
	struct ob1_func *f = priv;

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (f->attrs.flags & headers[i].flag)
			f->header = &headers[i];
}

/* ---- recipes ---- */

static bool wants_size(const struct signature *sig, const struct sig_arg *a)
{
	return a->kind == SIG_KIND_DTYPE;
}

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *fn)
{
	int err = recipe_add_fetches(sig, wants_size, fn);

	if (!err && attrs->flags & ARRIVES)
		err = recipe_add_message(0, fn);
	return err;
}

/* ---- decoding ---- */

/* A thread's last choice. */
struct choice {
	uint64_t begin_ns;
};

struct library {
	int match_bytes; /* length of a MATCH header; 0: unknown */
};

struct ob1_decoder {
	struct layer_decoder base;
	struct call_post post[POSTS_MAX]; /* posts of the current view */
	struct map choices;		  /* tid → struct choice */
	struct map libraries;		  /* id + 1 → struct library */
};

/* A call being decoded. */
struct ob1_call {
	const struct ob1_func *fn;
	struct call_parts parts;
	bool has_type_size;
	uint64_t type_size;
	bool has_message; /* the message begins with the expected header */
	uint32_t part_cnt;
	struct pov_field_message message;
};

static void decoder_release(struct layer_decoder *base)
{
	struct ob1_decoder *d = (struct ob1_decoder *)base;

	map_free(&d->choices, free);
	map_free(&d->libraries, free);
}

static void decoder_meta(struct layer_decoder *base, const json_t *meta)
{
	struct ob1_decoder *d = (struct ob1_decoder *)base;
	struct library *lib;

	if (!json_is_type(meta, "library"))
		return;
	lib = map_make(&d->libraries, json_get_u64(meta, "id") + 1, sizeof(*lib));
	lib->match_bytes = (int)json_get_int(meta, "match_header_bytes");
}

/* ---- headers ---- */

static uint64_t head_number(const struct ob1_call *c, size_t at, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, c->message.head + at, bytes);
	return v;
}

static void head_show(const struct ob1_call *c, struct call_view *out, const char *name, size_t at)
{
	call_view_add(out, name, VALUE_INT)->i = (int64_t)head_number(c, at, 8);
}

static void head_show_address(const struct ob1_call *c, struct call_view *out, const char *name,
			      size_t at)
{
	call_view_add(out, name, VALUE_HEX)->u = head_number(c, at, 8);
}

static void envelope_show(const struct ob1_call *c, struct call_view *out)
{
	call_view_add(out, "context", VALUE_INT)->i = (int64_t)head_number(c, 2, 2);
	call_view_add(out, "source", VALUE_INT)->i = (int32_t)head_number(c, 4, 4);
	call_view_add(out, "tag", VALUE_INT)->i = (int32_t)head_number(c, 8, 4);
	call_view_add(out, "sequence", VALUE_INT)->i = (int64_t)head_number(c, 12, 2);
}

static void header_show(const struct ob1_call *c, struct call_view *out)
{
	switch (c->fn->header->flag) {
	case RNDV:
	case RGET:
		head_show(c, out, "message_bytes", 16);
		head_show_address(c, out, "send_request", 24);
		/* fallthrough */
	case MATCH:
		envelope_show(c, out);
		break;
	case ACK:
		head_show_address(c, out, "send_request", 8);
		head_show_address(c, out, "recv_request", 16);
		head_show(c, out, "offset", 24);
		head_show(c, out, "length", 32); /* 0: all of the rest */
		break;
	case FRAG:
		head_show(c, out, "offset", 8);
		head_show_address(c, out, "send_request", 16);
		head_show_address(c, out, "recv_request", 24);
		break;
	case PUT:
		head_show_address(c, out, "send_request", 8);
		head_show(c, out, "offset", 32);
		head_show(c, out, "length", 48);
		break;
	case FIN:
		head_show(c, out, "length", 8); /* < 0: an error */
		head_show_address(c, out, "fragment", 16);
		break;
	}
}

/* ---- calls ---- */

static bool is_expected(const struct ob1_call *c)
{
	return c->fn->header && c->message.head[0] == c->fn->header->type &&
	       !(c->message.head[1] & FLAG_NETWORK_ORDER);
}

static void call_open(struct ob1_call *c, const struct call_parts *parts)
{
	struct pov_field head;
	const uint8_t *data;
	size_t at = 0;

	*c = (struct ob1_call){.fn = parts->info->priv, .parts = *parts};
	while (call_parts_field(&c->parts, &at, &head, &data)) {
		if (head.type == POV_FIELD_TYPE_SIZE && head.size == sizeof(c->type_size)) {
			memcpy(&c->type_size, data, sizeof(c->type_size));
			c->has_type_size = true;
		} else if (head.type == POV_FIELD_MESSAGE && head.size == sizeof(c->message)) {
			memcpy(&c->message, data, sizeof(c->message));
			c->part_cnt = head.cnt;
			c->has_message = is_expected(c);
		}
	}
}

static void arg_show(const struct ob1_call *c, uint32_t arg, struct call_view *out)
{
	const struct sig_arg *a = &c->fn->sig.arg[arg];

	if (a->kind == SIG_KIND_FLAG)
		call_view_add(out, a->role, VALUE_BOOL)->u = call_parts_word(&c->parts, arg) & 0xff;
	else
		call_view_add_arg(out, &c->parts, arg);
}

/*
 * Bytes of a message that was sent inline, that is, without a request. BYTES_UNKNOWN if they are
 * more than fit inline: then the message was sent in another way.
 */
static int64_t inline_bytes(const struct ob1_call *c)
{
	uint64_t count, bytes;

	if (!c->has_type_size || !call_parts_value(&c->parts, "count", &count) ||
	    __builtin_mul_overflow(count, c->type_size, &bytes) || bytes > INLINE_BYTES_MAX)
		return BYTES_UNKNOWN;
	return (int64_t)bytes;
}

/* Bytes that follow the header of an arriving message. */
static int64_t arrived_bytes(const struct ob1_decoder *d, const struct ob1_call *c)
{
	const struct header *h = c->fn->header;
	const struct library *lib = map_get(&d->libraries, (uint64_t)c->parts.rec->lib + 1);
	uint64_t own = h->bytes ? h->bytes : lib ? lib->match_bytes : 0;

	if (!h->has_data)
		return 0;
	if (!c->has_message || !own || c->part_cnt > 2 || c->message.bytes < own ||
	    c->message.bytes - own > INT64_MAX)
		return BYTES_UNKNOWN;
	return (int64_t)(c->message.bytes - own);
}

/* Bytes sent in this step. */
static int64_t sent_bytes(const struct ob1_call *c)
{
	uint64_t bytes;

	if (!c->fn->header->has_data)
		return 0;
	if (c->fn->attrs.flags & INLINE)
		return inline_bytes(c);
	return call_parts_value(&c->parts, "size", &bytes) && bytes <= INT64_MAX ? (int64_t)bytes :
										   BYTES_UNKNOWN;
}

/*
 * True if a protocol is really chosen in this call. False if a nested call has chosen it, or if the
 * message is too large for what this call reports, sending it without a request.
 */
static bool choice_is_here(struct ob1_decoder *d, const struct ob1_call *c)
{
	const struct pov_call *rec = c->parts.rec;
	struct choice *last = map_make(&d->choices, rec->hdr.tid, sizeof(*last));
	uint64_t begin_ns = rec->hdr.ts_ns - rec->dur_ns, mode = MODE_SYNCHRONOUS;
	bool within = last->begin_ns >= begin_ns;

	last->begin_ns = begin_ns;
	if (within)
		return false;
	if (!(c->fn->attrs.flags & INLINE))
		return true;
	call_parts_value(&c->parts, "mode", &mode);
	return (int32_t)mode != MODE_SYNCHRONOUS && !(int32_t)rec->ret &&
	       (!c->has_type_size || inline_bytes(c) != BYTES_UNKNOWN);
}

static uint64_t message_of(const struct ob1_call *c)
{
	uint64_t request = 0;

	if (c->has_message)
		return c->fn->header->request_at ? head_number(c, c->fn->header->request_at, 8) : 0;
	if (c->fn->attrs.flags & SENDS && !call_parts_value(&c->parts, "request", &request))
		call_parts_value(&c->parts, "recv_request", &request);
	return request;
}

static struct call_post *post_add(struct ob1_decoder *d, const struct ob1_call *c,
				  enum post_kind kind, struct call_view *out)
{
	struct call_post *p = &d->post[out->nposts++];

	*p = (struct call_post){
		.kind = kind,
		.step = c->fn->header->step,
		.op = c->fn->header->op,
		.message = message_of(c),
	};
	out->posts = d->post;
	return p;
}

static void envelope_set(const struct ob1_call *c, struct call_post *p)
{
	p->has_envelope = true;
	p->source = (int32_t)head_number(c, 4, 4);
	p->tag = (int32_t)head_number(c, 8, 4);
}

/* A PUT asks for data to be written, which happens within the same call. */
static void put_answer(struct ob1_decoder *d, const struct ob1_call *c, struct call_view *out)
{
	struct call_post *p = post_add(d, c, POST_WRITE, out);
	uint64_t bytes = head_number(c, 48, 8);

	p->step = STEP_DATA;
	p->bytes = bytes <= INT64_MAX ? (int64_t)bytes : BYTES_UNKNOWN;
}

static void posts_make(struct ob1_decoder *d, const struct ob1_call *c, struct call_view *out)
{
	uint32_t flags = c->fn->attrs.flags;
	struct call_roles *r = &out->roles;
	struct call_post *p;

	if (!c->parts.returned || !c->fn->header || (flags & CHOICE && !choice_is_here(d, c)))
		return;
	if (flags & ARRIVES) {
		r->receives = true;
		r->recv_bytes = arrived_bytes(d, c);
		p = post_add(d, c, POST_ARRIVAL, out);
		p->bytes = r->recv_bytes;
		if (c->has_message && flags & (MATCH | RNDV | RGET))
			envelope_set(c, p);
		if (c->has_message && flags & PUT)
			put_answer(d, c, out);
	} else if (flags & SENDS) {
		r->sends = true;
		r->send_bytes = sent_bytes(c);
		if (r->send_bytes || !(flags & FRAG)) /* no fragment is sent if nothing is left */
			post_add(d, c, POST_SEND, out)->bytes = r->send_bytes;
	} else if (flags & READS) {
		post_add(d, c, POST_READ, out)->bytes = BYTES_UNKNOWN;
	}
	for (uint32_t i = 0; i < out->nposts; i++)
		d->post[i].failed = r->error != 0;
}

static void decode(struct layer_decoder *base, const struct call_parts *call, struct call_view *out)
{
	struct ob1_decoder *d = (struct ob1_decoder *)base;
	struct ob1_call c;

	call_open(&c, call);
	for (uint32_t i = 0; i < c.parts.nargs && !(c.fn->attrs.flags & ARRIVES); i++)
		arg_show(&c, i, out);
	if (c.has_message)
		header_show(&c, out);
	if (c.parts.returned && !(c.fn->attrs.flags & RETURNS_VOID))
		out->roles.error = (int32_t)call->rec->ret;
	posts_make(d, &c, out);
	if (!out->nposts)
		return;
	call_view_add(out, "header", VALUE_TEXT)->text = out->posts[0].op;
	if (out->posts[0].bytes != BYTES_UNKNOWN)
		call_view_add(out, "bytes", VALUE_INT)->i = out->posts[0].bytes;
}

const struct layer layer_ob1 = {
	.name = "ob1",
	LAYER_ROWS,
	.words = words,
	.recipe = recipe,
	.nearness = 1,
	.func_bytes = sizeof(struct ob1_func),
	.func_init = func_init,
	.decoder_bytes = sizeof(struct ob1_decoder),
	.decoder_release = decoder_release,
	.decoder_meta = decoder_meta,
	.decode = decode,
};
