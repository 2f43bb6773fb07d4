/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The collector's side. Only one request is sent at a time, so a helper that does not answer is
 * known to be stuck in it. The other requests wait here.
 */
#include "target/helper/helper.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "target/code_file.h"
#include "target/helper/helper_service.h"
#include "target/probes/links.h"

/* ---- messages to the helper: JSON, one object a packet, with descriptors ---- */

int helper_message_send(int sock, const json_t *message, const int *fds, size_t fd_cnt)
{
	char *text = json_dumps(message, JSON_COMPACT);
	char control[CMSG_SPACE(HELPER_FDS_MAX * sizeof(int))] = {0};
	struct iovec io = {.iov_base = text, .iov_len = text ? strlen(text) : 0};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t n;

	if (!text)
		return -EINVAL;
	if (fd_cnt) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(fd_cnt * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(fd_cnt * sizeof(int));
		memcpy(CMSG_DATA(c), fds, fd_cnt * sizeof(int));
	}
	do
		n = sendmsg(sock, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	free(text);
	return n < 0 ? -errno : 0;
}

json_t *helper_message_receive(int sock, int flags, int *fds, size_t *fd_cnt)
{
	char control[CMSG_SPACE(HELPER_FDS_MAX * sizeof(int))];
	struct iovec io = {0};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	json_t *message;
	ssize_t n;

	*fd_cnt = 0;
	do
		n = recv(sock, NULL, 0, flags | MSG_PEEK | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		errno = n ? errno : 0;
		return NULL;
	}
	io.iov_len = (size_t)n;
	io.iov_base = xmalloc(io.iov_len);
	n = recvmsg(sock, &m, flags | MSG_CMSG_CLOEXEC);
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		*fd_cnt = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), *fd_cnt * sizeof(int));
	}
	message = n > 0 ? json_loadb(io.iov_base, (size_t)n, 0, NULL) : NULL;
	free(io.iov_base);
	if (!message)
		errno = EBADMSG;
	return message;
}

/* CPU time to inspect a file; storage that does not answer for as long is given up */
#define LOOK_NS 2000000000ull
#define BUSY_MOST \
	10 /* a helper that gets little of a CPU may take that many times its time limit */
#define ATTACH_NS \
	60000000000ull /* to attach to an inspected file: slow if each probe is a perf event */
#define MEMORY_BYTES (1ull << 30) /* memory that a helper may use beyond what it inherits */

struct request {
	json_t *what;
	struct request *next;
};

struct helper {
	const struct inspect_options *opt;
	const struct code_files *files;
	helper_reply_fn *reply;
	helper_known_fn *known;
	void *ctx;
	pid_t pid;
	int sock;
	struct request *first, **last; /* if busy, the first one is being answered */
	bool busy;
	uint64_t limit_ns; /* deadline of its next message; 0: not set yet */
	uint64_t last_ns;  /* limit_ns is never later than this */
	/* the helper's CPU time at the begin of the step, and when limit_ns was last set */
	uint64_t begin_cpu_ns, seen_cpu_ns;
	uint64_t allowed_ns;  /* time limit of each next step */
	uint64_t cpu_ns;      /* CPU time of replaced helpers */
	struct links pending; /* descriptors for the file of the next reply */
};

/* Limits the helper's memory, because a hostile file may make it allocate without end. */
static void memory_limit(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	struct rlimit r;

	if (!f)
		return;
	if (fscanf(f, "%llu", &pages) == 1 && !getrlimit(RLIMIT_AS, &r)) {
		r.rlim_cur = pages * (unsigned long long)sysconf(_SC_PAGESIZE) + MEMORY_BYTES;
		if (r.rlim_max == RLIM_INFINITY || r.rlim_cur < r.rlim_max)
			setrlimit(RLIMIT_AS, &r);
	}
	fclose(f);
}

/*
 * Raises the helper's priority above that of the threads that spin while they wait for it, perhaps
 * on all CPUs.
 */
static void priority_raise(void)
{
	const struct sched_param p = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &p))
		log_debug("helper: no real-time priority: %s", strerror(errno));
}

/*
 * Closes the descriptors that a replacement helper inherits from the collector: its links would
 * keep all probes attached for as long as the helper lives, and a stuck one may outlive the
 * recording.
 */
