/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Opens the BPF object, sets constants, loads and attaches, in this order, as libbpf requires. */
#include "record/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/event.h"
#include "abi/thread.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/own_state.h"
#include "lib/table.h"
#include "record/samples.h"
#include "layers/func_table.h"
#include "povtrace.skel.h"

#define PID_NAMESPACE_FIRST 0xEFFFFFFCu /* PROC_PID_INIT_INO */
#define WAKE_SHARE 8			/* a ring wakes the collector when it is 1/8 full */
#define RINGS_WANTED 32			/* at most, unless the user chooses */
#define RING_BYTES (16ull << 20)	/* of each ring, at most */
/* a thread waits at most this long for an answer; the helper's limits are shorter */
#define WAIT_NS 10000000000ull
#define RINGS_BYTES (256ull << 20) /* of all rings together, at most */
/* number of entries in BPF maps by process: per CPU, and at least */
#define PROCESSES_PER_CPU 1024u
#define PROCESSES_MIN 8192u
#define END_AHEAD_NS 1000000ull /* the programs learn the end this long before it */

/* Prints without a buffer, because the verifier's log may have megabytes. */
static int libbpf_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_WARN && log_get_level() >= LOG_DEBUG)
		vfprintf(stderr, fmt, ap);
	return 0;
}

void kernel_prepare(void)
{
	int err = own_open_files_raise(); /* perf-event uprobes use two descriptors per function */

	libbpf_set_print(libbpf_log);
	if (err)
		log_debug("cannot raise the limit of open files: %s", strerror(-err));
}

/*
 * Returns true if we are in the first pid namespace. The kernel half knows processes by their
 * numbers in it; /proc shows the numbers in ours.
 */
static bool first_pid_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == PID_NAMESPACE_FIRST;
}

int kernel_check(const char *command, const struct features *f)
{
	if (geteuid() || !f->root) {
		log_error("%s needs root to load BPF programs: run it with sudo", command);
		return -EPERM;
	}
	if (!first_pid_namespace()) {
		log_error("%s does not work inside a container's pid namespace, where process "
			  "numbers differ from the kernel's: run it on the host; -p and --all see "
			  "the container's processes there",
			  command);
		return -EOPNOTSUPP;
	}
	if (!f->btf) {
		log_error("this kernel has no BTF (/sys/kernel/btf/vmlinux): use one built with "
			  "CONFIG_DEBUG_INFO_BTF=y; `povtrace check` lists what else is missing");
		return -EOPNOTSUPP;
	}
	if (!f->ringbuf || !f->cookie || !f->tracing) {
		log_error("this kernel is too old: recording needs BPF ring buffers, typed "
			  "tracepoints and attach cookies (Linux 5.15); see `povtrace check`");
		return -EOPNOTSUPP;
	}
	return 0;
}

static uint64_t ring_round(uint64_t bytes)
{
	uint64_t size = sysconf(_SC_PAGESIZE);

	while (size < bytes)
		size *= 2;
	return size;
}

/*
 * Chooses the number and size of the rings: as the user asked, or so that both stay within limits.
 */
static int rings_plan(struct kernel *k, const struct kernel_options *opt)
{
	unsigned int cpus = libbpf_num_possible_cpus();
	uint64_t bytes = opt->ring_bytes;

	k->cpus_per_ring = opt->cpus_per_ring ?: (cpus + RINGS_WANTED - 1) / RINGS_WANTED;
	k->rings = (cpus + k->cpus_per_ring - 1) / k->cpus_per_ring;
	if (k->rings >= POV_RINGS_MAX) {
		log_error("%u CPUs would need more than %d rings; try a larger --cpus-per-ring",
			  cpus, POV_RINGS_MAX - 1);
		return -EINVAL;
	}
	if (!bytes) {
		bytes = RINGS_BYTES / (k->rings + 1);
		if (bytes > RING_BYTES)
			bytes = RING_BYTES;
	}
	k->ring_bytes = ring_round(bytes);
	return 0;
}

/*
 * Puts all rings into the outer map at once. The kernel waits for a grace period after each change
 * of such a map; since 6.8 one wait covers a batch.
 */
static int rings_fill(const struct kernel *k, int outer)
{
	unsigned int key[POV_RINGS_MAX], cnt = k->rings + 1;
	int err = 0;

	for (unsigned int i = 0; i < cnt; i++)
		key[i] = i;
	if (!bpf_map_update_batch(outer, key, k->ring_fd, &cnt, NULL))
		return 0;
	for (unsigned int i = 0; i <= k->rings && !err; i++)
		err = bpf_map_update_elem(outer, &i, &k->ring_fd[i], BPF_ANY);
	return err;
}

