/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A uprobe_multi link fails as a whole if one of its sites cannot be probed, so a failing set is
 * halved until the failing sites are alone. target/elf/probe_site.h chooses the sites.
 */
#include "target/probes/links.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/config.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/table.h"

/*
 * The event is opened disabled: programs run all the same (uprobe_perf_func), and perf itself does
 * nothing. The numbers in sysfs are read once and not for each of hundreds of probes.
 */

#define UPROBE_DIR "/sys/bus/event_source/devices/uprobe/"

static int number_read(const char *path, const char *format, unsigned int *out)
{
	FILE *f = fopen(path, "re");
	int err = 0;

	if (!f)
		return -errno;
	if (fscanf(f, format, out) != 1)
		err = -EINVAL;
	fclose(f);
	return err;
}

/* 0, or -errno: the kernel has no such events. */
static int perf_probe_kind_read(struct perf_probe_kind *out)
{
	unsigned int type, bit;
	int err = number_read(UPROBE_DIR "type", "%u", &type);

	if (!err)
		err = number_read(UPROBE_DIR "format/retprobe", "config:%u", &bit);
	if (err)
		return err;
	*out = (struct perf_probe_kind){.type = type, .ret_bit = 1ull << (bit & 63)};
	return 0;
}

/*
 * An event of a process filters by its memory (__uprobe_perf_filter), so the program runs for all
 * threads on all CPUs. The CPU only limits where the scheduler handles the event, which stays
 * disabled.
 */
static int perf_probe_attach(const struct perf_probe_kind *kind, int prog_fd, bool ret, pid_t pid,
			     const char *path, uint64_t offset, uint64_t cookie,
			     struct perf_probe *out)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = kind->type,
		.config = ret ? kind->ret_bit : 0,
		.uprobe_path = (uintptr_t)path,
		.probe_offset = offset,
		.disabled = 1,
	};
	int event_fd, link_fd, err;

	event_fd = syscall(SYS_perf_event_open, &attr, pid ?: -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event_fd < 0)
		return -errno;
	link_fd = bpf_link_create(prog_fd, event_fd, BPF_PERF_EVENT, &opts);
	if (link_fd < 0) {
		err = -errno;
		close(event_fd);
		return err;
	}
	*out = (struct perf_probe){.event_fd = event_fd, .link_fd = link_fd};
	return 0;
}

/* Closes a probe. The last holder waits for grace periods, about 0.1 s. */
static void perf_probe_close(const struct perf_probe *probe)
{
	close(probe->link_fd);
	if (probe->event_fd >= 0)
		close(probe->event_fd);
	free(probe->member);
}

void perf_probes_add(struct perf_probes *probes, const struct perf_probe *probe)
{
	*table_append(probes->v, probes->cnt) = *probe;
}

/* ---- probes left by a recording ---- */

/*
 * To detach a program from its event and then to remove the event, the kernel waits for grace
 * periods under bpf_event_mutex (perf_event_detach_bpf_prog, since ef1b808e3b7c and in stable
 * series) and under event_mutex (perf_uprobe_destroy). So several threads would not be faster,
 * because nothing overlaps. Just exiting does not help either: a parent that waits for the process
 * waits until its files are closed.
 */

/*
 * Pause between closes. Others can take these mutexes meanwhile, so the next recording can attach
 * some dozens of probes.
 */
#define PAUSE_NS 20000000L

#define TURN_FILE "/run/povtrace-close.lock"
#define TURN_PAUSE_NS 100000000L
#define TURN_NS 300000000000L /* twice the time for all functions */

/*
 * Closes all descriptors except ours, so that nobody waits for us at the end of a pipe or terminal.
 */
static void others_close(const struct leftover_probes *leftover)
{
	int *ours = xcalloc(2 * leftover->probes.cnt + 1, sizeof(*ours));
	size_t n = 0;

	for (size_t i = 0; i < leftover->probes.cnt; i++) {
		ours[n++] = leftover->probes.v[i].link_fd;
		ours[n++] = leftover->probes.v[i].event_fd;
	}
	if (leftover->rings)
		ours[n++] = leftover->rings_fd;
	fd_close_others(ours, n);
	free(ours);
}

static void slow_close(int fd)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	nanosleep(&pause, NULL);
	close(fd);
}

/*
 * Waits until no other background process removes probes: if several did, the next recording could
 * hardly attach its own. The lock is on a file that only root can open, because any user who can
 * open a file can lock it. Without the lock, or after too long a wait, the process goes on.
 */
