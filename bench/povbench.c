/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povbench: overlap, load, broadcast, stencil and timer benchmarks of an MPI library. Commands that
 * only print work without a launcher. All others run on all ranks. Each rank reads the same command
 * line, and only rank 0 prints.
 */
#include "run.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"
#include "compare/compare.h"
#include "core/algorithm.h"
#include "core/bench.h"
#include "core/param_text.h"
#include "version.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_OK = 0, STATUS_FAILURE = 1, STATUS_USAGE = 2 };

/* Groups in the order of a suite: first those that others refer to. */
static const char *const groups[] = {"pt2pt",	   "one_sided", "reference", "overlap", "load",
				     "collective", "broadcast", "stencil",   "timers",	NULL};

static const char *const examples[] = {
	"mpirun -np 2 povbench latency",
	"Measure latency by message size, like osu_latency and IMB's PingPong. Try also bandwidth, "
	"message_rate and put_latency.",
	"mpirun -np 2 povbench sender --quick",
	"Measure how much of a message's time computation hides on the sender's side.",
	"mpirun -np 2 povbench suite -o run.json",
	"Run the whole suite with few sizes; repeat the command with --resume after an "
	"interruption.",
	"sudo povtrace clock -- mpirun -np 4 povbench timers",
	"Compare clocks when ranks share a core.",
	"mpirun -np 2 povbench receiver -m 1K:16M -d 20us:20ms --ci 2.5 -o receiver.json",
	"Measure a range of sizes and times, each point to within 2.5 %.",
	"povbench-run --launches 10 -- mpirun -np 2 povbench sender --quick -o run.json",
	"Run ten launches into one file, because launches differ, too.",
	"povbench compare old.json new.json",
	"Compare two files, and test whether they differ by more than their launches do.",
	NULL,
};

static const struct command command_povbench = {
	.name = "povbench",
	.brief = "Measure what an MPI library overlaps, delays and hides.",
	.usage = "list | compare A B | algorithms NAME | suite [options] | GROUP [options] | NAME "
		 "[options]",
	.details =
		"Runs one benchmark, a group of them, or the suite of all, on the ranks that the "
		"MPI launcher starts. \"povbench list\" prints the names of groups and "
		"benchmarks; a name that is both means the benchmark. Tables go to standard "
		"output, with medians of times in microseconds. -o writes everything to a file "
		"that povplot draws.\n\n"
		"A file holds any number of launches. If the file of -o exists, povbench adds a "
		"further launch with its own factors. --resume continues the last launch if it "
		"was interrupted. \"povbench-run --launches N -- COMMAND\" runs COMMAND N times. "
		"It stops at the first launch that fails, and returns its exit status. "
		"povbench-run also draws the figures of Denis & Trahay 2016 for Open MPI and "
		"MPICH. \"povbench compare\" compares the launches of two files.\n\n"
		"\"povbench algorithms NAME\" lists the library's algorithms, by value and name, "
		"for the collective of a benchmark, such as allreduce_latency. "
		"\"povbench-algorithms -- COMMAND\" measures each of them in turn.",
	.examples = examples,
	.options = args_options,
	.options_bytes = sizeof(struct args),
};

/* The group's name as in the table, or null. */
static const char *group_find(const char *name)
{
	size_t g;

	for (g = 0; groups[g] && strcmp(groups[g], name); g++)
		;
	return groups[g];
}

static int unknown_name(const char *name)
{
	static const char *const words[] = {"list", "suite", "compare", "algorithms", "help", NULL};
	const char *near = NULL;

	for (size_t i = 0; words[i]; i++)
		near = suggest_better(name, near, words[i]);
	for (size_t i = 0; groups[i]; i++)
		near = suggest_better(name, near, groups[i]);
	for (size_t i = 0; benches[i]; i++)
		near = suggest_better(name, near, benches[i]->name);
	for (size_t i = 0; benches[i]; i++)
		if (benches[i]->alias)
			near = suggest_better(name, near, benches[i]->alias);
	if (near)
		log_error("no benchmark \"%s\"; did you mean \"%s\"?", name, near);
	else
		log_error("no benchmark \"%s\"; \"povbench list\" names them", name);
	return STATUS_USAGE;
}

/* ---- commands without MPI ---- */

static void print_list(void)
{
	for (size_t g = 0; groups[g]; g++) {
		printf("%s%s\n", g ? "\n" : "", groups[g]);
		for (size_t i = 0; benches[i]; i++) {
			const struct bench *b = benches[i];

			if (strcmp(b->group, groups[g]))
				continue;
			printf("  %-20s %s\n", b->name, b->brief);
			if (b->alias)
				printf("  %-20s also called %s\n", "", b->alias);
			printf("  %-20s %s; ", "", b->source);
			if (b->ranks_min == b->ranks_max)
				printf("%d rank%s\n", b->ranks_min, plural_s(b->ranks_min));
			else
				printf("%d ranks or more\n", b->ranks_min);
		}
	}
}

