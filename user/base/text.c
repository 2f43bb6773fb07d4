/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "base/text.h"

#include <string.h>

bool text_ends_in(const char *text, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len >= end_len && !memcmp(text + len - end_len, end, end_len);
}
