/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Devices and connections of UCT's interfaces and endpoints, learned from the calls that made and
 * connected them. Objects are identified by their addresses in the process's memory. Objects made
 * before the recording began are unknown, and never guessed.
 */
#ifndef POV_LAYERS_UCT_UCT_CONN_H
#define POV_LAYERS_UCT_UCT_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "layers/call_parts.h"
#include "layers/signature.h"

/*
 * Addresses by which UCX's transports find each other. They are packed bytes that one side gets
 * from its interface and passes to the other side by other means. So both sides make the same text
 * from them. Formats as in UCX 1.11 to 1.20 (src/uct/).
 */

/* Bytes kept of a device's address. */
#define UCT_DEVICE_ADDRESS_BYTES 24
/*
 * Bytes kept of the address of an interface or endpoint. An endpoint's address begins with its
 * interface's, if that has one.
 */
#define UCT_ADDRESS_BYTES 16

#define UCT_END_TEXT 96

struct uct_end {
	char end[UCT_END_TEXT]; /* "10.0.0.2:4711", "lid 7 qp 81", "posix 0x80…"; "": unknown */
	/* end without the number that differs between processes, if anything else is left */
	char dest[UCT_END_TEXT];
};

/* device, address: NULL if unknown. host: number of the process's host (trace_join.h). */
void uct_end_make(const char *transport, const uint8_t device[UCT_DEVICE_ADDRESS_BYTES],
		  const uint8_t address[UCT_ADDRESS_BYTES], uint32_t host, struct uct_end *out);

#define UCT_TRANSPORT_BYTES 16
#define UCT_DEVICE_BYTES 32

struct uct_iface {
	char transport[UCT_TRANSPORT_BYTES + 1]; /* "posix", "rc_mlx5" */
	char device[UCT_DEVICE_BYTES + 1];	 /* "memory", "eth0", "mlx5_0:1" */
	uint8_t device_address[UCT_DEVICE_ADDRESS_BYTES], address[UCT_ADDRESS_BYTES];
	bool has_device_address, has_address;
	struct uct_end local;
};

struct uct_ep {
	uint64_t iface;
	struct uct_end local; /* set if it differs from the interface's */
	struct uct_end remote;
};

/* Kinds of objects (call_parts.h). */
enum { UCT_IFACES /* struct uct_iface */, UCT_EPS /* struct uct_ep */ };

/* Attributes of functions: what their calls reveal of interfaces and endpoints. */
#define TEACHES 0xf00000
#define TEACHES_IFACE 0x100000
#define TEACHES_IFACE_FREE 0x200000
#define TEACHES_IFACE_ADDRESS 0x300000
#define TEACHES_DEVICE_ADDRESS 0x400000
#define TEACHES_EP 0x500000
#define TEACHES_EP_FREE 0x600000
#define TEACHES_EP_ADDRESS 0x700000
#define TEACHES_EP_PEER 0x800000

/* Adds fetches that no signature can express. teaches: one of the above, or 0. 0, -E2BIG. */
int uct_learn_recipe(uint32_t teaches, const struct signature *sig, struct pov_fn *fn);
/* Learns from a call that succeeded. */
void uct_learn(struct objects *objects, uint32_t teaches, const struct call_parts *parts);

#endif
