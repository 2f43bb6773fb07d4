/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povplot: draws povbench's results and prints them in words. This file turns the command line
 * into a set of results and a picture. The pictures are in plot_<picture>.c.
 */
#include "draw.h"
#include "script.h"

#include "lib/file.h"
#include "lib/log.h"
#include "lib/option.h"
#include "core/overlap_map.h"
#include "version.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct povplot_options {
	struct choice choice;
	struct option_list where, rows;
	struct draw_style style;
	const char *output;
	uint64_t launch; /* 0: all */
	bool script, tsv, words, list, force;
};

/* ---- sentences ---- */

static void print_sentence(const struct data_result *r)
{
	size_t len = strlen(r->benchmark);

	/* Most sentences start with the benchmark's name. */
	if (!*r->sentence || strncmp(r->sentence, r->benchmark, len) || r->sentence[len] != ':')
		printf("%s: ", r->benchmark);
	puts(*r->sentence ? r->sentence : "povbench found nothing to report");
}

static void print_pictures(const struct data_result *r)
{
	const char *between = " ";

	printf("  %s, %u ranks, %zu points", *r->kind ? r->kind : "unknown kind", r->ranks,
	       r->point_cnt);
	if (r->launch_cnt > 1)
		printf(", medians of %zu launches", r->launch_cnt);
	fputs("; pictures:", stdout);
	for (size_t i = 0; pictures[i]; i++) {
		if (!pictures[i]->takes(r))
			continue;
		printf("%s%s", between, pictures[i]->name);
		between = ", ";
	}
	puts(*between == ' ' ? " none" : "");
}

/* Prints by how much computation varies, from all maps of a file together. */
static void print_line(const struct data *d, const struct data_file *file)
{
	struct samples s = {0};
	char *text;

	for (size_t i = 0; i < d->result_cnt; i++) {
		for (size_t k = 0; d->result[i].file == file && k < d->result[i].point_cnt; k++)
			map_line_add(&s, d->result[i].point[k]);
	}
	text = map_line_text(map_line(&s));
	if (text)
		puts(text);
	free(text);
	samples_release(&s);
}

/* Prints one line for each result, more with --list. */
static void print_results(const struct data *d, const struct povplot_options *opt)
{
	const struct data_file *file = NULL;
	char *origin;

	for (size_t i = 0; i < d->result_cnt; i++) {
		if (!choose_wants(&opt->choice, &d->result[i]))
			continue;
		if (d->result[i].file != file && (opt->list || d->file_cnt > 1)) {
			file = d->result[i].file;
			origin = data_origin(file);
			printf("%s: %s\n", file->path, *origin ? origin : "of unknown origin");
			free(origin);
		}
		print_sentence(&d->result[i]);
		if (opt->list)
			print_pictures(&d->result[i]);
		if (i + 1 == d->result_cnt || d->result[i + 1].file != d->result[i].file)
			print_line(d, d->result[i].file);
	}
}

/* ---- the command ---- */

static int read_all(struct data *d, char **paths, int cnt, const struct povplot_options *opt)
{
	const struct option_list *where = &opt->where;
	int err = 0;

	for (int i = 0; i < cnt && !err; i++)
		err = data_read(d, paths[i], opt->launch);
	for (size_t k = 0; k < opt->rows.cnt && k < d->file_cnt; k++)
		d->file[k]->row = opt->rows.item[k];
	for (size_t k = 0; k < where->cnt && !err; k++)
		data_keep(d, where->item[k]);
	return err;
}

/* Checks what can be checked before any file is read. */
static int check_words(const struct povplot_options *opt, enum format *format)
{
	if (opt->tsv && (opt->output || opt->script || opt->list || opt->words)) {
		log_error("--tsv prints data alone: it does not go with --%s",
			  opt->output ? "output" :
			  opt->script ? "script" :
			  opt->list   ? "list" :
					"words");
		return -EINVAL;
	}
	if (!opt->output && !opt->script && !opt->tsv && !opt->list && !opt->words &&
	    (opt->choice.picture || opt->style.title)) {
		log_error("where to draw this? -o FILE.svg, .png, .pdf or .html");
		return -EINVAL;
	}
	if (opt->output && !page_is_wanted(opt->output) && gnuplot_format(opt->output, format))
		return -EINVAL;
	for (size_t i = 0; i < opt->where.cnt; i++) {
		if (data_check_condition(opt->where.item[i]))
			return -EINVAL;
	}
	return opt->choice.picture && !choose_named(opt->choice.picture) ? -EINVAL : 0;
}

