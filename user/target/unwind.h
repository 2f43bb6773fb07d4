/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds a thread's return addresses with the unwind tables that the process has mapped
 * (.eh_frame_hdr, .eh_frame; Linux Standard Base, Core, 10.6; DWARF 4, 6.4). It only reads memory,
 * and checks all of it. x86-64 only.
 */
#ifndef POV_TARGET_UNWIND_H
#define POV_TARGET_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UNWIND_REGS 16 /* DWARF numbers: 6 is rbp, 7 is rsp */
#define UNWIND_RBP 6
#define UNWIND_RSP 7

struct unwind_regs {
	uint64_t reg[UNWIND_REGS], pc;
	uint32_t known; /* bit set of registers with a known value */
};

struct unwind_map {
	uint64_t start, end, off, ino;
	uint32_t dev;
	bool vdso;
};

/* A copy of a part of the stack, read in place of a running thread's memory. */
struct unwind_copy {
	const uint8_t *data;
	uint64_t addr, bytes;
};

struct unwind {
	pid_t pid;
	struct unwind_map *map; /* in address order; owned */
	size_t maps;
	struct unwind_copy copy;
};

/* 0 or -errno. */
int unwind_open(pid_t pid, struct unwind *out);
void unwind_close(struct unwind *u);

struct unwind_frame {
	uint64_t function, bytes; /* the function that contains pc, by its table */
	uint64_t cfa;		  /* CFA of the function: its return address is just below */
};

/*
 * Finds the function that contains regs->pc, and computes its caller's registers after the return.
 * returns: pc is a return address, so the instruction before it counts. False: no table, or the
 * table needs unknown values.
 */
bool unwind_step(const struct unwind *u, struct unwind_regs *regs, bool returns,
		 struct unwind_frame *frame);
bool unwind_read(const struct unwind *u, uint64_t addr, void *buf, size_t bytes);
/* Reads code from its file, because code in memory may have breakpoints. Needs root's rights. */
bool unwind_code(const struct unwind *u, uint64_t addr, void *buf, size_t bytes);

/*
 * Reads registers of running threads from samples that their CPU's clock takes: no thread is
 * stopped, and no system call is interrupted. x86-64 only. kernel_thread_regs (record/kernel.h)
 * reads those of threads that are not running.
 */
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