static void others_close(const struct inspect_options *opt, int sock)
{
	const int own[] = {
		STDIN_FILENO,	      STDOUT_FILENO,
		STDERR_FILENO,	      sock,
		opt->calls.entry_fd,  opt->calls.ret_fd,
		opt->loader.entry_fd, opt->exec.entry_fd,
		opt->libs_fd,	      opt->regions.entry_fd,
		opt->regions.ret_fd,  opt->handover.entry_fd,
		opt->handovers_fd,    opt->note.entry_fd,
		opt->notes_fd,
	};
	size_t cnt = sizeof(own) / sizeof(*own);
	int keep[sizeof(own) / sizeof(*own) + LATE_PROGRAM_FDS_MAX];

	memcpy(keep, own, sizeof(own));
	if (opt->returns)
		cnt += late_program_needs(opt->returns, keep + cnt);
	fd_close_others(keep, cnt);
}

static int helper_fork(struct helper *h)
{
	int fds[2], err;
	pid_t parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		err = -errno;
		log_error("helper: cannot make a socket: %s", strerror(-err));
		return err;
	}
	h->pid = fork();
	if (h->pid < 0) {
		err = -errno;
		log_error("helper: cannot fork: %s", strerror(-err));
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	if (!h->pid) {
		others_close(h->opt, fds[1]);
		prctl(PR_SET_NAME, "povtrace-helper");
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Terminals and batch systems send them to all; the collector decides. */
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		memory_limit();
		priority_raise();
		if (getppid() == parent)
			helper_main(fds[1], h->opt, (struct code_files *)h->files);
		_exit(0);
	}
	close(fds[1]);
	h->sock = fds[0];
	h->busy = false;
	return 0;
}

int helper_start(const struct inspect_options *opt, const struct code_files *files,
		 helper_reply_fn *reply, helper_known_fn *known, void *ctx, struct helper **out)
{
	struct helper *h = xcalloc(1, sizeof(*h));
	int err;

	h->opt = opt;
	h->files = files;
	h->reply = reply;
	h->known = known;
	h->ctx = ctx;
	h->last = &h->first;
	err = helper_fork(h);
	if (err)
		free(h);
	else
		*out = h;
	return err;
}

static void request_drop(struct helper *h)
{
	struct request *r = h->first;

	h->first = r->next;
	if (!h->first)
		h->last = &h->first;
	h->busy = false;
	json_decref(r->what);
	free(r);
}

/* Answers the first request if its helper cannot. */
static void request_fail(struct helper *h, const char *why)
{
	json_t *reply = json_pack("{s:b,s:s,s:b}", "done", 1, "failed", why, "died", 1);

	h->busy = true; /* new requests wait meanwhile */
	h->reply(h->ctx, h->first->what, reply, &h->pending);
	json_decref(reply);
	links_release(&h->pending);
	request_drop(h);
}

static bool request_is_needless(struct helper *h)
{
	bool needless;

	h->busy = true; /* new requests wait meanwhile */
	needless = h->known(h->ctx, h->first->what);
	h->busy = false;
	return needless;
}

static void request_send(struct helper *h)
{
	while (h->first && !h->busy) {
		if (request_is_needless(h)) {
			request_drop(h);
			continue;
		}
		if (h->sock >= 0 && !helper_message_send(h->sock, h->first->what, NULL, 0)) {
			h->busy = true;
			h->limit_ns = 0;
			h->allowed_ns = LOOK_NS;
			return;
		}
		request_fail(h, "no helper process");
	}
}

void helper_ask(struct helper *h, json_t *request)
{
	struct request *r = xcalloc(1, sizeof(*r)), **at;

	r->what = request;
	at = json_get_bool(request, "soon") && h->first ? &h->first->next : h->last;
	r->next = *at;
	*at = r;
	if (!r->next)
		h->last = &r->next;
	request_send(h);
}

int helper_fd(const struct helper *h)
{
	return h->sock;
}

bool helper_is_idle(const struct helper *h)
{
	return !h->first;
}

static uint64_t process_cpu_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t helper_cpu_ns(const struct helper *h)
{
	return h->cpu_ns + process_cpu_ns(h->pid);
}

static void step_begin(struct helper *h, uint64_t now_ns)
{
	h->limit_ns = now_ns + h->allowed_ns;
	h->last_ns = now_ns + BUSY_MOST * h->allowed_ns;
	h->begin_cpu_ns = h->seen_cpu_ns = process_cpu_ns(h->pid);
}

/*
 * Extends the deadline of a helper that makes progress but gets little CPU time. A helper blocked
 * on storage uses no CPU time, so it gets no extension. Returns false if the time is up.
 */
