/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "clock/libpov/pov.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "abi/clock.h"
#include "clock/libpov/page.h"

/* ---- the connection to povtrace clock ---- */

#define SERVED_FDS 2
#define ANSWER_SECONDS 5

/* A connection whose calls time out after some seconds, or -errno. */
static int served_connect(const char *path)
{
	const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int conn, err;

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	conn = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (conn < 0)
		return -errno;
	setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(conn, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	do
		err = connect(conn, (const struct sockaddr *)&at, sizeof(at)) ? -errno : 0;
	while (err == -EINTR);
	if (!err)
		return conn;
	close(conn);
	return err == -EAGAIN ? -ETIMEDOUT : err;
}

/* Sends a whole request. 0, -ETIMEDOUT, -EPROTO or -errno. */
static int served_send(int conn, const void *request, size_t bytes)
{
	ssize_t n;

	do
		n = send(conn, request, bytes, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return n == (ssize_t)bytes ? 0 : -EPROTO;
}

/*
 * Receives an answer of this size with its descriptors; missing ones are -1 in fd[]. 0, -ETIMEDOUT,
 * -EPROTO or -errno.
 */
static int served_receive(int conn, void *answer, size_t bytes, int fd[SERVED_FDS])
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(SERVED_FDS * sizeof(int))];
	} control;
	struct iovec data = {answer, bytes};
	struct msghdr msg = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	ssize_t n;

	do /* with a timeout, the kernel does not restart it after a signal */
		n = recvmsg(conn, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg);
	for (int i = 0; i < SERVED_FDS; i++)
		fd[i] = -1;
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return n == (ssize_t)bytes ? 0 : -EPROTO;
}

#define NS_PER_S 1e9
#define SOCKET_USUAL "/run/povtrace/clock.sock"
#define SOCKET_VARIABLE "POVTRACE_CLOCK"
/* The server signals four times a second that it is alive. */
#define ALIVE_NS 2000000000ull

/* ---- requests to the server ---- */

/* Pages mapped for the lifetime of the process; not inherited by children. */
struct asked {
	/*
	 * In the order described at enum pov_clock_wish. Only a struct pov_clock_section is
	 * writable.
	 */
	void *page[SERVED_FDS];
	unsigned int cpus; /* CPUs of the node */
};