static void turn_await(void)
{
	const struct timespec pause = {.tv_nsec = TURN_PAUSE_NS};
	int fd = open(TURN_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid || st.st_mode & 0077) {
		log_debug("%s: cannot be locked, so background processes do not take turns",
			  TURN_FILE);
		return;
	}
	for (long i = 0; i < TURN_NS / TURN_PAUSE_NS && flock(fd, LOCK_EX | LOCK_NB); i++)
		nanosleep(&pause, NULL);
}

/* May be killed at any time: then the kernel closes the rest. */
static _Noreturn void closing_main(const struct leftover_probes *leftover)
{
	others_close(leftover);
	setsid();
	prctl(PR_SET_NAME, "povtrace-close");
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	if (chdir("/"))
		_exit(1);
	for (unsigned int i = 0; i < leftover->rings; i++)
		bpf_map_delete_elem(leftover->rings_fd, &i);
	if (leftover->rings)
		close(leftover->rings_fd);
	turn_await();
	for (size_t i = 0; i < leftover->probes.cnt; i++)
		slow_close(leftover->probes.v[i].link_fd);
	for (size_t i = 0; i < leftover->probes.cnt; i++)
		slow_close(leftover->probes.v[i].event_fd);
	_exit(0);
}

void leftover_probes_close(struct leftover_probes *leftover)
{
	pid_t pid;

	if (leftover->probes.cnt) {
		pid = fork();
		if (!pid)
			closing_main(leftover);
		if (pid > 0)
			log_info("process %d removes %u probes in the background", pid,
				 leftover->probes.cnt);
		else
			log_warn("cannot fork: %s; waiting until the kernel has removed %u probes",
				 strerror(errno), leftover->probes.cnt);
	}
	for (size_t i = 0; i < leftover->probes.cnt; i++)
		perf_probe_close(&leftover->probes.v[i]);
	if (leftover->rings)
		close(leftover->rings_fd);
	free(leftover->probes.v);
	memset(leftover, 0, sizeof(*leftover));
}

#define CLOSING_THREADS 256 /* each thread only waits for the kernel */

static int attach_multi(int prog_fd, bool ret, pid_t pid, const char *path,
			const struct link_site *sites, size_t cnt, struct perf_probe *out)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .uprobe_multi.path = path, .uprobe_multi.cnt = cnt,
		    .uprobe_multi.pid = (__u32)pid,
		    .uprobe_multi.flags = ret ? BPF_F_UPROBE_MULTI_RETURN : 0);
	unsigned long *offsets = xcalloc(cnt, sizeof(*offsets));
	__u64 *cookies = xcalloc(cnt, sizeof(*cookies));
	int fd;

	for (size_t i = 0; i < cnt; i++) {
		offsets[i] = sites[i].offset;
		cookies[i] = sites[i].cookie;
	}
	opts.uprobe_multi.offsets = offsets;
	opts.uprobe_multi.cookies = cookies;
	fd = bpf_link_create(prog_fd, 0, BPF_TRACE_UPROBE_MULTI, &opts);
	free(offsets);
	free(cookies);
	if (fd < 0)
		return fd;
	*out = (struct perf_probe){.event_fd = -1, .link_fd = fd};
	return 0;
}

/*
 * Before Linux 6.13 the kernel runs a process's return probe in other processes, too. The program
 * recognises them by the cookie.
 */
static int attach_perf(const struct perf_probe_kind *kind, int prog_fd, bool ret, pid_t pid,
		       const char *path, const struct link_site *site, struct perf_probe *out)
{
	uint64_t cookie = ret ? POV_COOKIE_PROCESS(site->cookie, pid) : site->cookie;

	return perf_probe_attach(kind, prog_fd, ret, pid, path, site->offset, cookie, out);
}

/* Attaches one link for cnt sites, or a perf-event uprobe for one site. */
static int probe_attach(const struct link_programs *p, const struct perf_probe_kind *kind, bool ret,
			const char *path, const struct link_site *sites, size_t cnt,
			struct perf_probe *out)
{
	int prog_fd = ret ? p->ret_fd : p->entry_fd;

	return p->api == LINK_MULTI ? attach_multi(prog_fd, ret, p->pid, path, sites, cnt, out) :
				      attach_perf(kind, prog_fd, ret, p->pid, path, sites, out);
}

