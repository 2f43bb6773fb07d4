/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Programs that confine themselves with seccomp. A forbidden system call kills the process. Usage:
 * sandbox HOW
 *
 *	few	after MPI_Init: no new files, sockets, shared or file memory, processes, signals,
 *		BPF
 *	strict	after MPI_Init and a first exchange: only what an exchange and the end of a process
 *		need
 *	flood	as strict, and without sleeping: many calls at once
 *	mode1	a thread: only read, write and exit (SECCOMP_MODE_STRICT), for calls within the
 *		process
 *	calm	after MPI_Init: no new sockets, programs, nor calls that MPI never needs; then to
 *		the end of MPI
 *	trap	as few, but a handler counts refused calls: there must be none
 *	before	as few, before MPI_Init, without what MPI itself needs there
 *	run PROGRAM [ARG…]	same, for a program that is then executed
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "expect.h"

#define FILTER_MAX 256
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define FILTER(insn) filter_add((struct sock_filter)insn)
#define NUMBERS(list, action) filter_numbers(list, ARRAY_SIZE(list), action)
#define THREADS 5

static struct sock_filter filter[FILTER_MAX];
static unsigned short filter_cnt;
static volatile sig_atomic_t refused;

/* Calls that MPI does not need even before it has begun, but that tools might use. */
static const int never[] = {
	SYS_memfd_create, SYS_bpf,	     SYS_perf_event_open,
	SYS_ptrace,	  SYS_kcmp,	     SYS_userfaultfd,
	SYS_pidfd_open,	  SYS_pidfd_getfd,   SYS_rt_tgsigqueueinfo,
	SYS_membarrier,	  SYS_pkey_mprotect,
};
/* Calls that MPI does not need once it runs. */
static const int not_calm[] = {SYS_socket, SYS_connect, SYS_bind, SYS_execve, SYS_fork, SYS_vfork};
static const int not_later[] = {
	SYS_openat, SYS_open,	SYS_creat,   SYS_shmget,  SYS_shmat,	 SYS_dup,
	SYS_dup2,   SYS_dup3,	SYS_recvmsg, SYS_sendmsg, SYS_kill,	 SYS_tgkill,
	SYS_prctl,  SYS_mremap, SYS_ioctl,   SYS_fcntl,	  SYS_ftruncate, SYS_rt_sigaction,
};
/* Calls for an exchange through shared memory, malloc, writing the books, and the end. */
static const int enough[] = {
	SYS_read,	   SYS_write,	     SYS_writev,
	SYS_poll,	   SYS_epoll_wait,   SYS_futex,
	SYS_sched_yield,   SYS_nanosleep,    SYS_clock_nanosleep,
	SYS_clock_gettime, SYS_gettimeofday, SYS_exit_group,
	SYS_exit,	   SYS_rt_sigreturn, SYS_restart_syscall,
	SYS_brk,	   SYS_getpid,	     SYS_newfstatat,
	SYS_munmap,	   SYS_madvise,
};

/* Calls by which a thread sleeps. */
static const int sleeping[] = {SYS_nanosleep, SYS_clock_nanosleep};

static void filter_add(struct sock_filter f)
{
	MUST(filter_cnt < FILTER_MAX);
	filter[filter_cnt++] = f;
}

static void filter_numbers(const int *numbers, size_t cnt, unsigned int action)
{
	for (size_t i = 0; i < cnt; i++) {
		FILTER(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)numbers[i], 0, 1));
		FILTER(BPF_STMT(BPF_RET | BPF_K, action));
	}
}

/* Filters mmap: no shared memory and no file mappings. */
static void filter_mmap(unsigned int action)
{
	FILTER(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 5));
	FILTER(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])));
	FILTER(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 2));
	FILTER(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 1, 0));
	FILTER(ALLOW);
	FILTER(BPF_STMT(BPF_RET | BPF_K, action));
}

static void filter_begin(void)
{
	filter_cnt = 0;
	FILTER(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
}

static void filter_install(void)
{
	struct sock_fprog prog = {filter_cnt, filter};

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog));
}

static void confine_before(void)
{
	filter_begin();
	NUMBERS(never, SECCOMP_RET_KILL_PROCESS);
	FILTER(ALLOW);
	filter_install();
}

static void confine_calmly(char **args)
{
	filter_begin();
	NUMBERS(never, SECCOMP_RET_KILL_PROCESS);
	NUMBERS(not_calm, SECCOMP_RET_KILL_PROCESS);
	FILTER(ALLOW);
	filter_install();
}

static void confine_few(unsigned int action)
{
	filter_begin();
	NUMBERS(never, action);
	NUMBERS(not_calm, action);
	NUMBERS(not_later, action);
	filter_mmap(action);
	FILTER(ALLOW);
	filter_install();
}

