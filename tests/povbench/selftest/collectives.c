/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Blocking collectives: the longest of the ranks' times, all messages rendezvous, followed on paper from the patterns that the model's
 * collectives have (model/collective.c). A message is on its way for T, from the sender's call until the receiver has it.
 */
#include "selftest/case.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define CLOCK_TOLERANCE_NS 4

static void with_costs(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->latency_ns = 2000;
	m->send_ns = 300;
	m->recv_ns = 500;
}

static void eight_ranks(struct model_settings *m, struct bench_options *opt)
{
	with_costs(m, opt);
	m->ranks = 8;
}

/* Each with a clock of its own. */
static void two_nodes(struct model_settings *m, struct bench_options *opt)
{
	with_costs(m, opt);
	m->nodes = 2;
	m->clock_skew_ns = 12345678;
}

static double message_ns(const struct model_settings *m, double bytes)
{
	return m->send_ns + m->latency_ns + bytes * m->byte_ns + m->recv_ns;
}

/* Along a binomial tree, each level one message behind the other. */
static double tree_ns(const struct model_settings *m, double bytes)
{
	return ceil(log2(m->ranks)) * message_ns(m, bytes);
}

static double both_trees_ns(const struct model_settings *m, double bytes)
{
	return 2 * tree_ns(m, bytes);
}

/* One step behind the other, in each of which all ranks send and receive. */
static double steps_ns(const struct model_settings *m, double bytes)
{
	return (m->ranks - 1) * message_ns(m, bytes);
}

/* All announced theirs at once; the root takes one behind the other. */
static double gather_ns(const struct model_settings *m, double bytes)
{
	return message_ns(m, bytes) + (m->ranks - 2) * (bytes * m->byte_ns + m->recv_ns);
}

/* The root sends the next one when the last one's data are there. */
static double scatter_ns(const struct model_settings *m, double bytes)
{
	return (m->ranks - 1) * (message_ns(m, bytes) - m->recv_ns) + m->recv_ns;
}

static double expected_ns(const struct selftest *t, double bytes)
{
	static const struct {
		const char *name;
		double (*ns)(const struct model_settings *m, double bytes);
	} rules[] = {
		{"bcast", tree_ns},	 {"reduce", tree_ns},	  {"allreduce", both_trees_ns},
		{"allgather", steps_ns}, {"alltoall", steps_ns},  {"alltoallv", steps_ns},
		{"gather", gather_ns},	 {"scatter", scatter_ns},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!strcmp(rules[i].name, t->bench->collective))
			return rules[i].ns(&t->model, bytes);
	}
	return NAN;
}

static void check_times(struct selftest *t)
{
	double tolerance_ns = t->model.nodes > 1 ? 2 * CLOCK_TOLERANCE_NS : CLOCK_TOLERANCE_NS;
	const struct result_point *p;
	double bytes;
	size_t i;

	for (i = 0; i < result_point_cnt(t->result); i++) {
		p = result_point_at(t->result, i);
		bytes = result_number(p, "bytes");
		selftest_expect(t, result_number(p, "measured"), expected_ns(t, bytes),
				tolerance_ns, "ns for %.0f bytes", bytes);
	}
}

#define CASES(bench)                                                                   \
	{bench, "one with overheads", with_costs, check_times, NULL, NULL},            \
		{bench, "eight ranks", eight_ranks, check_times, NULL, NULL},          \
	{                                                                              \
		bench, "two nodes with two clocks", two_nodes, check_times, NULL, NULL \
	}

const struct selftest_case selftest_collectives[] = {
	CASES("bcast_latency"),	    CASES("reduce_latency"),   CASES("allreduce_latency"),
	CASES("allgather_latency"), CASES("alltoall_latency"), CASES("alltoallv_latency"),
	CASES("gather_latency"),    CASES("scatter_latency"),  {.bench = NULL},
};
