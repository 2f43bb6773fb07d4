/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A record is its fixed part, argument words, and fields, each padded to 8 bytes. */
#include "layers/call_parts.h"

#include <string.h>

#include "layers/signature.h"

bool call_parts_open(struct call_parts *c, const struct pov_call *rec, uint32_t nargs)
{
	if (rec->hdr.size < sizeof(*rec) || (size_t)rec->nargs * 8 > rec->hdr.size - sizeof(*rec))
		return false;
	*c = (struct call_parts){
		.rec = rec,
		.nargs = rec->nargs < nargs ? rec->nargs : nargs,
		.returned = !(rec->hdr.flags & (POV_CALL_OPEN | POV_CALL_UNWOUND)),
	};
	return true;
}

uint64_t call_parts_word(const struct call_parts *c, uint32_t arg)
{
	uint64_t word;

	if (arg >= c->nargs)
		return 0;
	memcpy(&word, (const uint8_t *)c->rec + sizeof(*c->rec) + 8 * (size_t)arg, sizeof(word));
	return word;
}

bool call_parts_value(const struct call_parts *c, const struct signature *sig, const char *role,
		      uint64_t *out)
{
	int arg = signature_find_value(sig, role);

	if (arg < 0 || !call_parts_known(c, (uint32_t)arg))
		return false;
	*out = call_parts_word(c, (uint32_t)arg);
	if (sig->arg[arg].type == SIG_INT)
		*out = (uint32_t)*out;
	return true;
}

bool call_parts_field(const struct call_parts *c, size_t *at, struct pov_field *head,
		      const uint8_t **data)
{
	const uint8_t *raw = (const uint8_t *)c->rec;
	size_t left;

	if (!*at)
		*at = sizeof(*c->rec) + 8 * (size_t)c->rec->nargs;
	left = c->rec->hdr.size - *at;
	if (left < sizeof(*head))
		return false;
	memcpy(head, raw + *at, sizeof(*head));
	*data = raw + *at + sizeof(*head);
	*at += sizeof(*head);
	left -= sizeof(*head);
	if ((((size_t)head->size + 7) & ~(size_t)7) > left)
		return false;
	*at += ((size_t)head->size + 7) & ~(size_t)7;
	return true;
}

const uint8_t *call_parts_data(const struct call_parts *c, const struct signature *sig,
			       const char *role, uint8_t type, uint32_t off, size_t bytes)
{
	int arg = signature_find(sig, role);
	struct pov_field head;
	const uint8_t *data;
	size_t at = 0;

	while (call_parts_field(c, &at, &head, &data)) {
		if (head.arg == arg && head.type == type && head.size >= bytes &&
		    (type != POV_FIELD_MEMBER || head.cnt == off))
			return data;
	}
	return NULL;
}

struct call_value *call_view_add(struct call_view *out, const char *name, enum value_kind kind)
{
	struct call_value *v =
		&out->values[out->nvalues < CALL_VALUES_MAX ? out->nvalues++ : CALL_VALUES_MAX - 1];

	*v = (struct call_value){.name = name, .kind = kind};
	return v;
}
