/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The command line, and the conditions. A condition that too few launches leave open must not pass for one that is not
 * met: that is an error.
 */
#include "compare/compare.h"

#include "compare/condition.h"
#include "compare/factors.h"
#include "compare/show.h"
#include "compare/spread.h"

#include "lib/log.h"
#include "core/param_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_OK = 0, STATUS_MET = 1, STATUS_USAGE = 2 };

struct compare_options {
	struct option_list fail_if;
	bool points, json;
};

/* ---- conditions ---- */

static bool tell_met(const char *text, const struct condition *when, const struct compare_result *r,
		     const struct judgement *j)
{
	size_t first, cnt = condition_cnt(when, r, j, &first);
	bool all = condition_meets(when, &j->all);
	char *name;

	if (!cnt && !all)
		return false;
	if (!cnt) {
		log_error("%s: %s, %d rank%s: in the mean, B/A %.3f", text, r->benchmark, r->ranks,
			  plural_s(r->ranks), j->all.ratio.value);
		return true;
	}
	name = collect_point_name(r->point[first].json);
	log_error("%s: %s, %d rank%s: %zu of %zu points, the first at %s, B/A %.3f", text,
		  r->benchmark, r->ranks, plural_s(r->ranks), cnt, r->point_cnt, name,
		  j->point[first].ratio.value);
	free(name);
	return true;
}

static bool is_open(const struct comparison *c, const struct judgement *j)
{
	bool open = false;
	size_t i;

	for (i = 0; i < c->cnt; i++) {
		if (j[i].able || !c->result[i].point_cnt)
			continue;
		log_error(
			"%s, %d rank%s: too few launches to judge --fail-if; %zu in each file are "
			"enough",
			c->result[i].benchmark, c->result[i].ranks, plural_s(c->result[i].ranks),
			judge_launches_needed(c));
		open = true;
	}
	return open;
}

static int check_conditions(const struct compare_options *opt, const struct comparison *c,
			    const struct judgement *j)
{
	struct condition when;
	bool met = false;
	size_t i, k;

	if (!opt->fail_if.cnt)
		return STATUS_OK;
	for (i = 0; i < opt->fail_if.cnt; i++) {
		if (condition_read(opt->fail_if.item[i], &when))
			return STATUS_USAGE;
		for (k = 0; k < c->cnt; k++)
			met |= tell_met(opt->fail_if.item[i], &when, &c->result[k], &j[k]);
	}
	if (met)
		return STATUS_MET;
	return is_open(c, j) ? STATUS_USAGE : STATUS_OK;
}

/* ---- the command ---- */

static int show(const struct compare_options *opt, const struct comparison *c,
		const struct judgement *j)
{
	json_t *differing = factors_differing(c);
	json_t *spread[SIDES] = {spread_find(c, A), spread_find(c, B)};
	const struct shown s = {c, j, differing, {spread[A], spread[B]}, opt->points};

	if (opt->json)
		show_json(&s, stdout);
	else
		show_text(&s, stdout);
	json_decref(differing);
	json_decref(spread[A]);
	json_decref(spread[B]);
	if (!fflush(stdout) && !ferror(stdout))
		return STATUS_OK;
	log_error("stdout: %s", errno ? strerror(errno) : "could not be written");
	return STATUS_USAGE;
}

static int compare_files(const struct compare_options *opt, const char *a, const char *b)
{
	struct comparison c;
	struct judgement *j;
	int status = STATUS_USAGE;

	if (!collect(&c, a, b)) {
		j = judge(&c);
		status = show(opt, &c, j);
		if (!status)
			status = check_conditions(opt, &c, j);
		judge_release(j, c.cnt);
	}
	collect_release(&c);
	return status;
}

static int check_words(const struct compare_options *opt, int files)
{
	struct condition when;
	size_t i;

	if (files != 2) {
		log_error(
			"compare: two result files are wanted, A and B; try \"povbench help compare\"");
		return -EINVAL;
	}
	for (i = 0; i < opt->fail_if.cnt; i++) {
		if (condition_read(opt->fail_if.item[i], &when))
			return -EINVAL;
	}
	return 0;
}

#define AT(member) offsetof(struct compare_options, member)

static const struct option_def options[] = {
	{.name = "fail-if",
	 .type = OPTION_LIST,
	 .offset = AT(fail_if),
	 .arg = "CONDITION",
	 .help = "Exit with 1 if any point, or a benchmark in the mean, meets it: \"slower > 5 %\", "
		 "\"faster > 5 %\" (A takes 5 % longer than B), \"different > 5 %\"; without a share any "
		 "difference that is shown. May be given several times."},
	{.name = "points",
	 .letter = 'p',
	 .type = OPTION_FLAG,
	 .offset = AT(points),
	 .help = "Print each point, with its ratio and interval."},
	{.name = "json",
	 .letter = 'j',
	 .type = OPTION_FLAG,
	 .offset = AT(json),
	 .help = "Print everything as JSON, points included."},
	{.name = NULL},
};

static const char *const examples[] = {
	"povbench-run --launches 10 -- mpirun -np 2 povbench sender --quick -o old.json",
	"Measure ten launches; the same with the other library or setting, to new.json.",
	"povbench compare old.json new.json",
	"Say how they differ: a line for each benchmark.",
	"povbench compare old.json new.json --fail-if 'slower > 5 %'",
	"The same in continuous integration: exit status 1 if new.json is slower somewhere.",
	NULL,
};

const struct command command_compare = {
	.name = "compare",
	.brief = "Compare the launches in two result files.",
	.usage = "[options] A.json B.json",
	.details =
		"For each point that all launches of both files have, prints the ratio B/A of its time: the "
		"median over B's launches to the median over A's, each launch standing for itself by its own "
		"median. The 95 % confidence interval is over launches, by ranks.\n\n"
		"A point is called slower or "
		"faster only where its interval excludes 1 and exchanging launches between the files does not "
		"show as much at any point more often than 1 time in 50; so equal launches are called different, at "
		"whatever point, in 2 of 100 comparisons. That takes 5 launches in each file at least, 10 "
		"are better. Launches that differ from others of their own file are named.",
	.status =
		"0; 1 if a condition of --fail-if is met; 2 for wrong usage, files that cannot be compared, and "
		"too few launches to judge a condition.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct compare_options),
};

int compare_main(int argc, char **argv)
{
	struct compare_options opt;
	int nargs, dashdash, status;

	status = option_parse(&command_compare, argc, argv, &opt, &nargs, &dashdash);
	if (status)
		return status == -ECANCELED ? STATUS_OK : STATUS_USAGE;
	status = check_words(&opt, nargs) ? STATUS_USAGE : compare_files(&opt, argv[0], argv[1]);
	option_list_release(&opt.fail_if);
	return status;
}
