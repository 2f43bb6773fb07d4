/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Registers of threads that run, by samples that their CPU's clock takes: nobody stops them, no system call is interrupted. x86-64. Those of
 * threads that do not run: kernel_thread_regs (record/kernel.h).
 */
#ifndef POV_TARGET_THREAD_REGS_H
#define POV_TARGET_THREAD_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "target/unwind.h"

struct thread_regs {
	pid_t pid, tid; /* the caller's */
	bool found;
	struct unwind_regs regs;
	struct unwind_copy stack; /* as it was then, if the thread ran; data owned */
};

/* Of those of cnt threads that are not found yet; takes up to a tenth of a second while some of them run. */
void thread_regs_read(struct thread_regs *t, size_t cnt);
void thread_regs_release(struct thread_regs *t, size_t cnt);

#endif