/* Prints one line for each: the value for --algorithm and the library's name. */
static int print_algorithms(const char *name)
{
	const struct bench *b = name ? bench_find(name) : NULL;
	struct algorithm_list list;
	size_t i;

	if (name && !b)
		return unknown_name(name);
	if (!b || !b->collective) {
		log_error("algorithms: needs a benchmark that calls a blocking collective, such as "
			  "allreduce_latency");
		return STATUS_USAGE;
	}
	algorithm_list_init(&list, b->collective);
	for (i = 0; i < list.cnt; i++)
		printf("%s\t%s\n", list.item[i].value, list.item[i].name);
	if (!list.cnt)
		log_error("algorithms: this library lists none for %s (MPI_T)", b->collective);
	algorithm_list_release(&list);
	return i ? STATUS_OK : STATUS_FAILURE;
}

/* Prints the names of benchmarks and of the other commands. */
static void print_completion(void)
{
	static const char *const own[] = {"list",	"suite", "compare",
					  "algorithms", "help",	 "--version"};
	static const struct command *const with_options[] = {&command_compare, NULL};
	const size_t own_cnt = sizeof(own) / sizeof(*own);
	const char **words;
	size_t group_cnt = 0, cnt = 0;

	while (groups[group_cnt])
		group_cnt++;
	while (benches[cnt])
		cnt++;
	words = xcalloc(own_cnt + group_cnt + cnt + 1, sizeof(*words));
	for (size_t i = 0; i < own_cnt; i++)
		words[i] = own[i];
	for (size_t i = 0; i < group_cnt; i++)
		words[own_cnt + i] = groups[i];
	for (size_t i = 0; i < cnt; i++)
		words[own_cnt + group_cnt + i] = benches[i]->name;
	command_print_completion(with_options, words, &command_povbench, stdout);
	free(words);
}

static struct command command_of(const struct bench *b)
{
	struct command cmd = command_povbench;

	cmd.name = b->name;
	cmd.brief = b->brief;
	cmd.usage = "[options]";
	return cmd;
}

/* group: name of the group, or null for the suite. */
static struct command command_suite(const char *group)
{
	struct command cmd = command_povbench;

	cmd.name = group ? group : "suite";
	cmd.brief = group ? "Run the benchmarks of this group, or those of it that --only names." :
			    "Run all benchmarks, or those that --only names, one after the other.";
	cmd.usage = "[options]";
	return cmd;
}

static int print_help(const char *name)
{
	const struct bench *b;
	struct command cmd;

	/* Commands without options have no page of their own. */
	if (!name || !strcmp(name, "list") || !strcmp(name, "help")) {
		command_print_help(&command_povbench, stdout);
		return STATUS_OK;
	}
	if (!strcmp(name, "compare")) {
		command_print_help(&command_compare, stdout);
		return STATUS_OK;
	}
	b = bench_find(name);
	if (!b && !group_find(name) && strcmp(name, "suite"))
		return unknown_name(name);
	cmd = b ? command_of(b) : command_suite(group_find(name));
	command_print_help(&cmd, stdout);
	return STATUS_OK;
}

/* ---- commands on all ranks ---- */

static bool in_suite(const struct bench *b, const struct option_list *only)
{
	return table_any(only->cnt, i,
			 bench_is(b, only->item[i]) || !strcmp(only->item[i], b->group)) ||
	       !only->cnt;
}

static int check_only(const struct bench *b, const struct option_list *only)
{
	if (b && only->cnt) {
		log_error("--only chooses among benchmarks of a suite; \"%s\" is a single one",
			  b->name);
		return -EINVAL;
	}
	for (size_t i = 0; i < only->cnt; i++) {
		if (!group_find(only->item[i]) && !bench_find(only->item[i]))
			return unknown_name(only->item[i]);
	}
	return 0;
}

/* Lists the benchmarks to run. The caller frees the list. */
static const struct bench **list_suite(const char *group, const struct option_list *only)
{
	const struct bench **list;
	size_t cnt = 0, i;

	for (i = 0; benches[i]; i++)
		;
	list = xcalloc(i + 1, sizeof(*list));
	for (size_t g = 0; groups[g]; g++) {
		if (group && strcmp(group, groups[g]))
			continue;
		for (i = 0; benches[i]; i++) {
			if (!strcmp(benches[i]->group, groups[g]) && in_suite(benches[i], only))
				list[cnt++] = benches[i];
		}
	}
	return list;
}

