/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Texts are made when an address is learned, so that a post needs only to find its endpoint. */
#include "layers/uct/uct_conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "trace/trace_join.h"

struct process {
	struct map ifaces; /* address → struct uct_iface */
	struct map eps;	   /* → struct uct_ep */
};

static void process_free(void *value)
{
	struct process *p = value;

	map_free(&p->ifaces, free);
	map_free(&p->eps, free);
	free(p);
}

void uct_conns_release(struct uct_conns *s)
{
	map_free(&s->processes, process_free);
}

static struct process *process_of(struct uct_conns *s, uint32_t pid)
{
	return map_make(&s->processes, pid, sizeof(struct process));
}

static struct uct_iface *iface_get(const struct uct_conns *s, uint32_t pid, uint64_t iface)
{
	const struct process *p = map_get(&s->processes, pid);

	return p ? map_get(&p->ifaces, iface) : NULL;
}

static struct uct_ep *ep_get(const struct uct_conns *s, uint32_t pid, uint64_t ep)
{
	const struct process *p = map_get(&s->processes, pid);

	return p ? map_get(&p->eps, ep) : NULL;
}

const struct uct_iface *uct_iface_find(const struct uct_conns *s, uint32_t pid, uint64_t iface)
{
	return iface_get(s, pid, iface);
}

const struct uct_ep *uct_ep_find(const struct uct_conns *s, uint32_t pid, uint64_t ep)
{
	return ep_get(s, pid, ep);
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

void uct_iface_opened(struct uct_conns *s, uint32_t pid, uint64_t iface, const char *transport,
		      const char *device)
{
	struct map *ifaces = &process_of(s, pid)->ifaces;
	struct uct_iface *i = xcalloc(1, sizeof(*i)), *other;

	snprintf(i->transport, sizeof(i->transport), "%s", transport);
	snprintf(i->device, sizeof(i->device), "%s", device);
	free(map_set(ifaces, iface, i));
	for (size_t at = 0; (other = map_next(ifaces, &at, NULL));) {
		if (other->has_device_address && !strcmp(other->device, device))
			device_address_set(i, pid, other->device_address);
	}
}

void uct_iface_closed(struct uct_conns *s, uint32_t pid, uint64_t iface)
{
	free(map_remove(&process_of(s, pid)->ifaces, iface));
}

void uct_iface_addressed(struct uct_conns *s, uint32_t pid, uint64_t iface,
			 const uint8_t address[UCT_ADDRESS_BYTES])
{
	struct uct_iface *i = iface_get(s, pid, iface);

	if (!i)
		return;
	memcpy(i->address, address, UCT_ADDRESS_BYTES);
	i->has_address = true;
	iface_end_make(i, pid);
}

/* UCP asks one interface of each device only. */
void uct_iface_device_addressed(struct uct_conns *s, uint32_t pid, uint64_t iface,
				const uint8_t device[UCT_DEVICE_ADDRESS_BYTES])
{
	struct uct_iface *asked = iface_get(s, pid, iface), *i;

	if (!asked || !uct_device_has_address(asked->transport))
		return;
	for (size_t at = 0; (i = map_next(&process_of(s, pid)->ifaces, &at, NULL));) {
		if (!strcmp(i->device, asked->device))
			device_address_set(i, pid, device);
	}
}

/* ---- endpoints ---- */

void uct_ep_created(struct uct_conns *s, uint32_t pid, uint64_t ep, uint64_t iface)
{
	struct uct_ep *e = xcalloc(1, sizeof(*e));

	e->iface = iface;
	free(map_set(&process_of(s, pid)->eps, ep, e));
}

void uct_ep_destroyed(struct uct_conns *s, uint32_t pid, uint64_t ep)
{
	free(map_remove(&process_of(s, pid)->eps, ep));
}

void uct_ep_addressed(struct uct_conns *s, uint32_t pid, uint64_t ep,
		      const uint8_t address[UCT_ADDRESS_BYTES])
{
	struct uct_ep *e = ep_get(s, pid, ep);
	const struct uct_iface *i = e ? iface_get(s, pid, e->iface) : NULL;

	if (i)
		uct_end_make(i->transport, i->has_device_address ? i->device_address : NULL,
			     address, trace_host_of(pid), &e->local);
}

void uct_ep_connected(struct uct_conns *s, uint32_t pid, uint64_t ep,
		      const uint8_t device[UCT_DEVICE_ADDRESS_BYTES],
		      const uint8_t address[UCT_ADDRESS_BYTES])
{
	struct uct_ep *e = ep_get(s, pid, ep);
	const struct uct_iface *i = e ? iface_get(s, pid, e->iface) : NULL;

	if (i)
		uct_end_make(i->transport, device, address, trace_host_of(pid), &e->remote);
}
