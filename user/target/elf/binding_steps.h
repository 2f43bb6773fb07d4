/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Libraries that lie between a program and MPI's C functions: the bindings of Fortran and C++. For each call that such a library makes it is
 * found out how far above the stack pointer the return address of the calling function lies, so that a call's site can be the program's.
 */
#ifndef POV_TARGET_ELF_BINDING_STEPS_H
#define POV_TARGET_ELF_BINDING_STEPS_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct binding_step {
	uint64_t addr; /* the instruction after the call, in the file's terms */
	uint32_t words; /* of 8 bytes, from the stack pointer after the call has returned to the return address */
};

/*
 * The calls of all functions that programs can reach, but for those of other libraries' functions that are not MPI's. Left out: calls where the
 * code does not show the stack's depth. How many; *out is the caller's to free, NULL if there are none: also if the file is no binding, and on
 * machines other than x86-64. An address appears once.
 */
size_t binding_steps_find(const struct elf_file *f, struct binding_step **out);

#endif