/* Creates the inner ring buffers of the outer map. The last one is the rescue ring. */
static int rings_create(struct kernel *k)
{
	int err = 0;

	for (unsigned int i = 0; i <= k->rings && !err; i++) {
		k->ring_fd[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "pov_ring", 0, 0,
					       k->ring_bytes, NULL);
		err = k->ring_fd[i] < 0 ? -errno : 0;
	}
	if (!err)
		err = rings_fill(k, bpf_map__fd(k->skel->maps.rings));
	if (err)
		log_error(
			"cannot create %u rings of %llu bytes each: %s; try a smaller --ring-size",
			k->rings + 1, (unsigned long long)k->ring_bytes, strerror(-err));
	return err;
}

static void programs_for_multi(struct povtrace *s)
{
	/*
	 * The first three do not sleep, but sleepable programs are cheaper to run: they need no
	 * rcu_read_lock.
	 */
	struct bpf_program *const progs[] = {
		s->progs.call_entry,	s->progs.call_return,  s->progs.call_left,
		s->progs.call_note,	s->progs.loader_wait,  s->progs.exec_wait,
		s->progs.handover_wait, s->progs.region_place,
	};

	for (size_t i = 0; i < sizeof(progs) / sizeof(*progs); i++) {
		bpf_program__set_expected_attach_type(progs[i], BPF_TRACE_UPROBE_MULTI);
		if (i < 3)
			bpf_program__set_flags(progs[i], BPF_F_SLEEPABLE);
	}
}

static void programs_choose(struct kernel *k, const struct kernel_options *opt)
{
	struct povtrace *s = k->skel;
	bool sched = opt->sched != POV_SCHED_OFF;

	bpf_program__set_autoload(s->progs.sched_switch_state, sched && k->features.switch_state);
	bpf_program__set_autoload(s->progs.sched_switch_plain, sched && !k->features.switch_state);
	bpf_program__set_autoload(s->progs.sched_waking, sched);
	bpf_program__set_autoload(s->progs.sched_wakeup_new, sched);
	bpf_program__set_autoload(s->progs.sched_migrate_task, sched);
	bpf_program__set_autoload(s->progs.place_sample, sched);
	bpf_program__set_autoload(s->progs.irq_handler_entry, opt->irq);
	bpf_program__set_autoload(s->progs.irq_handler_exit, opt->irq);
	bpf_program__set_autoload(s->progs.softirq_entry, opt->irq);
	bpf_program__set_autoload(s->progs.softirq_exit, opt->irq);
	bpf_program__set_autoload(s->progs.image_fentry, k->features.image_way == IMAGE_FENTRY);
	bpf_program__set_autoload(s->progs.image_kprobe, k->features.image_way == IMAGE_KPROBE);
	bpf_program__set_autoload(s->progs.image_tree, k->features.image_way == IMAGE_TREE);
	bpf_program__set_autoload(s->progs.region_place, opt->regions);
	bpf_program__set_autoload(s->progs.call_note, opt->notes);
	bpf_program__set_autoload(s->progs.loader_wait, k->features.wait);
	bpf_program__set_autoload(s->progs.exec_wait, k->features.wait && !opt->each);
	bpf_program__set_autoload(s->progs.handover_wait, k->features.wait && opt->handovers);
	if (k->programs.api == LINK_MULTI)
		programs_for_multi(s);
}

/* Returns the fetches (bits: enum pov_fetch_op) that recipes of functions with probes have. */
static uint32_t fetches_find(const struct kernel_options *opt)
{
	uint32_t fetches = 0;

	for (size_t i = 0; i < func_table_count(); i++)
		for (int f = 0; (!opt->wanted || opt->wanted[i]) && f < opt->fns[i].nfetch; f++)
			fetches |= 1u << opt->fns[i].fetch[f].op;
	return fetches;
}

static void constants_set(struct kernel *k, const struct kernel_options *opt)
{
	struct pov_config *c = (struct pov_config *)&k->skel->rodata->cfg;

	c->spin_gap_ns = opt->spin_gap_ns;
	c->wake_bytes = k->ring_bytes / WAKE_SHARE;
	c->self_tgid = getpid();
	c->rings = k->rings;
	c->cpus_per_ring = k->cpus_per_ring;
	c->cpus = libbpf_num_possible_cpus();
	c->sched_mode = opt->sched;
	c->all = opt->all;
	c->multi = k->programs.api == LINK_MULTI;
	c->wait_ns = WAIT_NS;
	c->kernel_row = kernel_functions_row();
	c->preload = opt->preload;
	c->regions = opt->regions;
	c->stacks = opt->stacks;
	c->fetches = fetches_find(opt);
}

