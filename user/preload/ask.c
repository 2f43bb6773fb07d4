/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Every collector has a socket in a directory that only root can write to. For processes in another
 * root it has a second socket, with the same name in the abstract namespace. The collector learns
 * from the kernel which process asks. The connection and the received descriptors are closed, so
 * the program finds no unknown descriptors.
 */

#include <linux/mman.h>
#include <linux/resource.h>
#include <linux/fcntl.h>
#include <linux/time_types.h>
#include <linux/un.h>
#include <sys/socket.h>

#include "preload/library.h"

#define ANSWER_SECONDS 10
#define FDS 2
#define NAMES_BYTES 1024

u64 pool_bytes;
u32 own_collector;

/* ---- what the process may do ---- */

#define STATUS_PIECE 512

/* Returns the character after the first place where the text occurs in a file; 0: none. */
static char char_after(long fd, const char *text)
{
	char piece[STATUS_PIECE];
	u32 matched = 0;
	long bytes;

	while ((bytes = sys3(__NR_read, fd, (long)piece, sizeof(piece))) > 0)
		for (long i = 0; i < bytes; i++) {
			if (!text[matched])
				return piece[i];
			matched = piece[i] == text[matched] ? matched + 1 : piece[i] == text[0];
		}
	return 0;
}

bool is_confined(void)
{
	long fd = sys4(__NR_openat, AT_FDCWD, (long)"/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	char mode;

	if (sys_failed(fd))
		return false;
	mode = char_after(fd, "\nSeccomp:\t");
	sys3(__NR_close, fd, 0, 0);
	return mode && mode != '0';
}

/* ---- a connection ---- */

/* far: connect by the name in the abstract namespace. */
static long recorder_connect(const char *name, bool far)
{
	static const char dir[] = POV_PRELOAD_DIR "/";
	const struct __kernel_old_timeval patience = {.tv_sec = ANSWER_SECONDS};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char *to = at.sun_path + far;
	long fd, err;

	memcpy(to, dir, sizeof(dir) - 1);
	to += sizeof(dir) - 1;
	while (*name && to < at.sun_path + sizeof(at.sun_path) - 1)
		*to++ = *name++;
	fd = sys3(__NR_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sys_failed(fd))
		return fd;
	sys6(__NR_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&patience, sizeof(patience), 0);
	sys6(__NR_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, (long)&patience, sizeof(patience), 0);
	do
		err = sys3(__NR_connect, fd, (long)&at, sizeof(at));
	while (err == -EINTR);
	if (!err)
		return fd;
	sys3(__NR_close, fd, 0, 0);
	return err;
}

static bool bytes_send(long conn, const void *what, long bytes)
{
	long n;

	do
		n = sys6(__NR_sendto, conn, (long)what, bytes, MSG_NOSIGNAL, 0, 0);
	while (n == -EINTR);
	return n == bytes;
}

static bool request_send(long conn, const struct pov_preload_request *r)
{
	return bytes_send(conn, r, sizeof(*r));
}

/* Receives an answer and its descriptors. fd NULL: descriptors are not wanted. */
static bool answer_receive(long conn, struct pov_preload_answer *a, int fd[FDS])
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(FDS * sizeof(int))];
	} control = {};
	struct iovec data = {a, sizeof(*a)};
	struct msghdr msg = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = fd ? &control : NULL,
			     .msg_controllen = fd ? sizeof(control) : 0};
	long n;

	do /* the kernel does not restart a call with a time limit after a signal */
		n = sys3(__NR_recvmsg, conn, (long)&msg, MSG_CMSG_CLOEXEC);
	while (n == -EINTR);
	if (n >= 0 && fd && msg.msg_controllen && control.head.cmsg_level == SOL_SOCKET &&
	    control.head.cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(&control.head), control.head.cmsg_len - CMSG_LEN(0));
	return n == sizeof(*a) && a->magic == POV_PRELOAD_MAGIC &&
	       a->version == POV_PRELOAD_VERSION && !a->status;
}

/* ---- memory ---- */

/*
 * Maps a file, and makes the mapping accessible only afterwards: otherwise, in a program that has
 * called mlockall(MCL_FUTURE), all of its memory would be allocated at once.
 */
