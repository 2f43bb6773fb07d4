/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The command line and the conditions of --fail-if. If there are too few launches to judge a
 * condition, that is an error, because it must not look like a condition that is not met.
 */
#include "compare/compare.h"

#include "lib/log.h"
#include "core/param_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_OK = 0, STATUS_MET = 1, STATUS_USAGE = 2 };

struct compare_options {
	struct option_list fail_if;
	bool points, json;
};

/* ---- conditions ---- */

/*
 * The conditions of --fail-if: "slower > 5 %", "faster", "different > 10 %". "Faster" is judged by
 * the inverse ratio, so "B takes 5 % longer" and "A takes 5 % longer" are equally far from 1.
 */
struct condition {
	bool slower, faster; /* directions that count */
	double least;	     /* ratio, from 1 on, that must be exceeded */
};

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

static int condition_refuse(const char *text)
{
	log_error("--fail-if: \"%s\" is no condition such as \"slower > 5 %%\": give slower, "
		  "faster or different, and perhaps the share to be exceeded",
		  text);
	return -EINVAL;
}

static const char *read_word(const char *text, struct condition *out)
{
	static const struct {
		const char *word;
		bool slower, faster;
	} words[] = {{"slower", true, false}, {"faster", false, true}, {"different", true, true}};
	size_t len;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		len = strlen(words[i].word);
		if (strncmp(text, words[i].word, len))
			continue;
		*out = (struct condition){words[i].slower, words[i].faster, 1};
		return skip_blanks(text + len);
	}
	return NULL;
}

/* Returns 0, or -EINVAL after printing the expected form. */
static int condition_read(const char *text, struct condition *out)
{
	const char *rest = read_word(skip_blanks(text), out);
	double share;
	char *end;

	if (!rest)
		return condition_refuse(text);
	if (!*rest)
		return 0;
	if (*rest++ != '>')
		return condition_refuse(text);
	share = strtod(rest, &end);
	if (end == rest || !(share >= 0 && share <= 1e6))
		return condition_refuse(text);
	rest = skip_blanks(end);
	if (*rest == '%')
		rest = skip_blanks(rest + 1);
	else
		return condition_refuse(text);
	if (*rest)
		return condition_refuse(text);
	out->least = 1 + share / 100;
	return 0;
}

/* True if the difference is shown and large enough. */
static bool condition_meets(const struct condition *c, const struct judged *one)
{
	if (one->verdict == VERDICT_SLOWER)
		return c->slower && one->ratio.value > c->least;
	return one->verdict == VERDICT_FASTER && c->faster && 1 / one->ratio.value > c->least;
}

/* Number of points of a result that meet the condition; *first is the index of the first one. */
static size_t condition_cnt(const struct condition *c, const struct compare_result *r,
			    const struct judgement *j, size_t *first)
{
	size_t cnt = 0;

	for (size_t i = 0; i < r->point_cnt; i++) {
		if (!condition_meets(c, &j->point[i]))
			continue;
		if (!cnt++)
			*first = i;
	}
	return cnt;
}

static bool report_met(const char *text, const struct condition *when,
		       const struct compare_result *r, const struct judgement *j)
{
	size_t first = 0, cnt = condition_cnt(when, r, j, &first);
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

	for (size_t i = 0; i < c->cnt; i++) {
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

	if (!opt->fail_if.cnt)
		return STATUS_OK;
	for (size_t i = 0; i < opt->fail_if.cnt; i++) {
		if (condition_read(opt->fail_if.item[i], &when))
			return STATUS_USAGE;
		for (size_t k = 0; k < c->cnt; k++)
			met |= report_met(opt->fail_if.item[i], &when, &c->result[k], &j[k]);
	}
	if (met)
		return STATUS_MET;
	return is_open(c, j) ? STATUS_USAGE : STATUS_OK;
}

/* ---- the command ---- */

static int comparison_show(const struct compare_options *opt, const struct comparison *c,
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
		status = comparison_show(opt, &c, j);
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

	if (files != 2) {
		log_error(
			"compare: needs two result files, A and B; try \"povbench help compare\"");
		return -EINVAL;
	}
	for (size_t i = 0; i < opt->fail_if.cnt; i++) {
		if (condition_read(opt->fail_if.item[i], &when))
			return -EINVAL;
	}
	return 0;
}

#define AT(member) offsetof(struct compare_options, member)

static const struct option_def options[] = {
	{"fail-if", 0, OPTION_LIST, AT(fail_if), "CONDITION",
	 .help = "Exit with 1 if any point, or a benchmark's mean, meets the condition: \"slower "
		 "> 5 %\", \"faster > 5 %\" (A takes 5 % longer than B), or \"different > 5 %\". "
		 "Without a share, any difference that is shown counts. May be given several "
		 "times."},
	{"points", 'p', OPTION_FLAG, AT(points),
	 .help = "Print each point, with its ratio and interval."},
	{"json", 'j', OPTION_FLAG, AT(json), .help = "Print everything as JSON, points included."},
	{.name = NULL},
};

static const char *const examples[] = {
	"povbench-run --launches 10 -- mpirun -np 2 povbench sender --quick -o old.json",
	"Measure ten launches; the same with the other library or setting, to new.json.",
	"povbench compare old.json new.json",
	"Print how they differ: a line for each benchmark.",
	"povbench compare old.json new.json --fail-if 'slower > 5 %'",
	"The same in continuous integration: exit status 1 if new.json is slower somewhere.",
	NULL,
};

const struct command command_compare = {
	.name = "compare",
	.brief = "Compare the launches in two result files.",
	.usage = "[options] A.json B.json",
	.details =
		"For each point that all launches of both files have, prints the ratio B/A of its "
		"time. That is the median over B's launches divided by the median over A's; each "
		"launch counts by its own median. The 95 % confidence interval is over launches, "
		"by ranks.\n\n"
		"A point is called slower or faster only if its interval excludes 1 and a "
		"permutation test agrees: of all ways to exchange launches between the files, at "
		"most 1 in 50 may show as large a difference at any point. So at most 2 % of "
		"comparisons report a difference where there is none. The test needs at least 5 "
		"launches in each file; 10 are better. "
		"Launches that differ from others of their own file are named.",
	.status =
		"0; 1 if a condition of --fail-if is met; 2 for wrong usage, files that cannot be "
		"compared, and too few launches to judge a condition.",
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
