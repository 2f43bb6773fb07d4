/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Answers what a small function of a process would return, without running it there: interprets its code (from the file, for in memory
 * it may have breakpoints) with the data that the process has in memory. Nothing is written to the process. x86-64.
 */
#ifndef POV_TARGET_X86_X86_RUN_H
#define POV_TARGET_X86_X86_RUN_H
#if defined(__x86_64__)

#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct x86_memory {
	/* Reads so many bytes at an address of the process. 0 or -errno. */
	int (*read)(void *ctx, uint64_t addr, void *to, size_t bytes);
	void *ctx;
	uint64_t bias; /* address in the process − address in the file */
};

/*
 * function(first, &number), where the function begins at an address in the file's terms: *number is written if it returns 0. 0; -ECANCELED if it
 * returns something else, writes no number, or calls another function, as those do that report an error; -ENOTSUP if it writes elsewhere, or does what is
 * not known here; an error of the read.
 */
int x86_run_question(const struct elf_file *f, const struct x86_memory *memory, uint64_t function,
		     uint64_t first, int32_t *number);

#endif
#endif
