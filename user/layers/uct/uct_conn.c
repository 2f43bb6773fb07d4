/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The ends of connections as texts. They are made when an address is learned, so that a post only
 * has to find its endpoint.
 */
#include "layers/uct/uct_conn.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/verbs/verbs_conn.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"
#include "trace/trace_join.h"

/* ---- addresses ---- */

/* Each transport has one of five forms of address. Bytes that do not match it give no text. */
enum form {
	FORM_SELF, /* number of the interface, 8 bytes */
	/* number of a memory segment, 8 bytes; the device is the host and its namespace */
	FORM_SEGMENT,
	FORM_PROCESS, /* process id; if its highest bit is set, a namespace's number follows */
	FORM_SOCKET,
	FORM_QUEUE, /* number of a queue pair, 3 bytes */
};

static const struct transport {
	const char *name;
	enum form form;
	bool is_connected; /* use the endpoint's address: the interface's has another form */
	uint8_t at;	   /* offset of the number in the address */
} transports[] = {
	{"self", FORM_SELF, false, 0},	   {"posix", FORM_SEGMENT, false, 0},
	{"sysv", FORM_SEGMENT, false, 0},  {"xpmem", FORM_SEGMENT, false, 0},
	{"cma", FORM_PROCESS, false, 0},   {"tcp", FORM_SOCKET, false, 0},
	{"rc_verbs", FORM_QUEUE, true, 1}, {"rc_mlx5", FORM_QUEUE, true, 0},
	{"dc_mlx5", FORM_QUEUE, false, 0}, {"ud_verbs", FORM_QUEUE, false, 0},
	{"ud_mlx5", FORM_QUEUE, false, 0}, {"srd", FORM_QUEUE, false, 0},
};

/* Bits of a host's number and of a process id: a namespace's number follows. */
#define HOST_HAS_NAMESPACE (UINT64_C(1) << 63)
#define PROCESS_HAS_NAMESPACE (UINT32_C(1) << 31)

/* Flags of a TCP device's address. */
#define TCP_LOOPBACK 0x01
#define TCP_FLAGS 0x03 /* all flags there are */

/* Flag of an InfiniBand device's address. */
#define IB_IS_ETHERNET 0x08

static const struct transport *transport_find(const char *name)
{
	return table_where(transports, sizeof(transports) / sizeof(*transports), i,
			   !strcmp(transports[i].name, name));
}

/* Distinguishes names that are valid in one namespace, or on one host, only. */
static void where_add(char text[UCT_END_TEXT], const char *what, uint64_t number)
{
	size_t len = strlen(text);

	if (number)
		snprintf(text + len, UCT_END_TEXT - len, " %s %llu", what,
			 (unsigned long long)number);
}

/* host: start of a device's address that names the host. */
static void namespace_add(char text[UCT_END_TEXT], const uint8_t *host)
{
	if (u64_at(host) & HOST_HAS_NAMESPACE)
		where_add(text, "in namespace", u64_at(host + sizeof(uint64_t)));
}

static void segment_make(const char *transport, const uint8_t *device, const uint8_t *address,
			 uint32_t host, struct uct_end *out)
{
	snprintf(out->end, sizeof(out->end), "%s 0x%llx", transport,
		 (unsigned long long)u64_at(address));
	if (device)
		namespace_add(out->end, device);
	where_add(out->end, "on host", host);
}

static void process_make(const uint8_t *address, uint32_t host, struct uct_end *out)
{
	uint32_t pid;

	memcpy(&pid, address, sizeof(pid));
	snprintf(out->end, sizeof(out->end), "pid %u", pid & ~PROCESS_HAS_NAMESPACE);
	if (pid & PROCESS_HAS_NAMESPACE)
		where_add(out->end, "in namespace", u64_at(address + sizeof(pid)));
	where_add(out->end, "on host", host);
	memcpy(out->dest, out->end, sizeof(out->dest));
}

/*
 * device: flags, family and address; for loopback, the host's number instead. address: the port, in
 * network order.
 */
static void socket_make(const uint8_t *device, const uint8_t *address, uint32_t host,
			struct uct_end *out)
{
	bool is_loopback = device[0] & TCP_LOOPBACK, is_v6 = device[1] == AF_INET6;
	unsigned int port = (unsigned int)address[0] << 8 | address[1];