/* Sets up the kernel half with or without yield pages. 0 or -errno. */
static int yield_pages_set(struct kernel *k)
{
	struct bpf_map *map = k->skel->maps.yield_pages;

	if (!k->yield.at)
		return bpf_map__set_autocreate(map, false);
	k->skel->rodata->yield_pages_exist = true;
	k->skel->bss->yield_pages_at = (uintptr_t)k->yield.at;
	return bpf_map__reuse_fd(map, k->yield.fd);
}

/*
 * Sizes the BPF maps by process. The kernel allocates each as a whole, which takes 2 ms for 65,536
 * entries, so small machines get fewer.
 */
static void process_maps_size(struct kernel *k)
{
	struct bpf_map *const maps[] = {k->skel->maps.asked, k->skel->maps.answered,
					k->skel->maps.waiting, k->skel->maps.preload_loaded,
					k->skel->maps.handed};
	uint32_t cnt = PROCESSES_PER_CPU * (uint32_t)libbpf_num_possible_cpus();

	cnt = cnt < PROCESSES_MIN ? PROCESSES_MIN : cnt;
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		if (cnt < bpf_map__max_entries(maps[i]))
			bpf_map__set_max_entries(maps[i], cnt);
}

static int recipes_set(struct kernel *k, const struct kernel_options *opt)
{
	int fd = bpf_map__fd(k->skel->maps.fns), err = 0;

	for (uint32_t i = 0; i < opt->fn_cnt && !err; i++)
		err = bpf_map_update_elem(fd, &i, &opt->fns[i], BPF_ANY);
	if (err)
		log_error("cannot configure the BPF programs: %s", strerror(-err));
	return err;
}

/* Returns -1 if the program is not loaded. */
static int program_fd(const struct bpf_program *prog)
{
	return bpf_program__autoload(prog) ? bpf_program__fd(prog) : -1;
}

static void maps_take(struct kernel *k, const struct kernel_options *opt)
{
	k->control_fd = bpf_map__fd(k->skel->maps.control);
	k->targets_fd = bpf_map__fd(k->skel->maps.targets);
	k->files_fd = bpf_map__fd(k->skel->maps.files);
	k->paths_fd = bpf_map__fd(k->skel->maps.paths);
	k->asked_fd = bpf_map__fd(k->skel->maps.asked);
	k->answered_fd = bpf_map__fd(k->skel->maps.answered);
	k->waiting_fd = bpf_map__fd(k->skel->maps.waiting);
	k->libs_fd = bpf_map__fd(k->skel->maps.libs);
	k->handovers_fd = bpf_map__fd(k->skel->maps.handovers);
	k->notes_fd = bpf_map__fd(k->skel->maps.notes);
	k->fns_fd = bpf_map__fd(k->skel->maps.fns);
	k->preloaded_fd = bpf_map__fd(k->skel->maps.preloaded);
	k->preload_loaded_fd = bpf_map__fd(k->skel->maps.preload_loaded);
	k->bindings_fd = bpf_map__fd(k->skel->maps.process_bindings);
	k->binding_steps = k->skel->bss->binding_steps;
	k->bindings_changes = (uint64_t *)&k->skel->bss->bindings_changes;
	k->counters = (const volatile uint64_t *)k->skel->bss->counters;
	k->drops = (volatile uint64_t *)k->skel->bss->drops;
	k->programs.entry_fd = bpf_program__fd(k->skel->progs.call_entry);
	k->programs.ret_fd = bpf_program__fd(k->skel->progs.call_return);
	k->note_fd = program_fd(k->skel->progs.call_note);
	k->regions = (struct link_programs){.entry_fd = -1, .ret_fd = -1, .api = k->programs.api};
	if (opt->regions)
		k->regions.entry_fd = bpf_program__fd(k->skel->progs.region_place);
	k->loader_fd = program_fd(k->skel->progs.loader_wait);
	k->exec_fd = program_fd(k->skel->progs.exec_wait);
	k->handover_fd = program_fd(k->skel->progs.handover_wait);
}

