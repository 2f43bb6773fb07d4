/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Addresses by which UCX's transports find each other. They are packed bytes that one side gets
 * from its interface and passes to the other side by other means. So both sides make the same text
 * from them. Formats as in UCX 1.11 to 1.20 (src/uct/).
 */
#ifndef POV_LAYERS_UCT_UCT_ADDRESS_H
#define POV_LAYERS_UCT_UCT_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

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

/* True if others can send to an interface's address; else only to those of its endpoints. */
bool uct_iface_has_end(const char *transport);
/* True if a transport's devices have addresses. */
bool uct_device_has_address(const char *transport);
/* device, address: NULL if unknown. host: number of the process's host (trace_join.h). */
void uct_end_make(const char *transport, const uint8_t device[UCT_DEVICE_ADDRESS_BYTES],
		  const uint8_t address[UCT_ADDRESS_BYTES], uint32_t host, struct uct_end *out);

#endif
