/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Probes on the instructions by which a function is left (user/target/elf/return_sites.h): they see its return as a return probe does, and put
 * nothing into the stack. A jump to another function ends this one, too, for the other one returns in its place.
 */
#ifndef POV_PLACE_BPF_H
#define POV_PLACE_BPF_H

#include "core.bpf.h"

#ifdef __TARGET_ARCH_x86

#define FLAG_CARRY (1u << 0)
#define FLAG_PARITY (1u << 2)
#define FLAG_ZERO (1u << 6)
#define FLAG_SIGN (1u << 7)
#define FLAG_OVERFLOW (1u << 11)

/* Whether a conditional jump is taken; the numbers are those of its opcode's lowest four bits. */
static __always_inline bool condition_holds(u32 condition, u64 flags)
{
	bool unequal = !(flags & FLAG_SIGN) != !(flags & FLAG_OVERFLOW), holds;

	switch (condition >> 1) {
	case 0:
		holds = flags & FLAG_OVERFLOW;
		break;
	case 1:
		holds = flags & FLAG_CARRY;
		break;
	case 2:
		holds = flags & FLAG_ZERO;
		break;
	case 3:
		holds = flags & (FLAG_CARRY | FLAG_ZERO);
		break;
	case 4:
		holds = flags & FLAG_SIGN;
		break;
	case 5:
		holds = flags & FLAG_PARITY;
		break;
	case 6:
		holds = unequal;
		break;
	case 7:
		holds = unequal || flags & FLAG_ZERO;
		break;
	default:
		return true;
	}
	return holds != (condition & 1);
}

static __always_inline bool place_ends(struct pt_regs *ctx, u64 cookie)
{
	return POV_PLACE(cookie) & POV_PLACE_ENDS &&
	       condition_holds(POV_PLACE_CONDITION(cookie), ctx->flags);
}

#else

/* No such places are known (user/target/elf/return_sites.h). */
static __always_inline bool place_ends(struct pt_regs *ctx, u64 cookie)
{
	return false;
}

#endif
#endif
