/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The layer of the kernel: system calls that move data for processes. A call's own record holds all
 * that is known of it. Bytes are those really moved, by the return value. Names of ends that are
 * valid on one host only (processes, local sockets, loopback) get the host's number if several
 * hosts are read together.
 */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "abi/event.h"
#include "layers/call_parts.h"
#include "trace/trace_join.h"

#define LAYER_DEF "layers/os/os.def"
#include "layers/layer_rows.h"

#define SENDS FUNC_OWN
#define RECEIVES 0x200
#define READS 0x400
#define WRITES 0x800

/*
 * Return values that only the kernel sees: a signal came first, and the system call is restarted or
 * returns EINTR.
 */
#define ERESTART_FIRST 512
#define ERESTART_LAST 516

static const struct func_word words[] = {
	{"SENDS", SENDS, 0}, {"RECEIVES", RECEIVES, 0}, {"READS", READS, 0}, {"WRITES", WRITES, 0},
	{NULL, 0, 0},
};

static int recipe(const struct signature *sig, const struct func_attrs *attrs, struct pov_fn *fn)
{
	if (attrs->flags & FUNC_POLL) {
		fn->flags |= POV_FN_POLL;
		fn->spin_arg = 0; /* the socket */
	}
	return 0;
}

/* ---- decoding ---- */

struct os_decoder {
	struct layer_decoder base;
	struct call_post post;
};

/* A call being decoded. */
struct os_call {
	const struct func_common *fn;
	struct call_parts parts;
	struct arena *arena;
	bool has_ends;
	struct pov_field_ends ends;
};

static void call_open(struct os_call *c, const struct call_parts *parts, struct arena *arena)
{
	struct pov_field head;
	const uint8_t *data;
	size_t at = 0;

	*c = (struct os_call){.fn = parts->info->priv, .parts = *parts, .arena = arena};
	while (call_parts_field(&c->parts, &at, &head, &data)) {
		if (head.type != POV_FIELD_ENDS || head.size != sizeof(c->ends))
			continue;
		memcpy(&c->ends, data, sizeof(c->ends));
		c->has_ends = true;
	}
}

/* Adds the host to a name that is valid on one host only, if there are several hosts. */
static const char *of_host(const struct os_call *c, const char *name)
{
	uint32_t host = trace_host_of(c->parts.rec->tgid);

	return host ? arena_printf(c->arena, "%s on host %u", name, host) : name;
}

static const char *number_text(const struct os_call *c, const char *what, uint64_t number)
{
	return number ? of_host(c, arena_printf(c->arena, "%s %llu", what,
						(unsigned long long)number)) :
			NULL;
}

/*
 * Text of an address, independent of the socket's family, so that both ends give the same name.
 * NULL: none.
 */
