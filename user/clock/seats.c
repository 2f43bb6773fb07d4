/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Seats are made before anybody needs them: a child has its own from its first instruction on. Changing the map of pages makes the
 * kernel wait for all that may use it, milliseconds, so that many are made at once.
 */
#include "clock/seats.h"

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

#include "target/features.h"
#include "target/proc.h"
#include "lib/log.h"
#include "clock.skel.h"
#include "record/kernel.h"
#include "clock/libpov/page.h"

#define READY_MOST 256u
#define READY_LEAST 192u
/* A process is looked at each time that often, as it may become another program soon, and then each so many times. */
#define LOOKS_AT_FIRST 16
#define LOOKS_EVERY 16
#define ADOPT_PASSES 8

/* ---- pages ---- */

/* A page that only the kernel half writes to from now on. A descriptor or -errno. */
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

static int seat_make(struct seat *seat)
{
	const struct pov_clock_process first = {.version = POV_CLOCK_VERSION,
						.alive_ns = kernel_now_ns()};

	*seat = (struct seat){.section_fd = -1, .rank = -1};
	seat->page_fd = page_make("pov_clock", &first, sizeof(first), 1);
	if (seat->page_fd < 0)
		return seat->page_fd;
	seat->page = mmap(NULL, sizeof(first), PROT_READ, MAP_SHARED, seat->page_fd, 0);
	if (seat->page != MAP_FAILED)
		return 0;
	seat->page = NULL;
	return -errno;
}

static void page_drop(struct seat *seat)
{
	if (seat->page)
		munmap((void *)seat->page, sizeof(*seat->page));
	if (seat->page_fd >= 0)
		close(seat->page_fd);
	if (seat->section_fd >= 0)
		close(seat->section_fd);
	*seat = (struct seat){.page_fd = -1, .section_fd = -1};
}

static int pages_tell(const struct seats *s, unsigned int *key, int *fd, unsigned int cnt)
{
	int outer = bpf_map__fd(s->skel->maps.pages), err = 0;
	unsigned int all = cnt;

	if (!bpf_map_update_batch(outer, key, fd, &all, NULL))
		return 0;
	for (unsigned int i = 0; i < cnt && !err; i++)
		err = bpf_map_update_elem(outer, &key[i], &fd[i], BPF_ANY);
	return err;
}

/* New seats, up to cnt, in state `state`; their indices. 0 or -errno: then there may be some all the same. */
static int seats_make(struct seats *s, unsigned int cnt, enum seat_state state, unsigned int *made,
		      unsigned int *idx)
{
	int fd[READY_MOST], err = 0;
	unsigned int i;

	*made = 0;
	for (i = 0; i < POV_CLOCK_SEATS && *made < cnt && !err; i++) {
		if (i < s->end && s->seat[i].state != SEAT_FREE)
			continue;
		err = seat_make(&s->seat[i]);
		if (err) {
			page_drop(&s->seat[i]);
			break;
		}
		s->end = i < s->end ? s->end : i + 1;
		idx[*made] = i;
		fd[(*made)++] = s->seat[i].page_fd;
		s->seat[i].state = state;
	}
	if (*made && pages_tell(s, idx, fd, *made)) {
		err = -errno;
		for (i = 0; i < *made; i++)
			page_drop(&s->seat[idx[i]]);
		*made = 0;
	}
	if (!err && !*made)
		err = -EUSERS;
	return err;
}

static int ready_fill(struct seats *s)
{
	unsigned int idx[READY_MOST], made;
	int err;

	if (s->ready >= READY_LEAST)
		return 0;
	err = seats_make(s, READY_MOST - s->ready, SEAT_READY, &made, idx);
	for (unsigned int i = 0; i < made; i++) {
		if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.ready), NULL, &idx[i], BPF_ANY))
			page_drop(&s->seat[idx[i]]);
		else
			s->ready++;
	}
	return s->ready ? 0 : err;
}

