/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Hands what calls say of objects on to whoever keeps it. Calls that failed say nothing. */
#include <string.h>

#include "layers/ofi/ofi_call.h"

static uint64_t word_of(const struct call_field *f)
{
	uint64_t v;

	memcpy(&v, f->data, sizeof(v));
	return v;
}

static void opened(const struct ofi_call *c, uint32_t pid)
{
	const struct call_field *attr = ofi_call_field(c, "attr", 4), *object;
	const uint8_t *ep_attr;
	uint32_t v = 0;

	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_CQ:
		object = ofi_call_field(c, "cq", 8);
		if (attr)
			memcpy(&v, attr->data, sizeof(v));
		if (object)
			ofi_cq_opened(&c->d->objects, pid, word_of(object), v);
		break;
	case TEACHES_AV:
		object = ofi_call_field(c, "av", 8);
		if (object)
			ofi_av_opened(&c->d->objects, pid, word_of(object));
		break;
	case TEACHES_EP:
		object = ofi_call_field(c, "new_ep", 8);
		ep_attr = call_parts_data(&c->parts, &c->fn->sig, "info", POV_FIELD_MEMBER,
					  AT_EP_ATTR, EP_ATTR_BYTES);
		if (ep_attr) /* type, protocol */
			memcpy(&v, ep_attr + 4, sizeof(v));
		if (object)
			ofi_ep_opened(&c->d->objects, pid, word_of(object), v);
		break;
	}
}

static void inserted(const struct ofi_call *c, uint32_t pid, uint64_t av)
{
	const struct call_field *addr = ofi_call_field(c, "addr", 1),
				*numbers = ofi_call_field(c, "fi_addr", 8);

	/* 0: later, as an event says */
	if (addr && numbers && (uint32_t)c->parts.rec->ret)
		ofi_inserted(&c->d->objects, pid, av, addr->data, addr->bytes, numbers->data,
			     numbers->bytes / 8);
}

void ofi_learn(const struct ofi_call *c)
{
	uint64_t first = call_parts_word(&c->parts, 0), bytes;
	uint32_t pid = c->parts.rec->tgid;
	const struct call_field *addr, *length;

	if (!ofi_call_is_good(c))
		return;
	switch (c->fn->attrs.flags & TEACHES) {
	case TEACHES_BIND:
		ofi_bound(&c->d->objects, pid, first, call_parts_word(&c->parts, 1),
			  call_parts_word(&c->parts, 2));
		break;
	case TEACHES_NAME:
		addr = ofi_call_field(c, "addr", 1);
		length = ofi_call_field(c, "addrlen", 8);
		bytes = length ? word_of(length) : 0;
		if (addr && bytes && bytes <= addr->bytes)
			ofi_named(&c->d->objects, pid, first, addr->data, (uint32_t)bytes);
		break;
	case TEACHES_PEER:
		addr = ofi_call_field(c, "addr", 1);
		if (addr)
			ofi_connected(&c->d->objects, pid, first, addr->data, addr->bytes);
		break;
	case TEACHES_INSERT:
		inserted(c, pid, first);
		break;
	default:
		opened(c, pid);
	}
}