	if (device[0] & ~TCP_FLAGS || (device[1] != AF_INET && !is_v6) || !port)
		return;
	if (is_loopback)
		strcpy(out->dest, is_v6 ? "::1" : "127.0.0.1");
	else if (!inet_ntop(device[1], device + 2, out->dest, sizeof(out->dest)))
		return;
	snprintf(out->end, sizeof(out->end), is_v6 ? "[%.48s]:%u" : "%.48s:%u", out->dest, port);
	if (!is_loopback)
		return;
	namespace_add(out->end, device + 2);
	where_add(out->dest, "on host", host);
	where_add(out->end, "on host", host);
}

/* device: flags, followed by a global identifier or a LID. */
static void queue_make(const uint8_t *device, const uint8_t *qp, struct uct_end *out)
{
	char port[VERBS_ADDRESS_TEXT];

	if (device[0] & IB_IS_ETHERNET)
		verbs_gid_text(device + 1, port);
	else
		verbs_lid_text((uint32_t)device[1] | (uint32_t)device[2] << 8, port);
	strcpy(out->dest, port);
	snprintf(out->end, sizeof(out->end), "%s qp %u", port,
		 (uint32_t)qp[0] | (uint32_t)qp[1] << 8 | (uint32_t)qp[2] << 16);
}

/* True if others can send to an interface's address; false: only to its endpoints' addresses. */
static bool uct_iface_has_end(const char *transport)
{
	const struct transport *t = transport_find(transport);

	return t && !t->is_connected;
}

static bool uct_device_has_address(const char *transport)
{
	const struct transport *t = transport_find(transport);

	return t && t->form != FORM_SELF;
}

void uct_end_make(const char *transport, const uint8_t device[UCT_DEVICE_ADDRESS_BYTES],
		  const uint8_t address[UCT_ADDRESS_BYTES], uint32_t host, struct uct_end *out)
{
	const struct transport *t = transport_find(transport);

	memset(out, 0, sizeof(*out));
	if (!t || !address || (!device && t->form != FORM_SELF && t->form != FORM_PROCESS))
		return;
	switch (t->form) {
	case FORM_SELF:
		segment_make(transport, NULL, address, host, out);
		break;
	case FORM_SEGMENT:
		segment_make(transport, device, address, host, out);
		break;
	case FORM_PROCESS:
		process_make(address, host, out);
		break;
	case FORM_SOCKET:
		socket_make(device, address, host, out);
		break;
	case FORM_QUEUE:
		queue_make(device, address + t->at, out);
		break;
	}
}

/* ---- objects ---- */

static struct uct_iface *iface_get(const struct objects *objects, uint32_t pid, uint64_t iface)
{
	return object_get(objects, pid, UCT_IFACES, iface);
}

static struct uct_ep *ep_get(const struct objects *objects, uint32_t pid, uint64_t ep)
{
	return object_get(objects, pid, UCT_EPS, ep);
}

/* ---- interfaces ---- */

static void iface_end_make(struct uct_iface *i, uint32_t pid)
{
	if (!uct_iface_has_end(i->transport))
		return;
	uct_end_make(i->transport, i->has_device_address ? i->device_address : NULL,
		     i->has_address ? i->address : NULL, trace_host_of(pid), &i->local);
}

static void device_address_set(struct uct_iface *i, uint32_t pid, const uint8_t *address)
{
	memcpy(i->device_address, address, UCT_DEVICE_ADDRESS_BYTES);
	i->has_device_address = true;
	iface_end_make(i, pid);
}

/* Learn from calls that succeeded. Calls on unknown interfaces and endpoints are ignored. */
static void uct_iface_opened(struct objects *objects, uint32_t pid, uint64_t iface,
			     const char *transport, const char *device)
{
	struct map *ifaces = objects_of(objects, pid, UCT_IFACES);
	struct uct_iface *i = xcalloc(1, sizeof(*i)), *other;

	snprintf(i->transport, sizeof(i->transport), "%s", transport);
	snprintf(i->device, sizeof(i->device), "%s", device);
	free(map_set(ifaces, iface, i));
	for (size_t at = 0; (other = map_next(ifaces, &at, NULL));) {
		if (other->has_device_address && !strcmp(other->device, device))
			device_address_set(i, pid, other->device_address);
	}
}

