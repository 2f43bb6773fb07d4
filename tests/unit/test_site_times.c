/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Times of MPI calls by the place that they were made from, and how unequal they are among processes. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "analysis/site_times.h"

static const struct func_info send_func = {.id = 1, .name = "MPI_Send", .layer_name = "mpi"};
static const struct func_info test_func = {
	.id = 2, .name = "MPI_Test", .layer_name = "mpi", .polls = true};
static const struct func_info ucp_func = {.id = 3, .name = "ucp_put", .layer_name = "ucp"};

/* The same file of two hosts, and another one. */
static const struct model_module module[] = {
	{"/bin/app", "aa", 1}, {"/bin/app", "aa", 2}, {"/bin/app", "bb", 3}};

static struct model_process process[3] = {{.idx = 0}, {.idx = 1}, {.idx = 2}};
static struct model_thread thread[3] = {
	{.proc = &process[0]}, {.proc = &process[1]}, {.proc = &process[2]}};
static const bool all[3] = {true, true, true};

static void call(struct site_times *a, uint32_t who, const struct func_info *func,
		 const struct model_module *in, uint64_t place, uint64_t ns)
{
	const struct model_call c = {
		.func = func,
		.thread = &thread[who],
		.begin_ns = 1000,
		.end_ns = 1000 + ns,
		.site = {.address = in ? 0x1000 * who + place : place,
			 .module = in,
			 .offset = in ? place : 0},
	};

	a->sink.call(a, &c);
}

static void spin(struct site_times *a, uint32_t who, uint64_t cnt, uint64_t ns)
{
	const struct model_spin s = {
		.thread = &thread[who],
		.nfuncs = 1,
		.func = {{.func = &test_func, .cnt = cnt, .busy_ns = ns}},
		.site = {.address = 5, .module = &module[0], .offset = 5},
	};

	a->sink.spin(a, &s);
}

TEST(sums)
{
	struct site_total *t;
	struct site_times a;
	uint32_t n;

	site_times_init(&a);
	call(&a, 0, &send_func, &module[0], 16, 100);
	call(&a, 0, &send_func, &module[0], 16, 50);
	call(&a, 1, &send_func, &module[1], 16, 300); /* another address, another host */
	call(&a, 1, &send_func, &module[2], 16, 7);   /* another file */
	call(&a, 2, &send_func, &module[0], 24, 20);
	call(&a, 2, &ucp_func, &module[0], 16, 9000); /* not MPI's */
	call(&a, 0, &test_func, &module[0], 5, 4);
	spin(&a, 0, 10, 60);
	t = site_times_sum(&a, all, 3, &n);
	assert_int_equal(n, 4);
	assert_int_equal(t[0].sums.calls, 3);
	assert_int_equal(t[0].sums.total_ns, 450);
	assert_int_equal(t[0].sums.max_ns, 300);
	assert_int_equal(t[0].processes, 2);
	assert_int_equal(t[0].least_ns, 0); /* process 2 */
	assert_int_equal(t[0].mean_ns, 150);
	assert_int_equal(t[0].most_ns, 300);
	assert_int_equal(t[0].most_idx, 1);
	assert_ptr_equal(t[1].func, &test_func);
	assert_int_equal(t[1].sums.calls, 11);
	assert_int_equal(t[1].sums.polls, 10);
	assert_int_equal(t[1].sums.total_ns, 64);
	assert_int_equal(t[1].sums.max_ns, 4);
	assert_int_equal(t[2].site.offset, 24);
	assert_string_equal(t[3].site.module->build_id, "bb");
	free(t);
	/* Of the first two alone, each was there. */
	t = site_times_sum(&a, all, 2, &n);
	assert_int_equal(n, 3);
	assert_int_equal(t[0].least_ns, 150);
	assert_int_equal(t[0].mean_ns, 225);
	free(t);
	site_times_release(&a);
}

/* Addresses in no known file are places; calls within the library's own are none; open ones have no duration. */
TEST(which)
{
	struct model_call c = {.func = &send_func,
			       .thread = &thread[0],
			       .begin_ns = 1000,
			       .end_ns = 1500,
			       .open = true,
			       .site = {.address = 64}};
	struct site_total *t;
	struct site_times a;
	uint32_t n;

	site_times_init(&a);
	call(&a, 0, &send_func, NULL, 64, 10);
	call(&a, 1, &send_func, NULL, 64, 10);
	call(&a, 0, &send_func, NULL, 128, 5);
	a.sink.call(&a, &c);
	c.nested = true;
	a.sink.call(&a, &c);
	t = site_times_sum(&a, all, 3, &n);
	assert_int_equal(n, 2);
	assert_int_equal(t[0].site.address, 64);
	assert_int_equal(t[0].sums.calls, 3);
	assert_int_equal(t[0].sums.total_ns, 520);
	assert_int_equal(t[0].sums.max_ns, 10);
	assert_int_equal(t[1].site.address, 128);
	free(t);
	t = site_times_sum(&a, (const bool[3]){0}, 3, &n);
	assert_int_equal(n, 0);
	free(t);
	site_times_release(&a);
}

/* Further places than there is room for are counted. */
TEST(bound)
{
	struct site_total *t;
	struct site_times a;
	uint32_t n;

	site_times_init(&a);
	for (uint64_t i = 0; i < SITE_ROWS_MAX + 3; i++)
		call(&a, 0, &send_func, &module[0], i + 1, 1);
	call(&a, 0, &send_func, &module[0], 1, 1);
	assert_int_equal(a.left_out, 3);
	t = site_times_sum(&a, all, 1, &n);
	assert_int_equal(n, SITE_ROWS_MAX);
	assert_int_equal(t[0].sums.calls, 2);
	free(t);
	site_times_release(&a);
}