/* Only rank 0 prints, even before MPI_Init. Each launcher has its own variable for the rank. */
static void mute_others(void)
{
	static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
					    "SLURM_PROCID", NULL};
	const char *rank;

	for (int i = 0; names[i]; i++) {
		rank = getenv(names[i]);
		if (!rank)
			continue;
		if (strcmp(rank, "0"))
			log_set_level(LOG_QUIET);
		return;
	}
}

/*
 * The least thread level that suffices, because higher ones make every call slower in some
 * libraries.
 */
static enum comm_threads threads_of(const struct bench *b, bool multiple)
{
	if (multiple || (b && b->needs & COMM_HAS_MULTIPLE))
		return COMM_THREADS_MULTIPLE;
	return b && b->no_threads ? COMM_THREADS_NONE : COMM_THREADS_COMPUTE;
}

/* Called before MPI_Init, which is when the library reads its settings. */
static int algorithm_choose(const struct bench *b, const char *value)
{
	if (!value || algorithm_set(b->collective, value))
		return 0;
	log_error("--algorithm: povbench does not know how to choose an algorithm with this MPI "
		  "library");
	return -ENOTSUP;
}

static int run_on_ranks(struct run_plan *plan, enum comm_threads threads, int argc, char **argv)
{
	struct comm *c = comm_mpi_init(&argc, &argv, threads);
	int status;

	if (c->rank)
		log_set_level(LOG_QUIET);
	status = run_plan(c, plan);
	comm_mpi_finalize(c);
	return status;
}

/* Runs benchmark b. If b is null, runs the suite, or only that group of it. */
static int run_named(const struct bench *b, const char *group, int argc, char **argv)
{
	struct command cmd = b ? command_of(b) : command_suite(group);
	const struct bench *one[] = {b, NULL};
	struct run_plan plan = {.bench = one, .suite = !b};
	struct args args;
	int nargs, dashdash, status;

	status = option_parse(&cmd, argc, argv, &args, &nargs, &dashdash);
	if (status)
		return status == -ECANCELED ? STATUS_OK : STATUS_USAGE;
	if (nargs) {
		log_error("\"%s\": only options may follow \"%s\"", argv[0], cmd.name);
		status = -EINVAL;
	}
	if (!status && args_read(&args, b, &plan.opt))
		status = -EINVAL;
	if (!status)
		status = check_only(b, &args.only);
	if (!status) {
		plan.output = args.output;
		plan.resume = args.resume;
		plan.thread_multiple = args.thread_multiple;
		plan.peers = args.peers;
		if (!b)
			plan.bench = list_suite(group, &args.only);
		status = algorithm_choose(b, plan.opt.algorithm) ?
				 STATUS_FAILURE :
				 run_on_ranks(&plan, threads_of(b, args.thread_multiple), argc,
					      argv);
		if (!b)
			free(plan.bench);
	} else {
		status = STATUS_USAGE;
	}
	option_list_release(&args.only);
	return status;
}

static int dispatch(int argc, char **argv)
{
	const char *word = argc ? argv[0] : NULL;
	const struct bench *b;

	if (!word) {
		command_print_help(&command_povbench, stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(word, "--version"))
		return printf("povbench %s\n", POV_VERSION) < 0;
	if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h"))
		return print_help(argc > 1 ? argv[1] : NULL);
	/* Used only by "make install". */
	if (!strcmp(word, "--man")) {
		command_print_man(argc > 1 && !strcmp(argv[1], "compare") ? &command_compare :
									    &command_povbench,
				  stdout);
		return STATUS_OK;
	}
	if (!strcmp(word, "--completion")) {
		print_completion();
		return STATUS_OK;
	}
	if (!strcmp(word, "list")) {
		print_list();
		return STATUS_OK;
	}
	if (!strcmp(word, "algorithms"))
		return print_algorithms(argc > 1 ? argv[1] : NULL);
	if (!strcmp(word, "compare"))
		return compare_main(argc, argv);
	b = bench_find(word);
	if (!b && !group_find(word) && strcmp(word, "suite"))
		return unknown_name(word);
	return run_named(b, group_find(word), argc, argv);
}

/* flush_stdout would close stdout, which all ranks share in a simulator with a single process. */
static int flush_own(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	log_error("stdout: %s", errno ? log_unwritten(errno) : "could not be written");
	return status ? status : STATUS_FAILURE;
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	log_set_program("povbench");
	signal(SIGXFSZ, SIG_IGN); /* write() fails with EFBIG instead */
	mute_others();
	return flush_own(dispatch(argc - 1, argv + 1));
}
