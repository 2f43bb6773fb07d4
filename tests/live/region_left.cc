// SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
//
// Functions to be recorded as regions that are left without returning: by exceptions, and by
// threads that are cancelled or end. Each counts its own calls, which are printed at the end as by
// tests/mpi/regions.c, with the number of objects destroyed.
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#define REGION extern "C" __attribute__((noinline, noclone)) int
#define THROWN 31
#define DEEP 37
#define RECURSION 5
#define THREADS 3

struct region {
	const char *name;
	int calls, nested, unwound, open;
};

static region regions[9];
static int rank_, destroyed;
static volatile int sink;
static int pipe_[2];

static region &of(const char *name)
{
	region *r = regions;

	while (r->name && strcmp(r->name, name))
		r++;
	r->name = name;
	return *r;
}

struct witness {
	~witness()
	{
		destroyed++;
	}
};

REGION left_thrown(int n)
{
	of(__func__).calls++;
	of(__func__).unwound += n % 3 == 0;
	if (n % 3 == 0)
		throw std::runtime_error("left");
	sink = n;
	return n;
}

/* An object of its own is destroyed on the way through. */
REGION left_around(int n)
{
	witness w;

	of(__func__).calls++;
	of(__func__).unwound += n % 3 == 0;
	sink = left_thrown(n);
	return sink + 1;
}

REGION left_caught(int n)
{
	of(__func__).calls++;
	try {
		sink = left_thrown(n);
	} catch (std::exception &) {
		sink = -1;
	}
	return sink;
}

/* What lies deep in the stack is left, and what is called next lies deeper. */
REGION left_deep(int n)
{
	of(__func__).calls++;
	of(__func__).unwound++;
	throw n;
}

REGION left_below(int n)
{
	of(__func__).calls++;
	sink = n;
	return n;
}

__attribute__((noinline)) static int with_frame(int bytes, int (*fn)(int), int n)
{
	volatile char *frame = (volatile char *)alloca(bytes);

	for (int i = 0; i < bytes; i += 64)
		frame[i] = (char)i;
	return fn(n) + frame[0];
}

REGION left_rec(int n)
{
	witness w;

	of(__func__).calls++;
	of(__func__).nested += n < RECURSION;
	of(__func__).unwound++;
	if (!n)
		throw "bottom";
	sink = left_rec(n - 1);
	return sink;
}

REGION left_waits(int n)
{
	witness w;
	char byte;

	of(__func__).calls++;
	of(__func__).open++;
	if (write(pipe_[1], "!", 1) != 1)
		abort();
	for (;;)
		pause();
	return n;
}

REGION left_exits(int n)
{
	witness w;

	of(__func__).calls++;
	of(__func__).open++;
	if (n)
		pthread_exit(nullptr);
	return n;
}

/* Called by MPI itself, and returns. */
REGION left_handler(int n)
{
	of(__func__).calls++;
	sink = n;
	return n;
}

static void on_error(MPI_Comm *, int *, ...)
{
	left_handler(1);
}

static void *waiter(void *)
{
	left_waits(1);
	return nullptr;
}

static void *leaver(void *)
{
	left_exits(1);
	return nullptr;
}

template <typename CALL> static void catching(CALL call)
{
	try {
		call();
	} catch (...) {
		sink = 0;
	}
}

static void threads_end(void *(*run)(void *), bool cancelled)
{
	for (int i = 0; i < THREADS; i++) {
		pthread_t t;
		char byte;

		if (pthread_create(&t, nullptr, run, nullptr))
			abort();
		if (cancelled && (read(pipe_[0], &byte, 1) != 1 || pthread_cancel(t)))
			abort();
		pthread_join(t, nullptr);
	}
}

static void errors_make()
{
	MPI_Errhandler handler;
	int out = 0;

	MPI_Comm_create_errhandler(on_error, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	for (int i = 0; i < THROWN; i++)
		MPI_Sendrecv(&out, 1, MPI_INT, 1 << 20, 0, &out, 1, MPI_INT, 1 << 20, 0,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
	if (pipe(pipe_))
		abort();
	for (int i = 0; i < THROWN; i++) {
		catching([=] { sink = left_thrown(i); });
		catching([=] { sink = left_around(i); });
		sink = left_caught(i);
	}
	for (int i = 0; i < DEEP; i++) {
		catching([=] { sink = with_frame(256, left_deep, i); });
		sink = with_frame(8192, left_below, i);
	}
	catching([] { sink = left_rec(RECURSION); });
	threads_end(waiter, true);
	threads_end(leaver, false);
	errors_make();
	MPI_Barrier(MPI_COMM_WORLD);
	for (const region &r : regions)
		printf("%d %s %d %d %d %d\n", rank_, r.name, r.calls, r.nested, r.unwound, r.open);
	printf("rank %d: %d destroyed\n", rank_, destroyed);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
