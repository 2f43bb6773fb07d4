/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Lists of numbers of tasks, and how often a broadcast method's report is repeated. */
#include "unit/test.h"
#include "broadcast/rooted.h"
#include "core/sweep.h"
#include "model/model.h"

TEST(lists)
{
	static const char *const wrong[] = {"",	  "1", "0-4", "4-2",   "2,",	   "2,,3", "2-",
					    "-2", "a", "2 3", "2-4-6", "99999999", ",2"};
	size_t i;

	assert_true(tasks_valid("2"));
	assert_true(tasks_valid("2-9,12,16"));
	for (i = 0; i < COUNT(wrong); i++) {
		if (tasks_valid(wrong[i]))
			fail_msg("\"%s\" is taken for a list", wrong[i]);
	}
	assert_int_equal(tasks_most("12,2-9"), 12);
}

static void assert_numbers(const char *list, int all, const char *expected)
{
	char text[128] = "";
	int n = 0;

	while ((n = tasks_next(list, n, all)))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d ", n);
	assert_string_equal(text, expected);
}

TEST(numbers)
{
	assert_numbers(NULL, 1, "");
	assert_numbers(NULL, 2, "2 ");
	assert_numbers(NULL, 12, "2 4 8 12 ");
	assert_numbers("12,2-4,3-5", 16, "2 3 4 5 12 ");
	assert_numbers("12,2-9", 6, "2 3 4 5 6 ");
	assert_numbers("7", 6, "");
}

/* Artificial reports: the first `bad` tests are far off. */
struct script {
	struct bench_options opt;
	size_t bad;
	size_t call_cnt;
	uint64_t first_repeat;
	struct rooted_outcome outcome;
	struct samples got;
};

#define REPORTS_OF_A_TEST 30

static double report(const struct rooted_case *rc, void *ctx)
{
	struct script *s = ctx;
	size_t test, at, warm = s->opt.warmup > 0;

	if (rc->comm->rank)
		return 0;
	if (!s->call_cnt)
		s->first_repeat = rc->repeat;
	at = s->call_cnt++;
	if (at < warm)
		return 1e9;
	test = (at - warm) / REPORTS_OF_A_TEST;
	at = (at - warm) % REPORTS_OF_A_TEST;
	/* Each test is steadier than the one before. */
	return test < s->bad && at % 2 ? 1000 + 100.0 * (double)(s->bad - test) : 1000;
}

static int run_script(struct comm *c, void *ctx)
{
	struct script *s = ctx;
	struct bench_run run = {.comm = c, .opt = &s->opt};
	struct rooted_case rc = {.comm = c, .repeat = 20};
	struct samples out = {0};
	struct rooted_outcome outcome;

	outcome = rooted_reports(&run, &rc, report, s, 0, &out);
	if (c->rank) {
		samples_release(&out);
		return 0;
	}
	s->outcome = outcome;
	s->got = out;
	return 0;
}

static void run_made_up(struct script *s, size_t bad, uint64_t warmup)
{
	struct model_settings m;

	*s = (struct script){.opt = {.samples = 50, .samples_max = 1000, .warmup = warmup},
			     .bad = bad};
	model_settings_init(&m);
	assert_int_equal(model_run(&m, run_script, s), 0);
}

/*
 * Warm-up is a number of operations that are in no sample. The outcome is that of the steadiest
 * test, which is the last.
 */
TEST(reports)
{
	static const struct {
		size_t bad;
		uint64_t warmup, first_repeat;
		bool steady;
		size_t tests, first, calls, samples;
		double second; /* sample */
	} rows[] = {
		{0, 0, 20, true, 1, 0, 8, 8, 1000},
		{0, 3, 3, true, 1, 1, 9, 8, 1000},
		{1, 3, 3, true, 2, 1 + REPORTS_OF_A_TEST, 1 + REPORTS_OF_A_TEST + 8, 8, 1000},
		{5, 0, 20, false, 3, 2 * REPORTS_OF_A_TEST, 3 * REPORTS_OF_A_TEST,
		 REPORTS_OF_A_TEST, 1300},
	};
	struct script s;

	for (size_t i = 0; i < COUNT(rows); i++) {
		run_made_up(&s, rows[i].bad, rows[i].warmup);
		assert_int_equal(s.first_repeat, rows[i].first_repeat);
		assert_int_equal(s.outcome.steady, rows[i].steady);
		assert_int_equal(s.outcome.test_cnt, rows[i].tests);
		assert_int_equal(s.outcome.first, rows[i].first);
		assert_int_equal(s.call_cnt, rows[i].calls);
		assert_int_equal(s.got.cnt, rows[i].samples);
		assert_true(s.got.value[0] == 1000 && s.got.value[1] == rows[i].second);
		samples_release(&s.got);
	}
}
