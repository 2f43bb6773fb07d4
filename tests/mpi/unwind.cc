// SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause)
//
// Ways to leave an MPI call other than returning: C++ exceptions from callbacks, cancellation of a
// thread, longjmp; and reading the stack from within a call. Objects on the stack are destroyed,
// and the program goes on. Usage: unwind HOW
//	handler	an error handler throws, from calls of several functions, also from a nested level
//		of functions
//	op	a user's operation throws from MPI_Reduce_local
//	attr	a delete callback throws from MPI_Comm_delete_attr
//	thread	threads whose error handler throws
//	cancel	a thread that waits in MPI_Recv is cancelled
//	exit	a thread leaves by pthread_exit in an error handler
//	jump	an error handler leaves by longjmp
//	trace	an error handler reads the stack down to main
#include <csetjmp>
#include <cstdint>
#include <execinfo.h>
#include <stdexcept>
#include <unwind.h>

#include "expect.h"

#define TIMES 101

static int destroyed, caught, frames_of_main;
static jmp_buf back;

struct witness {
	~witness()
	{
		__atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
	}
};

static void handler_throw(MPI_Comm *, int *, ...)
{
	throw std::runtime_error("from a handler");
}

static void handler_jump(MPI_Comm *, int *, ...)
{
	longjmp(back, 1);
}

static void handler_exit(MPI_Comm *, int *, ...)
{
	pthread_exit(nullptr);
}

static void op_throw(void *, void *, int *, MPI_Datatype *)
{
	throw 42;
}

// Throws once: MPI calls it again when it ends.
static int attr_throw(MPI_Comm, int, void *, void *)
{
	static int thrown;

	if (!thrown++)
		throw "attribute";
	return MPI_SUCCESS;
}

static int main_like(int argc, char **argv);

static _Unwind_Reason_Code frame_look(struct _Unwind_Context *context, void *)
{
	if (_Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context)) == (void *)main_like)
		frames_of_main++;
	return _URC_NO_REASON;
}

static void handler_trace(MPI_Comm *, int *, ...)
{
	_Unwind_Backtrace(frame_look, nullptr);
}

// A call that fails: there is no such rank.
static void send_nowhere(MPI_Comm comm)
{
	witness w;
	int out = 0;

	expect_add("MPI_Send", NO_PEER, 1, 0, 0, 0);
	MPI_Send(&out, 1, MPI_INT, size + 5, 0, comm);
}

