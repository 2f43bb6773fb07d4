/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * matches FILE…: prints each message with both ends known, one per line. The send and then the
 * receive have rank, thread, begin of the posting call by its host's clock, and place in this call.
 * The tag, the bytes and the assumption (enum match_assumed) follow. The last lines count unmatched
 * ends: "not", rank, send or recv, reason (enum match_why), number.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/host_clocks.h"
#include "analysis/match.h"
#include "model/model.h"
#include "trace/trace_join.h"
#include "trace/trace_read.h"

static uint64_t host_ns(const struct model *m, const struct match_end *e)
{
	const struct model_host *h = model_host_get(m, e->process->host_idx);
	int64_t since_ns = (int64_t)(e->begin_ns - h->start_ns);

	return e->begin_ns - (uint64_t)(h->offset_ns + h->drift_ppb * since_ns / 1000000000);
}

static void end_print(const struct model *m, const struct match_end *e)
{
	printf("%d\t%u\t%llu\t%u\t", e->process->rank, trace_host_id(e->thread->tid),
	       (unsigned long long)host_ns(m, e), e->place);
}

static void on_match(void *ctx, const struct match *match)
{
	const struct matches *a = ctx;

	end_print(a->model, &match->send);
	end_print(a->model, &match->recv);
	printf("%d\t%lld\t%d\n", match->tag, (long long)match->bytes, match->assumed);
}

static void counts_print(const struct model_process *p, const char *end,
			 const uint64_t by[MATCH_WHY_CNT])
{
	for (int why = MATCHED + 1; why < MATCH_WHY_CNT; why++)
		if (by[why])
			printf("not\t%d\t%s\t%d\t%llu\n", p->rank, end, why,
			       (unsigned long long)by[why]);
}

static int matches_print(struct model *m)
{
	struct matches a;
	const struct model_sink *const sinks[] = {&a.sink};
	int err;

	matches_init(&a, on_match, &a);
	err = model_run(m, sinks, 1);
	for (uint32_t i = 0; !err && i < model_process_count(m); i++) {
		const struct model_process *p = model_process_get(m, i);

		counts_print(p, "send", matches_of(&a, i)->sends);
		counts_print(p, "recv", matches_of(&a, i)->recvs);
	}
	matches_release(&a);
	return err;
}

int main(int argc, char **argv)
{
	struct trace_source source[8] = {{0}};
	struct model *m = NULL;
	struct trace *t;
	int err;

	if (argc < 2 || argc > 9) {
		fprintf(stderr, "usage: matches FILE...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++)
		source[i - 1].path = argv[i];
	if (host_clocks_join(source, (size_t)argc - 1, &t))
		return 1;
	err = model_open(t, NULL, &m) || matches_print(m);
	model_close(m);
	trace_close(t);
	return err || fflush(stdout);
}
