/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Takes the median of several short batches, without probes and with them. The functions have six
 * arguments and an int *, like a typical MPI call. The probes belong to the child: removing them
 * takes several grace periods of the kernel, 0.1 s (more for perf events), and only the child waits
 * for them when it exits.
 */
#include "record/probes/calibrate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/config.h"
#include "lib/clock.h"
#include "target/probes/links.h"
#include "lib/log.h"
#include "lib/table.h"
#include "record/kernel.h"

#define BATCHES 9
#define BATCH_CALLS 64
#define WAIT_MS 5000 /* for the whole calibration, which takes 50 ms */

enum part { PART_CALL, PART_SPIN, PART_STEPPED, PART_COUNTED, PARTS };
enum row { ROW_CALL, ROW_SPIN, ROW_COUNTED };

/*
 * The probed functions. Those made by EMULATED begin with an instruction that the kernel emulates,
 * as most compiled functions do; calibrate_stepped begins with one that it has to single-step.
 */
typedef int target_fn(void *buf, int count, long type, int peer, int tag, long comm, int *flag);
#if defined(__x86_64__)
#define EMULATED(name)                             \
	".type " #name ", @function\n" #name ":\n" \
	"	push %rbx\n"                             \
	"	xor %eax, %eax\n"                        \
	"	pop %rbx\n"                              \
	"	ret\n"                                   \
	".size " #name ", . - " #name "\n"
__attribute__((visibility("hidden"))) target_fn calibrate_call, calibrate_spin, calibrate_counted,
	calibrate_stepped;
__asm__(".pushsection .text\n" EMULATED(calibrate_call) EMULATED(calibrate_spin)
		EMULATED(calibrate_counted) ".type calibrate_stepped, @function\n"
					    "calibrate_stepped:\n"
					    "	xor %eax, %eax\n"
					    "	ret\n"
					    ".size calibrate_stepped, . - calibrate_stepped\n"
					    ".popsection\n");
#else
/* The number keeps the compiler from merging the functions. */
#define COMPILED(name, number)                                                               \
	__attribute__((noinline)) static int name(void *buf, int count, long type, int peer, \
						  int tag, long comm, int *flag)             \
	{                                                                                    \
		__asm__ volatile(""                                                          \
				 :                                                           \
				 : "i"(number), "r"(buf), "r"(count), "r"(type), "r"(peer),  \
				   "r"(tag), "r"(comm), "r"(flag)                            \
				 : "memory");                                                \
		return 0;                                                                    \
	}
COMPILED(calibrate_call, 0)
COMPILED(calibrate_spin, 1)
COMPILED(calibrate_stepped, 2)
COMPILED(calibrate_counted, 3)
#endif

static const struct {
	target_fn *target;
	enum row row;
} parts[PARTS] = {
	[PART_CALL] = {calibrate_call, ROW_CALL},
	[PART_SPIN] = {calibrate_spin, ROW_SPIN},
	[PART_STEPPED] = {calibrate_stepped, ROW_CALL},
	[PART_COUNTED] = {calibrate_counted, ROW_COUNTED},
};

void calibrate_recipes(struct pov_fn *fns)
{
	fns[ROW_CALL] = (struct pov_fn){
		.nargs = 7,
		.poll_arg = POV_ARG_NONE,
		.comm_arg = POV_ARG_NONE,
		.spin_arg = POV_ARG_NONE,
	};
	fns[ROW_SPIN] = (struct pov_fn){
		.nargs = 7,
		.flags = POV_FN_POLL,
		.poll_arg = 6,
		.comm_arg = POV_ARG_NONE,
		.spin_arg = 5,
	};
	fns[ROW_COUNTED] = fns[ROW_CALL];
	fns[ROW_COUNTED].counted = 1;
	fns[ROW_COUNTED].count_bytes = sizeof(int);
	fns[ROW_COUNTED].count_arg = 1;
	fns[ROW_COUNTED].type_arg = 2;
	fns[ROW_COUNTED].peer_arg = 3;
}

TABLE_ORDER(by_value, double, table_compare(*a, *b))

/* Returns the time per call in ns. */
static double batch_time(target_fn *target)
{
	uint64_t begin;
	int flag = 0;

	target(&flag, 0, 0, 1, 2, 3, &flag); /* ends the spin of another part */
	begin = clock_now_ns();
	for (int i = 0; i < BATCH_CALLS; i++)
		target(&flag, i, 0, 1, 2, 3, &flag);
	return (double)(clock_now_ns() - begin) / BATCH_CALLS;
}

/*
 * Sets ns to the median of each part over all batches. The parts take turns, so a slow moment of
 * the machine affects them all.
 */
