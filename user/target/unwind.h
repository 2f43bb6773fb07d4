/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Return addresses of a thread, by the unwind tables that the process has mapped (.eh_frame_hdr, .eh_frame; Linux Standard Base, Core, 10.6;
 * DWARF 4, 6.4). Only reads memory; whatever that holds is checked. x86-64.
 */
#ifndef POV_TARGET_UNWIND_H
#define POV_TARGET_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UNWIND_REGS 16 /* numbered as DWARF does: 6 is rbp, 7 rsp */
#define UNWIND_RBP 6
#define UNWIND_RSP 7

struct unwind_regs {
	uint64_t reg[UNWIND_REGS], pc;
	uint32_t known; /* bit of each register whose value is known */
};

struct unwind_map {
	uint64_t start, end, off, ino;
	uint32_t dev;
	bool vdso;
};

/* A copy of a part of the stack, which is looked at instead of the memory of a thread that runs. */
struct unwind_copy {
	const uint8_t *data;
	uint64_t addr, bytes;
};

struct unwind {
	pid_t pid;
	struct unwind_map *map; /* in order; owned */
	size_t maps;
	struct unwind_copy copy;
};

/* 0 or -errno. */
int unwind_open(pid_t pid, struct unwind *out);
void unwind_close(struct unwind *u);

struct unwind_frame {
	uint64_t function, bytes; /* that pc lies in, by its table */
	uint64_t cfa;		  /* of it: its return address is just below */
};

/*
 * The function that regs->pc is in, and the registers of its caller when that goes on. returns: pc is a return address, so that the
 * instruction before it counts. False: no table, or the table needs what is unknown.
 */
bool unwind_step(const struct unwind *u, struct unwind_regs *regs, bool returns,
		 struct unwind_frame *frame);
bool unwind_read(const struct unwind *u, uint64_t addr, void *buf, size_t bytes);
/* The same of code, as its file has it: in memory, breakpoints may lie in it. Needs the rights of root. */
bool unwind_code(const struct unwind *u, uint64_t addr, void *buf, size_t bytes);

#endif
