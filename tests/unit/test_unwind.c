/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Return addresses of threads that are not stopped, and the arguments of the functions that they
 * are in.
 */
#include <search.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/unwind.h"
#include "target/x86/x86_args.h"
#include "unit/test.h"

#if defined(__x86_64__)

static volatile int spins = 1;

static int stays(const void *a, const void *b)
{
	(void)a, (void)b;
	while (spins)
		;
	return 1;
}

static const int key = 3, base[5];

/* Starts a process that stays in lfind(), which has called stays(). */
static pid_t child_begin(void)
{
	pid_t pid = fork();
	size_t n = 5;

	if (pid)
		return pid;
	alarm(20);
	lfind(&key, base, &n, sizeof(base[0]), stays);
	_exit(0);
}

/* Unwinds to lfind(), and finds its registers at the call and its arguments. */
static bool lfind_find(const struct thread_regs *t, uint64_t arg[5])
{
	struct unwind_regs regs = t->regs, before;
	uint64_t want = (uint64_t)(uintptr_t)lfind;
	struct unwind_frame frame;
	struct x86_arg place[5];
	uint8_t code[4096];
	struct unwind u;
	bool found = false;

	if (unwind_open(t->pid, &u))
		return false;
	u.copy = t->stack;
	for (int depth = 0; depth < 64 && !found; depth++) {
		before = regs;
		if (unwind_step(&u, &regs, depth > 0, &frame) <= 0)
			break;
		found = frame.function == want;
	}
	found = found && frame.bytes < sizeof(code) &&
		unwind_code(&u, frame.function, code, frame.bytes) &&
		x86_args_find(code, frame.bytes, frame.function, before.pc, place, 5);
	for (int i = 0; found && i < 5; i++) {
		arg[i] = 0;
		if (place[i].place == X86_ARG_IN_REG && before.known >> place[i].reg & 1)
			arg[i] = before.reg[place[i].reg];
		else if (place[i].place == X86_ARG_ON_STACK)
			unwind_read(&u, frame.cfa + (uint64_t)(int64_t)place[i].off, &arg[i], 8);
	}
	unwind_close(&u);
	return found;
}

TEST(a_thread_that_runs)
{
	pid_t pid;
	struct thread_regs t = {0};
	uint64_t arg[5] = {0};
	bool found = false;

	/* Only root may sample kernel execution as well and open the code's file. */
	if (geteuid())
		skip();
	pid = child_begin();
	t.pid = t.tid = pid;
	for (int i = 0; i < 200 && !found; i++) { /* until the child is there */
		thread_regs_read(&t, 1);
		found = t.found && lfind_find(&t, arg);
		thread_regs_release(&t, 1);
		t = (struct thread_regs){.pid = pid, .tid = pid};
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(found);
	assert_true(arg[0] == (uint64_t)(uintptr_t)&key);
	assert_true(arg[3] == sizeof(base[0]));
	assert_true(arg[4] == (uint64_t)(uintptr_t)stays);
}

#endif

#define RBX 3
#define STACK 0x7000

/* A function has saved rbx 24 bytes below its CFA. */
TEST(a_saved_register)
{
	const uint64_t memory[4] = {0x11, 0x22, 0x33, 0x44}; /* from STACK on */
	const struct unwind u = {
		.copy = {(const uint8_t *)memory, STACK, sizeof(memory)},
	};
	struct unwind_rules rules = {.cfa_reg = UNWIND_RSP, .cfa_off = 24};
	struct unwind_regs regs = {.known = 1u << UNWIND_RSP | 1u << RBX};
	uint64_t cfa;

	rules.reg[RBX].is = rules.reg[UNWIND_REGS].is = UNWIND_AT_CFA;
	rules.reg[RBX].off = -24;
	rules.reg[UNWIND_REGS].off = -8;
	regs.reg[UNWIND_RSP] = STACK;
	regs.reg[RBX] = 0x99;
	assert_true(unwind_rules_apply(&u, &rules, &regs, &cfa));
	assert_true(cfa == STACK + 24 && regs.pc == 0x33 && regs.reg[RBX] == 0x11);

	/* It has restored rbx, and is about to return: the place lies below the stack now. */
	rules.cfa_off = 8;
	regs.known = 1u << UNWIND_RSP | 1u << RBX;
	regs.reg[UNWIND_RSP] = STACK + 16;
	regs.reg[RBX] = 0x99;
	assert_true(unwind_rules_apply(&u, &rules, &regs, &cfa));
	assert_true(cfa == STACK + 24 && regs.pc == 0x33 && regs.reg[RBX] == 0x99);
	assert_true(regs.known >> RBX & 1);
}
