/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Common work of all layers' decoders: taking a call's record apart, and putting values into the
 * view. A record may come from a damaged file; all that it claims is checked against its size here.
 */
#ifndef POV_LAYERS_CALL_PARTS_H
#define POV_LAYERS_CALL_PARTS_H

#include "abi/event.h"
#include "layers/layer.h"

struct call_parts {
	const struct pov_call *rec;
	uint32_t nargs; /* arguments that the record holds, at most those in the signature */
	bool returned;	/* there is a return value */
};

/* Opens a record. False if it is not a call. nargs: number of arguments in the signature. */
bool call_parts_open(struct call_parts *c, const struct pov_call *rec, uint32_t nargs);
/* The raw word of an argument, 0 if the record lacks it. */
uint64_t call_parts_word(const struct call_parts *c, uint32_t arg);
struct signature;
static inline bool call_parts_known(const struct call_parts *c, uint32_t arg)
{
	return arg < c->nargs && !(arg < 32 && c->rec->unknown >> arg & 1);
}
/*
 * Value of the argument that has a role and is passed by value; of an int, its 32 bits. False if
 * the function or the record has no such argument.
 */
bool call_parts_value(const struct call_parts *c, const struct signature *sig, const char *role,
		      uint64_t *out);
/*
 * Finds the next field; *at must be 0 for the first one. False after the last field, or where the
 * record is cut. data: head->size bytes, not aligned.
 */
bool call_parts_field(const struct call_parts *c, size_t *at, struct pov_field *head,
		      const uint8_t **data);
/*
 * Data read for the argument with a role, in a field of this type (MEMBER: at offset off). Not
 * aligned. NULL if there is no such field, or it has fewer than `bytes` bytes.
 */
const uint8_t *call_parts_data(const struct call_parts *c, const struct signature *sig,
			       const char *role, uint8_t type, uint32_t off, size_t bytes);

/*
 * Adds a value to the view; a full view gets one that is not shown. name: valid as long as the
 * view.
 */
struct call_value *call_view_add(struct call_view *out, const char *name, enum value_kind kind);

#endif
