/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arguments of static probes (USDT), as in their notes: a size, and the location of the value in
 * assembler syntax: "-4@24(%rbp) 8@%rax 4@$-1", or, on aarch64, "-4@[x29, 24] 8@x0 4@-1".
 */
#ifndef POV_TARGET_ELF_SDT_ARG_H
#define POV_TARGET_ELF_SDT_ARG_H

#include <stddef.h>

#include "abi/config.h"

enum sdt_machine { SDT_X86_64, SDT_AARCH64 };

/*
 * Returns how many arguments the text has, and writes the first max. An argument that is not
 * understood, or that needs more than one register and one read of memory, is POV_NOTE_UNKNOWN.
 * Registers have the numbers of the machine's struct pt_regs.
 */
size_t sdt_args_parse(enum sdt_machine machine, const char *text, struct pov_note_arg *out,
		      size_t max);

#endif