int kernel_load(const struct kernel_options *opt, struct kernel *k)
{
	int err;

	memset(k, 0, sizeof(*k));
	kernel_prepare();
	features_probe(&k->features);
	err = kernel_check("recording", &k->features);
	if (err)
		return err;
	k->programs.api = !opt->perf_links && (opt->each ? k->features.uprobe_multi_pid :
							   k->features.uprobe_multi) ?
				  LINK_MULTI :
				  LINK_PERF;
	if (k->programs.api == LINK_PERF && !k->features.perf_uprobe) {
		log_error("this kernel has no uprobes: use one built with CONFIG_UPROBE_EVENTS");
		return -EOPNOTSUPP;
	}
	err = rings_plan(k, opt);
	if (err)
		return err;
	yield_pages_make(&k->yield);
	k->returns = late_program_new();
	k->skel = k->returns ? povtrace__open() : NULL;
	if (!k->skel) {
		err = -errno;
		log_error("cannot open the BPF programs: %s", strerror(-err));
		return err;
	}
	programs_choose(k, opt);
	kernel_functions_choose(&k->functions, k->skel->obj, opt->wanted);
	constants_set(k, opt);
	bpf_map__set_max_entries(k->skel->maps.fns, opt->fn_cnt);
	process_maps_size(k);
	err = yield_pages_set(k) ?: povtrace__load(k->skel);
	if (err) {
		log_error("cannot load the BPF programs: %s; `povtrace -v -v record …` shows why, "
			  "and `povtrace check` shows what this kernel can do",
			  strerror(-err));
		return err;
	}
	maps_take(k, opt);
	err = recipes_set(k, opt);
	return err ? err : rings_create(k);
}

void kernel_keep(struct kernel *k, struct bpf_link *link)
{
	*table_append(k->link, k->link_cnt) = link;
}

int kernel_program_attach(const char *before, struct bpf_program *prog, struct bpf_link **out)
{
	int err;

	*out = bpf_program__autoload(prog) ? bpf_program__attach(prog) : NULL;
	if (*out || !bpf_program__autoload(prog))
		return 0;
	err = -errno;
	log_error("%scannot attach %s: %s", before, bpf_program__name(prog), strerror(-err));
	return err;
}

int kernel_attach(struct kernel *k)
{
	struct povtrace *s = k->skel;
	/* switches come last: every switch that is seen needs its wake-up */
	struct bpf_program *const progs[] = {
		s->progs.process_fork,	     s->progs.process_exec,
		s->progs.process_exit,	     s->progs.process_free,
		s->progs.signal_generate,    s->progs.task_rename,
		s->progs.image_fentry,	     s->progs.image_kprobe,
		s->progs.image_tree,	     s->progs.irq_handler_exit,
		s->progs.irq_handler_entry,  s->progs.softirq_exit,
		s->progs.softirq_entry,	     s->progs.sched_waking,
		s->progs.sched_wakeup_new,   s->progs.sched_migrate_task,
		s->progs.sched_switch_state, s->progs.sched_switch_plain,
	};
	struct bpf_link *link;
	int err = 0;

	for (size_t i = 0; i < sizeof(progs) / sizeof(*progs) && !err; i++) {
		err = kernel_program_attach("", progs[i], &link);
		if (link)
			kernel_keep(k, link);
	}
	if (!err)
		place_samples_attach(k);
	if (!err)
		kernel_functions_attach(&k->functions);
	if (!err && k->features.image_way == IMAGE_NONE)
		log_warn("this kernel does not report new code mappings: only libraries that are "
			 "already mapped are recorded");
	return err;
}

/*
 * Waits until every BPF program that is running now has ended. membarrier does not work if CPUs run
 * without a tick; putting a ring into the outer map waits, too, but costs an allocation.
 */
static void grace_wait(struct kernel *k)
{
	unsigned int first = 0;

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) &&
	    bpf_map_update_elem(bpf_map__fd(k->skel->maps.rings), &first, &k->ring_fd[0], BPF_ANY))
		log_debug("cannot wait for the probes: %s", strerror(errno));
}

uint64_t *kernel_exchanges(struct kernel *k)
{
	return (uint64_t *)&k->skel->bss->exchanges;
}

uint64_t kernel_calls_end(struct kernel *k)
{
	uint64_t end_ns = clock_now_ns() + END_AHEAD_NS, now;
	struct timespec ts;

	k->skel->bss->calls_until = end_ns;
	if (k->calls_until_too)
		__atomic_store_n(k->calls_until_too, end_ns, __ATOMIC_RELEASE);
	now = clock_now_ns();
	if (now > end_ns) /* the tracer did not run for a moment */
		end_ns = now;
	ts = (struct timespec){end_ns / 1000000000, end_ns % 1000000000};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		continue;
	grace_wait(k);
	return end_ns;
}

