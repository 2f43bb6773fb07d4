/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A thread's first call asks the collector, and waits for the answer; the connection is closed then, so that the program keeps no
 * descriptor that it does not know. A child of fork begins anew: it has none of its parent's memory that is shared.
 */
#include "preload/area.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libpov/served.h"
#include "preload/clock.h"
#include "preload/record.h"
#include "preload/shims.h"

#define AGAIN_CALLS 64	/* a thread that was told to ask later asks after so many calls; */
#define AGAIN_WAITS 200 /* the first of a process waits before, so often */
#define AGAIN_NAP_NS 1000000
#define MAPPED_BYTES (POV_PRELOAD_AREA_BYTES + 2ull * POV_PRELOAD_RING_BYTES)

const struct pov_preload_setup *setup;
u16 area_library;
__thread struct pov_preload_area *area;
__thread u64 area_stack_begin, area_stack_end;
static __thread u32 again_calls;

/* By this it is known what this library is (attach/inspect_library.c). */
__attribute__((visibility("default"))) void povtrace_preload(void);
void povtrace_preload(void)
{
}

static char *socket_path; /* NULL: nobody records, or no longer */
/* A thread's area, in which calls of threads without one are told as lost. */
static struct pov_preload_area *teller;
static u64 untold;
static pthread_key_t leaving;
static bool prepared, has_key, bypass_told, again_waited;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A signal's handler that calls MPI would wait for the lock that its own thread has. */
static void area_leave(void *mapped)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_mutex_lock(&lock);
	if (teller == mapped)
		teller = NULL;
	area = NULL;
	munmap(mapped, MAPPED_BYTES);
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool is_recording(void)
{
	u64 until = __atomic_load_n(&setup->calls_until, __ATOMIC_RELAXED);

	return __atomic_load_n(&setup->collector_ns, __ATOMIC_RELAXED) &&
	       (!until || clock_now() < until);
}

/* A call of a thread that has no area, while its process is recorded. With the lock. */
static void lost_tell(void)
{
	if (!setup || !is_recording())
		return;
	untold++;
	if (teller) {
		__atomic_fetch_add(&teller->no_area, untold, __ATOMIC_RELAXED);
		__atomic_fetch_add(&teller->lost[POV_CLASS_CALL], untold, __ATOMIC_RELEASE);
		untold = 0;
	}
}

/* Or wiped in a child that was made past the C library (clone by hand), which is not told. */
static u32 always_same = 1, *same_page = &always_same;
const u32 *area_same_process = &always_same;

static void in_child(void)
{
	*same_page = 1;
	pthread_mutex_init(&lock, NULL);
	setup = NULL;
	area = teller = NULL;
	untold = again_calls = 0;
	bypass_told = again_waited = false;
	if (has_key)
		pthread_setspecific(leaving, NULL);
}

static void same_page_make(void)
{
	void *page = mmap(NULL, PAGE_ZERO_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, PAGE_ZERO_BYTES, MADV_WIPEONFORK)) {
		munmap(page, PAGE_ZERO_BYTES);
		return;
	}
	area_same_process = same_page = page;
	*same_page = 1;
}

