/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the subcommand, parses its options, runs it, and checks that its output was written. The
 * table of subcommands is generated (lib/option.h). This file is in povtrace and in
 * povtrace-record, which has all subcommands. povtrace executes it for those that it does not have
 * itself, so that machines without libbpf can read traces.
 */
#include "lib/log.h"
#include "lib/file.h"
#include "lib/own_state.h"
#include "lib/text.h"
#include "lib/option.h"
#include "version.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDER "povtrace-record"

enum { STATUS_OK = 0, STATUS_FAILURE = 1, STATUS_USAGE = 2 };

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	const char *near = suggest_better(name, NULL, "help");

	for (size_t i = 0; commands[i]; i++)
		near = suggest_better(name, near, commands[i]->name);
	if (near)
		log_error("no command \"%s\"; did you mean \"%s\"?", name, near);
	else
		log_error("no command \"%s\"; \"povtrace help\" lists them", name);
	return STATUS_USAGE;
}

static void print_help(FILE *out)
{
	fputs("Usage: povtrace [-q|-v] COMMAND [options]\n\n"
	      "Shows an MPI node from the rank's and from the core's point of view: records MPI\n"
	      "calls and scheduling of unmodified programs with eBPF, and turns the recording\n"
	      "into timelines and reports.\n\n"
	      "Commands:\n",
	      out);
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->brief);
	fputs("  help       Print this, or the help of a command.\n\n"
	      "Options:\n"
	      "  -q, --quiet    Print errors only.\n"
	      "  -v, --verbose  Print more about each step.\n"
	      "  -h, --help     Print this and exit.\n"
	      "      --version  Print the version and exit.\n\n"
	      "Examples:\n"
	      "  povtrace record -o run.pov -- mpirun -np 2 ./app\n"
	      "      Record an MPI program (needs root).\n"
	      "  povtrace report run.pov\n"
	      "      Print where each rank's and each core's time went.\n"
	      "  povtrace view run.pov\n"
	      "      Show its timeline in a browser, at ui.perfetto.dev.\n",
	      out);
}

static void print_man(FILE *out)
{
	fprintf(out,
		".TH POVTRACE 1 \"\" \"povtrace %s\" \"User Commands\"\n"
		".ad l\n"
		".SH NAME\n"
		"povtrace \\- trace MPI programs from two points of view\n"
		".SH SYNOPSIS\n"
		"\\fBpovtrace\\fR [\\fB\\-q\\fR|\\fB\\-v\\fR] \\fICOMMAND\\fR [options]\n"
		".SH DESCRIPTION\n"
		"Shows an MPI node from the rank's and from the core's point of view: records MPI "
		"calls and scheduling of unmodified programs with eBPF, and turns the recording "
		"into timelines and reports.\n"
		".SH COMMANDS\n"
		"",
		POV_VERSION);
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, ".TP\n\\fBpovtrace\\-%s\\fR(1)\n%s\n", commands[i]->name,
			commands[i]->brief);
	fputs(".SH OPTIONS\n"
	      ".TP\n\\fB\\-q\\fR, \\fB\\-\\-quiet\\fR\nPrint errors only.\n"
	      ".TP\n\\fB\\-v\\fR, \\fB\\-\\-verbose\\fR\nPrint more about each step.\n"
	      ".TP\n\\fB\\-\\-version\\fR\nPrint the version and exit.\n"
	      ".SH EXIT STATUS\n0 on success, 1 on failure, 2 on wrong usage.\n",
	      out);
}

static int print_about(const char *name, void (*general)(FILE *),
		       void (*of_command)(const struct command *, FILE *))
{
	const struct command *cmd;

	if (!name) {
		general(stdout);
		return STATUS_OK;
	}
	cmd = command_find(name);
	if (!cmd)
		return unknown_command(name);
	of_command(cmd, stdout);
	return STATUS_OK;
}

/* Executes povtrace-record with all arguments of this program. Returns only if this fails. */
static int recorder_execute(const struct command *cmd, char *const *all)
{
	char *path = own_file_find(RECORDER);

	if (!path) {
		log_error("%s needs " RECORDER ", which is neither beside this program nor in "
			  "../lib/povtrace: run `make install`",
			  cmd->name);
		return STATUS_FAILURE;
	}
	own_state_give_back(); /* povtrace-record changes it again, and gives it back */
	execv(path, all);
	log_error("%s: cannot execute %s: %s", cmd->name, path, strerror(errno));
	free(path);
	return STATUS_FAILURE;
}

/* all: the arguments of this program. argv is their rest, which starts with the command. */
static int run_command(int argc, char **argv, char *const *all)
{
	const struct command *cmd = command_find(argv[0]);
	int nargs, dashdash, status;
	void *opts;

	if (!cmd)
		return unknown_command(argv[0]);
	opts = xcalloc(1, cmd->options_bytes);
	status = option_parse(cmd, argc, argv, opts, &nargs, &dashdash);
	if (status == -ECANCELED) {
		status = STATUS_OK;
	} else if (status) {
		status = STATUS_USAGE;
	} else {
		status = cmd->run ? cmd->run(opts, nargs, argv, dashdash) :
				    recorder_execute(cmd, all);
		option_release(cmd, opts);
	}
	free(opts);
	return status;
}

static int command_dispatch(int argc, char **argv, char *const *all)
{
	static const char *const first_words[] = {"help", "--version", "--help", "-q", "-v", NULL};
	const char *word = argc ? argv[0] : NULL;
	const char *next = argc > 1 ? argv[1] : NULL;

	if (!word) {
		print_help(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(word, "--version")) {
		printf("povtrace %s\n", POV_VERSION);
		return STATUS_OK;
	}
	if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h"))
		return print_about(next, print_help, command_print_help);
	/* For "make install" only. */
	if (!strcmp(word, "--man"))
		return print_about(next, print_man, command_print_man);
	if (!strcmp(word, "--completion")) {
		command_print_completion(commands, first_words, NULL, stdout);
		return STATUS_OK;
	}
	if (word[0] == '-') {
		log_error("unknown option %s: a command's options follow its name", word);
		return STATUS_USAGE;
	}
	return run_command(argc, argv, all);
}

int main(int argc, char **argv)
{
	/* parsing a command's options moves its operands */
	char **all = xcalloc((size_t)argc + 1, sizeof(*all));
	int at = 1, status;

	memcpy(all, argv, (size_t)argc * sizeof(*all));
	setlocale(LC_CTYPE, "");
	own_signal(SIGCHLD, SIG_DFL); /* if ignored, waitpid() finds no exit status */
	own_signal(SIGXFSZ, SIG_IGN); /* write() fails with EFBIG instead */
	for (; at < argc; at++)
		if (!strcmp(argv[at], "-q") || !strcmp(argv[at], "--quiet"))
			log_set_level(LOG_ERROR);
		else if (!strcmp(argv[at], "-v") || !strcmp(argv[at], "--verbose"))
			log_set_level(LOG_DEBUG);
		else
			break;
	status = command_dispatch(argc - at, argv + at, all);
	free(all);
	return flush_stdout(status);
}
