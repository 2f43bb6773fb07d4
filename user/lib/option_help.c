/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Output from an option table: help for a terminal, a manual page, and completion for bash. All are
 * made from the rows that are used for parsing.
 */
#include "lib/option.h"

#include "lib/human.h"
#include "lib/log.h"
#include "version.h"

#include <string.h>

#define HELP_COLUMNS 80
#define HELP_TEXT_COLUMN 28

/*
 * Adds a word to a line that ends at column *at (0: no line is begun). Up to column indent, no
 * extra blank separates it from the text before.
 */
static void print_word(FILE *out, const char *word, int len, int *at, int indent)
{
	if (*at > indent && *at + 1 + len > HELP_COLUMNS) {
		fputc('\n', out);
		*at = 0;
	}
	*at += fprintf(out, "%*s%.*s", *at > indent ? 1 : indent - *at, "", len, word);
}

/*
 * Prints text with words wrapped at HELP_COLUMNS. It starts at column `at`; lines begin at column
 * `indent`. Empty lines separate paragraphs. A line that begins with a blank is printed as it is.
 */
static void print_wrapped(FILE *out, const char *text, int at, int indent)
{
	while (*text) {
		int len = (int)strcspn(text, "\n"), word;

		if (!len || text[0] == ' ') {
			fprintf(out, "%s%*s%.*s\n", at ? "\n" : "", len ? indent : 0, "", len,
				text);
			at = 0;
		}
		while (len && text[0] != ' ') {
			word = (int)strcspn(text, " \n");
			print_word(out, text, word, &at, indent);
			text += word;
			len -= word;
			for (; len && *text == ' '; len--)
				text++;
		}
		text += len + (text[len] == '\n');
	}
	if (at)
		fputc('\n', out);
}

/* Writes "Text. One of: a, b. Default: b. From 1 to 10." to buf. */
static void describe(const struct option_def *def, char *buf, size_t bytes)
{
	char low[HUMAN_BYTES], high[HUMAN_BYTES];
	FILE *f = fmemopen(buf, bytes, "w");
	int i;

	buf[0] = '\0';
	if (!f)
		return;
	fputs(def->help, f);
	for (i = 0; def->type == OPTION_CHOICE && def->choices[i]; i++)
		fprintf(f, "%s%s", i ? ", " : " One of: ", def->choices[i]);
	if (def->words) {
		fputs(" There are: ", f);
		def->words(f);
	}
	if (i || def->words)
		fputc('.', f);
	if (def->dflt)
		fprintf(f, " Default: %s.", def->dflt);
	option_limit_text(def, def->min, low, sizeof(low));
	option_limit_text(def, def->max, high, sizeof(high));
	if (def->min && def->max)
		fprintf(f, " From %s to %s.", low, high);
	else if (def->max)
		fprintf(f, " At most %s.", high);
	else if (def->min)
		fprintf(f, " At least %s.", low);
	fclose(f);
	buf[bytes - 1] = '\0';
}

static const char *value_name(const struct option_def *def)
{
	if (def->type == OPTION_FLAG)
		return "";
	return def->arg ? def->arg : "VALUE";
}

static void print_option(const struct option_def *def, FILE *out)
{
	char text[1024];
	int at;

	if (def->letter)
		at = fprintf(out, "  -%c, --%s", def->letter, def->name);
	else
		at = fprintf(out, "      --%s", def->name);
	if (def->type != OPTION_FLAG)
		at += fprintf(out, " %s", value_name(def));
	if (at >= HELP_TEXT_COLUMN - 1) {
		fputc('\n', out);
		at = 0;
	}
	describe(def, text, sizeof(text));
	print_wrapped(out, text, at, HELP_TEXT_COLUMN);
}

static const struct option_def help_option = {
	.name = "help",
	.letter = 'h',
	.type = OPTION_FLAG,
	.help = "Print this and exit.",
};

/*
 * Prints "povtrace info" with `between` as the separator; just "povplot" for a program without
 * subcommands.
 */
