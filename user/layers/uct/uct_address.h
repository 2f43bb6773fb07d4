/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The addresses by which UCX's transports find each other: packed bytes, that one side asks its interface for and hands to
 * the other one by some other way. So both sides make the same text of them. Forms as in UCX 1.11 to 1.20 (src/uct/).
 */
#ifndef POV_LAYERS_UCT_UCT_ADDRESS_H
#define POV_LAYERS_UCT_UCT_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

/* As much as is kept of them. */
#define UCT_DEVICE_ADDRESS_BYTES 24
#define UCT_ADDRESS_BYTES \
	16 /* of an interface, or of an endpoint, which begins with the interface's where that has one */

#define UCT_END_TEXT 96

struct uct_end {
	char end[UCT_END_TEXT]; /* "10.0.0.2:4711", "lid 7 qp 81", "posix 0x80…"; "": not known */
	char dest[UCT_END_TEXT]; /* the same without the number that is only its process's, if anything is left */
};

/* Whether an interface's address says where others send to; else only those of its endpoints do. */
bool uct_iface_has_end(const char *transport);
/* Whether a transport's devices have addresses. */
bool uct_device_has_address(const char *transport);
/* device, address: NULL if they are not known. host: of the process (trace_join.h). */
void uct_end_make(const char *transport, const uint8_t device[UCT_DEVICE_ADDRESS_BYTES],
		  const uint8_t address[UCT_ADDRESS_BYTES], uint32_t host, struct uct_end *out);

#endif
