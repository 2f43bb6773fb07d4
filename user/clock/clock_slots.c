/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Slots are made in advance: a child has its own from its first instruction on. Changing the map of
 * pages makes the kernel wait milliseconds for all its users, so many slots are made at once.
 */
#include "clock/clock_slots.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/clock.h"
#include "target/features.h"
#include "target/proc.h"
#include "lib/log.h"
#include "lib/table.h"
#include "clock.skel.h"
#include "record/kernel.h"
#include "clock/libpov/page.h"

#define READY_MOST 256u
#define READY_LEAST 192u
/*
 * A process is examined in its first LOOKS_AT_FIRST rounds, as it may soon exec another program,
 * and then in every LOOKS_EVERY-th one.
 */
#define LOOKS_AT_FIRST 16
#define LOOKS_EVERY 16
#define ADOPT_PASSES 8

/* ---- pages ---- */

/* Makes a page that only the kernel half can write. Returns a descriptor or -errno. */
static int page_make(const char *name, const void *first, unsigned int bytes, unsigned int cnt)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, 4, bytes, cnt, &opts), err = 0;
	uint32_t zero = 0;

	if (fd < 0)
		return -errno;
	if (first)
		err = bpf_map_update_elem(fd, &zero, first, BPF_ANY);
	if (!err)
		err = bpf_map_freeze(fd);
	if (!err)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int slot_make(struct slot *slot)
{
	const struct pov_clock_process first = {.version = POV_CLOCK_VERSION,
						.alive_ns = clock_now_ns()};

	*slot = (struct slot){.section_fd = -1, .rank = -1};
	slot->page_fd = page_make("pov_clock", &first, sizeof(first), 1);
	if (slot->page_fd < 0)
		return slot->page_fd;
	slot->page = mmap(NULL, sizeof(first), PROT_READ, MAP_SHARED, slot->page_fd, 0);
	if (slot->page != MAP_FAILED)
		return 0;
	slot->page = NULL;
	return -errno;
}

static void page_drop(struct slot *slot)
{
	if (slot->page)
		munmap((void *)slot->page, sizeof(*slot->page));
	if (slot->page_fd >= 0)
		close(slot->page_fd);
	if (slot->section_fd >= 0)
		close(slot->section_fd);
	*slot = (struct slot){.page_fd = -1, .section_fd = -1};
}

static int pages_publish(const struct clock_slots *s, unsigned int *key, int *fd, unsigned int cnt)
{
	int outer = bpf_map__fd(s->skel->maps.pages), err = 0;
	unsigned int all = cnt;

	if (!bpf_map_update_batch(outer, key, fd, &all, NULL))
		return 0;
	for (unsigned int i = 0; i < cnt && !err; i++)
		err = bpf_map_update_elem(outer, &key[i], &fd[i], BPF_ANY);
	return err;
}

/*
 * Makes up to cnt new slots in this state and returns their indices. 0 or -errno; some may exist
 * even then.
 */
static int clock_slots_make(struct clock_slots *s, unsigned int cnt, enum slot_state state,
			    unsigned int *made, unsigned int *idx)
{
	int fd[READY_MOST], err = 0;

	*made = 0;
	for (unsigned int i = 0; i < POV_CLOCK_SLOTS && *made < cnt && !err; i++) {
		if (i < s->end && s->slot[i].state != SLOT_FREE)
			continue;
		err = slot_make(&s->slot[i]);
		if (err) {
			page_drop(&s->slot[i]);
			break;
		}
		s->end = i < s->end ? s->end : i + 1;
		idx[*made] = i;
		fd[(*made)++] = s->slot[i].page_fd;
		s->slot[i].state = state;
	}
	if (*made && pages_publish(s, idx, fd, *made)) {
		err = -errno;
		for (unsigned int i = 0; i < *made; i++)
			page_drop(&s->slot[idx[i]]);
		*made = 0;
	}
	if (!err && !*made)
		err = -EUSERS;
	return err;
}

static int ready_fill(struct clock_slots *s)
{
	unsigned int idx[READY_MOST], made;
	int err;

	if (s->ready >= READY_LEAST)
		return 0;
	err = clock_slots_make(s, READY_MOST - s->ready, SLOT_READY, &made, idx);
	for (unsigned int i = 0; i < made; i++) {
		if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.ready), NULL, &idx[i], BPF_ANY))
			page_drop(&s->slot[idx[i]]);
		else
			s->ready++;
	}
	return s->ready ? 0 : err;
}

