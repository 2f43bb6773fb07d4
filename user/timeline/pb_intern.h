/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Strings a packet sequence has sent once and refers to by number from then on. Bounded: when full, the
 * caller starts the sequence's state anew (intern_reset()) and tells so with SEQ_INCREMENTAL_STATE_CLEARED.
 */
#ifndef POV_TIMELINE_PB_INTERN_H
#define POV_TIMELINE_PB_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/pb.h"

/* Values are the field numbers in InternedData. */
enum intern_kind {
	INTERN_CATEGORY = 1,
	INTERN_EVENT_NAME = 2,
	INTERN_ARG_NAME = 3,
	INTERN_TEXT = 29,
	INTERN_ACTIVITY = 43
};

struct intern;

struct intern *intern_new(uint32_t max_entries, size_t max_bytes);
void intern_free(struct intern *in);

/* Whether the bounds are reached: reset before the next packet. One packet may go beyond them. */
bool intern_full(const struct intern *in);
void intern_reset(struct intern *in);

/* The string's number, from 1. A new one is appended to fresh as InternedData. Any bytes; made UTF-8. */
uint64_t intern_add(struct intern *in, enum intern_kind kind, const char *s, struct pb *fresh);

#endif