static int povplot_run(const void *opts, int argc, char **argv, int dashdash)
{
	struct povplot_options opt = *(const struct povplot_options *)opts;
	enum format format = FORMAT_SVG;
	struct data data = {0};
	int err;

	if (argc && dashdash != 0 && !strcmp(argv[0], "list")) {
		opt.list = true;
		argc--;
		argv++;
	}
	if (!argc) {
		log_error("no file to read; try \"povplot --help\"");
		return 2;
	}
	if (check_words(&opt, &format))
		return 2;
	err = read_all(&data, argv, argc, &opt);
	if (!err && (opt.list || opt.words))
		print_results(&data, &opt);
	if (!err && opt.output && page_is_wanted(opt.output))
		err = fabric_page_fits(&data, &opt.choice) ?
			      fabric_page_write(&data, &opt.choice, opt.style.title, opt.output) :
			      page_write(&data, &opt.choice, &opt.style, opt.output);
	else if (!err && (opt.output || opt.script))
		err = draw_chosen(&data, &opt.choice, &opt.style, format,
				  opt.script ? NULL : opt.output);
	else if (!err && opt.tsv)
		err = draw_tables(&data, &opt.choice, &opt.style);
	else if (!err && !opt.list && !opt.words)
		err = draw_files(&data, &opt.choice, &opt.style, opt.force);
	data_release(&data);
	return err ? 1 : 0;
}

#define OFF(member) offsetof(struct povplot_options, member)

static const char *const palettes[] = {"paper", "safe", NULL};

static const struct option_def povplot_option_defs[] = {
	{"output", 'o', OPTION_STRING, OFF(output), "FILE",
	 .help = "Draw into FILE. Its ending, .svg, .png or .pdf, selects the format. FILE is "
		 "replaced only by a finished picture. .html makes a page of all results: what "
		 "each means, what to change, its picture, and its factors. Without this option "
		 "all pictures are drawn, into PNG files in this directory that are named after "
		 "the result file and the benchmark."},
	{"force", 'f', OPTION_FLAG, OFF(force),
	 .help = "Without -o, replace pictures that are there already."},
	{"benchmark", 'b', OPTION_LIST, OFF(choice.benchmarks), "NAME",
	 .help = "Only this benchmark's results. May be given several times."},
	{"picture", 'p', OPTION_STRING, OFF(choice.picture), "NAME",
	 .help = "What to draw: map, load, grid, ratio, times, distribution, broadcast, curve, "
		 "protocol, timers, matrix, fabric, or difference (of two files). Without it, "
		 "what fits the results."},
	{"where", 'w', OPTION_LIST, OFF(where), "NAME=VALUE",
	 .help = "Use only points whose parameter NAME is VALUE, such as bytes=64K. May be given "
		 "several times."},
	{"launch", 'l', OPTION_U64, OFF(launch), "N", .min = 1, .max = 1000000,
	 .help = "If files have several launches, use only the Nth. Without this option: the "
		 "medians over all launches, with intervals over launches, and the sentence of "
		 "the launch in the middle."},
	{"row", 'r', OPTION_LIST, OFF(rows), "NAME",
	 .help = "Name for a file's row in a grid, after its library: the first NAME for the "
		 "first FILE, and so on. Without it: transport, host and date."},
	{"time", 't', OPTION_STRING, OFF(style.time), "NAME",
	 .help = "The time whose distribution is drawn, such as waitall or measured."},
	{"palette", 0, OPTION_CHOICE, OFF(style.palette), "NAME", .dflt = "paper",
	 .choices = palettes,
	 .help = "Colours: those of the papers, or ones that are safe for the colour-blind."},
	{"title", 0, OPTION_STRING, OFF(style.title), "TEXT",
	 .help = "The picture's title, instead of the benchmark's name."},
	{"width", 0, OPTION_U64, OFF(style.width_px), "PIXELS", .min = 200, .max = 10000,
	 .help = "Width in pixels; 100 pixels are an inch in PDF. If it is "
		 "missing, each kind of picture has its own."},
	{"height", 0, OPTION_U64, OFF(style.height_px), "PIXELS", .min = 150, .max = 10000,
	 .help = "Height in pixels."},
	{"words", 0, OPTION_FLAG, OFF(words),
	 .help = "Print what each result means, one line each. povbench derives the line from "
		 "the numbers by fixed rules and writes it into the file. It judges each message "
		 "size of a map by the confidence intervals of all points that the picture does "
		 "not show grey: below 0.25 is overlap, from 0.75 on no overlap. It names the "
		 "computation times for which that holds. \"(eager)\" marks the largest size "
		 "that was done before the Wait, if no larger one was."},
	{"no-words", 0, OPTION_FLAG, OFF(style.no_words),
	 .help = "Leave the sentence out of the picture."},
	{"list", 0, OPTION_FLAG, OFF(list),
	 .help = "Print the results, what they mean, and the possible pictures of each, like "
		 "\"povplot list\"."},
	{"script", 0, OPTION_FLAG, OFF(script),
	 .help = "Print the gnuplot script instead of running it."},
	{"tsv", 0, OPTION_FLAG, OFF(tsv),
	 .help = "Print the data of the picture, or of all pictures if none is named, instead of "
		 "drawing: tables of tab-separated values. Each has a comment with the picture, "
		 "benchmarks and files, and a line with the columns' names and units. Two blank "
		 "lines separate tables, as gnuplot's \"index\" needs. Unknown values are nan."},
	{.name = NULL},
};

