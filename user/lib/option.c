/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads a command line by its option table. Options and operands may be mixed; after "--", all are
 * operands. Default values go through the same parser as typed ones, so help cannot be wrong about
 * them.
 */
#include "lib/option.h"

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A command line being parsed. */
struct parse {
	const struct command *cmd;
	void *opts;
	int argc, at;
	char **argv;
};

const struct option_def *option_row(const struct command *cmd, size_t i)
{
	const struct option_def *const table[] = {cmd->options, cmd->shared};

	for (size_t t = 0; t < 2; t++)
		for (const struct option_def *def = table[t]; def && def->name; def++)
			if (!i--)
				return def;
	return NULL;
}

/* Finds an option by its letter, or by the first len characters of name. */
static const struct option_def *find(const struct command *cmd, char letter, const char *name,
				     size_t len)
{
	const struct option_def *def;

	for (size_t row = 0; (def = option_row(cmd, row)); row++)
		if (letter ? def->letter == letter :
			     strlen(def->name) == len && !memcmp(def->name, name, len))
			return def;
	return NULL;
}

/*
 * True for a program without subcommands: it is its own command, and each message names it already.
 */
static bool is_program(const struct command *cmd)
{
	return !strcmp(cmd->name, log_get_program());
}

/* Arguments for "%s%s" at the start of a message. */
#define NAMED(cmd) is_program(cmd) ? "" : (cmd)->name, is_program(cmd) ? "" : ": "

static void help_hint_print(const struct command *cmd)
{
	if (is_program(cmd))
		log_error("try \"%s --help\"", cmd->name);
	else
		log_error("try \"%s help %s\"", log_get_program(), cmd->name);
}

void option_limit_text(const struct option_def *def, uint64_t value, char *buf, size_t bytes)
{
	if (def->type == OPTION_BYTES)
		human_bytes(buf, bytes, value);
	else if (def->type == OPTION_SECONDS)
		human_ns(buf, bytes, value);
	else
		snprintf(buf, bytes, "%" PRIu64, value);
}

static int bad_value(const struct command *cmd, const struct option_def *def, const char *text,
		     const char *wanted)
{
	log_error("%s%s--%s: \"%s\" is not %s", NAMED(cmd), def->name, text, wanted);
	return -EINVAL;
}

static int store_number(const struct command *cmd, const struct option_def *def, const char *text,
			void *to)
{
	static const char *const wanted[] = {
		[OPTION_U64] = "a whole number",
		[OPTION_BYTES] = "a size such as 4096, 64K, 16M or 1G",
		[OPTION_SECONDS] = "a time such as 1.5 (seconds), 10ms or 2m",
	};
	char limit[HUMAN_BYTES];
	uint64_t value;
	int err;

	if (def->type == OPTION_BYTES)
		err = human_parse_bytes(text, &value);
	else if (def->type == OPTION_SECONDS)
		err = human_parse_ns(text, &value);
	else
		err = human_parse_u64(text, &value);
	if (err)
		return bad_value(cmd, def, text, wanted[def->type]);
	if (value < def->min || (def->max && value > def->max)) {
		bool low = value < def->min;

		option_limit_text(def, low ? def->min : def->max, limit, sizeof(limit));
		log_error("%s%s--%s: \"%s\" is too %s; the %s is %s", NAMED(cmd), def->name, text,
			  low ? "small" : "large", low ? "least" : "most", limit);
		return -EINVAL;
	}
	*(uint64_t *)to = value;
	return 0;
}

static int store_choice(const struct command *cmd, const struct option_def *def, const char *text,
			void *to)
{
	const char *near = NULL;

	for (int i = 0; def->choices[i]; i++) {
		if (!strcmp(def->choices[i], text)) {
			*(int *)to = i;
			return 0;
		}
		near = suggest_better(text, near, def->choices[i]);
	}
	if (near)
		log_error("%s%s--%s: no \"%s\"; did you mean \"%s\"?", NAMED(cmd), def->name, text,
			  near);
	else
		bad_value(cmd, def, text, "one of its choices");
	return -EINVAL;
}

static int store_value(const struct command *cmd, const struct option_def *def, const char *text,
		       void *opts)
{
	void *to = (char *)opts + def->offset;

	switch (def->type) {
	case OPTION_FLAG:
		*(bool *)to = true;
		return 0;
	case OPTION_STRING:
		*(const char **)to = text;
		return 0;
	case OPTION_CHOICE:
		return store_choice(cmd, def, text, to);
	case OPTION_LIST: {
		struct option_list *list = to;

		*table_append(list->item, list->cnt) = text;
		return 0;
	}
	case OPTION_U64:
	case OPTION_BYTES:
	case OPTION_SECONDS:
		return store_number(cmd, def, text, to);
	}
	return -EINVAL;
}