static void uct_iface_addressed(struct objects *objects, uint32_t pid, uint64_t iface,
				const uint8_t address[UCT_ADDRESS_BYTES])
{
	struct uct_iface *i = iface_get(objects, pid, iface);

	if (!i)
		return;
	memcpy(i->address, address, UCT_ADDRESS_BYTES);
	i->has_address = true;
	iface_end_make(i, pid);
}

/* UCP asks just one interface of each device. */
static void uct_iface_device_addressed(struct objects *objects, uint32_t pid, uint64_t iface,
				       const uint8_t device[UCT_DEVICE_ADDRESS_BYTES])
{
	struct uct_iface *asked = iface_get(objects, pid, iface), *i;

	if (!asked || !uct_device_has_address(asked->transport))
		return;
	for (size_t at = 0; (i = map_next(objects_of(objects, pid, UCT_IFACES), &at, NULL));) {
		if (!strcmp(i->device, asked->device))
			device_address_set(i, pid, device);
	}
}

/* ---- endpoints ---- */

static void uct_ep_created(struct objects *objects, uint32_t pid, uint64_t ep, uint64_t iface)
{
	struct uct_ep *e = xcalloc(1, sizeof(*e));

	e->iface = iface;
	free(map_set(objects_of(objects, pid, UCT_EPS), ep, e));
}

static void uct_ep_addressed(struct objects *objects, uint32_t pid, uint64_t ep,
			     const uint8_t address[UCT_ADDRESS_BYTES])
{
	struct uct_ep *e = ep_get(objects, pid, ep);
	const struct uct_iface *i = e ? iface_get(objects, pid, e->iface) : NULL;

	if (i)
		uct_end_make(i->transport, i->has_device_address ? i->device_address : NULL,
			     address, trace_host_of(pid), &e->local);
}

/* device, address: those of the other side, or NULL. */
static void uct_ep_connected(struct objects *objects, uint32_t pid, uint64_t ep,
			     const uint8_t device[UCT_DEVICE_ADDRESS_BYTES],
			     const uint8_t address[UCT_ADDRESS_BYTES])
{
	struct uct_ep *e = ep_get(objects, pid, ep);
	const struct uct_iface *i = e ? iface_get(objects, pid, e->iface) : NULL;

	if (i)
		uct_end_make(i->transport, device, address, trace_host_of(pid), &e->remote);
}

/* ---- what calls reveal ---- */

/*
 * Offsets are those of uct_iface_params_t and uct_ep_params_t (uct/api/uct.h), which are part of
 * UCX's ABI and the same in UCX 1.8 to 1.20. A member is ignored unless its struct's mask names it.
 */

/* uct_iface_params_t; the signature already reads its open_mode. */
#define OPENS_DEVICE 0x01
#define AT_TRANSPORT 144 /* mode.device.tl_name */
#define AT_DEVICE 152	 /* mode.device.dev_name */

/* uct_ep_params_t; the signature already reads its start. */
struct ep_params {
	uint64_t field_mask, iface;
};
#define HAS_IFACE 0x01
#define HAS_DEVICE_ADDRESS 0x04
#define HAS_ADDRESS 0x08
#define AT_DEVICE_ADDRESS 24
#define AT_ADDRESS 32

int uct_learn_recipe(uint32_t teaches, const struct signature *sig, struct pov_fn *fn)
{
	uint8_t params = (uint8_t)signature_find(sig, "params");
	int err = 0;

	if (teaches == TEACHES_IFACE) {
		err = recipe_add_member(params, AT_TRANSPORT, UCT_TRANSPORT_BYTES, fn);
		if (!err)
			err = recipe_add_member(params, AT_DEVICE, UCT_DEVICE_BYTES, fn);
	} else if (teaches == TEACHES_EP) {
		err = recipe_add_member(params, AT_DEVICE_ADDRESS, UCT_DEVICE_ADDRESS_BYTES, fn);
		if (!err)
			err = recipe_add_member(params, AT_ADDRESS, UCT_ADDRESS_BYTES, fn);
	}
	return err;
}

/* A call from which something is learned. */
struct lesson {
	struct objects *to;
	const struct call_parts *parts;
	uint32_t pid;
	uint64_t object; /* the call's first argument */
};

static const uint8_t *data_of(const struct lesson *l, const char *role, uint8_t type, uint32_t off,
			      size_t bytes)
{
	return call_parts_data(l->parts, role, type, off, bytes);
}