/* ---- what only the kernel half can write ---- */

static int order(const struct bpf_program *prog, struct pov_clock_order o)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &o, .ctx_size_in = sizeof(o));

	return bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) ? -errno : 0;
}

static void seats_say_alive(const struct seats *s, uint64_t alive_ns)
{
	struct pov_clock_order o = {.alive_ns = alive_ns, .cnt = POV_CLOCK_ORDER_SEATS};

	for (o.seat = 0; o.seat < s->end; o.seat += o.cnt)
		if (order(s->skel->progs.clock_alive, o))
			log_debug("clock: cannot say that it lives: %s", strerror(errno));
}

/* ---- who it is ---- */

static void seat_look(struct seat *seat)
{
	struct proc_rank r;
	struct stat st;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d", seat->pid);
	if (stat(path, &st))
		return;
	seat->uid = st.st_uid;
	snprintf(path, sizeof(path), "/proc/%d/comm", seat->pid);
	f = fopen(path, "re");
	if (f && fgets(seat->command, sizeof(seat->command), f))
		seat->command[strcspn(seat->command, "\n")] = '\0';
	if (f)
		fclose(f);
	if (seat->rank < 0 && !proc_rank_read(seat->pid, NULL, &r, NULL) && r.rank >= 0 &&
	    strcmp(r.launcher, "singleton")) {
		seat->rank = r.rank;
		snprintf(seat->job, sizeof(seat->job), "%s", r.job);
	}
}

void seats_tend(struct seats *s)
{
	struct seat *seat;

	seats_say_alive(s, kernel_now_ns());
	for (unsigned int i = 0; i < s->end; i++) {
		seat = &s->seat[i];
		if (seat->state != SEAT_TAKEN)
			continue;
		if (seat->looked++ < LOOKS_AT_FIRST || !(seat->looked % LOOKS_EVERY))
			seat_look(seat);
	}
	ready_fill(s);
}

/* ---- news ---- */

static void seat_leave(struct seats *s, struct seat *seat)
{
	if (!s->keep || (seat->rank < 0 && !seat->named)) {
		page_drop(seat);
		return;
	}
	seat->state = SEAT_LEFT;
	seat->end_ns = kernel_now_ns();
}

static int on_news(void *ctx, void *data, size_t bytes)
{
	const struct pov_clock_news *n = data;
	struct seats *s = ctx;
	struct seat *seat;

	if (bytes < sizeof(*n) || n->seat >= s->end)
		return 0;
	seat = &s->seat[n->seat];
	if (n->kind == POV_CLOCK_SEATED && seat->state == SEAT_READY) {
		s->ready--;
		seat->state = SEAT_TAKEN;
		seat->pid = (pid_t)n->tgid;
		seat->begin_ns = kernel_now_ns();
	} else if (n->kind == POV_CLOCK_LEFT && seat->state == SEAT_TAKEN) {
		seat_leave(s, seat);
	}
	return 0;
}

int seats_fd(const struct seats *s)
{
	return ring_buffer__epoll_fd(s->news);
}

void seats_news(struct seats *s)
{
	ring_buffer__consume(s->news);
	ready_fill(s);
}

/* ---- processes that run already ---- */

int seats_find(const struct seats *s, pid_t pid)
{
	for (unsigned int i = 0; i < s->end; i++)
		if (s->seat[i].state == SEAT_TAKEN && s->seat[i].pid == pid)
			return (int)i;
	return -ESRCH;
}

static int iterate(struct seats *s)
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
 * Threads count from when they next get a CPU. One that never leaves its own would not for long: so this thread goes once to each
 * CPU, before all others.
 */
static void cpus_visit(const struct seats *s)
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