/* ---- data that only the kernel half can write ---- */

static int order_run(const struct bpf_program *prog, struct pov_clock_order o)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &o, .ctx_size_in = sizeof(o));

	return bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) ? -errno : 0;
}

static void clock_slots_say_alive(const struct clock_slots *s, uint64_t alive_ns)
{
	struct pov_clock_order o = {.alive_ns = alive_ns, .cnt = POV_CLOCK_ORDER_SLOTS};

	for (o.slot = 0; o.slot < s->end; o.slot += o.cnt)
		if (order_run(s->skel->progs.clock_alive, o))
			log_debug("clock: cannot signal that the server is alive: %s",
				  strerror(errno));
}

/* ---- identity of a process ---- */

static void slot_identify(struct slot *slot)
{
	struct proc_rank r;
	struct stat st;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d", slot->pid);
	if (stat(path, &st))
		return;
	slot->uid = st.st_uid;
	snprintf(path, sizeof(path), "/proc/%d/comm", slot->pid);
	f = fopen(path, "re");
	if (f && fgets(slot->command, sizeof(slot->command), f))
		slot->command[strcspn(slot->command, "\n")] = '\0';
	if (f)
		fclose(f);
	if (slot->rank < 0 && !proc_rank_read(slot->pid, NULL, &r, NULL) && r.rank >= 0 &&
	    strcmp(r.launcher, "singleton")) {
		slot->rank = r.rank;
		snprintf(slot->job, sizeof(slot->job), "%s", r.job);
	}
}

void clock_slots_tend(struct clock_slots *s)
{
	struct slot *slot;

	clock_slots_say_alive(s, clock_now_ns());
	for (unsigned int i = 0; i < s->end; i++) {
		slot = &s->slot[i];
		if (slot->state != SLOT_TAKEN)
			continue;
		if (slot->looked++ < LOOKS_AT_FIRST || !(slot->looked % LOOKS_EVERY))
			slot_identify(slot);
	}
	ready_fill(s);
}

/* ---- events from the kernel half ---- */

static void slot_leave(struct clock_slots *s, struct slot *slot)
{
	if (!s->keep || (slot->rank < 0 && !slot->named)) {
		page_drop(slot);
		return;
	}
	slot->state = SLOT_LEFT;
	slot->end_ns = clock_now_ns();
}

static int on_news(void *ctx, void *data, size_t bytes)
{
	const struct pov_clock_news *n = data;
	struct clock_slots *s = ctx;
	struct slot *slot;

	if (bytes < sizeof(*n) || n->slot >= s->end)
		return 0;
	slot = &s->slot[n->slot];
	if (n->kind == POV_CLOCK_JOINED && slot->state == SLOT_READY) {
		s->ready--;
		slot->state = SLOT_TAKEN;
		slot->pid = (pid_t)n->tgid;
		slot->begin_ns = clock_now_ns();
	} else if (n->kind == POV_CLOCK_LEFT && slot->state == SLOT_TAKEN) {
		slot_leave(s, slot);
	}
	return 0;
}

int clock_slots_fd(const struct clock_slots *s)
{
	return ring_buffer__epoll_fd(s->news);
}

void clock_slots_news(struct clock_slots *s)
{
	ring_buffer__consume(s->news);
	ready_fill(s);
}

/* ---- running processes ---- */

int clock_slots_find(const struct clock_slots *s, pid_t pid)
{
	for (unsigned int i = 0; i < s->end; i++)
		if (s->slot[i].state == SLOT_TAKEN && s->slot[i].pid == pid)
			return (int)i;
	return -ESRCH;
}

static int adopt_iterate(struct clock_slots *s)
{
	char buf[64];
	int fd = bpf_iter_create(s->adopt_fd), err = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	while (n > 0)
		n = read(fd, buf, sizeof(buf));
	if (n < 0)
		err = -errno;
	close(fd);
	return err;
}

/*
 * Threads are counted from the next time they get a CPU. A thread that never leaves its CPU would
 * be missed for long. So this thread visits each CPU once, with priority over all others.
 */