static bool step_prolong(struct helper *h, uint64_t now_ns)
{
	uint64_t cpu_ns = process_cpu_ns(h->pid);

	if (now_ns > h->last_ns || cpu_ns <= h->seen_cpu_ns ||
	    cpu_ns - h->begin_cpu_ns > h->allowed_ns)
		return false;
	h->seen_cpu_ns = cpu_ns;
	h->limit_ns = now_ns + h->allowed_ns;
	return true;
}

static void helper_replace(struct helper *h, const char *why)
{
	h->cpu_ns += process_cpu_ns(h->pid);
	/*
	 * A helper that is stuck in the kernel stays as long as its file system wants. Nobody waits
	 * for it.
	 */
	kill(h->pid, SIGKILL);
	waitpid(h->pid, NULL, WNOHANG);
	close(h->sock);
	h->sock = -1;
	if (helper_fork(h))
		log_debug("helper: cannot start another one");
	if (h->first)
		request_fail(h, why);
	request_send(h);
}

static void fd_put(int *place, int fd)
{
	if (*place > 0)
		close(*place);
	*place = fd;
}

static void members_take(struct perf_probe *p, const json_t *members)
{
	for (size_t i = 0; i < json_array_size(members) / 2; i++)
		*table_append(p->member, p->cnt) = (struct link_member){
			.site = (uint32_t)json_integer_value(json_array_get(members, 2 * i)),
			.func = (uint16_t)json_integer_value(json_array_get(members, 2 * i + 1)),
		};
}

/*
 * Takes descriptors, which come before the reply that they belong to: of hooks, of links, or pairs
 * of link and event.
 */
static void fds_take(struct helper *h, const json_t *message, const int *fds, size_t cnt)
{
	const json_t *members = json_object_get(message, "members");
	bool ret = json_get_bool(message, "ret");
	size_t step = json_get_bool(message, "pairs") ? 2 : 1;

	if (json_get_bool(message, "hooks") && cnt) {
		fd_put(&h->pending.hooks_fd, fds[0]);
		return;
	}
	for (size_t i = 0; i + step <= cnt; i += step) {
		struct perf_probe p = {
			.link_fd = fds[i],
			.event_fd = step == 2 ? fds[i + 1] : -1,
		};

		members_take(&p, json_array_get(members, i / step));
		perf_probes_add(ret ? &h->pending.ret : &h->pending.entry, &p);
	}
}

static void message_handle(struct helper *h, const json_t *message, const int *fds, size_t cnt)
{
	if (!h->first || json_object_get(message, "fds")) {
		fds_take(h, message, fds, cnt);
		return;
	}
	if (json_object_get(message, "attaching")) {
		h->allowed_ns = ATTACH_NS;
		return;
	}
	h->allowed_ns = LOOK_NS;
	h->reply(h->ctx, h->first->what, message, &h->pending);
	links_release(&h->pending);
	if (json_get_bool(message, "done"))
		request_drop(h);
}

void helper_poll(struct helper *h, uint64_t now_ns)
{
	int fds[HELPER_FDS_MAX];
	json_t *message;
	size_t cnt;

	while (h->sock >= 0 &&
	       (message = helper_message_receive(h->sock, MSG_DONTWAIT, fds, &cnt))) {
		message_handle(h, message, fds, cnt);
		json_decref(message);
		h->limit_ns = 0;
		request_send(h);
	}
	if (h->sock < 0 || (!h->busy && errno == EAGAIN))
		return;
	if (errno != EAGAIN)
		helper_replace(h, "the helper process ended");
	else if (!h->limit_ns)
		step_begin(h, now_ns);
	else if (now_ns > h->limit_ns && !step_prolong(h, now_ns))
		helper_replace(h, "it does not answer");
}

void helper_stop(struct helper *h)
{
	if (!h)
		return;
	while (h->first)
		request_drop(h);
	links_release(&h->pending);
	if (h->sock >= 0)
		close(h->sock);
	kill(h->pid, SIGKILL);
	waitpid(h->pid, NULL, WNOHANG);
	free(h);
}

struct code_id helper_message_id(const json_t *message)
{
	return (struct code_id){
		.dev = (uint64_t)json_get_int(message, "dev"),
		.ino = (uint64_t)json_get_int(message, "ino"),
		.stamp = (uint64_t)json_get_int(message, "stamp"),
	};
}
