/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Coroutines with separate stacks (ucontext) that are left and entered within MPI calls, from a
 * program's own reduction operation. A call that is entered later returns earlier, on any stack, as
 * the kernel's return probes require (PROBES_RETURNS.md).
 */
#include <sys/mman.h>
#include <ucontext.h>

#include "expect.h"

#define STACK_BYTES (256 << 10)
#define ROUNDS 101

static ucontext_t main_context, context[2];
/* contexts that the operation switches between, if any */
static ucontext_t *resume_from, *resume_to;
static MPI_Op op;

static void combine(void *in, void *inout, int *len, MPI_Datatype *type)
{
	ucontext_t *from = resume_from, *to = resume_to;
	int bytes;

	DO(MPI_Type_size, *type, &bytes);
	*(double *)inout += *(double *)in;
	resume_from = resume_to = NULL;
	if (from)
		swapcontext(from, to);
	DO(MPI_Type_size, *type, &bytes);
}

static void reduce(ucontext_t *from, ucontext_t *to)
{
	double a = 1, b = 2;

	resume_from = from;
	resume_to = to;
	MOVE(MPI_Reduce_local, 0, 0, &a, &b, 1, MPI_DOUBLE, op);
}

static void coroutine(int self)
{
	int bytes;

	for (int i = 0; i < ROUNDS; i++) {
		DO(MPI_Type_size, MPI_INT, &bytes);
		reduce(NULL, NULL);
		DO(MPI_Type_size, MPI_INT, &bytes);
		swapcontext(&context[self], &main_context);
	}
}

static void make(int self)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	MUST(stack != MAP_FAILED && !getcontext(&context[self]));
	context[self].uc_stack.ss_sp = stack;
	context[self].uc_stack.ss_size = STACK_BYTES;
	context[self].uc_link = &main_context;
	makecontext(&context[self], (void (*)(void))coroutine, 1, self);
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	DO(MPI_Op_create, combine, 1, &op);
	for (int c = 0; c < 2; c++)
		make(c);
	for (int i = 0; i < ROUNDS; i++)
		for (int c = 0; c < 2; c++)
			reduce(&main_context, &context[c]);
	DO(MPI_Op_free, &op);
	expect_finish();
	return 0;
}