static void probe_nowhere(MPI_Comm comm)
{
	witness w;

	expect_add("MPI_Probe", NO_PEER, 1, 0, 0, 0);
	MPI_Probe(size + 5, 0, comm, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void nested(MPI_Comm comm, int depth)
{
	witness w;

	if (depth)
		nested(comm, depth - 1);
	else
		send_nowhere(comm);
}

template <typename CALL> static void expect_thrown(const char *fn, CALL call)
{
	try {
		call();
	} catch (std::exception &) {
		__atomic_fetch_add(&caught, 1, __ATOMIC_RELAXED);
		expect_add_cut(fn, NO_PEER);
	}
}

static MPI_Comm comm_with(MPI_Comm_errhandler_function *fn)
{
	MPI_Comm comm;
	MPI_Errhandler handler;

	DO(MPI_Comm_dup, MPI_COMM_WORLD, &comm);
	DO(MPI_Comm_create_errhandler, fn, &handler);
	DO(MPI_Comm_set_errhandler, comm, handler);
	return comm;
}

static void run_handler(char **)
{
	MPI_Comm comm = comm_with(handler_throw);

	for (int i = 0; i < TIMES; i++) {
		expect_thrown("MPI_Send", [=] { send_nowhere(comm); });
		expect_thrown("MPI_Probe", [=] { probe_nowhere(comm); });
		expect_thrown("MPI_Send", [=] { nested(comm, i % 7); });
	}
	DO(MPI_Barrier, MPI_COMM_WORLD);
}

static void run_op(char **)
{
	MPI_Op op;
	int in = 1, inout = 2;

	DO(MPI_Op_create, op_throw, 1, &op);
	for (int i = 0; i < TIMES; i++) {
		witness w;

		try {
			DO(MPI_Reduce_local, &in, &inout, 1, MPI_INT, op);
		} catch (int) {
			caught++;
			expect_add_cut("MPI_Reduce_local", NO_PEER);
		}
	}
	DO(MPI_Op_free, &op);
}

static void run_attr(char **)
{
	int key;

	DO(MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN, attr_throw, &key, nullptr);
	DO(MPI_Comm_set_attr, MPI_COMM_SELF, key, &key);
	try {
		witness w;

		DO(MPI_Comm_delete_attr, MPI_COMM_SELF, key);
	} catch (const char *) {
		caught++;
		expect_add_cut("MPI_Comm_delete_attr", NO_PEER);
	}
}

static void *thrower(void *arg)
{
	MPI_Comm comm = *(MPI_Comm *)arg;

	for (int i = 0; i < TIMES; i++)
		expect_thrown("MPI_Send", [=] { nested(comm, 3); });
	return nullptr;
}

static void run_thread(char **)
{
	for (int i = 0; i < 3; i++) {
		MPI_Comm comm = comm_with(handler_throw);

		threads_run(1, thrower, (long)&comm);
	}
}

static int waits;

static void *receiver(void *)
{
	witness w;
	int in;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
	expect_add("MPI_Recv", NO_PEER, 1, 0, 0, 0);
	expect_add_cut("MPI_Recv", NO_PEER);
	__atomic_store_n(&waits, 1, __ATOMIC_RELEASE);
	MPI_Recv(&in, 1, MPI_INT, rank, 4711, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return nullptr;
}

// The thread spins in MPI_Recv if it has used CPU time since it announced the call.
static void wait_inside(pthread_t t)
{
	unsigned long long begin;
	clockid_t clock;

	while (!__atomic_load_n(&waits, __ATOMIC_ACQUIRE))
		sched_yield();
	MUST(!pthread_getcpuclockid(t, &clock));
	for (begin = clock_ns(clock); clock_ns(clock) - begin < 20000000;)
		usleep(1000);
}

// MPI may be left locked: the books are written, and MPI is not called again.
static void run_cancel(char **)
{
	pthread_t t;
	void *end;

	DO(MPI_Barrier, MPI_COMM_WORLD);
	MUST(!pthread_create(&t, nullptr, receiver, nullptr));
	wait_inside(t);
	MUST(!pthread_cancel(t) && !pthread_join(t, &end));
	printf("cancelled %d, destroyed %d\n", end == PTHREAD_CANCELED, destroyed);
	fflush(stdout);
	expect_write("unwind", rank);
	_exit(0);
}

static void *leaver(void *arg)
{
	expect_add_cut("MPI_Send", NO_PEER);
	send_nowhere(*(MPI_Comm *)arg);
	return nullptr;
}

static void run_exit(char **)
{
	MPI_Comm comm = comm_with(handler_exit);

	for (int i = 0; i < 5; i++)
		threads_run(1, leaver, (long)&comm);
}

static void run_jump(char **)
{
	MPI_Comm comm = comm_with(handler_jump);
	volatile int left = 0;

	for (volatile int i = 0; i < TIMES; i++) {
		if (setjmp(back)) {
			left++;
			expect_add_cut("MPI_Send", NO_PEER);
			continue;
		}
		expect_add("MPI_Send", NO_PEER, 1, 0, 0, 0);
		MPI_Send((const void *)&left, 1, MPI_INT, size + 5, 0, comm);
	}
	caught = left;
}

static void run_trace(char **)
{
	MPI_Comm comm = comm_with(handler_trace);

	for (int i = 0; i < TIMES; i++)
		send_nowhere(comm);
	printf("saw main %d times\n", frames_of_main);
}

__attribute__((noinline)) static int main_like(int argc, char **argv)
{
	static const struct mode modes[] = {{"handler", run_handler}, {"op", run_op},
					    {"attr", run_attr},	      {"thread", run_thread},
					    {"cancel", run_cancel},   {"exit", run_exit},
					    {"jump", run_jump},	      {"trace", run_trace}};

	MUST(argc > 1);
	if (!strcmp(argv[1], "cancel"))
		expect_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
	else
		expect_init(&argc, &argv);
	MODE_RUN(modes, argv + 1);
	printf("caught %d, destroyed %d\n", caught, destroyed);
	expect_finish();
	return 0;
}

int main(int argc, char **argv)
{
	return main_like(argc, argv);
}