/* Only root may serve. */
static int server_check(int conn)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	if (getsockopt(conn, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		return -errno;
	return who.uid ? -EPERM : 0;
}

static int server_connect(void)
{
	const char *path = secure_getenv(SOCKET_VARIABLE);
	int conn = served_connect(path ? path : SOCKET_USUAL), err;

	if (conn < 0)
		return conn;
	err = server_check(conn);
	if (!err)
		return conn;
	close(conn);
	return err;
}

static int answer_take(int conn, struct pov_clock_answer *answer, int fd[SERVED_FDS])
{
	int err = served_receive(conn, answer, sizeof(*answer), fd);

	if (err)
		return err;
	if (answer->magic != POV_CLOCK_MAGIC || answer->version != POV_CLOCK_VERSION)
		return -EPROTO;
	return answer->status;
}

/* Children do not inherit the mapping: it would show the parent's times. */
static void *page_map(int fd, size_t bytes, bool writable)
{
	void *page = mmap(NULL, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return NULL;
	madvise(page, bytes, MADV_DONTFORK);
	return page;
}

static int pages_map(enum pov_clock_wish wish, const int fd[SERVED_FDS], struct asked *out)
{
	size_t cores = out->cpus * sizeof(struct pov_clock_core);

	if (wish == POV_CLOCK_WISH_CLOCK) {
		out->page[0] = page_map(fd[0], sizeof(struct pov_clock_process), false);
		return out->page[0] ? 0 : -errno;
	}
	out->page[0] = page_map(fd[0], sizeof(struct pov_clock_section), true);
	out->page[1] = out->page[0] ? page_map(fd[1], cores, false) : NULL;
	if (out->page[1])
		return 0;
	if (out->page[0])
		munmap(out->page[0], sizeof(struct pov_clock_section));
	return -errno;
}

/*
 * 0 or -errno: -ENOENT or -ECONNREFUSED without a server, -ESRCH if it does not serve this process.
 */
static int ask(enum pov_clock_wish wish, struct asked *out)
{
	struct pov_clock_request request = {
		.magic = POV_CLOCK_MAGIC, .version = POV_CLOCK_VERSION, .wish = wish};
	struct pov_clock_answer answer;
	int fd[SERVED_FDS], conn, err;

	conn = server_connect();
	if (conn < 0)
		return conn;
	err = served_send(conn, &request, sizeof(request));
	if (err) {
		close(conn);
		return err;
	}
	err = answer_take(conn, &answer, fd);
	close(conn);
	if (!err) {
		*out = (struct asked){.cpus = answer.cpus};
		err = pages_map(wish, fd, out);
	}
	for (int i = 0; i < SERVED_FDS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return err;
}

/* ---- state of this process ---- */

/* Set once, by the first caller. A child process starts anew. */
static struct {
	pthread_mutex_t lock;
	bool asked, asked_section, forks_seen;
	const struct pov_clock_process *page; /* NULL: not served, or no longer */
	struct pov_clock_section *section;
	const struct pov_clock_core *core;
	unsigned int cpus;
	uint64_t beyond_ns; /* served clock minus CPU time */
	int err;
	char why[128];
} pov = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* the calling thread's own place */
static __thread const struct pov_clock_thread *place __attribute__((tls_model("initial-exec")));
static __thread bool placed __attribute__((tls_model("initial-exec")));
static __thread uint64_t rank_last_ns, thread_last_ns __attribute__((tls_model("initial-exec")));

static uint64_t cputime_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void state_reset_in_child(void)
{
	pthread_mutex_init(&pov.lock, NULL);
	pov.asked = pov.asked_section = false;
	pov.page = NULL;
	pov.section = NULL;
	pov.core = NULL;
	pov.beyond_ns = 0;
	placed = false;
	place = NULL;
	rank_last_ns = thread_last_ns = 0;
}

static void why_not_set(int err)
{
	pov.err = err;
	if (err == -ENOENT || err == -ECONNREFUSED)
		snprintf(pov.why, sizeof(pov.why), "no `povtrace clock` serves on this node");
	else if (err == -ESRCH)
		snprintf(pov.why, sizeof(pov.why),
			 "the `povtrace clock` that runs does not serve this process");
	else if (err == -EXDEV)
		snprintf(pov.why, sizeof(pov.why),
			 "this process has a clock of its own (time namespace)");
	else if (err == -EPERM)
		snprintf(pov.why, sizeof(pov.why),
			 "the process that serves as `povtrace clock` is "
			 "not root, as seen from here");
	else if (err == -EUSERS)
		snprintf(pov.why, sizeof(pov.why), "`povtrace clock` serves %d processes already",
			 POV_CLOCK_SLOTS);
	else if (err == -EPROTONOSUPPORT || err == -EPROTO)
		snprintf(pov.why, sizeof(pov.why), "`povtrace clock` is of another version");
	else
		snprintf(pov.why, sizeof(pov.why), "`povtrace clock` cannot be asked: %s",
			 strerror(-err));
}

static const struct pov_clock_process *page_ask(void)
{
	struct asked a;
	uint64_t now;
	int err;

	pthread_mutex_lock(&pov.lock);
	if (!pov.asked) {
		if (!pov.forks_seen)
			pthread_atfork(NULL, NULL, state_reset_in_child);
		pov.forks_seen = true;
		err = ask(POV_CLOCK_WISH_CLOCK, &a);
		if (err) {
			why_not_set(err);
		} else {
			const struct pov_clock_process *p = a.page[0];

			pov.beyond_ns = page_rank_ns(p, &now) -
					cputime_ns(CLOCK_PROCESS_CPUTIME_ID);
			pov.cpus = a.cpus;
			__atomic_store_n(&pov.page, p, __ATOMIC_RELEASE);
		}
		__atomic_store_n(&pov.asked, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&pov.lock);
	return pov.page;
}

/* NULL: not served. */
static inline const struct pov_clock_process *page_get(void)
{
	const struct pov_clock_process *p = __atomic_load_n(&pov.page, __ATOMIC_ACQUIRE);

	if (p || __atomic_load_n(&pov.asked, __ATOMIC_ACQUIRE))
		return p;
	return page_ask();
}

/* The server is gone: use the CPU time from now on. */
static __attribute__((noinline)) void page_leave(void)
{
	pthread_mutex_lock(&pov.lock);
	if (pov.page)
		snprintf(pov.why, sizeof(pov.why), "the `povtrace clock` that served has ended");
	__atomic_store_n(&pov.page, NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&pov.lock);
}

static inline bool is_alive(const struct pov_clock_process *p, uint64_t now)
{
	return now < __atomic_load_n(&p->alive_ns, __ATOMIC_RELAXED) + ALIVE_NS;
}

static __attribute__((noinline)) const struct pov_clock_thread *
place_find(const struct pov_clock_process *p)
{
	place = page_place(p, (uint32_t)syscall(SYS_gettid));
	placed = true;
	return place;
}

static inline const struct pov_clock_thread *place_get(const struct pov_clock_process *p)
{
	return placed ? place : place_find(p);
}

/* ---- rank and thread ---- */

/* Keeps the time of one thread from going back when a clock is corrected. */
static inline uint64_t later_of(uint64_t *last, uint64_t ns)
{
	*last = ns > *last ? ns : *last;
	return *last;
}

uint64_t pov_rank_ns(void)
{
	const struct pov_clock_process *p = page_get();
	uint64_t ns, now;

	if (p) {
		ns = page_rank_ns(p, &now);
		if (__builtin_expect(!is_alive(p, now), 0)) {
			page_leave();
			p = NULL;
		}
	}
	if (!p)
		ns = cputime_ns(CLOCK_PROCESS_CPUTIME_ID) + pov.beyond_ns;
	return later_of(&rank_last_ns, ns);
}

uint64_t pov_thread_ns(void)
{
	const struct pov_clock_process *p = page_get();
	const struct pov_clock_thread *t = p ? place_get(p) : NULL;

	return later_of(&thread_last_ns, t && is_alive(p, page_now_ns()) ?
						 page_thread_ns(t) :
						 cputime_ns(CLOCK_THREAD_CPUTIME_ID));
}

double MPIX_Rtime(void)
{
	return (double)pov_rank_ns() / NS_PER_S;
}

/* ---- cores ---- */

static bool section_ask(void)
{
	struct asked a;
	int err;

	if (!page_get())
		return false;
	pthread_mutex_lock(&pov.lock);
	if (!pov.asked_section) {
		pov.asked_section = true;
		err = ask(POV_CLOCK_WISH_SECTION, &a);
		if (err) {
			why_not_set(err);
		} else {
			pov.core = a.page[1];
			__atomic_store_n(&pov.section, a.page[0], __ATOMIC_RELEASE);
		}
	}
	pthread_mutex_unlock(&pov.lock);
	return pov.section != NULL;
}

static inline bool section_is_there(void)
{
	return __atomic_load_n(&pov.section, __ATOMIC_ACQUIRE) || section_ask();
}

/* Begins or ends the section if it is not in that state yet. */
static void section_set(bool in)
{
	uint64_t *word, was, is;

	if (!section_is_there())
		return;
	word = (uint64_t *)&pov.section->word;
	was = __atomic_load_n(word, __ATOMIC_RELAXED);
	do {
		if ((was & 1) == in)
			return;
		is = in ? (was >> 1) - page_now_ns() : (was >> 1) + page_now_ns();
		is = is << 1 | in;
	} while (!__atomic_compare_exchange_n(word, &was, is, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
}

void MPIX_Start_processor_timer(void)
{
	section_set(true);
}

void MPIX_Stop_processor_timer(void)
{
	section_set(false);
}

uint64_t pov_core_ns(void)
{
	const struct pov_clock_process *p;
	const struct pov_clock_thread *t;
	uint64_t sum, stint, core;
	uint32_t cpu;

	if (!section_is_there())
		return UINT64_MAX;
	p = page_get();
	t = p ? place_get(p) : NULL;
	if (!t || !is_alive(p, page_now_ns()))
		return UINT64_MAX;
	do { /* within one stint on one core: that core's sum plus this stint's part */
		stint = __atomic_load_n(&t->sum, __ATOMIC_ACQUIRE);
		cpu = __atomic_load_n(&t->cpu, __ATOMIC_RELAXED);
		core = cpu < pov.cpus ? __atomic_load_n(&pov.core[cpu].sum, __ATOMIC_RELAXED) : 0;
		sum = pov_clock_section_since(
			__atomic_load_n(&t->section_in, __ATOMIC_RELAXED),
			pov_clock_section_at(__atomic_load_n(&pov.section->word, __ATOMIC_RELAXED),
					     page_now_ns()));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&t->sum, __ATOMIC_RELAXED) != stint);
	return core + (page_thread_runs(stint) ? sum : 0);
}

double MPIX_Ptime(void)
{
	uint64_t ns = pov_core_ns();

	return ns == UINT64_MAX ? NAN : (double)ns / NS_PER_S;
}

/* ---- source of the times ---- */

enum pov_source pov_source(const char **why)
{
	const struct pov_clock_process *p = page_get();

	if (p && !is_alive(p, page_now_ns())) {
		page_leave();
		p = NULL;
	}
	if (why)
		*why = p ? "" : pov.why;
	return p ? POV_SOURCE_POVTRACE : POV_SOURCE_CPUTIME;
}
