/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Moves known numbers of bytes through the kernel: TCP, UDP (also from an IPv6 socket), local
 * sockets, by a thread that does nothing else, and from the memory of a child. Prints, like
 * count_os.c: pid, kernel function, calls, empty polls, bytes; and the name of the sender's end of
 * one TCP connection.
 *
 *   os_traffic N		all of that, N times
 *   os_traffic waits	prints its pid and waits in a receive for ever
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define TCP_BYTES 1009
#define UDP_BYTES 101
#define UDP6_BYTES 103
#define UNIX_BYTES 211
#define COPY_BYTES 4099
#define POLLS 997

static char buf[8192];

static void sent(int fd, size_t bytes)
{
	MUST(send(fd, buf, bytes, 0) == (ssize_t)bytes);
}

static void got(int fd, size_t bytes)
{
	MUST(recv(fd, buf, bytes, MSG_WAITALL) == (ssize_t)bytes);
}

static int bound(int type, struct sockaddr_in *to)
{
	socklen_t len = sizeof(*to);
	int fd = socket(AF_INET, type, 0);

	*to = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	MUST(fd >= 0 && !bind(fd, (struct sockaddr *)to, sizeof(*to)) &&
	     !getsockname(fd, (struct sockaddr *)to, &len));
	return fd;
}

static void connected(int tcp[2])
{
	struct sockaddr_in to;
	int fd = bound(SOCK_STREAM, &to);

	tcp[0] = socket(AF_INET, SOCK_STREAM, 0);
	MUST(!listen(fd, 1) && !connect(tcp[0], (struct sockaddr *)&to, sizeof(to)));
	tcp[1] = accept(fd, NULL, NULL);
	close(fd);
}

static void *helper(void *arg)
{
	int *pair = arg;

	sent(pair[0], UNIX_BYTES);
	got(pair[1], UNIX_BYTES);
	return NULL;
}

static void datagrams(int n)
{
	struct sockaddr_in to;
	int in = bound(SOCK_DGRAM, &to), out6 = socket(AF_INET6, SOCK_DGRAM, 0);
	struct sockaddr_in6 to6 = {.sin6_family = AF_INET6, .sin6_port = to.sin_port};

	inet_pton(AF_INET6, "::ffff:127.0.0.1", &to6.sin6_addr);
	for (int i = 0; i < n; i++)
		MUST(sendto(in, buf, UDP_BYTES, 0, (void *)&to, sizeof(to)) == UDP_BYTES &&
		     recv(in, buf, sizeof(buf), MSG_PEEK) == UDP_BYTES &&
		     recv(in, buf, sizeof(buf), 0) == UDP_BYTES &&
		     sendto(out6, buf, UDP6_BYTES, 0, (void *)&to6, sizeof(to6)) == UDP6_BYTES &&
		     recv(in, buf, sizeof(buf), 0) == UDP6_BYTES);
}

static void copies(int n)
{
	struct iovec here = {buf, COPY_BYTES}, there = {buf, COPY_BYTES};
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	for (int i = 0; i < n; i++)
		MUST(process_vm_readv(child, &here, 1, &there, 1, 0) == COPY_BYTES &&
		     process_vm_writev(child, &here, 1, &there, 1, 0) == COPY_BYTES &&
		     process_vm_writev(child, &here, 1, &there, 1, 77) == -1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	printf("peer\t%d\n", child);
}

static void book(const char *name, int calls, int empty, int bytes)
{
	printf("%d\t%s\t%d\t%d\t%d\n", getpid(), name, calls, empty, bytes);
}

static void traffic(int n)
{
	struct sockaddr_in own;
	socklen_t len = sizeof(own);
	int tcp[2], pair[2];
	pthread_t thread;

	connected(tcp);
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	for (int i = 0; i < n; i++) {
		sent(tcp[0], TCP_BYTES);
		got(tcp[1], TCP_BYTES);
		pthread_create(&thread, NULL, helper, pair);
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < POLLS; i++)
		MUST(recv(tcp[1], buf, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	datagrams(n);
	copies(n);
	getsockname(tcp[0], (struct sockaddr *)&own, &len);
	printf("end\t127.0.0.1:%d\n", ntohs(own.sin_port));
	book("tcp_sendmsg", n, 0, n * TCP_BYTES);
	book("tcp_recvmsg", n + POLLS, POLLS, n * TCP_BYTES);
	book("unix_stream_sendmsg", n, 0, n * UNIX_BYTES);
	book("unix_stream_recvmsg", n, 0, n * UNIX_BYTES);
	book("udp_sendmsg", n, 0, n * UDP_BYTES);
	book("udpv6_sendmsg", n, 0, n * UDP6_BYTES);
	book("udp_recvmsg", 3 * n, 0, n * (UDP_BYTES + UDP6_BYTES));
	book("process_vm_readv", n, 0, n * COPY_BYTES);
	book("process_vm_writev", 2 * n, 0, n * COPY_BYTES);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "7";
	int pair[2];

	if (!strcmp(what, "waits")) {
		printf("%d\n", getpid());
		fflush(stdout);
		if (!socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			got(pair[0], 1);
	} else {
		traffic(atoi(what));
	}
	return 0;
}
