/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Quantities: what is printed, what is read, and where the limits are. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/human.h"
#include "unit/cases.h"

#define UNTOUCHED 77

static const struct {
	const char *name;
	int (*parse)(const char *text, uint64_t *out);
	char *(*print)(char *buf, size_t bytes, uint64_t value);
} functions[] = {
	{"u64", human_parse_u64, NULL},	    {"bytes", human_parse_bytes, NULL},
	{"ns", human_parse_ns, NULL},	    {"print_ns", NULL, human_ns},
	{"print_bytes", NULL, human_bytes}, {"count", NULL, human_count},
};

/* FUNCTION TEXT */
static void play(const struct script *lines, FILE *out)
{
	char *name = lines->line[0], *text = strchr(name, ' '), buf[HUMAN_BYTES];
	uint64_t value = UNTOUCHED;
	size_t i = 0;
	int err;

	*text++ = '\0';
	while (strcmp(functions[i].name, name) != 0)
		assert_true(++i < sizeof(functions) / sizeof(*functions));
	if (functions[i].print) {
		fputs(functions[i].print(buf, sizeof(buf), strtoull(text, NULL, 10)), out);
		return;
	}
	err = functions[i].parse(text, &value);
	assert_true(!err || value == UNTOUCHED);
	if (err)
		fputs(strerrorname_np(-err), out);
	else
		fprintf(out, "%llu", (unsigned long long)value);
}

TEST(human)
{
	char tiny[4];

	cases_run("human", play);
	human_count(tiny, sizeof(tiny), 1234567);
	assert_true(strlen(tiny) < sizeof(tiny));
}
