/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Chooses where to probe a function. The kernel emulates some instructions (push reg, nop, jmp/call
 * rel) and single-steps the others at 10–20 times the cost. A function may start with instructions
 * that touch neither the stack nor an argument register nor control flow (endbr64, mov, lea, …).
 * Then the probe moves to the first emulated instruction after them, if this provably makes no
 * difference to us.
 */
#ifndef POV_TARGET_ELF_PROBE_SITE_H
#define POV_TARGET_ELF_PROBE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/preload.h"

struct elf_file;
struct elf_symbol;

enum site_cost { SITE_EMULATED, SITE_STEPPED };

#define PROBE_SITE_SKIP_MAX 32

struct probe_site {
	uint64_t offset;     /* file offset of the entry and return probe */
	uint8_t skipped;     /* bytes after the symbol */
	enum site_cost cost; /* cost of the chosen instruction */
	char insn[48];	     /* first instruction of the function, as text */
	char why[96];	     /* why this site, one phrase */
};

/*
 * nargs_regs is the number of live integer argument registers (6: all), which skipped instructions
 * must not overwrite. 0, or -errno: -ENXIO if the symbol has no code in the file, -EINVAL if its
 * bytes are no instruction, -ENOTSUP if the kernel would refuse a probe there. Costs are those of
 * kernels without a special path for the instruction (since 6.18 longer nops are emulated, too). On
 * machines other than x86-64: always the symbol's start, SITE_STEPPED.
 */
int probe_site_choose(const struct elf_file *f, const struct elf_symbol *sym,
		      unsigned int nargs_regs, struct probe_site *out);

/*
 * Plans a jump that replaces a function's first instructions, and the code elsewhere that does what
 * these did, for the preloaded library (user/preload/hook.c). x86-64 only. Fills in where out's
 * jump is and what it displaces; leaves row, nargs and POV_HOOK_ANY_ARGS alone. 0, or -ENOTSUP:
 * why[bytes] has the reason as a phrase (code jumps to shortly after the start, a call is among the
 * first instructions, …).
 */
int hook_site_make(const struct elf_file *f, const struct elf_symbol *sym, struct pov_hook *out,
		   char *why, size_t bytes);

#endif
