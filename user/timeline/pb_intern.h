/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Strings that a packet sequence has sent once and then refers to by number. Bounded: when full,
 * the caller resets the sequence's state (intern_reset()) and sets SEQ_INCREMENTAL_STATE_CLEARED.
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
	INTERN_FUNCTION = 5,
	INTERN_MAPPING_PATH = 17,
	INTERN_SOURCE_PATH = 18,
	INTERN_TEXT = 29,
	INTERN_ACTIVITY = 43
};

struct intern;

struct intern *intern_new(uint32_t max_entries, size_t max_bytes);
void intern_free(struct intern *in);

/* True if the bounds are reached: reset before the next packet. One packet may exceed them. */
bool intern_full(const struct intern *in);
void intern_reset(struct intern *in);

/*
 * Returns the string's number, from 1. Appends a new string to fresh as InternedData. Accepts any
 * bytes and converts them to UTF-8.
 */
uint64_t intern_add(struct intern *in, enum intern_kind kind, const char *s, struct pb *fresh);

#endif