static void probe_add(struct perf_probes *probes, struct perf_probe p,
		      const struct link_site *sites, size_t cnt)
{
	for (size_t i = 0; i < cnt && sites[i].removable; i++)
		*table_append(p.member, p.cnt) =
			(struct link_member){sites[i].index, POV_COOKIE_FUNC(sites[i].cookie)};
	perf_probes_add(probes, &p);
}

/* Closes in a thread: the kernel waits for threads in the probe, which may wait for us. */
static void probe_close_behind(const struct perf_probe *probe)
{
	struct perf_probes one = {};

	perf_probes_add(&one, probe);
	probes_close_behind(&one, NULL);
}

/* Attaches at return, then at entry: both or none. */
static int pair_attach(struct links *links, const struct link_programs *p,
		       const struct perf_probe_kind *kind, const char *path,
		       const struct link_site *sites, size_t cnt)
{
	bool has_ret = p->ret_fd >= 0;
	struct perf_probe entry, ret;
	int err = has_ret ? probe_attach(p, kind, true, path, sites, cnt, &ret) : 0;

	if (err)
		return err;
	err = probe_attach(p, kind, false, path, sites, cnt, &entry);
	if (!err)
		probe_add(&links->entry, entry, sites, cnt);
	if (has_ret && err)
		probe_close_behind(&ret);
	else if (has_ret)
		probe_add(&links->ret, ret, sites, cnt);
	return err;
}

static size_t multi_attach_all(struct links *links, const struct link_programs *programs,
			       const char *path, struct link_site *sites, size_t cnt, int *err)
{
	size_t half = cnt / 2;
	int e;

	if (!cnt)
		return 0;
	e = pair_attach(links, programs, NULL, path, sites, cnt);
	if (!e)
		return cnt;
	*err = -e;
	if (cnt == 1 || e == -ESRCH) {
		for (size_t i = 0; i < cnt; i++)
			sites[i].failed = true;
		return 0;
	}
	return multi_attach_all(links, programs, path, sites, half, err) +
	       multi_attach_all(links, programs, path, sites + half, cnt - half, err);
}

static size_t perf_attach_all(struct links *links, const struct link_programs *programs,
			      const char *path, struct link_site *sites, size_t cnt, int *err)
{
	struct perf_probe_kind kind;
	size_t attached = 0;
	int e, fatal = perf_probe_kind_read(&kind);

	for (size_t i = 0; i < cnt; i++) {
		e = fatal ?: pair_attach(links, programs, &kind, path, &sites[i], 1);
		fatal = e == -ESRCH ? e : fatal;
		sites[i].failed = e != 0;
		attached += !e;
		if (e)
			*err = -e;
	}
	return attached;
}

TABLE_ORDER(compare_by_group, struct link_site, table_compare(a->removable, b->removable),
	    table_compare(a->offset, b->offset))

static size_t attach_all(struct links *links, const struct link_programs *programs,
			 const char *path, struct link_site *sites, size_t cnt, int *err)
{
	/* A link for all processes is never replaced, so each function gets its own. */
	size_t group = programs->pid ? LINK_GROUP : 1, together = 0, attached, n;

	if (programs->api != LINK_MULTI)
		return perf_attach_all(links, programs, path, sites, cnt, err);
	table_sort(sites, cnt, compare_by_group);
	while (together < cnt && !sites[together].removable)
		together++;
	attached = multi_attach_all(links, programs, path, sites, together, err);
	for (size_t i = together; i < cnt; i += n) {
		n = cnt - i < group ? cnt - i : group;
		attached += multi_attach_all(links, programs, path, &sites[i], n, err);
	}
	return attached;
}

size_t links_attach(struct links *links, const struct link_programs *programs, const char *path,
		    struct link_site *sites, size_t cnt, int *err)
{
	int mount = file_own_mount(path); /* links keep the mount of their path busy */
	char own_path[32];
	size_t attached;

	snprintf(own_path, sizeof(own_path), "/proc/self/fd/%d", mount);
	attached = attach_all(links, programs, mount < 0 ? path : own_path, sites, cnt, err);
	if (mount >= 0)
		close(mount);
	return attached;
}

static void links_forget(struct links *links)
{
	free(links->entry.v);
	free(links->ret.v);
	if (links->hooks_fd > 0)
		close(links->hooks_fd);
	memset(links, 0, sizeof(*links));
}

void links_move(struct links *to, struct links *from)
{
	for (size_t i = 0; i < from->entry.cnt; i++)
		perf_probes_add(&to->entry, &from->entry.v[i]);
	for (size_t i = 0; i < from->ret.cnt; i++)
		perf_probes_add(&to->ret, &from->ret.v[i]);
	if (!to->hooks_fd) {
		to->hooks_fd = from->hooks_fd;
		from->hooks_fd = 0;
	}
	links_forget(from);
}

