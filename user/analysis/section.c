/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Two dots make a span. Text that begins with a digit is a time. */
#include "analysis/section_pov.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"

static bool call_parse(char *p, struct section_edge *out)
{
	char *mark = strchr(p, '#');

	out->kind = EDGE_CALL;
	out->number = 1;
	if (mark) {
		*mark = 0;
		if (human_parse_u64(mark + 1, &out->number) || !out->number)
			return false;
	}
	for (const char *c = p; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	strcpy(out->func, p);
	return *p;
}

/* Parses the text between two pointers. Empty text is no edge. */
static bool edge_parse(const char *p, const char *end, struct section_edge *out)
{
	size_t bytes = (size_t)(end - p);
	char piece[SECTION_FUNC_BYTES];

	if (!bytes)
		return true;
	if (bytes >= sizeof(piece))
		return false;
	memcpy(piece, p, bytes);
	piece[bytes] = 0;
	if (!isdigit((unsigned char)*p))
		return call_parse(piece, out);
	out->kind = EDGE_TIME;
	return !human_parse_ns(piece, &out->at_ns);
}

int section_parse(const char *text, struct section *out)
{
	const char *dots = strstr(text, "..");
	struct section s = {.text = text, .is_name = !dots};
	bool good = *text;

	if (dots)
		good = (dots > text || dots[2]) && edge_parse(text, dots, &s.from) &&
		       edge_parse(dots + 2, text + strlen(text), &s.to);
	if (s.from.kind == EDGE_TIME && s.to.kind == EDGE_TIME)
		good = good && s.from.at_ns < s.to.at_ns;
	if (!good) {
		log_error(
			"--section \"%s\": not a section; try the name of a phase or region, "
			"MPI_Barrier#2..MPI_Barrier#3 (from the return of a thread's second call to "
			"that of its third), or "
			"1.5..2 (seconds)",
			text);
		return -EINVAL;
	}
	*out = s;
	return 0;
}