static void cpus_visit(const struct clock_slots *s)
{
	const struct sched_param first = {.sched_priority = 1}, usual = {.sched_priority = 0};
	size_t bytes = CPU_ALLOC_SIZE(s->cpus);
	cpu_set_t *was = CPU_ALLOC(s->cpus), *one = CPU_ALLOC(s->cpus);

	if (was && one && !sched_getaffinity(0, bytes, was)) {
		sched_setscheduler(0, SCHED_FIFO, &first);
		for (unsigned int cpu = 0; cpu < s->cpus; cpu++) {
			CPU_ZERO_S(bytes, one);
			CPU_SET_S(cpu, bytes, one);
			sched_setaffinity(0, bytes, one);
		}
		sched_setaffinity(0, bytes, was);
		sched_setscheduler(0, SCHED_OTHER, &usual);
	}
	CPU_FREE(was);
	CPU_FREE(one);
}

int clock_slots_adopt(struct clock_slots *s, pid_t pid)
{
	unsigned int idx, made, passes = 0;
	uint32_t before;
	int err;

	clock_slots_news(s); /* the kernel half may have given it a slot already */
	err = clock_slots_find(s, pid);
	if (err >= 0)
		return err;
	err = clock_slots_make(s, 1, SLOT_TAKEN, &made, &idx);
	if (err)
		return err;
	s->slot[idx].pid = pid;
	s->slot[idx].begin_ns = clock_now_ns();
	s->skel->bss->adopt_tgid = (uint32_t)pid;
	s->skel->bss->adopt_slot = idx;
	s->skel->bss->adopted = 0;
	do { /* again, as a thread may start another one before the iteration reaches it */
		before = s->skel->bss->adopted;
		err = adopt_iterate(s);
	} while (!err && s->skel->bss->adopted != before && ++passes < ADOPT_PASSES);
	if (!s->skel->bss->adopted) {
		page_drop(&s->slot[idx]);
		return err ?: -ESRCH;
	}
	cpus_visit(s);
	slot_identify(&s->slot[idx]);
	return (int)idx;
}

/* ---- sections ---- */

static int cores_make(const struct clock_slots *s)
{
	return page_make("pov_clock_cpus", NULL, sizeof(struct pov_clock_core), s->cpus);
}

static int group_make(struct clock_slots *s, uid_t uid, const char *job)
{
	unsigned int key = s->group_cnt;
	struct core_group g = {.uid = uid};

	if (key == POV_CLOCK_SLOTS)
		return -EUSERS;
	snprintf(g.job, sizeof(g.job), "%s", job);
	g.fd = cores_make(s);
	if (g.fd < 0)
		return g.fd;
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.groups), &key, &g.fd, BPF_ANY)) {
		close(g.fd);
		return -errno;
	}
	*table_append(s->group, s->group_cnt) = g;
	return (int)key;
}

static int group_find(struct clock_slots *s, uid_t uid, const char *job)
{
	for (unsigned int i = 0; i < s->group_cnt; i++)
		if (s->group[i].uid == uid && !strcmp(s->group[i].job, job))
			return (int)i;
	return group_make(s, uid, job);
}

int clock_slots_section(struct clock_slots *s, int idx, int *group_fd)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct slot *slot = &s->slot[idx];
	unsigned int key = (unsigned int)idx;
	int group;

	slot_identify(slot);
	group = group_find(s, slot->uid, slot->job);
	if (group < 0)
		return group;
	*group_fd = s->group[group].fd;
	if (slot->section_fd >= 0)
		return 0;
	slot->section_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "pov_section", 4,
					  sizeof(struct pov_clock_section), 1, &opts);
	if (slot->section_fd < 0)
		return -errno;
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.sections), &key, &slot->section_fd,
				BPF_ANY)) {
		close(slot->section_fd);
		slot->section_fd = -1;
		return -errno;
	}
	return order_run(s->skel->progs.clock_section,
			 (struct pov_clock_order){.slot = key, .group = (uint32_t)group});
}

/* ---- rows ---- */

static int process_cpu(const struct pov_clock_process *p, pid_t pid)
{
	const struct pov_clock_thread *first = page_place(p, (uint32_t)pid);

	for (unsigned int i = 0; i < POV_CLOCK_THREADS; i++)
		if (p->thread[i].tid && page_thread_runs(p->thread[i].sum))
			return (int)p->thread[i].cpu;
	return first && first->sum ? (int)first->cpu : -1;
}

/* Time that threads have been waiting in their current waits. */
static uint64_t threads_waiting_ns(const struct pov_clock_process *p, uint64_t now)
{
	uint64_t since, sum = 0;

	for (unsigned int i = 0; i < POV_CLOCK_THREADS; i++) {
		since = __atomic_load_n(&p->thread[i].runnable_since, __ATOMIC_RELAXED);
		if (p->thread[i].tid && since && since < now)
			sum += now - since;
	}
	return sum;
}

