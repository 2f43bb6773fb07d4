/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Option tables: what is read from a command line, what is refused, and what help and manual say. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "base/option.h"
#include "base/suggest.h"

struct options {
	bool fast;
	bool loud;
	uint64_t jobs;
	uint64_t size_bytes;
	uint64_t wait_ns;
	const char *output;
	int color;
	struct option_list pids;
};

static const char *const colors[] = {"red", "green", "blue", NULL};
static const char *const examples[] = {
	"povtrace paint -o x.svg",
	"Paint to a file.",
	"povtrace paint -f",
	"Paint fast.",
	"povtrace paint -p 1 -p 2",
	"Paint two processes.",
	NULL,
};

#define OFFSET(member) offsetof(struct options, member)
static const struct option_def table[] = {
	{.name = "fast",
	 .letter = 'f',
	 .type = OPTION_FLAG,
	 .offset = OFFSET(fast),
	 .help = "Hurry."},
	{.name = "loud",
	 .letter = 'l',
	 .type = OPTION_FLAG,
	 .offset = OFFSET(loud),
	 .help = "Shout."},
	{.name = "jobs",
	 .letter = 'j',
	 .type = OPTION_U64,
	 .offset = OFFSET(jobs),
	 .arg = "N",
	 .dflt = "3",
	 .min = 1,
	 .max = 100,
	 .help = "Painters."},
	{.name = "size",
	 .type = OPTION_BYTES,
	 .offset = OFFSET(size_bytes),
	 .arg = "BYTES",
	 .dflt = "1.5M",
	 .min = 4096,
	 .help = "Of the canvas."},
	{.name = "wait",
	 .letter = 'w',
	 .type = OPTION_SECONDS,
	 .offset = OFFSET(wait_ns),
	 .dflt = "10ms",
	 .max = 60000000000,
	 .help = "Before the start."},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_STRING,
	 .offset = OFFSET(output),
	 .arg = "FILE",
	 .help = "Where to paint to."},
	{0},
};

static const struct option_def shared_rows[] = {
	{.name = "color",
	 .type = OPTION_CHOICE,
	 .offset = OFFSET(color),
	 .choices = colors,
	 .dflt = "green",
	 .help = "Hue."},
	{.name = "pid",
	 .letter = 'p',
	 .type = OPTION_LIST,
	 .offset = OFFSET(pids),
	 .arg = "PID",
	 .help = "Whom to paint."},
	{0},
};

static const struct command cmd = {
	.name = "paint",
	.brief = "Paint something.",
	.usage = "[options] FILE",
	.details =
		"First paragraph that is long enough to be wrapped somewhere, because a terminal has "
		"but eighty columns.\n\n  verbatim  line\n.dots and \\backslashes stay.",
	.examples = examples,
	.options = table,
	.shared = shared_rows,
	.options_bytes = sizeof(struct options),
};

#define WORDS_MAX 32

