/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Probes on the instructions at which a function ends (user/target/elf/return_sites.h). They see
 * its return like a return probe, but put nothing on the stack. A jump to another function ends the
 * function, too, as the other one returns in its place.
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

/* True if a conditional jump is taken; condition: the lowest four bits of its opcode. */
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

/* Places are known on x86-64 only (user/target/elf/return_sites.h). */
static __always_inline bool place_ends(struct pt_regs *ctx, u64 cookie)
{
	return false;
}

#endif
#endif