static void confine_strictly(int sleeps)
{
	filter_begin();
	if (!sleeps)
		NUMBERS(sleeping, SECCOMP_RET_KILL_PROCESS);
	NUMBERS(enough, SECCOMP_RET_ALLOW);
	filter_mmap(SECCOMP_RET_KILL_PROCESS);
	FILTER(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	filter_install();
}

/* ---- work ---- */

static void *exchange(void *arg)
{
	int tag = (int)(long)arg, right = (rank + 1) % size, left = (rank + size - 1) % size, in;

	for (int i = 0; i < 101; i++)
		CALL(MPI_Sendrecv, right, 4, 4, &tag, 1, MPI_INT, right, tag, &in, 1, MPI_INT, left,
		     tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return NULL;
}

/* Exchanges of datatypes that were not used before, and of lists as long as the communicator. */
static void exchange_types(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size, ones[64], at[64];
	double from[64] = {0}, to[64];
	MPI_Datatype two;

	MUST(size <= 64);
	for (int r = 0; r < size; r++) {
		ones[r] = 1;
		at[r] = r;
	}
	DO(MPI_Type_vector, 2, 1, 2, MPI_DOUBLE, &two);
	DO(MPI_Type_commit, &two);
	CALL(MPI_Sendrecv, right, 16, 16, from, 1, two, right, 0, to, 1, two, left, 0,
	     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CALL(MPI_Sendrecv, right, 8, 8, from, 1, MPI_DOUBLE, right, 0, to, 1, MPI_DOUBLE, left, 0,
	     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CALL(MPI_Alltoallv, NO_PEER, size * 4, size * 4, from, ones, at, MPI_FLOAT, to, ones, at,
	     MPI_FLOAT, MPI_COMM_WORLD);
	DO(MPI_Type_free, &two);
}

/* An operation that calls MPI, far down the stack. */
static void add(void *in, void *inout, int *cnt, MPI_Datatype *type)
{
	volatile char far[4 * 4096];

	far[0] = (char)*cnt;
	MUST(!MPI_Barrier(MPI_COMM_SELF)); /* books have outermost calls */
	*(int *)inout += *(int *)in + far[0] - 1;
}

static void nest(MPI_Op op)
{
	int in = 3, inout = 4;

	DO(MPI_Reduce_local, &in, &inout, 1, MPI_INT, op);
	MUST(inout == 7);
}

/* Exits without MPI_Finalize; writes to books that are already open. */
static void leave(FILE *books, const char *text)
{
	static char line[64];
	int len = snprintf(line, sizeof(line), "rank %d: %s, refused %d\n", rank, text,
			   (int)refused);

	for (int i = 0; i < expect_row_cnt; i++)
		expect_print(books, "sandbox", rank, &expect_rows[i]);
	MUST(!fflush(books));
	MUST(write(STDOUT_FILENO, line, (size_t)len) == len);
	syscall(SYS_exit_group, 0);
}

static void refuse(int sig)
{
	refused++;
}

static void refuse_few(unsigned int action, const char *text)
{
	FILE *books = expect_open("sandbox", rank);

	MUST(signal(SIGSYS, refuse) != SIG_ERR);
	exchange(NULL);
	confine_few(action);
	exchange(NULL);
	threads_run(THREADS, exchange, 1);
	leave(books, text);
}

static void run_few(char **args)
{
	refuse_few(SECCOMP_RET_KILL_PROCESS, "few");
}

static void run_trap(char **args)
{
	refuse_few(SECCOMP_RET_TRAP, "trap");
}

static void run_strict(char **args)
{
	FILE *books = expect_open("sandbox", rank);
	MPI_Op op;

	DO(MPI_Op_create, add, 1, &op);
	exchange(NULL);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	confine_strictly(1);
	exchange(NULL);
	exchange_types();
	nest(op);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	leave(books, "strict");
}

/* Makes more calls than a ring has room for, one right after the other, and must not sleep. */
static void run_flood(char **args)
{
	FILE *books = expect_open("sandbox", rank);
	int in, out = rank;

	exchange(NULL);
	confine_strictly(0);
	for (int i = 0; i < 300000; i++)
		CALL(MPI_Sendrecv, rank, 4, 4, &out, 1, MPI_INT, rank, 9, &in, 1, MPI_INT, rank, 9,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	leave(books, "flood");
}

/* Makes calls that stay within the process; their records are written without the kernel. */
static void *be_mode1(void *arg)
{
	static const char line[] = "mode1\n";
	int flag;

	expect_add("MPI_Initialized", NO_PEER, 1001, 0, 0, 0);
	expect_add("MPI_Comm_rank", NO_PEER, 1001, 0, 0, 0);
	exchange(NULL);
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	for (int i = 0; i < 1001; i++) {
		MPI_Initialized(&flag);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
	if (write(STDOUT_FILENO, line, sizeof(line) - 1) > 0)
		syscall(SYS_exit, 0);
	return arg;
}

/* Runs in a separate thread, because that mode does not let its thread end the process. */
static void run_mode1(char **args)
{
	threads_run(1, be_mode1, 0);
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {{"few", run_few},	    {"trap", run_trap},
					    {"strict", run_strict}, {"flood", run_flood},
					    {"mode1", run_mode1},   {"calm", confine_calmly}};
	int run, before;

	MUST(argc > 1);
	run = !strcmp(argv[1], "run");
	before = run || !strcmp(argv[1], "before");
	if (before)
		confine_before();
	if (run) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		return 127;
	}
	expect_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
	if (!before)
		MODE_RUN(modes, argv + 1);
	exchange(NULL);
	threads_run(THREADS, exchange, 1);
	expect_finish();
	return 0;
}
