/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Chooses where in a function to put its probes. The kernel emulates some instructions (push reg, nop,
 * jmp/call rel) and single-steps the rest, at 10–20 times the cost. When the function starts with
 * instructions that touch neither the stack nor an argument register nor control flow (endbr64, mov, lea, …),
 * the probe moves to the first emulated one behind them, if that is provably the same to us.
 */
#ifndef POV_TARGET_ELF_PROBE_SITE_H
#define POV_TARGET_ELF_PROBE_SITE_H

#include <stdbool.h>
#include <stdint.h>

struct elf_file;
struct elf_symbol;

enum site_cost { SITE_EMULATED, SITE_STEPPED };

#define PROBE_SITE_SKIP_MAX 32

struct probe_site {
	uint64_t offset;     /* file offset for entry and return probe */
	uint8_t skipped;     /* bytes past the symbol */
	enum site_cost cost; /* of the instruction chosen */
	char insn[48];	     /* first instruction of the function, as text */
	char why[96];	     /* why this site, one phrase */
};

/*
 * nargs_regs: how many integer argument registers are live (6 = all), which must not be overwritten by what is skipped.
 * 0, or -errno: -ENXIO if the symbol has no code in the file, -EINVAL if its bytes are no instruction, -ENOTSUP
 * if the kernel would refuse a probe there. Costs are those of kernels without a special path for the instruction
 * (since 6.18 longer nops are emulated too). Machines other than x86-64: always the symbol's start, SITE_STEPPED.
 */
int probe_site_choose(const struct elf_file *f, const struct elf_symbol *sym,
		      unsigned int nargs_regs, struct probe_site *out);

#endif
