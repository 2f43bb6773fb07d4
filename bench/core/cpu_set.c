/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "core/cpu_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

void cpu_set_text(const cpu_set_t *set, char *text, size_t bytes)
{
	size_t used = 0;
	int end;

	text[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu = end + 1) {
		end = cpu;
		if (!CPU_ISSET((size_t)cpu, set))
			continue;
		while (end + 1 < CPU_SETSIZE && CPU_ISSET((size_t)end + 1, set))
			end++;
		used += (size_t)snprintf(text + used, bytes - used, "%s%d", used ? "," : "", cpu);
		if (used < bytes && end > cpu)
			used += (size_t)snprintf(text + used, bytes - used, "-%d", end);
		if (used >= bytes)
			return;
	}
}

/* Reads the number at *at and moves *at past it. */
static bool number_read(const char **at, unsigned long *out)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*out = strtoul(*at, &end, 10);
	*at = end;
	return true;
}

bool cpu_set_read(cpu_set_t *set, const char *text)
{
	unsigned long first, last;

	CPU_ZERO(set);
	for (;; text++) {
		if (!number_read(&text, &first))
			return false;
		last = first;
		if (*text == '-') {
			text++;
			if (!number_read(&text, &last))
				return false;
		}
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET(first, set);
		if (*text != ',')
			return !*text;
	}
}