static void print_name(const struct command *cmd, const char *between, FILE *out)
{
	if (strcmp(cmd->name, log_get_program()))
		fprintf(out, "%s%s", log_get_program(), between);
	fputs(cmd->name, out);
}

void command_print_help(const struct command *cmd, FILE *out)
{
	const struct option_def *def;
	const char *const *example;

	fputs("Usage: ", out);
	print_name(cmd, " ", out);
	fprintf(out, " %s\n\n", cmd->usage);
	print_wrapped(out, cmd->brief, 0, 0);
	if (cmd->details) {
		fputc('\n', out);
		print_wrapped(out, cmd->details, 0, 0);
	}
	if (cmd->status) {
		fputs("\nExit status:", out);
		print_wrapped(out, cmd->status, (int)strlen("Exit status:"), 0);
	}
	fputs("\nOptions:\n", out);
	for (size_t row = 0; (def = option_row(cmd, row)); row++)
		print_option(def, out);
	print_option(&help_option, out);
	if (cmd->examples)
		fputs("\nExamples:\n", out);
	for (example = cmd->examples; example && example[0] && example[1]; example += 2) {
		fprintf(out, "  %s\n", example[0]);
		print_wrapped(out, example[1], 0, 6);
	}
}

/* Prints text for troff, without accidental requests, escapes or hyphens. */
static void print_roff(FILE *out, const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
		line_start = *text == '\n';
	}
}

static void print_roff_paragraphs(FILE *out, const char *text)
{
	bool verbatim = false;

	while (*text) {
		size_t len = strcspn(text, "\n");
		char line[1024];

		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		if (verbatim != (line[0] == ' '))
			fputs(verbatim ? ".fi\n" : ".nf\n", out);
		verbatim = line[0] == ' ';
		if (line[0])
			print_roff(out, line);
		else
			fputs(".PP", out);
		fputc('\n', out);
		text += len + (text[len] == '\n');
	}
	if (verbatim)
		fputs(".fi\n", out);
}