void kernel_say_alive(struct kernel *k, bool alive)
{
	k->skel->bss->collector_ns = alive ? clock_now_ns() : 0;
}

void kernel_detach(struct kernel *k)
{
	kernel_functions_detach(&k->functions);
	for (size_t i = 0; i < k->link_cnt; i++)
		bpf_link__destroy(k->link[i]);
	free(k->link);
	k->link = NULL;
	k->link_cnt = 0;
}

void kernel_release(struct kernel *k)
{
	kernel_detach(k);
	kernel_functions_release(&k->functions);
	for (unsigned int i = 0; k->skel && i <= k->rings; i++)
		if (k->ring_fd[i] > 0)
			close(k->ring_fd[i]);
	if (k->leftover.probes.cnt) {
		k->leftover.rings_fd = fcntl(bpf_map__fd(k->skel->maps.rings), F_DUPFD_CLOEXEC, 0);
		k->leftover.rings = k->leftover.rings_fd < 0 ? 0 : k->rings + 1;
	}
	late_program_free(k->returns);
	k->returns = NULL;
	povtrace__destroy(k->skel);
	k->skel = NULL;
	yield_pages_release(&k->yield);
	leftover_probes_close(&k->leftover);
}

/* Sums up how often programs were not run because one was already active on the CPU. */
static uint64_t recursions_read(const struct kernel *k)
{
	struct bpf_program *prog;
	uint64_t sum = 0;

	bpf_object__for_each_program(prog, k->skel->obj)
	{
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);

		if (bpf_program__fd(prog) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
			sum += info.recursion_misses;
	}
	return sum;
}

uint64_t kernel_recursions(const struct kernel *k)
{
	return recursions_read(k) - k->recursions;
}

void kernel_reset_counters(struct kernel *k)
{
	memset(k->skel->bss->counters, 0, sizeof(k->skel->bss->counters));
	for (size_t i = 0; i < POV_DROPS; i++)
		k->drops[i] = 0;
	k->recursions = recursions_read(k);
}

int kernel_add_target(struct kernel *k, uint32_t tgid)
{
	uint32_t alive = POV_TARGET_ALIVE;
	int err = bpf_map_update_elem(k->targets_fd, &tgid, &alive, BPF_ANY);

	if (err)
		log_error("cannot make process %u a target: %s", tgid, strerror(-err));
	return err;
}

bool kernel_target_lives(const struct kernel *k, uint32_t tgid)
{
	uint32_t state;

	return !bpf_map_lookup_elem(k->targets_fd, &tgid, &state) && state != POV_TARGET_ENDING;
}

/* Runs an iterator program and passes each item of a fixed size to fn. */
static int program_iterate(struct bpf_program *prog, size_t bytes,
			   void (*fn)(void *ctx, const void *item), void *ctx)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	const size_t cap = 16 * bytes;
	char *buf = xmalloc(cap);
	size_t have = 0, at;
	int fd = -1, err = 0;
	ssize_t n;

	if (link)
		fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		err = -errno;
		log_error("cannot list the threads: %s", strerror(-err));
		goto out;
	}
	while ((n = read(fd, buf + have, cap - have)) > 0 || (n < 0 && errno == EAGAIN)) {
		if (n < 0)
			continue;
		have += n;
		for (at = 0; at + bytes <= have; at += bytes)
			fn(ctx, buf + at);
		have -= at;
		memmove(buf, buf + at, have);
	}
	if (n < 0)
		err = -errno;
	close(fd);
out:
	bpf_link__destroy(link);
	free(buf);
	return err;
}

int kernel_snapshot(struct kernel *k, void (*fn)(void *ctx, const void *task), void *ctx)
{
	return program_iterate(k->skel->progs.task_snapshot, sizeof(struct pov_task), fn, ctx);
}

int kernel_written(struct kernel *k, void (*fn)(void *ctx, const void *written), void *ctx)
{
	return program_iterate(k->skel->progs.task_written, sizeof(struct pov_written), fn, ctx);
}

int kernel_thread_regs(struct kernel *k, void (*fn)(void *ctx, const void *regs), void *ctx)
{
#if defined(__x86_64__)
	return program_iterate(k->skel->progs.task_regs, sizeof(struct pov_regs), fn, ctx);
#else
	(void)k, (void)fn, (void)ctx;
	return 0;
#endif
}

int kernel_dump_threads(struct kernel *k, void (*fn)(void *ctx, const void *thread), void *ctx)
{
	return program_iterate(k->skel->progs.thread_dump, sizeof(struct pov_thread), fn, ctx);
}
