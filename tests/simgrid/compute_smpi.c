/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Computation in simulated time: replaces bench/core/compute.c in the program built for SimGrid.
 * Real work takes no simulated time there (the tests turn that off, because results would depend on
 * this machine). Computing to a deadline becomes a sleep. Work becomes operations of the simulated
 * host, which ranks on one core share like a real one. There are no threads, because SimGrid runs
 * all ranks in one.
 */
#include "core/compute.h"
#include "lib/log.h"

#include <simgrid/host.h>
#include <smpi/smpi.h>
#include <stdlib.h>
#include <time.h>

struct compute_engine {
	double ops_per_ns;
};

struct compute_engine *compute_new(int local_rank, int local_cnt, const cpu_set_t *taken)
{
	struct compute_engine *e = xcalloc(1, sizeof(*e));

	(void)local_rank;
	(void)local_cnt;
	(void)taken;
	e->ops_per_ns = sg_host_get_speed(sg_host_self()) / 1e9;
	return e;
}

void compute_free(struct compute_engine *e)
{
	free(e);
}

uint32_t compute_features(void)
{
	return COMM_VIRTUAL_TIME;
}

double compute_ops_per_ns(const struct compute_engine *e)
{
	return e->ops_per_ns;
}

void compute_run(struct compute_engine *e, const struct compute *how, uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	if (how->kind == COMPUTE_WORK)
		smpi_execute_flops((double)ns * e->ops_per_ns);
	else
		nanosleep(&t, NULL);
}

void compute_load_begin(struct compute_engine *e, const struct comm_load *how)
{
	(void)e;
	(void)how;
	die("no threads in SimGrid");
}

void compute_load_end(struct compute_engine *e)
{
	(void)e;
}

void compute_threads_run(struct compute_engine *e, int n, void (*fn)(void *arg, int thread),
			 void *arg)
{
	(void)e;
	(void)n;
	(void)fn;
	(void)arg;
	die("no threads in SimGrid");
}
