/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Small programs without MPI, in one file; built plainly, statically and with sanitizers. Usage:
 * ordinary NAME
 *
 *	threads		eight threads add up
 *	fault		catches SIGSEGV and goes on
 *	abort		dies of SIGABRT
 *	alarm		an interval timer interrupts it
 *	close		closes every descriptor, and reports that by its status
 *	auxiliary	the kernel's data about the process: rights, page size
 *	loaded		the loaded libraries
 *	strict		SECCOMP_MODE_STRICT from its first line
 *	filter		a seccomp filter that kills: write and exit only
 *	judged		executes /bin/true with a filter that kills: what loaders need only
 *	stack		deep recursion on an alternate and on the main stack
 *	clone		a child created without the C library
 *	vfork		vfork and exec
 *	environment	number of variables, and that they end the stack
 *	constructors	its own initialisers have run in their order
 *	jumps		longjmp out of a signal handler
 *	fork		forks in threads
 *	leak		leaked memory; for sanitizers
 *	race		a data race; for sanitizers
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

extern char **environ;

static long sum;
static sigjmp_buf back;
static volatile sig_atomic_t ticks;
static int constructed;

__attribute__((constructor(101))) static void construct_first(void)
{
	constructed = constructed * 10 + 1;
}

__attribute__((constructor)) static void construct_last(void)
{
	constructed = constructed * 10 + 2;
}

static void *add(void *arg)
{
	for (int i = 0; i < 1000; i++)
		__atomic_add_fetch(&sum, (long)arg, __ATOMIC_RELAXED);
	return NULL;
}

static int threads(void)
{
	threads_run(8, add, 0);
	printf("%ld\n", sum);
	return 0;
}

static void jump_back(int sig)
{
	siglongjmp(back, sig);
}

static int fault(void)
{
	volatile int *nowhere = NULL;
	int sig;

	signal(SIGSEGV, jump_back);
	sig = sigsetjmp(back, 1);
	if (!sig)
		*nowhere = 1;
	printf("caught %d\n", sig);
	return 0;
}

static int die(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	abort();
}

static void tick(int sig)
{
	ticks++;
}

static int alarms(void)
{
	struct itimerval every = {{0, 1000}, {0, 1000}};

	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &every, NULL);
	while (ticks < 20)
		pause();
	puts("interrupted");
	return 0;
}

static int close_all(void)
{
	closefrom(0);
	return fcntl(0, F_GETFD) < 0 && open("/dev/null", O_RDONLY) == 0 ? 17 : 1;
}

static int auxiliary(void)
{
	printf("secure %lu, page %lu, uid %lu, clock %lu, name %s\n", getauxval(AT_SECURE),
	       getauxval(AT_PAGESZ), getauxval(AT_UID), getauxval(AT_CLKTCK),
	       strrchr((char *)getauxval(AT_EXECFN), '/'));
	printf("dumpable %d, no new rights %d, personality %lx, timer slack %d\n",
	       prctl(PR_GET_DUMPABLE), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
	       syscall(SYS_personality, 0xffffffff), prctl(PR_GET_TIMERSLACK));
	return 0;
}

static int loaded_print(struct dl_phdr_info *info, size_t size, void *data)
{
	if (!strstr(info->dlpi_name, "libpovtrace-preload.so"))
		printf("%s\n", info->dlpi_name);
	return 0;
}

static int loaded(void)
{
	return dl_iterate_phdr(loaded_print, NULL);
}

static int strict(void)
{
	static const char text[] = "strict\n";

	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (write(1, text, sizeof(text) - 1) > 0)
		syscall(SYS_exit, 5);
	return 1;
}

static int filter_install(struct sock_fprog prog)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int filter(void)
{
	static const char text[] = "filter\n";
	struct sock_filter few[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};

	if (filter_install((struct sock_fprog){ARRAY_SIZE(few), few}))
		return 1;
	if (write(1, text, sizeof(text) - 1) > 0)
		_exit(6);
	return 1;
}