static const char *const povplot_examples[] = {
	"povplot suite.json",
	"Draw all that there is: suite-sender.png, suite-grid.png and so on.",
	"povplot suite.json -o suite.html",
	"Put all of it on one page, with what it means.",
	"povplot list suite.json",
	"Print what was measured, what it means, and what can be drawn of it.",
	"povplot suite.json -b sender -o sender.svg",
	"Draw the overlap map of one benchmark.",
	"povplot openmpi.json openmpi-tcp.json mpich.json -p grid -o grid.pdf",
	"Draw all maps: a row for each file, a column for each benchmark.",
	"povplot old.json new.json -b sender -p difference -o difference.svg",
	"Draw how much longer or shorter the second file's times are.",
	"povplot suite.json -b sender --tsv >sender.tsv",
	"Print the ratios of one benchmark's map and their intervals, for use in another program.",
	"povplot traffic.json -w function=MPI_Alltoall -o matrix.svg",
	"Draw the traffic of MPI_Alltoall between ranks, from \"povtrace report --json\" of a "
	"recording with posts.",
	"povplot fabric.json -o fabric.html",
	"Make an interactive page of the traffic on each link of a fabric, from \"povtrace fabric "
	"--json\".",
	"povplot fabric.json -w context=MPI_Alltoall -o fabric.pdf",
	"Draw what MPI_Alltoall puts on each link.",
	"povplot stencil.json -p distribution -w bytes=64K --palette safe -o wait.png",
	"Draw how the times of MPI_Waitall are distributed, in colours safe for the colour-blind.",
	NULL,
};

static const struct command povplot = {
	.name = "povplot",
	.brief = "Draw the results of povbench, and print them in words.",
	.usage = "[list] [options] FILE...",
	.details =
		"Reads FILEs written by \"povbench -o\" and draws pictures of them with gnuplot: "
		"overlap maps as in Denis & Trahay 2016, T_comp, T_comm, T_full and distributions "
		"as in Nigay et al. 2020, broadcast methods as in de Supinski & Karonis 1999. "
		"From a FILE written by \"povtrace report --json\" it draws the traffic between "
		"ranks. From one by \"povtrace fabric --json\" it draws the traffic on each link "
		"of the fabric, with -o FILE.html as an interactive page. FILE - is stdin.",
	.examples = povplot_examples,
	.options = povplot_option_defs,
	.options_bytes = sizeof(struct povplot_options),
	.run = povplot_run,
};

static int dispatch(int argc, char **argv)
{
	static const char *const words[] = {"list", "help", "--version", NULL};
	struct povplot_options opts;
	int nargs, dashdash, status;

	if (argc > 1 && !strcmp(argv[1], "--version")) {
		printf("povplot %s\n", POV_VERSION);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "--completion")) {
		command_print_completion(NULL, words, &povplot, stdout);
		return 0;
	}
	if (argc > 1 && (!strcmp(argv[1], "--man") || !strcmp(argv[1], "help"))) {
		if (argv[1][0] == '-')
			command_print_man(&povplot, stdout);
		else
			command_print_help(&povplot, stdout);
		return 0;
	}
	status = option_parse(&povplot, argc, argv, &opts, &nargs, &dashdash);
	if (status)
		return status == -ECANCELED ? 0 : 2;
	status = povplot.run(&opts, nargs, argv, dashdash);
	option_list_release(&opts.choice.benchmarks);
	option_list_release(&opts.where);
	option_list_release(&opts.rows);
	return status;
}

int main(int argc, char **argv)
{
	log_set_program("povplot");
	setlocale(LC_CTYPE, "");
	signal(SIGXFSZ, SIG_IGN); /* write() fails with EFBIG instead */
	return flush_stdout(dispatch(argc, argv));
}
