/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Median of several short batches, probed and not, one after the other in one child. The function's six
 * arguments and an int * are what a typical MPI call has.
 */
#include "collect/calibrate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
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

/*
 * The functions that are probed: one begins with what the kernel emulates, as most compiled functions do,
 * the other with what it has to single-step.
 */
typedef int target_fn(void *buf, int count, long type, int peer, int tag, long comm, int *flag);
#if defined(__x86_64__)
target_fn calibrate_emulated, calibrate_stepped;
__asm__(".pushsection .text\n"
	".type calibrate_emulated, @function\n"
	"calibrate_emulated:\n"
	"	push %rbx\n"
	"	xor %eax, %eax\n"
	"	pop %rbx\n"
	"	ret\n"
	".size calibrate_emulated, . - calibrate_emulated\n"
	".type calibrate_stepped, @function\n"
	"calibrate_stepped:\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	".size calibrate_stepped, . - calibrate_stepped\n"
	".popsection\n");
#else
__attribute__((noinline)) static int calibrate_stepped(void *buf, int count, long type, int peer,
						       int tag, long comm, int *flag)
{
	__asm__ volatile(""
			 :
			 : "r"(buf), "r"(count), "r"(type), "r"(peer), "r"(tag), "r"(comm),
			   "r"(flag)
			 : "memory");
	return 0;
}
#define calibrate_emulated calibrate_stepped
#endif

void calibrate_recipes(struct pov_fn *fns)
{
	fns[CALIBRATE_ROW_CALL] = (struct pov_fn){
		.nargs = 7,
		.poll_arg = POV_ARG_NONE,
		.comm_arg = POV_ARG_NONE,
		.spin_arg = POV_ARG_NONE,
	};
	fns[CALIBRATE_ROW_SPIN] = (struct pov_fn){
		.nargs = 7,
		.flags = POV_FN_POLL,
		.poll_arg = 6,
		.comm_arg = POV_ARG_NONE,
		.spin_arg = 5,
	};
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* ns per call, median over batches. */
static double measure(target_fn *target)
{
	double batch[BATCHES];
	int flag = 0;

	for (int b = 0; b < BATCHES; b++) {
		uint64_t begin = kernel_now_ns();

		for (int i = 0; i < BATCH_CALLS; i++)
			target(&flag, i, 0, 1, 2, 3, &flag);
		batch[b] = (double)(kernel_now_ns() - begin) / BATCH_CALLS;
	}
	qsort(batch, BATCHES, sizeof(*batch), by_value);
	return batch[BATCHES / 2];
}

/* Child: measures each time it is asked to; the byte says which function. */
static void child_main(int ask, int answer)
{
	double ns;
	char c;

	while (read(ask, &c, 1) == 1) {
		ns = measure(c ? calibrate_stepped : calibrate_emulated);
		if (write(answer, &ns, sizeof(ns)) != sizeof(ns))
			break;
	}
	_exit(0);
}

static int ask_child(int ask, int answer, bool stepped, double *ns)
{
	const char which = stepped;

	if (write(ask, &which, 1) != 1 || read(answer, ns, sizeof(*ns)) != sizeof(*ns))
		return -EPIPE;
	return 0;
}

/* Offset of one of our functions in our own file. */
static int own_offset(target_fn *target, uint64_t *offset)
{
	uint64_t addr = (uint64_t)(uintptr_t)target;
	const struct proc_map *m;
	struct proc_maps maps;
	int err;

	err = proc_maps_read(getpid(), &maps);
	if (err)
		return err;
	m = proc_maps_at(&maps, addr);
	if (m)
		*offset = addr - m->start + m->off;
	proc_maps_release(&maps);
	return m ? 0 : -ENOENT;
}

struct pipes {
	int ask, answer;
};

/* What the probes of a row add to a function, in ns. */
static int measure_row(struct kernel *k, const struct pipes *p, unsigned int row, bool stepped,
		       double *out)
{
	struct link_site site = {.cookie = POV_COOKIE(row, 0)};
	struct links links = {};
	double bare, probed;
	int err;

	err = own_offset(stepped ? calibrate_stepped : calibrate_emulated, &site.offset);
	if (!err)
		err = ask_child(p->ask, p->answer, stepped, &bare);
	if (err)
		return err;
	if (!links_attach(&links, &k->programs, "/proc/self/exe", &site, 1, &err))
		return -err;
	err = ask_child(p->ask, p->answer, stepped, &probed);
	links_release(&links);
	if (!err)
		*out = probed > bare ? probed - bare : 0;
	return err;
}

static int measure_all(struct kernel *k, const struct pipes *p, struct probe_cost *out)
{
	int err;

	err = measure_row(k, p, CALIBRATE_ROW_CALL, false, &out->call_ns);
	if (!err)
		err = measure_row(k, p, CALIBRATE_ROW_SPIN, false, &out->spin_ns);
	if (!err)
		err = measure_row(k, p, CALIBRATE_ROW_CALL, true, &out->stepped_ns);
	if (!err)
		out->samples = BATCHES * BATCH_CALLS;
	return err;
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
		err = measure_all(k, &(struct pipes){ask[1], answer[0]}, out);
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