static void probes_close(const struct perf_probes *probes)
{
	for (size_t i = 0; i < probes->cnt; i++)
		perf_probe_close(&probes->v[i]);
}

void links_release(struct links *links)
{
	/* Entries are closed first: no entry may be recorded without its return. */
	probes_close(&links->entry);
	probes_close(&links->ret);
	links_forget(links);
}

void probes_take(struct perf_probes *from, struct perf_probes *to,
		 bool (*wanted)(const struct perf_probe *probe, const void *ctx), const void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < from->cnt; i++)
		if (wanted(&from->v[i], ctx))
			perf_probes_add(to, &from->v[i]);
		else
			from->v[kept++] = from->v[i];
	from->cnt = kept;
}

/* Probes that are being closed. */
struct closing {
	struct perf_probes links;
	atomic_size_t next;
	uint64_t *exchanges; /* or NULL */
};

static void *closing_work(void *arg)
{
	struct closing *c = arg;
	size_t i;

	while ((i = atomic_fetch_add(&c->next, 1)) < c->links.cnt)
		perf_probe_close(&c->links.v[i]);
	return NULL;
}

static void closing_add(struct closing *c, const struct perf_probes *probes,
			struct leftover_probes *leftover)
{
	for (size_t i = 0; i < probes->cnt; i++)
		perf_probes_add(probes->v[i].event_fd >= 0 ? &leftover->probes : &c->links,
				&probes->v[i]);
}

static void closing_do(struct closing *c)
{
	pthread_t thread[CLOSING_THREADS];
	size_t threads = 0;

	while (threads < CLOSING_THREADS && threads + 1 < c->links.cnt &&
	       !pthread_create(&thread[threads], NULL, closing_work, c))
		threads++;
	closing_work(c);
	while (threads)
		pthread_join(thread[--threads], NULL);
	free(c->links.v);
}

void links_leave(struct links *const *links, size_t cnt, struct leftover_probes *leftover)
{
	struct closing c = {};

	for (size_t i = 0; i < cnt; i++) {
		closing_add(&c, &links[i]->entry, leftover);
		closing_add(&c, &links[i]->ret, leftover);
		links_forget(links[i]);
	}
	closing_do(&c);
}

/* The threads that close probes: how many are running, and when the last one ended. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t over;
	size_t cnt;
	uint64_t over_ns;
} closers = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static void closers_count(int change)
{
	pthread_mutex_lock(&closers.lock);
	closers.cnt += (size_t)change;
	if (!closers.cnt) {
		closers.over_ns = clock_now_ns();
		pthread_cond_broadcast(&closers.over);
	}
	pthread_mutex_unlock(&closers.lock);
}

static void closing_end(struct closing *c)
{
	closing_do(c);
	if (c->exchanges)
		__atomic_fetch_sub(c->exchanges, 1, __ATOMIC_RELEASE);
	free(c);
}

static void *closer(void *arg)
{
	closing_end(arg);
	closers_count(-1);
	return NULL;
}

static void closing_start(struct closing *c)
{
	pthread_t thread;

	if (!c->links.cnt) {
		closing_end(c);
		return;
	}
	closers_count(1);
	if (pthread_create(&thread, NULL, closer, c))
		closer(c);
	else
		pthread_detach(thread);
}

void links_release_behind(struct links *links, struct leftover_probes *leftover)
{
	struct closing *c = xcalloc(1, sizeof(*c));

	closing_add(c, &links->entry, leftover);
	closing_add(c, &links->ret, leftover);
	links_forget(links);
	closing_start(c);
}

void probes_close_behind(struct perf_probes *probes, uint64_t *exchanges)
{
	struct closing *c = xcalloc(1, sizeof(*c));

	c->links = *probes;
	c->exchanges = exchanges;
	memset(probes, 0, sizeof(*probes));
	closing_start(c);
}

uint64_t links_closed_ns(void)
{
	uint64_t ns;

	pthread_mutex_lock(&closers.lock);
	ns = closers.cnt ? UINT64_MAX : closers.over_ns;
	pthread_mutex_unlock(&closers.lock);
	return ns;
}

void links_wait(void)
{
	pthread_mutex_lock(&closers.lock);
	while (closers.cnt)
		pthread_cond_wait(&closers.over, &closers.lock);
	pthread_mutex_unlock(&closers.lock);
}
