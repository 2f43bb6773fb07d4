/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What every layer's decoder does: a call's record is taken apart, values are put into the view. A record may come from a damaged
 * file; whatever it claims is checked against its size here.
 */
#ifndef POV_LAYERS_CALL_PARTS_H
#define POV_LAYERS_CALL_PARTS_H

#include "abi/event.h"
#include "layers/layer.h"

struct call_parts {
	const struct pov_call *rec;
	uint32_t nargs; /* arguments the record holds, of those the signature names */
	bool returned;	/* there is a return value */
};

/* False if it is no call at all. nargs: of the signature. */
bool call_parts_open(struct call_parts *c, const struct pov_call *rec, uint32_t nargs);
/* The raw word of an argument, 0 if the record lacks it. */
uint64_t call_parts_word(const struct call_parts *c, uint32_t arg);
struct signature;
static inline bool call_parts_known(const struct call_parts *c, uint32_t arg)
{
	return arg < c->nargs && !(arg < 32 && c->rec->unknown >> arg & 1);
}
/* The argument that has a role and is passed by value, of an int its 32 bits; false if the function, or the record, has none. */
bool call_parts_value(const struct call_parts *c, const struct signature *sig, const char *role,
		      uint64_t *out);
/*
 * The next field, *at being 0 for the first one; false behind the last one, or where the record is cut. data: head->size
 * bytes, not aligned.
 */
bool call_parts_field(const struct call_parts *c, size_t *at, struct pov_field *head,
		      const uint8_t **data);
/*
 * What was read of the argument with a role, as a field of a type (MEMBER: at an offset); NULL if there is none, or not so many bytes.
 * Not aligned.
 */
const uint8_t *call_parts_data(const struct call_parts *c, const struct signature *sig,
			       const char *role, uint8_t type, uint32_t off, size_t bytes);

/* Adds a value to the view; if it is full, to one that nobody sees. name: as long as the view. */
struct call_value *call_view_add(struct call_view *out, const char *name, enum value_kind kind);

#endif