/* The words of line, parsed. argv is static: what was parsed points into it. */
static int parse(const char *line, struct options *opts, char ***words, int *nargs, int *dashdash)
{
	static char text[512], *argv[WORDS_MAX + 1];
	int argc = 0;
	char *word;

	snprintf(text, sizeof(text), "%s", line);
	for (word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	*words = argv;
	return option_parse(&cmd, argc, argv, opts, nargs, dashdash);
}

TEST(defaults)
{
	struct options o;
	char **words;
	int nargs, dashdash;

	memset(&o, 0xff, sizeof(o));
	assert_int_equal(parse("paint", &o, &words, &nargs, &dashdash), 0);
	assert_false(o.fast);
	assert_int_equal(o.jobs, 3);
	assert_int_equal(o.size_bytes, 1572864);
	assert_int_equal(o.wait_ns, 10000000);
	assert_null(o.output);
	assert_int_equal(o.color, 1);
	assert_int_equal(o.pids.cnt, 0);
	assert_int_equal(nargs, 0);
	assert_int_equal(dashdash, -1);
}

TEST(forms)
{
	struct options o;
	char **words;
	int nargs, dashdash;

	assert_int_equal(
		parse("paint in -o out -j7 --size=8K --wait 2 -p 1 --color blue -p2 --pid=3 "
		      "-flo- x -",
		      &o, &words, &nargs, &dashdash),
		0);
	assert_true(o.fast && o.loud);
	assert_string_equal(o.output, "-");
	assert_int_equal(o.jobs, 7);
	assert_int_equal(o.size_bytes, 8192);
	assert_int_equal(o.wait_ns, 2000000000);
	assert_int_equal(o.color, 2);
	assert_int_equal(o.pids.cnt, 3);
	assert_string_equal(o.pids.item[1], "2");
	assert_int_equal(nargs, 3);
	assert_string_equal(words[0], "in");
	assert_string_equal(words[2], "-");
	assert_null(words[3]);
	option_list_release(&o.pids);
	assert_int_equal(o.pids.cnt, 0);
}

TEST(dashdash)
{
	struct options o;
	char **words;
	int nargs, dashdash;

	assert_int_equal(
		parse("paint -f a -- mpirun -np 2 --help -- x", &o, &words, &nargs, &dashdash), 0);
	assert_int_equal(nargs, 7);
	assert_int_equal(dashdash, 1);
	assert_string_equal(words[1], "mpirun");
	assert_string_equal(words[5], "--");
	assert_null(words[7]);
	assert_int_equal(parse("paint --", &o, &words, &nargs, &dashdash), 0);
	assert_int_equal(nargs, 0);
	assert_int_equal(dashdash, 0);
}

TEST(refused)
{
	static const char *const lines[] = {
		"paint --nonsense", "paint -x",
		"paint --jobs",	    "paint -j",
		"paint --jobs 0",   "paint --jobs=101",
		"paint -j 1.5",	    "paint -j -1",
		"paint --size 1K",  "paint --size 4096Q",
		"paint --wait 61",  "paint --color pink",
		"paint --fast=yes", "paint --color ",
		"paint --size=",    "paint -p 1 --jobs 0",
		"paint --=3",	    "paint --jobs=99999999999999999999",
	};
	struct options o;
	char **words;
	int nargs, dashdash;
	size_t i;

	log_set_level(LOG_QUIET);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(parse(lines[i], &o, &words, &nargs, &dashdash), -EINVAL);
	log_set_level(LOG_INFO);
}

static char *printed(void (*print)(const struct command *, FILE *))
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	print(&cmd, f);
	fclose(f);
	return text;
}

TEST(help)
{
	char *text = printed(command_print_help), *line, *save = NULL;

	assert_non_null(strstr(text, "Usage: povtrace paint [options] FILE\n"));
	assert_non_null(strstr(text, "  -j, --jobs N              Painters. Default: 3. From 1 to "
				     "100.\n"));
	assert_non_null(strstr(text, "      --size BYTES          Of the canvas. Default: 1.5M. At "
				     "least 4 KiB.\n"));
	assert_non_null(strstr(text, "At most 60.000 s."));
	assert_non_null(strstr(text, "One of: red, green, blue. Default: green."));
	assert_non_null(strstr(text, "-h, --help"));
	assert_non_null(strstr(text, "\n  verbatim  line\n.dots and"));
	assert_non_null(strstr(text, "  povtrace paint -f\n      Paint fast.\n"));
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		assert_true(strlen(line) <= 80);
		assert_true(line[strlen(line) - 1] != ' ');
	}
	free(text);
}

TEST(man)
{
	char *text = printed(command_print_man);

	assert_non_null(strstr(text, ".TH POVTRACE\\-PAINT 1"));
	assert_non_null(
		strstr(text, "\n.TP\n\\fB\\-j\\fR, \\fB\\-\\-jobs\\fR \\fIN\\fR\nPainters."));
	assert_non_null(strstr(text, "\n.nf\n  verbatim  line\n.fi\n\\&.dots and \\ebackslashes"));
	free(text);
}

TEST(completion)
{
	static const struct command *const cmds[] = {&cmd, NULL};
	static const char *const words[] = {"help", NULL};
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	command_print_completion(cmds, words, NULL, f);
	fclose(f);
	assert_non_null(strstr(text, "--color) words='red green blue' ;;"));
	assert_non_null(strstr(text, "--jobs|-j) words='' ;;"));
	assert_non_null(strstr(text, "words='--help --fast --loud --jobs"));
	free(text);
}

TEST(suggest)
{
	assert_int_equal(suggest_distance("", ""), 0);
	assert_int_equal(suggest_distance("report", "report"), 0);
	assert_int_equal(suggest_distance("reprot", "report"), 1);
	assert_int_equal(suggest_distance("rport", "report"), 1);
	assert_int_equal(suggest_distance("", "abc"), 3);
	assert_int_equal(suggest_distance("kitten", "sitting"), 3);
	assert_string_equal(suggest_better("inof", NULL, "info"), "info");
	assert_null(suggest_better("inof", NULL, "report"));
	assert_string_equal(suggest_better("rec", "report", "record"), "record");
	assert_string_equal(suggest_better("record", "record", "report"), "record");
	assert_null(suggest_better("x", NULL, "record"));
}