int seats_adopt(struct seats *s, pid_t pid)
{
	unsigned int idx, made, passes = 0;
	uint32_t before;
	int err;

	seats_news(s); /* it may have one that we have not heard of */
	err = seats_find(s, pid);
	if (err >= 0)
		return err;
	err = seats_make(s, 1, SEAT_TAKEN, &made, &idx);
	if (err)
		return err;
	s->seat[idx].pid = pid;
	s->seat[idx].begin_ns = kernel_now_ns();
	s->skel->bss->adopt_tgid = (uint32_t)pid;
	s->skel->bss->adopt_seat = idx;
	s->skel->bss->adopted = 0;
	do { /* a thread may have begun another one before it was found itself */
		before = s->skel->bss->adopted;
		err = iterate(s);
	} while (!err && s->skel->bss->adopted != before && ++passes < ADOPT_PASSES);
	if (!s->skel->bss->adopted) {
		page_drop(&s->seat[idx]);
		return err ?: -ESRCH;
	}
	cpus_visit(s);
	seat_look(&s->seat[idx]);
	return (int)idx;
}

/* ---- sections ---- */

static int cores_make(const struct seats *s)
{
	return page_make("pov_clock_cpus", NULL, sizeof(struct pov_clock_core), s->cpus);
}

static int group_make(struct seats *s, uid_t uid, const char *job)
{
	unsigned int key = s->group_cnt;
	struct core_group g = {.uid = uid};

	if (key == POV_CLOCK_SEATS)
		return -EUSERS;
	snprintf(g.job, sizeof(g.job), "%s", job);
	g.fd = cores_make(s);
	if (g.fd < 0)
		return g.fd;
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.groups), &key, &g.fd, BPF_ANY)) {
		close(g.fd);
		return -errno;
	}
	s->group = xrealloc(s->group, (key + 1) * sizeof(g));
	s->group[s->group_cnt++] = g;
	return (int)key;
}

static int group_find(struct seats *s, uid_t uid, const char *job)
{
	for (unsigned int i = 0; i < s->group_cnt; i++)
		if (s->group[i].uid == uid && !strcmp(s->group[i].job, job))
			return (int)i;
	return group_make(s, uid, job);
}

int seats_section(struct seats *s, int idx, int *group_fd)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct seat *seat = &s->seat[idx];
	unsigned int key = (unsigned int)idx;
	int group;

	seat_look(seat);
	group = group_find(s, seat->uid, seat->job);
	if (group < 0)
		return group;
	*group_fd = s->group[group].fd;
	if (seat->section_fd >= 0)
		return 0;
	seat->section_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "pov_section", 4,
					  sizeof(struct pov_clock_section), 1, &opts);
	if (seat->section_fd < 0)
		return -errno;
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.sections), &key, &seat->section_fd,
				BPF_ANY)) {
		close(seat->section_fd);
		seat->section_fd = -1;
		return -errno;
	}
	return order(s->skel->progs.clock_section,
		     (struct pov_clock_order){.seat = key, .group = (uint32_t)group});
}

/* ---- rows ---- */

static int cpu_of(const struct pov_clock_process *p, pid_t pid)
{
	const struct pov_clock_thread *first = page_place(p, (uint32_t)pid);

	for (unsigned int i = 0; i < POV_CLOCK_THREADS; i++)
		if (p->thread[i].tid && page_thread_runs(p->thread[i].sum))
			return (int)p->thread[i].cpu;
	return first && first->sum ? (int)first->cpu : -1;
}

/* What threads wait just now. */
static uint64_t waits_ns(const struct pov_clock_process *p, uint64_t now)
{
	uint64_t since, sum = 0;

	for (unsigned int i = 0; i < POV_CLOCK_THREADS; i++) {
		since = __atomic_load_n(&p->thread[i].runnable_since, __ATOMIC_RELAXED);
		if (p->thread[i].tid && since && since < now)
			sum += now - since;
	}
	return sum;
}

