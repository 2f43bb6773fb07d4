/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A child that is forked, executes no program, and calls MPI where it may not reach a tracer.
 * Usage: forked HOW
 *
 *	plain	the child changes nothing
 *	root	it has another root directory
 *	files	it may open no file
 *	space	it may map no memory
 *	pids	it is the first process of a namespace
 *	user	it has another user
 *	clone	it is made without the C library
 *	threads	its threads make their first calls at once
 *	slow	it first waits for a second
 *	soon	it calls at once, and then waits for a second
 *	brief	many have ended before it, most of them at once
 *	programs	before it begins MPI, its children execute MPI programs, each somewhat later
 */
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "expect.h"

#define CALLS 7

static void limit_set(int what, rlim_t least)
{
	const struct rlimit l = {least, least};

	MUST(!setrlimit((__rlimit_resource_t)what, &l));
}

static void child_change(const char *how)
{
	if (!strcmp(how, "root"))
		MUST(!chroot("/usr/share") && !chdir("/"));
	else if (!strcmp(how, "files"))
		limit_set(RLIMIT_NOFILE, 3);
	else if (!strcmp(how, "space"))
		limit_set(RLIMIT_AS, 1 << 20);
	else if (!strcmp(how, "slow"))
		sleep(1);
	else if (!strcmp(how, "user"))
		MUST(!setgid(65534) && !setuid(65534));
}

static int waiting = CALLS, begun;

static void *call_at_once(void *arg)
{
	__sync_fetch_and_sub(&waiting, 1);
	while (__atomic_load_n(&waiting, __ATOMIC_RELAXED))
		;
	MPI_Initialized(&begun);
	return arg;
}

/* Each shares memory and waits, as in vfork; the C library is not asked. */
static int brief_main(void *program)
{
	if (program)
		execl(program, "true", NULL);
	return 0;
}

static void brief_children(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	char *program[] = {NULL, "/bin/true"};
	int status = -1;
	pid_t pid;

	for (int i = 0; i < 240; i++) {
		pid = clone(brief_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
			    program[i % 2]);
		MUST(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	}
}

static void program_children(const char *program)
{
	int status = -1;
	pid_t pid;

	for (unsigned int i = 0; i < 12; i++) {
		pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (!pid) {
			usleep(i * 300);
			execl(program, program, "program", NULL);
			_exit(1);
		}
		MUST(waitpid(pid, &status, 0) == pid && !status);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "plain";
	int status = -1;
	pid_t pid;

	if (!strcmp(how, "programs"))
		program_children(argv[0]);
	expect_init(&argc, &argv);
	if (!strcmp(how, "program")) {
		expect_finish();
		return 0;
	}
	if (!strcmp(how, "pids"))
		MUST(!unshare(CLONE_NEWPID));
	if (!strcmp(how, "brief"))
		brief_children();
	pid = strcmp(how, "clone") ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		child_change(how);
		if (!strcmp(how, "threads"))
			threads_run(CALLS, call_at_once, 0);
		for (int i = strcmp(how, "threads") ? 0 : CALLS; i < CALLS; i++)
			MPI_Initialized(&begun);
		if (!strcmp(how, "soon"))
			sleep(1);
		_exit(begun);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	expect_add("MPI_Initialized", NO_PEER, CALLS, 0, 0, 0); /* the child's */
	printf("the child: status %x\n", (unsigned int)status);
	expect_finish();
	return 0;
}