static void *memory_map(int fd, u64 bytes, int how)
{
	long p = sys6(__NR_mmap, 0, (long)bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (sys_failed(p))
		return NULL;
	if (sys3(__NR_mprotect, p, (long)bytes, how)) {
		sys3(__NR_munmap, p, (long)bytes, 0);
		return NULL;
	}
	sys3(__NR_madvise, p, (long)bytes, MADV_DONTDUMP); /* core dumps do not need it */
	return (void *)p;
}

static void *pool_map(int fd, u64 bytes)
{
	void *p = memory_map(fd, bytes, PROT_READ | PROT_WRITE);

	if (!p)
		return NULL;
	/* A child must not write its calls into its parent's memory. */
	if (sys3(__NR_madvise, (long)p, (long)bytes, MADV_DONTFORK)) {
		sys3(__NR_munmap, (long)p, (long)bytes, 0);
		return NULL;
	}
	return p;
}

/* Maps the page for children. Without it, their calls are not counted. */
static void forks_map(int fd)
{
	long p = sys6(__NR_mmap, 0, POV_PRELOAD_FORKS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      (long)POV_PRELOAD_FORKS_AT);

	if (!sys_failed(p))
		sys3(__NR_madvise, p, POV_PRELOAD_FORKS_BYTES, MADV_DONTDUMP);
	area_forks(sys_failed(p) ? NULL : (void *)p);
}

/* Returns true if address space is limited (ulimit -v). */
static bool memory_is_limited(void)
{
	struct rlimit64 l;

	return sys4(__NR_prlimit64, 0, RLIMIT_AS, 0, (long)&l) || l.rlim_cur != RLIM64_INFINITY;
}

/* Takes the memory of an answer. A child keeps its parent's setup. */
static bool memory_take(const struct pov_preload_answer *a, const int fd[FDS])
{
	void *p;
	bool few;

	if (!a->setup_bytes)
		return true;
	if (!setup) {
		p = memory_map(fd[0], a->setup_bytes, PROT_READ);
		if (!p)
			return false;
		__atomic_store_n(&setup, p, __ATOMIC_RELEASE);
		record_setup();
	}
	if (!pool_bytes) {
		few = memory_is_limited();
		pool_bytes = few ? POV_PRELOAD_SLOTS_FEW * POV_PRELOAD_SLOT_BYTES : a->pool_bytes;
		p = pool_map(fd[1], pool_bytes);
		if (!p) {
			pool_bytes = 0;
			return false;
		}
		forks_map(fd[1]);
		area_pool(p, few ? POV_PRELOAD_SLOTS_FEW : POV_PRELOAD_SLOTS);
	}
	return true;
}

/* ---- the plan ---- */

/* Hooks all libraries. Returns how many functions could not be hooked. */
static u32 libraries_hook(const struct pov_preload_answer *a)
{
	u32 missed = 0;

	for (u32 i = 0; i < a->libraries && i < POV_PRELOAD_LIBRARIES; i++)
		missed += hook_library(&a->library[i],
				       pov_preload_hooks(setup) + a->library[i].first);
	return missed;
}

static bool plan_take(long conn)
{
	struct pov_preload_request r = {
		.magic = POV_PRELOAD_MAGIC,
		.version = POV_PRELOAD_VERSION,
		.wish = POV_PRELOAD_PLAN,
		.number = pool_bytes != 0,
		.collector = own_collector,
	};
	struct pov_preload_answer a = {}, done = {};
	int fd[FDS] = {-1, -1};
	bool taken = request_send(conn, &r) && answer_receive(conn, &a, fd) && memory_take(&a, fd);

	for (int i = 0; i < FDS; i++)
		if (fd[i] >= 0)
			sys3(__NR_close, fd[i], 0, 0);
	if (!taken || !a.setup_bytes)
		return false;
	r.wish = POV_PRELOAD_READY;
	process_bindings = a.bindings;
	r.missed = libraries_hook(&a);
	r.address = area_pool_address(&r.number);
	/*
	 * A late or missing answer does not matter, and probes must not be requested instead:
	 * together with the hooks they would break the code.
	 */
	if (request_send(conn, &r))
		(void)answer_receive(conn, &done, NULL);
	area_pool_known();
	return true;
}

#define STAT_BYTES 64 /* up to the state: "PID (NAME) STATE" */

/* Returns true if the recorder that has this socket is stopped (ctrl-Z): it answers nobody. */
static bool recorder_is_stopped(const char *name)
{
	const char *number = name + sizeof(POV_PRELOAD_SOCKET) - 1;
	char path[32] = "/proc/", stat[STAT_BYTES];
	u64 len = sizeof("/proc/") - 1;
	long fd, at;

	while (*number >= '0' && *number <= '9' && len < sizeof(path) - sizeof("/stat"))
		path[len++] = *number++;
	memcpy(path + len, "/stat", sizeof("/stat"));
	fd = sys4(__NR_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
	if (sys_failed(fd))
		return false;
	at = sys3(__NR_read, fd, (long)stat, sizeof(stat)) - 3;
	sys3(__NR_close, fd, 0, 0);
	while (at > 0 && stat[at] != ')')
		at--;
	return at > 0 && (stat[at + 2] == 'T' || stat[at + 2] == 't');
}

static const char socket_dir[] = POV_PRELOAD_DIR "/", socket_end[] = ".sock";

#define OWN_PATH_BYTES (sizeof(socket_dir) + sizeof(POV_PRELOAD_SOCKET) + 16)

/* Writes the path of our collector's socket. Returns the name in it. */
static const char *own_socket(char path[OWN_PATH_BYTES])
{
	char *name = path + sizeof(socket_dir) - 1;
	u32 len = sizeof(POV_PRELOAD_SOCKET) - 1, digits = 1;

	memcpy(path, socket_dir, sizeof(socket_dir));
	memcpy(name, POV_PRELOAD_SOCKET, sizeof(POV_PRELOAD_SOCKET));
	for (u32 n = own_collector; n >= 10; n /= 10)
		digits++;
	for (u32 i = digits, n = own_collector; i; n /= 10)
		name[len + --i] = (char)('0' + n % 10);
	memcpy(name + len + digits, socket_end, sizeof(socket_end));
	return name;
}

static bool is_taken; /* a recorder has given its plan */

/* Takes the plan of the first recorder that has one, and informs the other recorders. */
static bool plan_ask(const void *ctx, const char *name)
{
	const struct pov_preload_request taken = {.magic = POV_PRELOAD_MAGIC,
						  .version = POV_PRELOAD_VERSION,
						  .wish = POV_PRELOAD_TAKEN};
	long conn = recorder_connect(name, false);

	if (sys_failed(conn))
		return false;
	if (is_taken)
		(void)request_send(conn, &taken);
	else
		is_taken = plan_take(conn);
	sys3(__NR_close, conn, 0, 0);
	return false;
}

struct entry { /* struct linux_dirent64 */
	u64 ino, off;
	u16 bytes;
	u8 type;
	char name[];
};

static bool socket_fits(const char *name, bool stopped)
{
	return begins_with(name, POV_PRELOAD_SOCKET) && recorder_is_stopped(name) == stopped;
}

/*
 * Calls fn with the names of sockets until it returns true; then returns true. Those of stopped
 * recorders come last, because asking one takes ANSWER_SECONDS.
 */
static bool sockets_each(bool (*fn)(const void *ctx, const char *name), const void *ctx)
{
	long dir = sys4(__NR_openat, AT_FDCWD, (long)POV_PRELOAD_DIR,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	_Alignas(8) char names[NAMES_BYTES];
	const struct entry *e;
	bool done = false;
	long bytes;

	if (sys_failed(dir))
		return false;
	for (int stopped = 0; stopped < 2 && !done; stopped++) {
		sys3(__NR_lseek, dir, 0, 0 /* SEEK_SET */);
		while (!done &&
		       (bytes = sys3(__NR_getdents64, dir, (long)names, sizeof(names))) > 0)
			for (long at = 0; at < bytes && !done; at += e->bytes) {
				e = (const struct entry *)(names + at);
				done = socket_fits(e->name, stopped) && fn(ctx, e->name);
			}
	}
	sys3(__NR_close, dir, 0, 0);
	return done;
}

bool ask_plan(void)
{
	is_taken = false;
	sockets_each(plan_ask, NULL);
	return is_taken;
}

void ask_probes(void)
{
	const struct pov_preload_request r = {.magic = POV_PRELOAD_MAGIC,
					      .version = POV_PRELOAD_VERSION,
					      .wish = POV_PRELOAD_PROBES,
					      .collector = own_collector};
	struct pov_preload_answer a = {};
	char path[OWN_PATH_BYTES];
	const char *name = own_socket(path);
	long conn;

	if (recorder_is_stopped(name))
		return;
	conn = recorder_connect(name, false);
	if (sys_failed(conn))
		return;
	if (request_send(conn, &r))
		(void)answer_receive(conn, &a, NULL);
	sys3(__NR_close, conn, 0, 0);
}

#define OVERFLOW_UID 65534 /* of all users that a user namespace does not know */

static bool is_of_root(long conn)
{
	struct {
		s32 pid;
		u32 uid, gid;
	} peer = {};
	u32 bytes = sizeof(peer);

	return !sys6(__NR_getsockopt, conn, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&bytes,
		     0) &&
	       (!peer.uid || peer.uid == OVERFLOW_UID);
}

static bool program_report(const void *ctx, const char *name, bool far)
{
	long conn = recorder_connect(name, far);
	struct pov_preload_answer a = {};
	bool answered;

	if (sys_failed(conn))
		return false;
	answered = (!far || is_of_root(conn)) &&
		   bytes_send(conn, ctx, sizeof(struct pov_preload_program)) &&
		   answer_receive(conn, &a, NULL);
	sys3(__NR_close, conn, 0, 0);
	return answered;
}

static bool program_ask(const void *ctx, const char *name)
{
	return program_report(ctx, name, false);
}

/*
 * Asks our collector if this process is in another root, where the collector's directory is not
 * visible.
 */
static void program_ask_far(const struct pov_preload_program *p)
{
	char path[OWN_PATH_BYTES];
	const char *name = own_socket(path);

	if (sys3(__NR_access, (long)path, 0, 0))
		program_report(p, name, true);
}

void ask_program(const char *path)
{
	struct pov_preload_program p = {.request = {.magic = POV_PRELOAD_MAGIC,
						    .version = POV_PRELOAD_VERSION,
						    .wish = POV_PRELOAD_PROGRAM}};

	if (is_confined())
		return;
	for (u32 i = 0; i < sizeof(p.path) - 1 && path[i]; i++)
		p.path[i] = path[i];
	/* if the status can be read, is_confined has seen that there is no filter */
	if (!sockets_each(program_ask, &p) && own_collector &&
	    !sys3(__NR_access, (long)"/proc/self/status", 4 /* R_OK */, 0))
		program_ask_far(&p);
}