static bool word_of(const struct lesson *l, const char *role, uint8_t type, uint64_t *out)
{
	const uint8_t *data = data_of(l, role, type, 0, sizeof(*out));

	if (data)
		memcpy(out, data, sizeof(*out));
	return data;
}

static void name_of(const struct lesson *l, uint32_t off, size_t bytes, char *out)
{
	const uint8_t *data = data_of(l, "params", POV_FIELD_MEMBER, off, bytes);

	memset(out, 0, bytes + 1);
	if (data)
		memcpy(out, data, bytes);
}

static void iface_learn(const struct lesson *l)
{
	char transport[UCT_TRANSPORT_BYTES + 1], device[UCT_DEVICE_BYTES + 1];
	uint64_t mode, iface;

	if (!word_of(l, "params", POV_FIELD_IN, &mode) || !(mode & OPENS_DEVICE) ||
	    !word_of(l, "new_iface", POV_FIELD_OUT, &iface))
		return;
	name_of(l, AT_TRANSPORT, UCT_TRANSPORT_BYTES, transport);
	name_of(l, AT_DEVICE, UCT_DEVICE_BYTES, device);
	if (*transport)
		uct_iface_opened(l->to, l->pid, iface, transport, device);
}

static void ep_learn(const struct lesson *l)
{
	const uint8_t *data = data_of(l, "params", POV_FIELD_IN, 0, sizeof(struct ep_params));
	const uint8_t *device = data_of(l, "params", POV_FIELD_MEMBER, AT_DEVICE_ADDRESS,
					UCT_DEVICE_ADDRESS_BYTES);
	const uint8_t *address = data_of(l, "params", POV_FIELD_MEMBER, AT_ADDRESS,
					 UCT_ADDRESS_BYTES);
	struct ep_params params;
	uint64_t ep;

	if (!data || !word_of(l, "new_ep", POV_FIELD_OUT, &ep))
		return;
	memcpy(&params, data, sizeof(params));
	if (!(params.field_mask & HAS_IFACE))
		return;
	uct_ep_created(l->to, l->pid, ep, params.iface);
	if (params.field_mask & HAS_ADDRESS)
		uct_ep_connected(l->to, l->pid, ep,
				 params.field_mask & HAS_DEVICE_ADDRESS ? device : NULL, address);
}

static void address_learn(const struct lesson *l, uint32_t teaches)
{
	const uint8_t *address = data_of(l, "address", POV_FIELD_OUT, 0, UCT_ADDRESS_BYTES);

	if (!address)
		return;
	if (teaches == TEACHES_IFACE_ADDRESS)
		uct_iface_addressed(l->to, l->pid, l->object, address);
	else
		uct_ep_addressed(l->to, l->pid, l->object, address);
}

void uct_learn(struct objects *objects, uint32_t teaches, const struct call_parts *parts)
{
	struct lesson l = {objects, parts, parts->rec->tgid, call_parts_word(parts, 0)};
	const uint8_t *device;

	switch (teaches) {
	case TEACHES_IFACE:
		iface_learn(&l);
		break;
	case TEACHES_IFACE_FREE:
		free(map_remove(objects_of(objects, l.pid, UCT_IFACES), l.object));
		break;
	case TEACHES_DEVICE_ADDRESS:
		device = data_of(&l, "device_address", POV_FIELD_OUT, 0, UCT_DEVICE_ADDRESS_BYTES);
		if (device)
			uct_iface_device_addressed(objects, l.pid, l.object, device);
		break;
	case TEACHES_IFACE_ADDRESS:
	case TEACHES_EP_ADDRESS:
		address_learn(&l, teaches);
		break;
	case TEACHES_EP:
		ep_learn(&l);
		break;
	case TEACHES_EP_FREE:
		free(map_remove(objects_of(objects, l.pid, UCT_EPS), l.object));
		break;
	case TEACHES_EP_PEER:
		uct_ep_connected(objects, l.pid, l.object,
				 data_of(&l, "device_address", POV_FIELD_OUT, 0,
					 UCT_DEVICE_ADDRESS_BYTES),
				 data_of(&l, "address", POV_FIELD_OUT, 0, UCT_ADDRESS_BYTES));
		break;
	}
}