static void parts_measure(double *ns)
{
	double all[PARTS][BATCHES];

	for (int b = 0; b < BATCHES; b++)
		for (int i = 0; i < PARTS; i++)
			all[i][b] = batch_time(parts[i].target);
	for (int i = 0; i < PARTS; i++) {
		qsort(all[i], BATCHES, sizeof(**all), by_value);
		ns[i] = all[i][BATCHES / 2];
	}
}

/*
 * The file that contains an address of our own code (valid as long as our code is mapped), and the
 * offset in it.
 */
struct place {
	uint64_t addr, offset;
	const char *path;
};

static int place_visit(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	struct place *p = ctx;

	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD ||
		    p->addr - info->dlpi_addr - ph->p_vaddr >= ph->p_filesz)
			continue;
		p->offset = p->addr - info->dlpi_addr - ph->p_vaddr + ph->p_offset;
		p->path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
		return 1;
	}
	return 0;
}

static int probes_attach(const struct kernel *k, uint32_t first_row, struct links *links)
{
	struct link_programs programs = k->programs;
	struct link_site sites[PARTS];
	struct place place = {};
	int err;

	for (int i = 0; i < PARTS; i++) {
		place.addr = (uint64_t)(uintptr_t)parts[i].target;
		if (!dl_iterate_phdr(place_visit, &place))
			return -ENOENT;
		sites[i] = (struct link_site){.cookie = POV_COOKIE(first_row + parts[i].row, 0),
					      .offset = place.offset};
	}
	programs.pid = getpid(); /* other povtrace processes have the same code */
	return links_attach(links, &programs, place.path, sites, PARTS, &err) == PARTS ? 0 : -err;
}

/* Measures the time that probes add to each function, in ns. */
static int added_measure(struct kernel *k, uint32_t first_row, double *added)
{
	double bare[PARTS], probed[PARTS];
	struct links links = {};
	int err;

	parts_measure(bare);
	err = probes_attach(k, first_row, &links);
	if (err)
		return err;
	parts_measure(probed);
	for (int i = 0; i < PARTS; i++)
		added[i] = probed[i] > bare[i] ? probed[i] - bare[i] : 0;
	return 0;
}

/*
 * Waits until the recording ends. The kernel inserts no probe while it removes a probe of a perf
 * event, and a removal lasts as long as any thread waits in a probe. So the calibration's probes
 * stay until then.
 */
static void recording_await(int answer)
{
	char none;

	while (read(answer, &none, 1) < 0 && errno == EINTR)
		;
	prctl(PR_SET_NAME, "povtrace-close");
}

static _Noreturn void child_main(struct kernel *k, uint32_t first_row, int answer)
{
	double added[PARTS];
	int err;

	err = kernel_add_target(k, getpid());
	if (!err)
		err = added_measure(k, first_row, added);
	if (err)
		log_debug("the calibration failed: %s", strerror(-err));
	else if (write(answer, added, sizeof(added)) != sizeof(added))
		err = -EPIPE;
	/*
	 * A reader that waits for the end of a pipe or terminal must not wait for the probes, too.
	 */
	close_range(0, 2, 0);
	if (!err && k->programs.api == LINK_PERF)
		recording_await(answer);
	close(answer);
	_exit(err != 0);
}

int calibrate_start(struct kernel *k, uint32_t first_row, struct calibration *out)
{
	int fds[2], err;

	*out = (struct calibration){};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -errno;
	out->pid = fork();
	if (!out->pid) {
		close(fds[0]);
		child_main(k, first_row, fds[1]);
	}
	err = -errno;
	close(fds[1]);
	if (out->pid > 0) {
		out->answer_fd = fds[0];
		return 0;
	}
	close(fds[0]);
	return err;
}

int calibrate_wait(struct kernel *k, struct calibration *c, struct probe_cost *out)
{
	struct pollfd p = {.fd = c->answer_fd, .events = POLLIN};
	double added[PARTS];
	ssize_t n = -1;

	if (c->pid <= 0)
		return -ECHILD;
	if (poll(&p, 1, WAIT_MS) > 0)
		n = read(c->answer_fd, added, sizeof(added));
	if (n != sizeof(added))
		kill(c->pid, SIGKILL);
	bpf_map_delete_elem(k->targets_fd, &c->pid);
	if (n != sizeof(added))
		return -EPIPE;
	*out = (struct probe_cost){
		.call_ns = added[PART_CALL],
		.spin_ns = added[PART_SPIN],
		.stepped_ns = added[PART_STEPPED],
		.counted_ns = added[PART_COUNTED],
		.samples = BATCHES * BATCH_CALLS,
	};
	return 0;
}

void calibrate_leave(struct calibration *c)
{
	if (c->pid <= 0)
		return;
	close(c->answer_fd);
	waitpid(c->pid, NULL, WNOHANG);
	c->pid = 0;
}
