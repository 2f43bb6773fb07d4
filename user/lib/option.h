/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One option table per command. Each row yields parsing, checking, help text, man page and shell
 * completion. Values are stored in the command's own options struct (zeroed first, then defaults
 * applied).
 */
#ifndef POV_LIB_OPTION_H
#define POV_LIB_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_type {
	OPTION_FLAG,	/* bool; no value */
	OPTION_U64,	/* uint64_t; decimal, checked against min and max */
	OPTION_BYTES,	/* uint64_t; accepts K, M, G suffixes (1024-based) */
	OPTION_SECONDS, /* uint64_t nanoseconds; accepts 1.5, 10ms, 2m */
	OPTION_STRING,	/* const char *, points into argv */
	OPTION_CHOICE,	/* int: index into choices[] */
	OPTION_LIST,	/* struct option_list: repeatable string */
};

struct option_list {
	const char **item; /* owned by the list; strings point into argv */
	size_t cnt;
};

/*
 * A row gives the members that every option has, in this order, and names the others: {"jobs", 'j',
 * OPTION_U64, AT(jobs), "N", .help = …}.
 */
struct option_def {
	const char *name; /* long name without dashes */
	char letter;	  /* short name or 0 */
	enum option_type type;
	size_t offset;		    /* offset of the value in the options struct */
	const char *arg;	    /* name of the value in help, e.g. "FILE" */
	const char *dflt;	    /* default as the user would type it, or NULL */
	uint64_t min, max;	    /* U64, BYTES, SECONDS; max 0 = no limit */
	const char *const *choices; /* CHOICE: NULL-terminated */
	/*
	 * STRING: prints the words that a value may consist of, each after ", ", for help and
	 * completion; or NULL
	 */
	void (*words)(FILE *out);
	const char *help; /* one or more sentences; includes the unit */
};

struct command {
	const char *name;
	const char *brief;   /* one line: an imperative sentence */
	const char *usage;   /* what follows the name, e.g. "[options] FILE" */
	const char *details; /* paragraphs for help and man page */
	/* meaning of the exit status; NULL: 0 on success, 1 on failure, 2 on wrong usage */
	const char *status;
	/* NULL-terminated pairs of a command line and its effect; at least three */
	const char *const *examples;
	const struct option_def *options; /* ends with a NULL name */
	/*
	 * further rows that several commands share; their struct is the first member of the options
	 * struct. Or NULL.
	 */
	const struct option_def *shared;
	size_t options_bytes; /* size of the options struct */
	/*
	 * opts: filled options struct. argv[0..argc-1]: remaining operands. dashdash: index of the
	 * first operand after "--", or -1. Returns the exit status: 0 ok, 1 failure, 2 usage. NULL:
	 * this program does not have it.
	 */
	int (*run)(const void *opts, int argc, char **argv, int dashdash);
};

/*
 * All commands of povtrace, by name; ends with NULL. make generates the table from the files
 * user/cmd/cmd_<name>.c, each of which ends in `const struct command cmd_<name>`.
 */
extern const struct command *const commands[];

/* Row i of all rows, starting with the command's own; NULL after the last one. */
const struct option_def *option_row(const struct command *cmd, size_t i);

/*
 * Parses argv (argv[0] = command name). 0 on success; -EINVAL after printing the mistake and how to
 * get help; -ECANCELED if help was requested and printed. Moves *nargs operands to the front of
 * argv.
 */
int option_parse(const struct command *cmd, int argc, char **argv, void *opts, int *nargs,
		 int *dashdash);

void command_print_help(const struct command *cmd, FILE *out);
void command_print_man(const struct command *cmd, FILE *out); /* roff, section 1 */
/*
 * Prints a completion script for bash. cmds: commands with options of their own, or NULL. words:
 * other words that may come first, NULL-terminated. general: options that may precede or follow all
 * other words, or NULL.
 */
void command_print_completion(const struct command *const *cmds, const char *const *words,
			      const struct command *general, FILE *out);
/* Text of a number option's min, max, or any value, with its unit. */
void option_limit_text(const struct option_def *def, uint64_t value, char *buf, size_t bytes);
void option_list_release(struct option_list *list);
void option_release(const struct command *cmd, void *opts); /* the lists in opts */

#endif
