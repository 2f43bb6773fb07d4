/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Stacks that few programs have, and handlers of signals. Usage: odd_stacks [HOW]
 *
 *	misaligned	calls on a stack that is not aligned, as some compilers and assembler
 *			make them
 *	execute		executes programs in children that have the least stack
 *	jump		a timer's handler leaves calls by siglongjmp; the calls after that are in
 *			the books, but not those of MPI_Topo_test, any of which may be left
 *	handler		a timer's handler calls MPI, whatever it interrupts
 *	children a callback of MPI forks a child, which goes on to call MPI
 */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "expect.h"

#define JUMPS 301
#define SIZES 11 /* calls after a jump */
#define EXCHANGES 100003
#define TIMER_US 200

extern char **environ;

static void timer_set(int first_us, int interval_us)
{
	const struct itimerval t = {{0, interval_us}, {0, first_us}};

	MUST(!setitimer(ITIMER_REAL, &t, NULL));
}

static void handler_set(void (*fn)(int))
{
	const struct sigaction sa = {.sa_handler = fn, .sa_flags = SA_RESTART};

	MUST(!sigaction(SIGALRM, &sa, NULL));
}

/* ---- misaligned ---- */

static int call_misaligned(int (*fn)(int *), int *arg)
{
	int ret = -1;

#ifdef __x86_64__
	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "and $-16, %%rsp\n\t"
			 "sub $8, %%rsp\n\t"
			 "call *%[fn]\n\t"
			 "mov %%rbx, %%rsp"
			 : "=a"(ret), "+D"(arg), [fn] "+r"(fn)
			 :
			 : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
#else
	ret = fn(arg);
#endif
	return ret;
}

static void run_misaligned(char **args)
{
	int begun = 0;

	for (int i = 0; i < 101; i++) {
		expect_add("MPI_Initialized", NO_PEER, 1, 0, 0, 0);
		MUST(!call_misaligned(MPI_Initialized, &begun));
	}
	printf("begun: %d\n", begun);
}

/* ---- execute ---- */

#define ROOM (1 << 16)

static int child_main(void *with)
{
	char *const argv[] = {"echo", "executed", NULL}, *const none[] = {NULL};

	execve("/bin/echo", argv, with ? environ : none);
	_exit(9);
}

static void child_run(size_t bytes, void *with)
{
	char *room = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t pid;

	/* everything below is out of bounds */
	MUST(room != MAP_FAILED && !mprotect(room + ROOM - bytes, bytes, PROT_READ | PROT_WRITE));
	fflush(stdout);
	pid = clone(child_main, room + ROOM, CLONE_VM | CLONE_VFORK | SIGCHLD, with);
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
	printf("with a stack of %zu bytes: status %x\n", bytes, (unsigned int)status);
}

static void run_execute(char **args)
{
	for (size_t bytes = 4096; bytes <= 32768; bytes *= 2) {
		child_run(bytes, environ);
		child_run(bytes, NULL);
	}
}

/* ---- jump ---- */

static sigjmp_buf back;

static void jump_back(int sig)
{
	siglongjmp(back, sig);
}

static void run_jump(char **args)
{
	volatile int jumps;
	int result;

	handler_set(jump_back);
	for (jumps = 0; jumps < JUMPS; jumps++) {
		if (!sigsetjmp(back, 1)) {
			timer_set(500 + jumps % 97, 0);
			for (;;)
				MPI_Topo_test(MPI_COMM_WORLD, &result);
		}
		for (int i = 0; i < SIZES; i++)
			DO(MPI_Type_size, MPI_INT, &result);
	}
}

/* ---- handler ---- */

static volatile unsigned int handled;

static void handle(int sig)
{
	int begun;

	MPI_Initialized(&begun);
	handled++;
}

static void run_handler(char **args)
{
	int out = 1, in;

	handler_set(handle);
	timer_set(TIMER_US, TIMER_US);
	for (int i = 0; i < EXCHANGES; i++)
		CALL(MPI_Sendrecv, 0, 4, 4, &out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0,
		     MPI_COMM_SELF, MPI_STATUS_IGNORE);
	timer_set(0, 0);
	expect_add("MPI_Initialized", NO_PEER, handled, 0, 0, 0);
}

/* ---- children ---- */

static pid_t forked = -1;

static int attr_fork(MPI_Comm comm, int key, void *value, void *extra)
{
	fflush(NULL);
	forked = fork();
	return MPI_SUCCESS;
}

static void run_children(char **args)
{
	int key, status = -1, begun = 0;

	DO(MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN, attr_fork, &key, NULL);
	DO(MPI_Comm_set_attr, MPI_COMM_SELF, key, &key);
	DO(MPI_Comm_delete_attr, MPI_COMM_SELF, key);
	if (!forked) {
		memset(expect_rows, 0, sizeof(expect_rows));
		expect_row_cnt = 0;
		REPEAT(5, DO(MPI_Initialized, &begun));
		expect_write(program_invocation_short_name, rank);
		_exit(begun);
	}
	MUST(waitpid(forked, &status, 0) == forked);
	printf("the child: status %x\n", (unsigned int)status);
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {{"misaligned", run_misaligned},
					    {"execute", run_execute},
					    {"jump", run_jump},
					    {"handler", run_handler},
					    {"children", run_children}};

	expect_init(&argc, &argv);
	if (argc > 1)
		MODE_RUN(modes, argv + 1);
	expect_finish();
	return 0;
}
