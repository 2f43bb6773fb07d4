/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A directory, and what a result in it is of. Included by the tests of results behind cmocka. */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "core/result_file.h"

struct fixture {
	char dir[64], *path;
	json_t *options;
	struct result_about about;
};

static inline int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "/tmp/povbench.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->path = xasprintf("%s/run.json", f->dir);
	f->options = json_pack("{s:i, s:s}", "samples", 50, "step", "1.41421");
	f->about = (struct result_about){.benchmark = "sender",
					 .group = "overlap",
					 .brief = "sender's side",
					 .kind = RESULT_MAP,
					 .ranks = 2,
					 .options = f->options};
	log_set_level(LOG_QUIET);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	/* Fails, and so does the test, if anything else was left there. */
	if (rmdir(f->dir))
		return -1;
	json_decref(f->options);
	free(f->path);
	free(f);
	return 0;
}

static inline void add_point(struct result *r, uint64_t bytes)
{
	struct result_point *p = result_point_add(r);
	struct samples s;
	int i;

	samples_init(&s);
	for (i = 1; i <= 9; i++)
		samples_add(&s, i * 1000.5);
	result_param(p, "bytes", bytes);
	result_param_text(p, "algorithm", "binomial");
	result_time(p, "measured", &s);
	result_value(p, "ratio", 0.5);
	result_value(p, "nothing", NAN);
	result_value(p, "too_much", INFINITY);
	samples_release(&s);
}

#endif
