/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Counts what layer os records, to check it. Loaded by LD_PRELOAD, it replaces the C library's
 * functions that read and write, finds out which kind of socket a descriptor is, and sums up the
 * results. At the end of a process it writes a line for each kernel function to $POV_EXPECT/os.PID:
 * pid, function, calls, empty polls, bytes. It ignores IPv6 datagrams and peeks, which the programs
 * under test do not use.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { TCP, UDP, UNIX, COPY, KINDS };
enum { OUT, IN };

static const char *const names[KINDS][2] = {
	[TCP] = {"tcp_sendmsg", "tcp_recvmsg"},
	[UDP] = {"udp_sendmsg", "udp_recvmsg"},
	[UNIX] = {"unix_stream_sendmsg", "unix_stream_recvmsg"},
	[COPY] = {"process_vm_writev", "process_vm_readv"},
};

static struct {
	atomic_ullong calls, empty, bytes;
} sums[KINDS][2];

static int kind_of(int fd)
{
	int domain = 0, type = 0, was = errno;
	socklen_t len = sizeof(int);

	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);
	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len);
	errno = was;
	if (type == SOCK_DGRAM)
		return domain == AF_INET ? UDP : -1;
	if (type != SOCK_STREAM)
		return -1;
	return domain == AF_UNIX ? UNIX : domain == AF_INET || domain == AF_INET6 ? TCP : -1;
}

static ssize_t noted(int kind, int way, ssize_t ret)
{
	if (kind < 0)
		return ret;
	sums[kind][way].calls++;
	if (ret > 0)
		sums[kind][way].bytes += (unsigned long long)ret;
	else if (ret < 0 && errno == EAGAIN && kind != COPY)
		sums[kind][way].empty++;
	return ret;
}

/* Finds the kind before the call, because the descriptor may be reused during the call. */
#define WITNESS(way, name, params, args)                                   \
	ssize_t name params;                                               \
	ssize_t name params                                                \
	{                                                                  \
		static ssize_t(*real) params;                              \
		int kind = kind_of(fd);                                    \
                                                                           \
		if (!real)                                                 \
			real = (ssize_t(*) params)dlsym(RTLD_NEXT, #name); \
		return noted(kind, way, real args);                        \
	}

WITNESS(OUT, write, (int fd, const void *buf, size_t n), (fd, buf, n))
WITNESS(OUT, writev, (int fd, const struct iovec *iov, int cnt), (fd, iov, cnt))
WITNESS(OUT, send, (int fd, const void *buf, size_t n, int flags), (fd, buf, n, flags))
WITNESS(OUT, sendto,
	(int fd, const void *buf, size_t n, int flags, const struct sockaddr *to, socklen_t len),
	(fd, buf, n, flags, to, len))
WITNESS(OUT, sendmsg, (int fd, const struct msghdr *msg, int flags), (fd, msg, flags))
WITNESS(IN, read, (int fd, void *buf, size_t n), (fd, buf, n))
WITNESS(IN, __read_chk, (int fd, void *buf, size_t n, size_t room), (fd, buf, n, room))
WITNESS(IN, readv, (int fd, const struct iovec *iov, int cnt), (fd, iov, cnt))
WITNESS(IN, recv, (int fd, void *buf, size_t n, int flags), (fd, buf, n, flags))
WITNESS(IN, __recv_chk, (int fd, void *buf, size_t n, size_t room, int flags),
	(fd, buf, n, room, flags))
WITNESS(IN, recvfrom,
	(int fd, void *buf, size_t n, int flags, struct sockaddr *from, socklen_t *len),
	(fd, buf, n, flags, from, len))
WITNESS(IN, recvmsg, (int fd, struct msghdr *msg, int flags), (fd, msg, flags))

#define COPY_WITNESS(way, name)                                                             \
	ssize_t name(pid_t pid, const struct iovec *local, unsigned long n,                 \
		     const struct iovec *remote, unsigned long m, unsigned long flags)      \
	{                                                                                   \
		static ssize_t (*real)(pid_t, const struct iovec *, unsigned long,          \
				       const struct iovec *, unsigned long, unsigned long); \
                                                                                            \
		if (!real)                                                                  \
			*(void **)&real = dlsym(RTLD_NEXT, #name);                          \
		return noted(COPY, way, real(pid, local, n, remote, m, flags));             \
	}
COPY_WITNESS(IN, process_vm_readv)
COPY_WITNESS(OUT, process_vm_writev)

static void forget(void)
{
	memset(sums, 0, sizeof(sums));
}

__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(NULL, NULL, forget);
}

__attribute__((destructor)) static void end(void)
{
	const char *dir = getenv("POV_EXPECT");
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/os.%d", dir ? dir : ".", getpid());
	out = fopen(path, "w");
	for (int i = 0; out && i < 2 * KINDS; i++)
		if (sums[i / 2][i % 2].calls)
			fprintf(out, "%d\t%s\t%llu\t%llu\t%llu\n", getpid(), names[i / 2][i % 2],
				sums[i / 2][i % 2].calls, sums[i / 2][i % 2].empty,
				sums[i / 2][i % 2].bytes);
	if (out)
		fclose(out);
}
