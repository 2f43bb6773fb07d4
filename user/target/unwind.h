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

/* A copy of a part of the stack, which is read where the thread's memory may have changed. */
struct unwind_copy {
	const uint8_t *data;
	uint64_t addr, bytes;
};

struct unwind {
	pid_t pid;		/* 0: only the copy is read */
	struct unwind_map *map; /* in address order; owned */
	size_t maps;
	struct unwind_copy copy;
};

/* 0 or -errno. */
int unwind_open(pid_t pid, struct unwind *out);
void unwind_close(struct unwind *u);

/* The file mapping that contains an address, or NULL. */
const struct unwind_map *unwind_map_of(const struct unwind *u, uint64_t addr);

enum unwind_rule { UNWIND_SAME, UNWIND_AT_CFA, UNWIND_CFA_PLUS, UNWIND_UNKNOWN };
#define UNWIND_EXPRESSION_MAX 32

/* Where the caller's registers are saved, for one instruction of a function. */
struct unwind_rules {
	uint64_t function, bytes; /* the function's code, as mapped */
	struct {
		int32_t off;
		uint8_t is;	/* enum unwind_rule */
	} reg[UNWIND_REGS + 1]; /* the last one is the return address */
	int64_t cfa_off;
	uint8_t cfa_reg;
	uint8_t expression_bytes; /* not 0: an expression computes the CFA */
	uint8_t expression[UNWIND_EXPRESSION_MAX];
};

/* Reads the rules for an address of the process from the file's table. False: it has none. */
bool unwind_rules_find(const struct unwind *u, uint64_t pc, struct unwind_rules *out);
/* True if the function has no caller: it is the first one of its thread. */
bool unwind_rules_end(const struct unwind_rules *rules);
/*
 * Computes the caller's registers after the return, and the function's CFA. False if memory or
 * registers are unknown that this needs.
 */
bool unwind_rules_apply(const struct unwind *u, const struct unwind_rules *rules,
			struct unwind_regs *regs, uint64_t *cfa);

struct unwind_frame {
	uint64_t function, bytes; /* the function that contains pc, by its table */
	uint64_t cfa;		  /* CFA of the function: its return address is just below */
};

/*
 * Finds the function that contains regs->pc, and computes its caller's registers after the return.
 * returns: pc is a return address, so the instruction before it counts. 1; 0: the function is the
 * first one of its thread; -1: there is no table, or it needs unknown values.
 */
int unwind_step(const struct unwind *u, struct unwind_regs *regs, bool returns,
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
	uint64_t run_cnt; /* if it was not running: how often it had got a CPU; 0: unknown */
	struct unwind_regs regs;
	/* the stack at that time, if the thread was running; data is owned */
	struct unwind_copy stack;
};

/*
 * Fills in those threads that are not `found` yet. Takes up to a tenth of a second while some of
 * them run.
 */
void thread_regs_read(struct thread_regs *t, size_t cnt);
void thread_regs_release(struct thread_regs *t, size_t cnt);

#endif
