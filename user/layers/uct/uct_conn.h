/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What UCT's interfaces and endpoints are of, and where they lead to, as the calls that made and connected them said. All is known
 * by the addresses of a process's objects. What was made before the recording began is not known, and never guessed.
 */
#ifndef POV_LAYERS_UCT_UCT_CONN_H
#define POV_LAYERS_UCT_UCT_CONN_H

#include <stdbool.h>

#include "lib/map.h"
#include "layers/uct/uct_address.h"

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
	struct uct_end local; /* if it is another one than the interface's */
	struct uct_end remote;
};

struct uct_conns {
	struct map processes; /* pid → struct process */
};

void uct_conns_release(struct uct_conns *s);

/* What calls that succeeded teach. Of interfaces and endpoints that are not known nothing can be. */
void uct_iface_opened(struct uct_conns *s, uint32_t pid, uint64_t iface, const char *transport,
		      const char *device);
void uct_iface_closed(struct uct_conns *s, uint32_t pid, uint64_t iface);
void uct_iface_addressed(struct uct_conns *s, uint32_t pid, uint64_t iface,
			 const uint8_t address[UCT_ADDRESS_BYTES]);
void uct_iface_device_addressed(struct uct_conns *s, uint32_t pid, uint64_t iface,
				const uint8_t device[UCT_DEVICE_ADDRESS_BYTES]);
void uct_ep_created(struct uct_conns *s, uint32_t pid, uint64_t ep, uint64_t iface);
void uct_ep_destroyed(struct uct_conns *s, uint32_t pid, uint64_t ep);
void uct_ep_addressed(struct uct_conns *s, uint32_t pid, uint64_t ep,
		      const uint8_t address[UCT_ADDRESS_BYTES]);
/* device, address: of the other side, or NULL. */
void uct_ep_connected(struct uct_conns *s, uint32_t pid, uint64_t ep,
		      const uint8_t device[UCT_DEVICE_ADDRESS_BYTES],
		      const uint8_t address[UCT_ADDRESS_BYTES]);

/* NULL if it is not known. */
const struct uct_iface *uct_iface_find(const struct uct_conns *s, uint32_t pid, uint64_t iface);
const struct uct_ep *uct_ep_find(const struct uct_conns *s, uint32_t pid, uint64_t ep);

#endif