static const char *address_text(const struct os_call *c, const uint8_t addr[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, none[16];
	bool v4 = c->ends.family == AF_INET || !memcmp(addr, mapped, sizeof(mapped));
	const uint8_t *bytes = c->ends.family != AF_INET && v4 ? addr + sizeof(mapped) : addr;
	char *text = arena_alloc(c->arena, INET6_ADDRSTRLEN);

	if (!memcmp(bytes, none, v4 ? 4 : sizeof(none)) ||
	    !inet_ntop(v4 ? AF_INET : AF_INET6, bytes, text, INET6_ADDRSTRLEN))
		return NULL;
	return text;
}

static bool is_loopback(const char *address)
{
	return !strncmp(address, "127.", 4) || !strcmp(address, "::1");
}

static const char *end_text(const struct os_call *c, const uint8_t addr[16], uint16_t port)
{
	const char *address = address_text(c, addr), *text;

	if (!address || !port)
		return NULL;
	text = strchr(address, ':') ? arena_printf(c->arena, "[%s]:%u", address, port) :
				      arena_printf(c->arena, "%s:%u", address, port);
	return is_loopback(address) ? of_host(c, text) : text;
}

static void post_ends(const struct os_call *c, struct call_post *p)
{
	const struct pov_field_ends *e = &c->ends;

	if (!c->has_ends)
		return;
	switch (e->family) {
	case AF_UNSPEC:
		p->local_end = number_text(c, "pid", e->local_id);
		p->dest = p->remote_end = number_text(c, "pid", e->remote_id);
		break;
	case AF_UNIX:
		p->local_end = number_text(c, "socket", e->local_id);
		p->dest = p->remote_end = number_text(c, "socket", e->remote_id);
		p->queue = e->local_id;
		break;
	default:
		p->local_end = end_text(c, e->local, e->local_port);
		p->remote_end = end_text(c, e->remote, e->remote_port);
		p->dest = address_text(c, e->remote);
		if (p->dest && is_loopback(p->dest))
			p->dest = of_host(c, p->dest);
		p->queue = e->local_id;
	}
}

static bool is_peek(const struct os_call *c)
{
	int arg = signature_find_value(&c->fn->sig, "msg_flags");

	return arg >= 0 && call_parts_word(&c->parts, arg) & (MSG_PEEK | MSG_ERRQUEUE);
}

/* Bytes moved, by the return value. */
static int64_t bytes_moved(const struct os_call *c)
{
	int64_t ret = (int64_t)c->parts.rec->ret;

	return !c->parts.returned ? BYTES_UNKNOWN : ret < 0 ? 0 : ret;
}

/*
 * True if a receive took data. A stream that has ended gives 0 bytes; a datagram may have 0. Data
 * that were only peeked at come again, and the error queue holds none.
 */
static bool has_arrived(const struct os_call *c)
{
	int64_t ret = (int64_t)c->parts.rec->ret;

	return c->parts.returned && !is_peek(c) &&
	       (ret > 0 || (!ret && !strcmp(c->parts.info->group, "udp")));
}

/* False if the call is no post. */
static bool post_make(const struct os_call *c, struct call_post *p)
{
	uint32_t flags = c->fn->attrs.flags;
	bool copies = flags & (READS | WRITES);

	*p = (struct call_post){
		.kind = flags & SENDS  ? POST_SEND :
			flags & READS  ? POST_READ :
			flags & WRITES ? POST_WRITE :
					 POST_ARRIVAL,
		.carrier = copies ? CARRIER_CMA : CARRIER_SOCKET,
		.op = c->parts.info->name,
		.transport = c->parts.info->group,
		.bytes = bytes_moved(c),
		.failed = c->parts.returned && (int64_t)c->parts.rec->ret < 0,
	};
	if (!(flags & (SENDS | RECEIVES | READS | WRITES)) ||
	    (p->kind == POST_ARRIVAL && !has_arrived(c)))
		return false;
	post_ends(c, p);
	return true;
}

static const char *error_text(const struct os_call *c, int64_t ret)
{
	const char *name = ret > -ERESTART_FIRST ? strerrorname_np((int)-ret) : NULL;

	if (ret <= -ERESTART_FIRST && ret >= -ERESTART_LAST)
		return "interrupted";
	return name ?: arena_printf(c->arena, "error %lld", (long long)ret);
}

static void result_show(const struct os_call *c, struct call_view *out)
{
	int64_t ret = (int64_t)c->parts.rec->ret;

	if (!c->parts.returned)
		return;
	if (ret < 0) {
		call_view_add(out, "status", VALUE_TEXT)->text = error_text(c, ret);
		out->roles.error = ret > INT32_MIN ? (int32_t)ret : INT32_MIN;
		return;
	}
	call_view_add(out, "bytes", VALUE_INT)->i = ret;
}

static void roles_fill(const struct os_call *c, struct call_roles *r)
{
	uint32_t flags = c->fn->attrs.flags;

	r->sends = flags & (SENDS | WRITES);
	r->receives = flags & (RECEIVES | READS);
	if (r->sends)
		r->send_bytes = bytes_moved(c);
	if (r->receives)
		r->recv_bytes = is_peek(c) ? 0 : bytes_moved(c);
	r->poll_found = c->parts.returned && c->parts.info->polls;
}

static void end_show(struct call_view *out, const char *name, const char *end)
{
	if (end)
		call_view_add(out, name, VALUE_TEXT)->text = end;
}

static void decode(struct layer_decoder *base, const struct call_parts *call, struct call_view *out)
{
	struct os_decoder *d = (struct os_decoder *)base;
	struct os_call c;

	call_open(&c, call, &base->arena);
	for (uint32_t i = 0; i < call->nargs; i++)
		call_view_add_arg(out, call, i);
	result_show(&c, out);
	roles_fill(&c, &out->roles);
	if (!post_make(&c, &d->post))
		return;
	end_show(out, "local", d->post.local_end);
	end_show(out, "remote", d->post.remote_end);
	out->posts = &d->post;
	out->nposts = 1;
}

const struct layer layer_os = {
	.name = "os",
	LAYER_ROWS,
	.words = words,
	.recipe = recipe,
	.in_kernel = true,
	.nearness = 4,
	.decoder_bytes = sizeof(struct os_decoder),
	.decode = decode,
	.spin_arg_name = layer_first_arg_name,
};
