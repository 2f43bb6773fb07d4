/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Median of several short batches, probed and not, one after the other in one child. The function's six
 * arguments and an int * are what a typical MPI call has.
 */
#include "collect/calibrate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/config.h"
#include "attach/links.h"
#include "attach/proc.h"
#include "base/log.h"
#include "collect/kernel.h"

#define BATCHES 9
#define BATCH_CALLS 200

/* The function that is probed. Its address is taken, its body kept. */
__attribute__((noinline)) int calibrate_target(void *buf, int count, long type, int peer, int tag,
							 long comm, int *flag)
{
	__asm__ volatile("" : : "r"(buf), "r"(count), "r"(type), "r"(peer), "r"(tag), "r"(comm), "r"(flag) : "memory");
	return 0;
}

void calibrate_recipes(struct pov_fn *fns)
{
	fns[CALIBRATE_ROW_CALL] = (struct pov_fn){
		.nargs = 7, .poll_arg = POV_ARG_NONE, .comm_arg = POV_ARG_NONE, .spin_arg = POV_ARG_NONE,
	};
	fns[CALIBRATE_ROW_SPIN] = (struct pov_fn){
		.nargs = 7, .flags = POV_FN_POLL, .poll_arg = 6, .comm_arg = POV_ARG_NONE, .spin_arg = 5,
	};
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* ns per call, median over batches. */
static double measure(void)
{
	double batch[BATCHES];
	int flag = 0;

	for (int b = 0; b < BATCHES; b++) {
		uint64_t begin = kernel_now_ns();

		for (int i = 0; i < BATCH_CALLS; i++)
			calibrate_target(&flag, i, 0, 1, 2, 3, &flag);
		batch[b] = (double)(kernel_now_ns() - begin) / BATCH_CALLS;
	}
	qsort(batch, BATCHES, sizeof(*batch), by_value);
	return batch[BATCHES / 2];
}

/* Child: measures each time it is asked to. */
static void child_main(int ask, int answer)
{
	double ns;
	char c;

	while (read(ask, &c, 1) == 1) {
		ns = measure();
		if (write(answer, &ns, sizeof(ns)) != sizeof(ns))
			break;
	}
	_exit(0);
}

static int ask_child(int ask, int answer, double *ns)
{
	if (write(ask, "", 1) != 1 || read(answer, ns, sizeof(*ns)) != sizeof(*ns))
		return -EPIPE;
	return 0;
}

/* Our own file and the target function's offset in it. */
static int own_site(char *path, size_t bytes, uint64_t *offset)
{
	uint64_t addr = (uint64_t)(uintptr_t)calibrate_target;
	const struct proc_map *m;
	struct proc_maps maps;
	int err;

	err = proc_maps_read(getpid(), &maps);
	if (err)
		return err;
	m = proc_maps_at(&maps, addr);
	if (m) {
		*offset = addr - m->start + m->off;
		snprintf(path, bytes, "/proc/self/exe");
	}
	proc_maps_release(&maps);
	return m ? 0 : -ENOENT;
}

static int measure_row(struct kernel *k, unsigned int row, const char *path, uint64_t offset, int ask,
		       int answer, double *ns)
{
	struct link_site site = { .offset = offset, .cookie = POV_COOKIE(row, 0) };
	struct links links = {};
	int err = 0;

	if (!links_attach(&links, &k->programs, path, &site, 1, &err))
		return -err;
	err = ask_child(ask, answer, ns);
	links_release(&links);
	return err;
}

static int measure_all(struct kernel *k, int ask, int answer, struct probe_cost *out)
{
	double bare, call, spin;
	uint64_t offset;
	char path[32];
	int err;

	err = own_site(path, sizeof(path), &offset);
	if (!err)
		err = ask_child(ask, answer, &bare);
	if (!err)
		err = measure_row(k, CALIBRATE_ROW_CALL, path, offset, ask, answer, &call);
	if (!err)
		err = measure_row(k, CALIBRATE_ROW_SPIN, path, offset, ask, answer, &spin);
	if (err)
		return err;
	out->call_ns = call > bare ? call - bare : 0;
	out->spin_ns = spin > bare ? spin - bare : 0;
	out->samples = BATCHES * BATCH_CALLS;
	return 0;
}

int calibrate_run(struct kernel *k, struct probe_cost *out, uint32_t *pid)
{
	int ask[2], answer[2], err;
	pid_t child;

	if (pipe(ask))
		return -errno;
	if (pipe(answer)) {
		err = -errno;
		close(ask[0]);
		close(ask[1]);
		return err;
	}
	child = fork();
	if (!child) {
		close(ask[1]);
		close(answer[0]);
		child_main(ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	err = child < 0 ? -errno : kernel_add_target(k, child);
	if (!err)
		err = measure_all(k, ask[1], answer[0], out);
	close(ask[1]);
	close(answer[0]);
	if (child > 0) {
		waitpid(child, NULL, 0);
		bpf_map_delete_elem(k->targets_fd, &child);
	}
	*pid = child > 0 ? child : 0;
	if (err)
		log_debug("calibration: %s", strerror(-err));
	return err;
}
