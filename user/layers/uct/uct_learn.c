/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Offsets are those of uct_iface_params_t and uct_ep_params_t (uct/api/uct.h), which are part of UCX's ABI and the same in UCX 1.8
 * to 1.20. Of a member that its struct's mask does not name nothing is taken.
 */
#include "layers/uct/uct_learn.h"

#include <string.h>

/* uct_iface_params_t; the signature reads its open_mode. */
#define OPENS_DEVICE 0x01
#define AT_TRANSPORT 144 /* mode.device.tl_name */
#define AT_DEVICE 152	 /* mode.device.dev_name */

/* uct_ep_params_t; the signature reads its beginning. */
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

/* A call that teaches. */
struct lesson {
	struct uct_conns *to;
	const struct signature *sig;
	const struct call_parts *parts;
	uint32_t pid;
	uint64_t object; /* its first argument */
};

static const uint8_t *data_of(const struct lesson *l, const char *role, uint8_t type, uint32_t off,
			      size_t bytes)
{
	return call_parts_data(l->parts, l->sig, role, type, off, bytes);
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

void uct_learn(struct uct_conns *s, uint32_t teaches, const struct signature *sig,
	       const struct call_parts *parts)
{
	struct lesson l = {s, sig, parts, parts->rec->tgid, call_parts_word(parts, 0)};
	const uint8_t *device;

	switch (teaches) {
	case TEACHES_IFACE:
		iface_learn(&l);
		break;
	case TEACHES_IFACE_FREE:
		uct_iface_closed(s, l.pid, l.object);
		break;
	case TEACHES_DEVICE_ADDRESS:
		device = data_of(&l, "device_address", POV_FIELD_OUT, 0, UCT_DEVICE_ADDRESS_BYTES);
		if (device)
			uct_iface_device_addressed(s, l.pid, l.object, device);
		break;
	case TEACHES_IFACE_ADDRESS:
	case TEACHES_EP_ADDRESS:
		address_learn(&l, teaches);
		break;
	case TEACHES_EP:
		ep_learn(&l);
		break;
	case TEACHES_EP_FREE:
		uct_ep_destroyed(s, l.pid, l.object);
		break;
	case TEACHES_EP_PEER:
		uct_ep_connected(s, l.pid, l.object,
				 data_of(&l, "device_address", POV_FIELD_OUT, 0,
					 UCT_DEVICE_ADDRESS_BYTES),
				 data_of(&l, "address", POV_FIELD_OUT, 0, UCT_ADDRESS_BYTES));
		break;
	}
}