static void print_man_option(const struct option_def *def, FILE *out)
{
	char text[1024];

	fputs(".TP\n", out);
	if (def->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", def->letter);
	fputs("\\fB\\-\\-", out);
	print_roff(out, def->name);
	fputs("\\fR", out);
	if (def->type != OPTION_FLAG)
		fprintf(out, " \\fI%s\\fR", value_name(def));
	fputc('\n', out);
	describe(def, text, sizeof(text));
	print_roff_paragraphs(out, text);
}

static void print_man_head(const struct command *cmd, FILE *out)
{
	char name[128];

	if (strcmp(cmd->name, log_get_program()))
		snprintf(name, sizeof(name), "%s\\-%s", log_get_program(), cmd->name);
	else
		snprintf(name, sizeof(name), "%s", cmd->name);
	for (char *c = name; *c; c++)
		*c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
	/* lines end at word boundaries: justified ones would have gaps within options */
	fprintf(out, ".TH %s 1 \"\" \"povtrace %s\" \"User Commands\"\n.ad l\n", name, POV_VERSION);
}

static const char usual_status[] = "0 on success, 1 on failure, 2 on wrong usage.";

void command_print_man(const struct command *cmd, FILE *out)
{
	const struct option_def *def;
	const char *const *example;

	print_man_head(cmd, out);
	fputs(".SH NAME\n", out);
	print_name(cmd, "\\-", out);
	fputs(" \\- ", out);
	print_roff(out, cmd->brief);
	fputs("\n.SH SYNOPSIS\n\\fB", out);
	print_name(cmd, " ", out);
	fputs("\\fR ", out);
	print_roff(out, cmd->usage);
	fputs("\n", out);
	if (cmd->details) {
		fputs(".SH DESCRIPTION\n", out);
		print_roff_paragraphs(out, cmd->details);
	}
	fputs(".SH OPTIONS\n", out);
	for (size_t row = 0; (def = option_row(cmd, row)); row++)
		print_man_option(def, out);
	print_man_option(&help_option, out);
	fputs(".SH EXIT STATUS\n", out);
	print_roff_paragraphs(out, cmd->status ? cmd->status : usual_status);
	if (cmd->examples)
		fputs(".SH EXAMPLES\n", out);
	for (example = cmd->examples; example && example[0] && example[1]; example += 2) {
		fputs(".TP\n\\fB", out);
		print_roff(out, example[0]);
		fputs("\\fR\n", out);
		print_roff_paragraphs(out, example[1]);
	}
	if (strcmp(cmd->name, log_get_program()))
		fprintf(out, ".SH SEE ALSO\n\\fB%s\\fR(1)\n", log_get_program());
}

/* Prints "a, b" as "a b". */
static void print_words(const struct option_def *def, FILE *out)
{
	char text[512] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	if (!f)
		return;
	def->words(f);
	fclose(f);
	for (const char *c = text; *c; c++)
		if (*c != ',')
			fputc(*c, out);
}

/*
 * Completes a word by the values of the option before it, or else by the options. `first`: also
 * offers these words where no option is begun.
 */
static void print_completion_case(const char *pattern, const struct command *cmd,
				  const char *const *first, FILE *out)
{
	const struct option_def *def;

	fprintf(out, "\t%s)\n\t\tcase $prev in\n", pattern);
	for (size_t row = 0; (def = option_row(cmd, row)); row++) {
		if (def->type == OPTION_FLAG)
			continue;
		fprintf(out, "\t\t--%s", def->name);
		if (def->letter)
			fprintf(out, "|-%c", def->letter);
		fputs(") words='", out);
		for (int i = 0; def->type == OPTION_CHOICE && def->choices[i]; i++)
			fprintf(out, "%s%s", i ? " " : "", def->choices[i]);
		if (def->words)
			print_words(def, out);
		fputs("' ;;\n", out);
	}
	fputs("\t\t*)", out);
	for (int i = 0; first && first[i]; i++)
		fprintf(out, "%s%s", i ? " " : " words='", first[i]);
	fputs(first ? "'\n\t\t\t" : " ", out);
	fputs("[[ $cur == -* ]] && words='--help", out);
	for (size_t row = 0; (def = option_row(cmd, row)); row++)
		fprintf(out, " --%s", def->name);
	fputs("' ;;\n\t\tesac ;;\n", out);
}

static void print_first_words(const struct command *const *cmds, const char *const *words,
			      FILE *out)
{
	for (size_t i = 0; cmds && cmds[i]; i++)
		fprintf(out, "%s ", cmds[i]->name);
	for (size_t i = 0; words[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", words[i]);
}

void command_print_completion(const struct command *const *cmds, const char *const *words,
			      const struct command *general, FILE *out)
{
	const char *name = log_get_program();

	fprintf(out, "# bash completion for %s, made from its option tables\n_%s()\n{\n", name,
		name);
	fputs("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
	      "words= cmd= i\n"
	      "\tCOMPREPLY=()\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase ${COMP_WORDS[i]} in\n"
	      "\t\t--)\tif declare -F _command_offset >/dev/null; then\n"
	      "\t\t\t\t_command_offset $((i + 1))\n"
	      "\t\t\tfi\n"
	      "\t\t\treturn ;;\n"
	      "\t\t-*)\t;;\n"
	      "\t\t*)\t[[ $cmd ]] || cmd=${COMP_WORDS[i]} ;;\n"
	      "\t\tesac\n\tdone\n"
	      "\tcase $cmd in\n",
	      out);
	if (general) {
		print_completion_case("''", general, words, out);
	} else {
		fputs("\t'')\twords='", out);
		print_first_words(cmds, words, out);
		fputs("' ;;\n", out);
	}
	fputs("\thelp)\twords='", out);
	print_first_words(cmds, words, out);
	fputs("' ;;\n", out);
	for (size_t i = 0; cmds && cmds[i]; i++)
		print_completion_case(cmds[i]->name, cmds[i], NULL, out);
	if (general)
		print_completion_case("*", general, NULL, out);
	fprintf(out,
		"\tesac\n"
		"\t[[ $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		"}\n"
		"complete -o default -F _%s %s\n",
		name, name);
}
