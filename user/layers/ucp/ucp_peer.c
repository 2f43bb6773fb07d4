/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A worker's address begins with a header of one or two bytes. It is followed by 64 bits by which
 * UCX identifies workers (ucp/wireup/address.c of UCX 1.9 to 1.20). Offsets in structs are part of
 * UCX's ABI (ucp/api/ucp.h, since 1.8).
 */
#include "layers/ucp/ucp_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define ADDRESS_BYTES 16 /* bytes kept of an address */
#define ADDRESS_VERSION 0x0f
#define ADDRESS_HAS_ID 0x02 /* in byte 2 of version 2; version 1 always has an id */

#define AT_PARAMS_ADDRESS 8 /* offset in ucp_ep_params_t */
#define PARAMS_HAS_ADDRESS 0x01
#define AT_ATTR_ADDRESS 16 /* offset in ucp_worker_attr_t */
#define ATTR_HAS_ADDRESS 0x02

struct process {
	struct map workers; /* address → struct ucp_worker */
	struct map eps;	    /* address → struct ucp_ep */
};

static void process_free(void *value)
{
	struct process *p = value;

	map_free(&p->workers, free);
	map_free(&p->eps, free);
	free(p);
}

void ucp_peers_release(struct ucp_peers *s)
{
	map_free(&s->processes, process_free);
}

const struct ucp_worker *ucp_worker_find(const struct ucp_peers *s, uint32_t pid, uint64_t worker)
{
	const struct process *p = map_get(&s->processes, pid);

	return p ? map_get(&p->workers, worker) : NULL;
}

const struct ucp_ep *ucp_ep_find(const struct ucp_peers *s, uint32_t pid, uint64_t ep)
{
	const struct process *p = map_get(&s->processes, pid);

	return p ? map_get(&p->eps, ep) : NULL;
}

/* ---- what is read ---- */

/* Role of the argument with a worker's own address, or with a struct that holds it. */
static const char *own_role(const struct signature *sig)
{
	return signature_find(sig, "attr") >= 0 ? "attr" : "address";
}

static uint8_t own_offset(const struct signature *sig)
{
	return signature_find(sig, "attr") >= 0 ? AT_ATTR_ADDRESS : 0;
}

int ucp_learn_recipe(uint32_t flags, const struct signature *sig, struct pov_fn *fn)
{
	if (flags & LEARNS_EP)
		return recipe_add_member((uint8_t)signature_find(sig, "params"), AT_PARAMS_ADDRESS,
					 ADDRESS_BYTES, fn);
	if (flags & LEARNS_ADDRESS)
		return recipe_add_member((uint8_t)signature_find(sig, own_role(sig)),
					 own_offset(sig), ADDRESS_BYTES, fn);
	return 0;
}

/* ---- its meaning ---- */

/* False if the struct's mask was read and lacks the member. */
static bool has_member(const struct call_parts *parts, const char *role, uint64_t bit)
{
	const uint8_t *data = call_parts_data(parts, role, POV_FIELD_IN, 0, sizeof(uint64_t));
	uint64_t mask;

	if (!data)
		return false;
	memcpy(&mask, data, sizeof(mask));
	return mask & bit;
}

/* Text of a worker; "" if the address has another form. address may be NULL. */
static void worker_text(const uint8_t *address, char out[UCP_WORKER_TEXT])
{
	unsigned int version;
	uint64_t id;

	*out = '\0';
	if (!address)
		return;
	version = (address[0] & ADDRESS_VERSION) + 1;
	if (version > 2 || (version == 2 && !(address[1] & ADDRESS_HAS_ID)))
		return;
	memcpy(&id, address + version, sizeof(id));
	snprintf(out, UCP_WORKER_TEXT, "worker 0x%llx", (unsigned long long)id);
}

static void ep_learn(struct process *p, const struct call_parts *parts)
{
	const uint8_t *new_ep = call_parts_data(parts, "new_ep", POV_FIELD_OUT, 0,
						sizeof(uint64_t));
	struct ucp_ep *e;
	uint64_t ep;

	if (!new_ep)
		return;
	memcpy(&ep, new_ep, sizeof(ep));
	e = map_make(&p->eps, ep, sizeof(*e));
	e->worker = call_parts_word(parts, 0);
	worker_text(has_member(parts, "params", PARAMS_HAS_ADDRESS) ?
			    call_parts_data(parts, "params", POV_FIELD_MEMBER, AT_PARAMS_ADDRESS,
					    ADDRESS_BYTES) :
			    NULL,
		    e->remote_end);
}

static void address_learn(struct process *p, const struct call_parts *parts)
{
	const char *role = own_role(parts->sig);
	const uint8_t *address = call_parts_data(parts, role, POV_FIELD_MEMBER,
						 own_offset(parts->sig), ADDRESS_BYTES);
	struct ucp_worker *w;

	if (!address || (own_offset(parts->sig) && !has_member(parts, role, ATTR_HAS_ADDRESS)))
		return;
	w = map_make(&p->workers, call_parts_word(parts, 0), sizeof(*w));
	worker_text(address, w->end);
}

void ucp_learn(struct ucp_peers *s, uint32_t flags, const struct call_parts *parts)
{
	struct process *p;

	if (!(flags & (LEARNS_EP | LEARNS_ADDRESS)))
		return;
	p = map_make(&s->processes, parts->rec->tgid, sizeof(*p));
	if (flags & LEARNS_EP)
		ep_learn(p, parts);
	else
		address_learn(p, parts);
}
