/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Follows arch/x86/kernel/uprobes.c of Linux 5.15 to 6.18. */
#include "target/x86/x86_kernel.h"

#if defined(__x86_64__)

#include "target/x86/x86_code.h"

struct prefixes {
	bool refused; /* one of those no probe may stand on */
	bool opsize;  /* 0x66 */
	bool any;     /* any but REX */
	uint8_t rex;
	unsigned int len;
};

static void prefixes_read(const uint8_t *raw, unsigned int len, struct prefixes *p)
{
	*p = (struct prefixes){0};
	for (; p->len < len; p->len++) {
		switch (raw[p->len]) {
		case 0x26: /* es */
		case 0x2e: /* cs */
		case 0x36: /* ss */
		case 0x3e: /* ds, also notrack */
		case 0xf0: /* lock */
			p->refused = true;
			break;
		case 0x66:
			p->opsize = true;
			break;
		case 0x64:
		case 0x65:
		case 0x67:
		case 0xf2:
		case 0xf3:
			break;
		default:
			if ((raw[p->len] & 0xf0) == 0x40 && p->len + 1 < len)
				p->rex = raw[p->len++];
			return;
		}
		p->any = true;
	}
}

/* What traps by itself, and what is coded with EVEX. */
static bool kernel_refuses(const struct x86_insn *insn)
{
	static const ZydisMnemonic traps[] = {ZYDIS_MNEMONIC_INT1,     ZYDIS_MNEMONIC_INT3,
					      ZYDIS_MNEMONIC_INT,      ZYDIS_MNEMONIC_SYSCALL,
					      ZYDIS_MNEMONIC_SYSENTER, ZYDIS_MNEMONIC_UD0,
					      ZYDIS_MNEMONIC_UD1,      ZYDIS_MNEMONIC_UD2,
					      ZYDIS_MNEMONIC_HLT,      ZYDIS_MNEMONIC_CLI,
					      ZYDIS_MNEMONIC_STI};

	for (size_t i = 0; i < sizeof(traps) / sizeof(traps[0]); i++)
		if (traps[i] == insn->z.mnemonic)
			return true;
	return insn->z.meta.category == ZYDIS_CATEGORY_IO ||
	       insn->z.meta.category == ZYDIS_CATEGORY_IOSTRINGOP ||
	       insn->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ||
	       insn->z.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
}

enum kernel_does x86_kernel_does(const struct x86_insn *insn)
{
	const uint8_t *op;
	struct prefixes p;

	prefixes_read(insn->raw, insn->z.length, &p);
	if (p.refused || kernel_refuses(insn))
		return KERNEL_REFUSES;
	if (insn->z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || p.len >= insn->z.length)
		return KERNEL_STEPS;
	op = insn->raw + p.len;
	if (*op >= 0x50 && *op <= 0x57) /* push reg */
		return !p.any && (!p.rex || p.rex == 0x41) ? KERNEL_EMULATES : KERNEL_STEPS;
	if (*op == 0x90) {
		/* With REX.B this is xchg %r8,%rax, which older kernels take for a nop. */
		if (p.opsize || p.rex & 1)
			return KERNEL_REFUSES;
		return p.any ? KERNEL_STEPS : KERNEL_EMULATES;
	}
	if (*op == 0xeb || *op == 0xe9 || *op == 0xe8 || (*op & 0xf0) == 0x70 ||
	    (*op == 0x0f && insn->z.length - p.len > 1 && (op[1] & 0xf0) == 0x80))
		return p.opsize ? KERNEL_REFUSES : KERNEL_EMULATES;
	return KERNEL_STEPS;
}

#endif
