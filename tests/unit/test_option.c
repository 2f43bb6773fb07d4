/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Option tables: parsing of command lines (cases/option.txt). Quantities: cases/human.txt.
 */
#include "unit/test.h"
#include "lib/human.h"
#include "lib/option.h"
#include "lib/text.h"
#include "unit/cases.h"

#define SECOND 1000000000ull

struct options {
	bool fast;
	bool loud;
	uint64_t jobs;
	uint64_t size; /* bytes */
	uint64_t wait; /* ns */
	const char *output;
	int color;
	struct option_list pids;
};

static const char *const colors[] = {"red", "green", "blue", NULL};

#define AT(member) offsetof(struct options, member)
static const struct option_def table[] = {
	{"fast", 'f', OPTION_FLAG, AT(fast), .help = "Hurry."},
	{"loud", 'l', OPTION_FLAG, AT(loud), .help = "Shout."},
	{"jobs", 'j', OPTION_U64, AT(jobs), "N", "3", 1, 100, .help = "Painters."},
	{"size", 0, OPTION_BYTES, AT(size), "BYTES", "1.5M", 4096, .help = "Of the canvas."},
	{"wait", 'w', OPTION_SECONDS, AT(wait), NULL, "10ms", 0, 60 * SECOND, .help = "At first."},
	{"output", 'o', OPTION_STRING, AT(output), "FILE", .help = "Where to paint to."},
	{0},
};

static const struct option_def shared_rows[] = {
	{"color", 0, OPTION_CHOICE, AT(color), NULL, "green", .choices = colors, .help = "Hue."},
	{"pid", 'p', OPTION_LIST, AT(pids), "PID", .help = "Whom to paint."},
	{0},
};

static const struct command cmd = {
	.name = "paint",
	.usage = "[options] FILE",
	.options = table,
	.shared = shared_rows,
	.options_bytes = sizeof(struct options),
};

#define WORDS_MAX 32

/* Parses a command line. Prints each option's value, then the remaining words. */
static void play_parse(const struct script *lines, FILE *out)
{
	char *argv[WORDS_MAX + 1], *save = NULL;
	int argc = 0, nargs, dashdash;
	struct options o;

	argv[0] = strtok_r(lines->line[0], " ", &save);
	while ((argv[++argc] = strtok_r(NULL, " ", &save)))
		;
	memset(&o, 0xff, sizeof(o));
	if (option_parse(&cmd, argc, argv, &o, &nargs, &dashdash)) {
		fputs("refused", out);
		return;
	}
	fprintf(out, "%s%sjobs %llu, size %llu, wait %llu, color %d, output %s, pids",
		o.fast ? "fast, " : "", o.loud ? "loud, " : "", (unsigned long long)o.jobs,
		(unsigned long long)o.size, (unsigned long long)o.wait, o.color,
		o.output ? o.output : "none");
	for (uint32_t i = 0; i < o.pids.cnt; i++)
		fprintf(out, " %s", o.pids.item[i]);
	fprintf(out, ", %d words", nargs);
	for (int i = 0; i <= nargs; i++)
		fprintf(out, "%s %s", i == dashdash ? " |" : "", i < nargs ? argv[i] : ".");
	assert_null(argv[nargs]);
	option_list_release(&o.pids);
	assert_int_equal(o.pids.cnt, 0);
}

TEST(parse)
{
	cases_run("option", play_parse);
}

/* ---- quantities ---- */

#define UNTOUCHED 77

static const struct {
	const char *name;
	int (*parse)(const char *text, uint64_t *out);
	char *(*print)(char *buf, size_t bytes, uint64_t value);
} functions[] = {
	{"u64", human_parse_u64, NULL},	    {"bytes", human_parse_bytes, NULL},
	{"ns", human_parse_ns, NULL},	    {"print_ns", NULL, human_ns},
	{"round_ns", NULL, human_round_ns}, {"print_bytes", NULL, human_bytes},
	{"count", NULL, human_count},
};

/* Runs FUNCTION TEXT. */
static void human_play(const struct script *lines, FILE *out)
{
	char *name = lines->line[0], *text = strchr(name, ' '), buf[HUMAN_BYTES];
	uint64_t value = UNTOUCHED;
	size_t i = 0;
	int err;

	*text++ = '\0';
	while (strcmp(functions[i].name, name) != 0)
		assert_true(++i < COUNT(functions));
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

	cases_run("human", human_play);
	human_count(tiny, sizeof(tiny), 1234567);
	assert_true(strlen(tiny) < sizeof(tiny));
}