size_t seats_rows(const struct seats *s, struct clock_row *rows)
{
	const struct seat *seat;
	struct clock_row *r;
	uint64_t now;
	size_t cnt = 0;

	for (unsigned int i = 0; i < s->end; i++) {
		seat = &s->seat[i];
		if (seat->state != SEAT_TAKEN && seat->state != SEAT_LEFT)
			continue;
		r = &rows[cnt++];
		*r = (struct clock_row){
			.pid = seat->pid,
			.uid = seat->uid,
			.rank = seat->rank,
			.job = seat->job,
			.command = seat->command,
			.rank_pov_ns = page_rank_ns(seat->page, &now),
			.ended = seat->state == SEAT_LEFT,
			.preempted = seat->page->preempted,
			.migrations = seat->page->migrations,
			.threads = seat->page->threads,
			.running = (uint32_t)(seat->page->begun & POV_CLOCK_RUNNING),
			.cpu = cpu_of(seat->page, seat->pid),
		};
		if (r->ended)
			now = seat->end_ns;
		r->runnable_ns = seat->page->runnable + (r->ended ? 0 : waits_ns(seat->page, now));
		r->wall_ns = now - seat->begin_ns;
	}
	return cnt;
}

/* ---- begin and end ---- */

static int attach(struct seats *s, struct bpf_program *prog)
{
	struct bpf_link *link;
	int err;

	if (!bpf_program__autoload(prog))
		return 0;
	link = bpf_program__attach(prog);
	if (!link) {
		err = -errno;
		log_error("clock: cannot attach %s: %s", bpf_program__name(prog), strerror(-err));
		return err;
	}
	if (prog == s->skel->progs.clock_adopt)
		s->adopt_fd = bpf_link__fd(link);
	s->link[s->link_cnt++] = link;
	return 0;
}

static int attach_all(struct seats *s)
{
	struct bpf_program *const progs[] = {
		s->skel->progs.clock_adopt,	   s->skel->progs.clock_exec,
		s->skel->progs.clock_fork,	   s->skel->progs.clock_wakeup,
		s->skel->progs.clock_wakeup_new,   s->skel->progs.clock_switch_state,
		s->skel->progs.clock_switch_plain,
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(progs) / sizeof(*progs) && !err; i++)
		err = attach(s, progs[i]);
	return err;
}

static int load(struct seats *s, const struct features *f, bool cost)
{
	int cores, err;

	s->skel = pov_clock__open();
	if (!s->skel)
		return -errno;
	bpf_program__set_autoload(s->skel->progs.clock_switch_state, f->switch_state);
	bpf_program__set_autoload(s->skel->progs.clock_switch_plain, !f->switch_state);
	s->skel->rodata->timed = cost;
	cores = cores_make(s); /* what the maps of cores look like here */
	if (cores < 0)
		return cores;
	err = bpf_map__set_inner_map_fd(s->skel->maps.groups, cores);
	if (!err)
		err = pov_clock__load(s->skel);
	close(cores);
	return err;
}

int seats_init(struct seats *s, bool cost)
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
	err = load(s, &f, cost);
	if (err) {
		log_error(
			"clock: cannot load the kernel half: %s; `povtrace check` tells what this kernel can do",
			strerror(-err));
		return err;
	}
	s->news = ring_buffer__new(bpf_map__fd(s->skel->maps.news), on_news, s, NULL);
	err = s->news ? ready_fill(s) : -errno;
	if (err) {
		log_error("clock: cannot make pages: %s", strerror(-err));
		return err;
	}
	return attach_all(s);
}

void seats_release(struct seats *s)
{
	if (s->link_cnt)
		seats_say_alive(s, 0);
	while (s->link_cnt)
		bpf_link__destroy(s->link[--s->link_cnt]);
	for (unsigned int i = 0; i < s->end; i++)
		if (s->seat[i].state != SEAT_FREE)
			page_drop(&s->seat[i]);
	for (unsigned int i = 0; i < s->group_cnt; i++)
		close(s->group[i].fd);
	free(s->group);
	ring_buffer__free(s->news);
	pov_clock__destroy(s->skel);
}