/* Programs with more rights than their user are left alone. */
static void prepare(void)
{
	pthread_mutex_lock(&lock);
	if (!prepared) {
		const char *path = secure_getenv(POV_PRELOAD_ENV);

		/* a program may write over its environment, to have a title */
		socket_path = path ? strdup(path) : NULL;
		if (socket_path) {
			pthread_atfork(NULL, NULL, in_child);
			has_key = !pthread_key_create(&leaving, area_leave);
			same_page_make();
		}
		__atomic_store_n(&prepared, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- the collector ---- */

/* 0, or -errno: the collector's, or of the way to it. */
static int ask(int conn, enum pov_preload_wish wish, u64 address, struct pov_preload_answer *a,
	       int fd[SERVED_FDS])
{
	const struct pov_preload_request r = {
		.magic = POV_PRELOAD_MAGIC,
		.version = POV_PRELOAD_VERSION,
		.wish = wish,
		.tid = (u32)syscall(SYS_gettid),
		.rows = shims_cnt,
		.address = address,
	};

	int err = served_send(conn, &r, sizeof(r));

	if (!err)
		err = served_receive(conn, a, sizeof(*a), fd);

	if (err)
		return err;
	if (a->magic != POV_PRELOAD_MAGIC || a->version != POV_PRELOAD_VERSION)
		return -EPROTO;
	return a->status;
}

/* ---- memory ---- */

static int setup_map(int fd, u64 bytes)
{
	void *p;

	if (setup)
		return 0;
	p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	__atomic_store_n(&setup, p, __ATOMIC_RELEASE);
	record_setup();
	return 0;
}

/* Its ring twice. Not in a child: that would write into its parent's. */
static int area_map(int fd, struct pov_preload_area **out)
{
	const int how = MAP_SHARED | MAP_FIXED, prot = PROT_READ | PROT_WRITE;
	char *p = mmap(NULL, MAPPED_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);
	const size_t first = POV_PRELOAD_AREA_BYTES + POV_PRELOAD_RING_BYTES;

	if (p == MAP_FAILED)
		return -ENOMEM;
	if (mmap(p, first, prot, how, fd, 0) == MAP_FAILED ||
	    mmap(p + first, POV_PRELOAD_RING_BYTES, prot, how, fd, POV_PRELOAD_AREA_BYTES) ==
		    MAP_FAILED ||
	    madvise(p, MAPPED_BYTES, MADV_DONTFORK)) {
		munmap(p, MAPPED_BYTES);
		return -ENOMEM;
	}
	*out = (struct pov_preload_area *)p;
	return 0;
}

static void stack_find(void)
{
	pthread_attr_t attr;
	size_t bytes;
	void *begin;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &begin, &bytes)) {
		area_stack_begin = (u64)begin;
		area_stack_end = (u64)begin + bytes;
	}
	pthread_attr_destroy(&attr);
}

static int area_take(int conn, u64 library)
{
	struct pov_preload_answer a, ready;
	struct pov_preload_area *mapped = NULL;
	int fd[SERVED_FDS] = {-1, -1}, none[SERVED_FDS], err;

	err = ask(conn, POV_PRELOAD_AREA, library, &a, fd);
	if (!err)
		err = setup_map(fd[0], a.setup_bytes);
	if (!err)
		err = area_map(fd[1], &mapped);
	for (int i = 0; i < SERVED_FDS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	if (err)
		return err;
	area_library = a.lib;
	stack_find();
	area = mapped;
	record_calibrate();
	area = NULL;
	err = ask(conn, POV_PRELOAD_READY, (u64)mapped, &ready, none);
	if (err) {
		munmap(mapped, MAPPED_BYTES);
		return err;
	}
	if (has_key)
		pthread_setspecific(leaving, mapped);
	area = mapped;
	return 0;
}

static int area_ask(u64 library)
{
	int conn = served_connect(socket_path);
	int err = conn < 0 ? conn : area_take(conn, library);

	if (conn >= 0)
		close(conn);
	return err;
}

/* The MPI library may be just being looked at: what a process calls first is not to be missed for that. */
static int area_ask_first(u64 library)
{
	const struct timespec nap = {.tv_nsec = AGAIN_NAP_NS};
	int err = area_ask(library);

	for (int i = 0; err == -EAGAIN && i < AGAIN_WAITS && !again_waited; i++) {
		nanosleep(&nap, NULL);
		err = area_ask(library);
	}
	again_waited |= err == -EAGAIN;
	return err;
}

/* What the process may have again later: descriptors, memory. Nobody else is asked twice that did not answer. */
static bool passes(int err)
{
	return err == -EAGAIN || err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

/* With the lock, which a library's constructor may wait for that has the loader's: nothing of the loader's in here. */
static void area_get(u64 library)
{
	int err = area_ask_first(library);

	if (err && !passes(err))
		socket_path = NULL;
	if (!err && !teller)
		teller = area;
}

bool area_meet(u32 row)
{
	u64 library = 0;
	int cancel;

	if (!__atomic_load_n(&prepared, __ATOMIC_ACQUIRE))
		prepare();
	if (!*area_same_process)
		in_child();
	if (!socket_path && !setup)
		return false;
	if (socket_path && !(again_calls % AGAIN_CALLS)) {
		library = shims_library(row);
		if (!library) /* no MPI so far: the first call is yet to come */
			return false;
		record_look_up();
	}
	again_calls++;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&lock);
	if (socket_path && library)
		area_get(library);
	if (!area)
		lost_tell();
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(cancel, NULL);
	return area;
}

void area_bypassed(void)
{
	struct pov_preload_answer a;
	int none[SERVED_FDS], conn;

	if (!__atomic_load_n(&prepared, __ATOMIC_ACQUIRE))
		prepare();
	pthread_mutex_lock(&lock);
	if (!setup) {
		socket_path = NULL;
	} else if (socket_path && !bypass_told) {
		bypass_told = true;
		conn = served_connect(socket_path);
		if (conn >= 0) {
			ask(conn, POV_PRELOAD_BYPASSED, 0, &a, none);
			close(conn);
		}
	}
	pthread_mutex_unlock(&lock);
}
