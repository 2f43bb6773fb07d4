/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arguments of static probes (USDT), as their notes have them: a size, and the assembler's own words for where the compiler keeps the
 * value at that place: "-4@24(%rbp) 8@%rax 4@$-1", or, on aarch64, "-4@[x29, 24] 8@x0 4@-1".
 */
#ifndef POV_TARGET_ELF_SDT_ARG_H
#define POV_TARGET_ELF_SDT_ARG_H

#include <stddef.h>

#include "abi/config.h"

enum sdt_machine { SDT_X86_64, SDT_AARCH64 };

/*
 * How many arguments the text has, of which the first max are written. What is not understood, or cannot be told by one register and one
 * read of memory, is POV_NOTE_UNKNOWN. Registers are numbered as struct pt_regs of that machine keeps them.
 */
size_t sdt_args_parse(enum sdt_machine machine, const char *text, struct pov_note_arg *out,
		      size_t max);

#endif