/* The value of an option that needs one: the attached text, or else the next word. */
static int take_value(struct parse *p, const struct option_def *def, const char *attached)
{
	if (!attached) {
		if (p->at >= p->argc) {
			log_error("%s%s--%s wants %s", NAMED(p->cmd), def->name,
				  def->arg ? def->arg : "a value");
			return -EINVAL;
		}
		attached = p->argv[p->at++];
	}
	return store_value(p->cmd, def, attached, p->opts);
}

static int unknown_long(const struct parse *p, const char *name, size_t len)
{
	char typed[64];
	const struct option_def *def;
	const char *near = NULL;

	snprintf(typed, sizeof(typed), "%.*s", (int)(len < 63 ? len : 63), name);
	near = suggest_better(typed, near, "help");
	for (size_t row = 0; (def = option_row(p->cmd, row)); row++)
		near = suggest_better(typed, near, def->name);
	if (near)
		log_error("%s%sno option --%s; did you mean --%s?", NAMED(p->cmd), typed, near);
	else
		log_error("%s%sno option --%s", NAMED(p->cmd), typed);
	return -EINVAL;
}

static int parse_long(struct parse *p, const char *word)
{
	const char *eq = strchr(word, '=');
	size_t len = eq ? (size_t)(eq - word) : strlen(word);
	const struct option_def *def = find(p->cmd, 0, word, len);

	if (!def && len == 4 && !memcmp(word, "help", 4))
		return -ECANCELED;
	if (!def)
		return unknown_long(p, word, len);
	if (def->type != OPTION_FLAG)
		return take_value(p, def, eq ? eq + 1 : NULL);
	if (eq) {
		log_error("%s%s--%s takes no value", NAMED(p->cmd), def->name);
		return -EINVAL;
	}
	return store_value(p->cmd, def, NULL, p->opts);
}

/* Parses "-abVALUE": flags, followed by at most one option with a value. */
static int parse_letters(struct parse *p, const char *word)
{
	int err;

	for (; *word; word++) {
		const struct option_def *def = find(p->cmd, *word, "", 0);

		if (!def && *word == 'h')
			return -ECANCELED;
		if (!def) {
			log_error("%s%sno option -%c%s", NAMED(p->cmd), *word,
				  strstr(p->cmd->usage, "--") ? " (a command to run follows --)" :
								"");
			return -EINVAL;
		}
		if (def->type != OPTION_FLAG)
			return take_value(p, def, word[1] ? word + 1 : NULL);
		err = store_value(p->cmd, def, NULL, p->opts);
		if (err)
			return err;
	}
	return 0;
}

static void set_defaults(const struct command *cmd, void *opts)
{
	const struct option_def *def;

	memset(opts, 0, cmd->options_bytes);
	for (size_t row = 0; (def = option_row(cmd, row)); row++) {
		if (def->dflt && def->type != OPTION_FLAG && store_value(cmd, def, def->dflt, opts))
			die("%s: --%s has an impossible default; please report this", cmd->name,
			    def->name);
	}
}

void option_release(const struct command *cmd, void *opts)
{
	const struct option_def *def;

	for (size_t row = 0; (def = option_row(cmd, row)); row++)
		if (def->type == OPTION_LIST)
			option_list_release((void *)((char *)opts + def->offset));
}

int option_parse(const struct command *cmd, int argc, char **argv, void *opts, int *nargs,
		 int *dashdash)
{
	struct parse p = {.cmd = cmd, .opts = opts, .argc = argc, .at = 1, .argv = argv};
	int kept = 0, behind = -1, err = 0;

	set_defaults(cmd, opts);
	while (!err && p.at < argc) {
		char *word = argv[p.at++];

		if (behind < 0 && !strcmp(word, "--"))
			behind = kept;
		else if (behind >= 0 || word[0] != '-' || !word[1])
			argv[kept++] = word;
		else if (word[1] == '-')
			err = parse_long(&p, word + 2);
		else
			err = parse_letters(&p, word + 1);
	}
	if (err) {
		option_release(cmd, opts);
		if (err == -ECANCELED)
			command_print_help(cmd, stdout);
		else
			help_hint_print(cmd);
		return err;
	}
	argv[kept] = NULL;
	*nargs = kept;
	*dashdash = behind;
	return 0;
}

void option_list_release(struct option_list *list)
{
	free(list->item);
	*list = (struct option_list){0};
}
