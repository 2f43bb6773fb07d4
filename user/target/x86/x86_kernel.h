/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What the kernel does with a probe on an x86-64 instruction. */
#ifndef POV_TARGET_X86_X86_KERNEL_H
#define POV_TARGET_X86_X86_KERNEL_H
#if defined(__x86_64__)

struct x86_insn;

enum kernel_does { KERNEL_EMULATES, KERNEL_STEPS, KERNEL_REFUSES }; /* the cheapest first */

enum kernel_does x86_kernel_does(const struct x86_insn *insn);

#endif
#endif
