/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A rank that has replaced MPI_Barrier by a function of its own, as tools do that change code at
 * run time. It prints "ready PID", calls MPI after SIGUSR1, and ends after SIGTERM. x86-64 only.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "expect.h"

static int barriers;

static int own_barrier(MPI_Comm comm)
{
	(void)comm;
	barriers++;
	return MPI_SUCCESS;
}

static void barrier_replace(void)
{
	/* mov $own_barrier, %rax; jmp *%rax */
	uint8_t code[12] = {0x48, 0xb8, [10] = 0xff, 0xe0}, *at = (uint8_t *)(uintptr_t)MPI_Barrier;
	uintptr_t own = (uintptr_t)own_barrier;
	void *page = (void *)((uintptr_t)at & ~4095ul);

	memcpy(code + 2, &own, sizeof(own));
	MUST(!mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC));
	memcpy(at, code, sizeof(code));
	MUST(!mprotect(page, 8192, PROT_READ | PROT_EXEC));
}

int main(int argc, char **argv)
{
	int one = 1, sum, sig;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	MPI_Init(&argc, &argv);
	barrier_replace();
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (!sigwait(&set, &sig) && sig == SIGUSR1) {
		for (int i = 0; i < 7; i++)
			MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < 11; i++)
			MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		printf("made %d\n", barriers);
		fflush(stdout);
	}
	MPI_Finalize();
	return 0;
}
