#include "selftest/case.h"
#include <stdlib.h>

static void stencil_machine(struct model_settings *m, struct bench_options *opt)
{
	m->ranks = getenv("NR") ? atoi(getenv("NR")) : 8;
	opt->warmup = 1;
	if (getenv("SL"))
		m->slice_ns = atof(getenv("SL"));
	opt->bytes_min = 16384;
	opt->bytes_max = 65536;
	opt->step = 2;
	opt->compute_min_ns = 100000;
	opt->compute_max_ns = 100000;
}
static void stencil_eager(struct model_settings *m, struct bench_options *opt)
{
	stencil_machine(m, opt);
	m->eager_bytes = UINT64_MAX;
}
static void stencil_sender(struct model_settings *m, struct bench_options *opt)
{
	stencil_machine(m, opt);
	m->handshake = MODEL_HANDSHAKE_SENDER;
}
static void stencil_both(struct model_settings *m, struct bench_options *opt)
{
	stencil_machine(m, opt);
	m->handshake = MODEL_HANDSHAKE_BOTH;
}
static void w(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->ranks = 4;
}
static void ws(struct model_settings *m, struct bench_options *opt)
{
	w(m, opt);
	m->slice_ns = 100000;
}
static void none(struct selftest *t)
{
	(void)t;
}
const struct selftest_case selftest_stencils[] = {
	{"stencil", "perfect", stencil_machine, none, NULL, NULL},
	{"stencil", "eager", stencil_eager, none, NULL, NULL},
	{"stencil", "sender", stencil_sender, none, NULL, NULL},
	{"stencil", "both", stencil_both, none, NULL, NULL},
	{"wtime", "", w, none, NULL, NULL},
	{"wtime", "sliced", ws, none, NULL, NULL},
	{"cg", "", w, none, NULL, NULL},
	{"cg", "sliced", ws, none, NULL, NULL},
	{.bench = NULL}};
