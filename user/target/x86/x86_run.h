/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Computes what a small function of a process would return, without running it there: interprets
 * its code with the data in the process's memory. The code comes from the file, because in memory
 * it may have breakpoints. Nothing is written to the process. x86-64 only.
 */
#ifndef POV_TARGET_X86_X86_RUN_H
#define POV_TARGET_X86_X86_RUN_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct x86_memory {
	/* Reads bytes at an address of the process. 0 or -errno. */
	int (*read)(void *ctx, uint64_t addr, void *to, size_t bytes);
	void *ctx;
	uint64_t bias; /* address in the process minus address in the file */
};

/*
 * Evaluates function(first, &number), where function is an address in the file. 0, if it returns 0;
 * *number is then set. -ECANCELED if it returns something else, sets no number, or calls a function
 * that cannot be interpreted, as functions do that report an error. -ENOTSUP if it writes elsewhere
 * itself, or uses instructions that are unknown here. Or an error of the read.
 */
int x86_run_question(const struct elf_file *f, const struct x86_memory *memory, uint64_t function,
		     uint64_t first, int32_t *number);

#endif
