/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See place_samples.h. */
#include "record/place_samples.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/event.h"
#include "lib/log.h"
#include "record/kernel.h"
#include "povtrace.skel.h"

/* The link, which has taken over the clock; NULL with errno. */
static struct bpf_link *clock_attach(struct bpf_program *prog, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = POV_SAMPLES_HZ,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC), err;
	struct bpf_link *link;

	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event(prog, fd);
	if (!link) {
		err = errno;
		close(fd);
		errno = err;
	}
	return link;
}

void place_samples_attach(struct kernel *k)
{
	struct bpf_program *prog = k->skel->progs.place_sample;

	for (int cpu = 0; bpf_program__autoload(prog) && cpu < libbpf_num_possible_cpus(); cpu++) {
		struct bpf_link *link = clock_attach(prog, cpu);

		if (link) {
			kernel_keep(k, link);
		} else if (errno != ENODEV) { /* it is offline */
			log_info("where ranks compute is not sampled (CPU %d: %s)", cpu,
				 strerror(errno));
			return;
		}
	}
}