/* As judges of programming contests confine programs. The list is that of glibc 2.36's loader. */
static int judged(void)
{
	static const int needed[] = {
		SYS_brk,      SYS_arch_prctl,	   SYS_mmap,
		SYS_mprotect, SYS_munmap,	   SYS_access,
		SYS_openat,   SYS_newfstatat,	   SYS_fstat,
		SYS_read,     SYS_pread64,	   SYS_close,
		SYS_write,    SYS_set_tid_address, SYS_set_robust_list,
		SYS_rseq,     SYS_prlimit64,	   SYS_getrandom,
		SYS_execve,   SYS_exit_group,
	};
	struct sock_filter list[2 + 2 * ARRAY_SIZE(needed)] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog prog = {1, list};

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		list[prog.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								(unsigned int)needed[i], 0, 1);
		list[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	list[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	if (filter_install(prog))
		return 1;
	execl("/bin/true", "true", (char *)NULL);
	return 1;
}

static int deep(int n)
{
	volatile char frame[1000];

	frame[0] = (char)n;
	return n ? deep(n - 1) + frame[0] * 0 + 1 : 0;
}

static void deep_in_handler(int sig)
{
	ticks = deep(50);
}

static int stack(void)
{
	static char other[1 << 17];
	stack_t alternate = {.ss_sp = other, .ss_size = sizeof(other)};
	struct sigaction act = {.sa_handler = deep_in_handler, .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	printf("%d %d\n", deep(2000), (int)ticks);
	return 0;
}

static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int by_clone(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		_exit(23);
	printf("%d\n", wait_for(pid));
	return 0;
}

static int by_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execlp("false", "false", NULL);
		_exit(127);
	}
	printf("%d\n", wait_for(pid));
	return 0;
}

static int environment(void)
{
	int cnt = 0;

	for (char **e = environ; *e; e++)
		cnt += strncmp(*e, "LD_PRELOAD=", 11) && strncmp(*e, "POVTRACE_PRELOAD=", 17) &&
		       strncmp(*e, "ASAN_OPTIONS=", 13);
	printf("%d, %s\n", cnt, getenv("ORDINARY"));
	return 0;
}

static int constructors(void)
{
	printf("%d\n", constructed);
	return 0;
}

static int jumps(void)
{
	volatile int cnt = 0;

	signal(SIGUSR2, jump_back);
	for (volatile int i = 0; i < 100; i++) {
		if (sigsetjmp(back, 1))
			cnt++;
		else
			raise(SIGUSR2);
	}
	printf("%d\n", cnt);
	return 0;
}

static void *fork_one(void *arg)
{
	pid_t pid = fork();

	if (!pid)
		_exit((int)(long)arg);
	return (void *)(long)wait_for(pid);
}

static int forks(void)
{
	pthread_t t[5];
	void *status;
	long all = 0;

	for (long i = 0; i < 5; i++)
		pthread_create(&t[i], NULL, fork_one, (void *)i);
	for (int i = 0; i < 5; i++) {
		pthread_join(t[i], &status);
		all = all * 10 + (long)status;
	}
	printf("%05ld\n", all);
	return 0;
}

static int leak(void)
{
	void *volatile lost = malloc(77);

	lost = NULL;
	puts("lost");
	return lost != NULL;
}

static void *add_racing(void *arg)
{
	sum += (long)arg;
	return NULL;
}

static int race(void)
{
	threads_run(2, add_racing, 0);
	puts("raced");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} programs[] = {
	{"threads", threads},
	{"fault", fault},
	{"abort", die},
	{"alarm", alarms},
	{"close", close_all},
	{"auxiliary", auxiliary},
	{"loaded", loaded},
	{"strict", strict},
	{"filter", filter},
	{"judged", judged},
	{"stack", stack},
	{"clone", by_clone},
	{"vfork", by_vfork},
	{"environment", environment},
	{"constructors", constructors},
	{"jumps", jumps},
	{"fork", forks},
	{"leak", leak},
	{"race", race},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(programs); i++)
		if (!strcmp(programs[i].name, argv[1]))
			return programs[i].run();
	fprintf(stderr, "usage: ordinary NAME\n");
	return 2;
}
