/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads registers of running threads from samples that their CPU's clock takes: no thread is
 * stopped, and no system call is interrupted. x86-64 only. kernel_thread_regs (record/kernel.h)
 * reads those of threads that are not running.
 */
#ifndef POV_TARGET_THREAD_REGS_H
#define POV_TARGET_THREAD_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "target/unwind.h"

struct thread_regs {
	pid_t pid, tid; /* set by the caller */
	bool found;
	struct unwind_regs regs;
	/* the stack at that time, if the thread was running; data is owned */
	struct unwind_copy stack;
};

/*
 * Reads those of cnt threads that are not found yet. Takes up to a tenth of a second while some of
 * them run.
 */
void thread_regs_read(struct thread_regs *t, size_t cnt);
void thread_regs_release(struct thread_regs *t, size_t cnt);

#endif
