/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Numbers for texts: the same text has the same number, from 1 on, so that keys may hold numbers. 0 is no text. A zeroed
 * struct is empty.
 */
#ifndef POV_LIB_NAMES_H
#define POV_LIB_NAMES_H

#include "lib/map.h"

struct names {
	struct names_entry *entry; /* by number; owned */
	uint32_t n, cap;
	struct map by_hash; /* of the last one with that hash */
};

uint32_t names_id(struct names *s, const char *text); /* NULL: 0 */
/* NULL for 0. Valid until names_release. */
const char *names_text(const struct names *s, uint32_t id);
void names_release(struct names *s);

#endif
