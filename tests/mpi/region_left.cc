// SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
//
// Functions to be recorded as regions that are left without returning: by exceptions, and by
// threads that are cancelled or end. Each counts its own calls, which are printed at the end as by
// tests/mpi/regions.c, with the number of objects destroyed.
#include <alloca.h>
#include <stdexcept>

#include "regions.h"

#define THROWN 31
#define DEEP 37
#define RECURSION 5
#define THREADS 3

static int destroyed, pipe_[2];

struct witness {
	~witness()
	{
		destroyed++;
	}
};

// Their names are those of C.
extern "C" {
REGION int left_thrown(int n)
{
	called(__func__)->unwound += n % 3 == 0;
	if (n % 3 == 0)
		throw std::runtime_error("left");
	sink = n;
	return n;
}

// An object of its own is destroyed on the way through.
REGION int left_around(int n)
{
	witness w;

	called(__func__)->unwound += n % 3 == 0;
	sink = left_thrown(n);
	return sink + 1;
}

REGION int left_caught(int n)
{
	called(__func__);
	try {
		sink = left_thrown(n);
	} catch (std::exception &) {
		sink = -1;
	}
	return sink;
}

// What lies deep in the stack is left, and what is called next lies deeper.
REGION int left_deep(int n)
{
	called(__func__)->unwound++;
	throw n;
}

REGION int left_below(int n)
{
	called(__func__);
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

REGION int left_rec(int n)
{
	region *r = called(__func__);
	witness w;

	r->nested += n < RECURSION;
	r->unwound++;
	if (!n)
		throw "bottom";
	sink = left_rec(n - 1);
	return sink;
}

REGION int left_waits(int n)
{
	witness w;

	called(__func__)->open++;
	MUST(write(pipe_[1], "!", 1) == 1);
	for (;;)
		pause();
	return n;
}

REGION int left_exits(int n)
{
	witness w;

	called(__func__)->open++;
	if (n)
		pthread_exit(nullptr);
	return n;
}

// Called by MPI itself, and returns.
REGION int left_handler(int n)
{
	called(__func__);
	sink = n;
	return n;
}

} // extern "C"

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

		MUST(!pthread_create(&t, nullptr, run, nullptr));
		MUST(!cancelled || (read(pipe_[0], &byte, 1) == 1 && !pthread_cancel(t)));
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
	expect_init(&argc, &argv);
	MUST(!pipe(pipe_));
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
	printf("rank %d: %d destroyed\n", rank, destroyed);
	regions_print();
	MPI_Finalize();
	return 0;
}
