/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI_Finalize of MPICH before 4.2 may hang if UCX joins the nodes by TCP. Each rank flushes its
 * endpoints, and then waits for the others in a barrier of PMI: a read(2) from the launcher's
 * proxy, in which UCX makes no progress. But a flush over TCP needs an answer from the peer. A rank
 * whose own flushes are answered early waits in that read and answers no more. No messages before
 * MPI_Finalize prevent this, because the last one needs a flush, too. MPICH 4.2 has the barrier
 * before the flushes (pull request 6596).
 *
 * If this library is preloaded, UCX makes progress while a rank waits in such a read. Threads of
 * UCX read, too, so only the file descriptor of the launcher's proxy counts.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in UCX's ucp.h, which need not be installed: pointers and an enum. */
int ucp_worker_create(void *context, const void *params, void **out);
void ucp_worker_destroy(void *worker);
int MPI_Finalize(void);

static void *only_worker; /* MPICH makes one unless told otherwise */
static unsigned (*worker_progress)(void *worker);
static int proxy_fd = -1; /* from MPI_Finalize on */

int ucp_worker_create(void *context, const void *params, void **out)
{
	int (*real)(void *, const void *, void **) = dlsym(RTLD_NEXT, "ucp_worker_create");
	int status = real(context, params, out);

	worker_progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
	only_worker = status ? NULL : *out;
	return status;
}

void ucp_worker_destroy(void *worker)
{
	void (*real)(void *) = dlsym(RTLD_NEXT, "ucp_worker_destroy");

	only_worker = NULL;
	real(worker);
}

int MPI_Finalize(void)
{
	int (*real)(void) = dlsym(RTLD_NEXT, "MPI_Finalize");
	const char *given = getenv("PMI_FD");

	if (given)
		proxy_fd = atoi(given);
	return real();
}

ssize_t read(int fd, void *buf, size_t bytes)
{
	struct pollfd data = {.fd = fd, .events = POLLIN};

	while (fd == proxy_fd && only_worker && !poll(&data, 1, 0))
		worker_progress(only_worker);
	return syscall(SYS_read, fd, buf, bytes);
}
