/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Each transport has one of five forms of address. Bytes that do not match it give no text. */
#include "layers/uct/uct_conn.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "layers/verbs/verbs_conn.h"

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
	bool is_connected; /* use the endpoint's address, as the interface's has another form */
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
	for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++)
		if (!strcmp(transports[i].name, name))
			return &transports[i];
	return NULL;
}

static uint64_t u64_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
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

bool uct_iface_has_end(const char *transport)
{
	const struct transport *t = transport_find(transport);

	return t && !t->is_connected;
}

bool uct_device_has_address(const char *transport)
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
