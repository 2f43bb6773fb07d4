/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Proves that a function's first bytes are entered at its start only. x86-64. */
#ifndef POV_TARGET_X86_X86_FLOW_H
#define POV_TARGET_X86_X86_FLOW_H
#if defined(__x86_64__)

#include <stdint.h>

struct elf_file;
struct elf_symbol;

/*
 * NULL if no code of the function, nor of the parts of it that lie elsewhere, can jump to its bytes 1 to skip;
 * else why this is not certain (a constant text). Method and assumption: kmod-docs/PROBES.md.
 */
const char *x86_flow_objection(const struct elf_file *f, const struct elf_symbol *sym,
			       uint64_t skip);

#endif
#endif