size_t clock_slots_rows(const struct clock_slots *s, struct clock_row *rows)
{
	const struct slot *slot;
	struct clock_row *r;
	uint64_t now;
	size_t cnt = 0;

	for (unsigned int i = 0; i < s->end; i++) {
		slot = &s->slot[i];
		if (slot->state != SLOT_TAKEN && slot->state != SLOT_LEFT)
			continue;
		r = &rows[cnt++];
		*r = (struct clock_row){
			.pid = slot->pid,
			.uid = slot->uid,
			.rank = slot->rank,
			.job = slot->job,
			.command = slot->command,
			.rank_pov_ns = page_rank_ns(slot->page, &now),
			.ended = slot->state == SLOT_LEFT,
			.preempted = slot->page->preempted,
			.migrations = slot->page->migrations,
			.threads = slot->page->threads,
			.running = (uint32_t)(slot->page->begun & POV_CLOCK_RUNNING),
			.cpu = process_cpu(slot->page, slot->pid),
		};
		if (r->ended)
			now = slot->end_ns;
		r->runnable_ns = slot->page->runnable +
				 (r->ended ? 0 : threads_waiting_ns(slot->page, now));
		r->wall_ns = now - slot->begin_ns;
	}
	return cnt;
}

/* ---- init and release ---- */

static int programs_attach(struct clock_slots *s)
{
	struct bpf_program *const progs[] = {
		s->skel->progs.clock_adopt,	   s->skel->progs.clock_exec,
		s->skel->progs.clock_fork,	   s->skel->progs.clock_wakeup,
		s->skel->progs.clock_wakeup_new,   s->skel->progs.clock_switch_state,
		s->skel->progs.clock_switch_plain,
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(progs) / sizeof(*progs) && !err; i++) {
		err = kernel_program_attach("clock: ", progs[i], &s->link[s->link_cnt]);
		if (!s->link[s->link_cnt])
			continue;
		if (!i)
			s->adopt_fd = bpf_link__fd(s->link[0]);
		s->link_cnt++;
	}
	return err;
}

static int skel_load(struct clock_slots *s, const struct features *f, bool cost)
{
	int cores, err;

	s->skel = pov_clock__open();
	if (!s->skel)
		return -errno;
	bpf_program__set_autoload(s->skel->progs.clock_switch_state, f->switch_state);
	bpf_program__set_autoload(s->skel->progs.clock_switch_plain, !f->switch_state);
	s->skel->rodata->timed = cost;
	cores = cores_make(s); /* template for the inner maps */
	if (cores < 0)
		return cores;
	err = bpf_map__set_inner_map_fd(s->skel->maps.groups, cores);
	if (!err)
		err = pov_clock__load(s->skel);
	close(cores);
	return err;
}

int clock_slots_init(struct clock_slots *s, bool cost)
{
	struct features f;
	int err;

	memset(s, 0, sizeof(*s));
	s->cpus = (unsigned int)libbpf_num_possible_cpus();
	kernel_prepare();
	features_probe(&f);
	err = kernel_check("clock", &f);
	if (err)
		return err;
	err = skel_load(s, &f, cost);
	if (err) {
		log_error(
			"clock: cannot load the kernel half: %s; `povtrace check` shows what this "
			"kernel can do",
			strerror(-err));
		return err;
	}
	s->news = ring_buffer__new(bpf_map__fd(s->skel->maps.news), on_news, s, NULL);
	err = s->news ? ready_fill(s) : -errno;
	if (err) {
		log_error("clock: cannot make pages: %s", strerror(-err));
		return err;
	}
	return programs_attach(s);
}

void clock_slots_release(struct clock_slots *s)
{
	if (s->link_cnt)
		clock_slots_say_alive(s, 0);
	while (s->link_cnt)
		bpf_link__destroy(s->link[--s->link_cnt]);
	for (unsigned int i = 0; i < s->end; i++)
		if (s->slot[i].state != SLOT_FREE)
			page_drop(&s->slot[i]);
	for (unsigned int i = 0; i < s->group_cnt; i++)
		close(s->group[i].fd);
	free(s->group);
	ring_buffer__free(s->news);
	pov_clock__destroy(s->skel);
}
