/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the places in a file's code that call one of its own functions. The kernel emulates a call
 * instruction under a probe, whatever the function begins with: a dynamic loader's
 * `_dl_debug_state` is a bare ret, which would be single-stepped at several times the cost, and
 * loaders call it four times for each library.
 */
#ifndef POV_TARGET_ELF_FUNCTION_CALLERS_H
#define POV_TARGET_ELF_FUNCTION_CALLERS_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct elf_symbol;

/*
 * Finds the file offsets of direct calls of (and jumps to) a function in .text, ascending. Calls
 * through pointers are not found. Returns the number. It is 0 if there are none or more than max,
 * if .text is missing, above 4 MiB or has bytes that are not code, and on machines other than
 * x86-64.
 */
size_t function_callers_find(const struct elf_file *f, const struct elf_symbol *sym,
			     uint64_t *offsets, size_t max);

/*
 * Libraries between a program and MPI's C functions: the bindings of Fortran and C++. For each call
 * in such a library, this finds how far above the stack pointer the calling function's return
 * address is. So a call's site can be the one in the program.
 */
struct binding_step {
	uint64_t addr; /* address in the file of the instruction after the call */
	/*
	 * distance in words of 8 bytes from the stack pointer after the call to the calling
	 * function's return address
	 */
	uint32_t words;
};

/*
 * Finds the calls in all functions that programs can reach. Left out are calls of other libraries'
 * functions that are not MPI's, and calls at which the code does not show the stack's depth. Each
 * address appears once. Returns the number; the caller frees *out. It is NULL if there are none,
 * the file is no binding, or the machine is not x86-64.
 */
size_t binding_steps_find(const struct elf_file *f, struct binding_step **out);

#endif
