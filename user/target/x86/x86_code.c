/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Decodes ELF files through a window of file bytes. What the kernel does with a probe follows
 * arch/x86/kernel/uprobes.c of Linux 5.15 to 6.18.
 */
#include "target/x86/x86_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/elf_file.h"

const uint8_t x86_argument_register[6] = {X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_R8, X86_R9};

void x86_reader_init(struct x86_reader *r, const uint8_t *code, size_t bytes, uint64_t addr)
{
	r->f = NULL;
	ZydisDecoderInit(&r->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	r->code = code;
	r->bytes = bytes;
	r->addr = addr;
}

bool x86_decode(struct x86_reader *r, uint64_t addr, struct x86_insn *out)
{
	uint64_t at = addr - r->addr;
	long n;

	if (!X86_IS_THIS_MACHINE || (!r->f && (addr < r->addr || at >= r->bytes)))
		return false;
	if (r->f &&
	    (addr < r->addr || at >= r->bytes || r->bytes - at < ZYDIS_MAX_INSTRUCTION_LENGTH)) {
		n = elf_file_read_addr(r->f, addr, r->buf, sizeof(r->buf));
		if (n <= 0) {
			r->bytes = 0;
			return false;
		}
		ZydisDecoderInit(&r->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		r->addr = addr;
		r->code = r->buf;
		r->bytes = (size_t)n;
		at = 0;
	}
	out->addr = addr;
	out->raw = r->code + at;
	return ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&r->decoder, out->raw, r->bytes - at, &out->z, out->op));
}

void x86_format(const struct x86_insn *insn, char *text, size_t bytes)
{
	ZydisFormatter formatter;
	char buf[128];

	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL,
				  ZYAN_TRUE);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
				  ZYDIS_PADDING_DISABLED);
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &insn->z, insn->op,
							  insn->z.operand_count_visible, buf,
							  sizeof(buf), insn->addr, NULL)))
		snprintf(buf, sizeof(buf), "?");
	snprintf(text, bytes, "%.*s", (int)bytes - 1, buf);
}

bool x86_branch_target(const struct x86_insn *insn, uint64_t *target)
{
	return insn->z.operand_count_visible > 0 &&
	       insn->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && insn->op[0].imm.is_relative &&
	       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&insn->z, &insn->op[0], insn->addr, target));
}

bool x86_is_call(const struct x86_insn *insn)
{
	return insn->z.meta.category == ZYDIS_CATEGORY_CALL;
}

bool x86_ends_block(const struct x86_insn *insn)
{
	return insn->z.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       insn->z.meta.category == ZYDIS_CATEGORY_RET ||
	       insn->z.mnemonic == ZYDIS_MNEMONIC_UD0 || insn->z.mnemonic == ZYDIS_MNEMONIC_UD1 ||
	       insn->z.mnemonic == ZYDIS_MNEMONIC_UD2 || insn->z.mnemonic == ZYDIS_MNEMONIC_HLT;
}

enum x86_next x86_next_of(const struct x86_insn *insn, uint64_t *to)
{
	switch (insn->z.meta.category) {
	case ZYDIS_CATEGORY_RET:
		return X86_RETURNS;
	case ZYDIS_CATEGORY_COND_BR:
		return x86_branch_target(insn, to) ? X86_BRANCHES : X86_GOES_ON;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return x86_branch_target(insn, to) ? X86_JUMPS : X86_JUMPS_INDIRECTLY;
	default:
		return x86_ends_block(insn) ? X86_STOPS : X86_GOES_ON;
	}
}

bool x86_is_indirect_jump(const struct x86_insn *insn)
{
	uint64_t target;

	return insn->z.meta.category == ZYDIS_CATEGORY_UNCOND_BR &&
	       !x86_branch_target(insn, &target);
}

bool x86_is_slot_jump(const struct x86_insn *insn, uint64_t *slot_addr)
{
	return insn->z.mnemonic == ZYDIS_MNEMONIC_JMP && insn->z.operand_count_visible == 1 &&
	       x86_rip_operand(insn, &insn->op[0], slot_addr);
}

bool x86_rip_operand(const struct x86_insn *insn, const ZydisDecodedOperand *op, uint64_t *addr)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RIP &&
	       op->mem.index == ZYDIS_REGISTER_NONE && op->mem.segment != ZYDIS_REGISTER_FS &&
	       op->mem.segment != ZYDIS_REGISTER_GS &&
	       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&insn->z, op, insn->addr, addr));
}

ZydisRegister x86_whole_register(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? whole : ZYDIS_REGISTER_NONE;
}

int x86_register_index(ZydisRegister reg)
{
	ZydisRegister whole = x86_whole_register(reg);

	return whole == ZYDIS_REGISTER_NONE ? -1 : (int)(whole - ZYDIS_REGISTER_RAX);
}

int x86_operand_register(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER ? x86_register_index(op->reg.value) : -1;
}

unsigned int x86_written(const struct x86_insn *insn)
{
	unsigned int set = 0;

	for (unsigned int i = 0; i < insn->z.operand_count; i++)
		if (insn->op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    x86_operand_register(&insn->op[i]) >= 0)
			set |= 1u << x86_operand_register(&insn->op[i]);
	return set;
}

/* ---- probes ---- */

struct prefixes {
	bool refused; /* one on which the kernel allows no probe */
	bool opsize;  /* 0x66 */
	bool any;     /* any except REX */
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

/* Returns true for instructions that trap by themselves, and for those with EVEX encoding. */
static bool kernel_refuses(const struct x86_insn *insn)
{
	static const ZydisMnemonic traps[] = {ZYDIS_MNEMONIC_INT1,     ZYDIS_MNEMONIC_INT3,
					      ZYDIS_MNEMONIC_INT,      ZYDIS_MNEMONIC_SYSCALL,
					      ZYDIS_MNEMONIC_SYSENTER, ZYDIS_MNEMONIC_UD0,
					      ZYDIS_MNEMONIC_UD1,      ZYDIS_MNEMONIC_UD2,
					      ZYDIS_MNEMONIC_HLT,      ZYDIS_MNEMONIC_CLI,
					      ZYDIS_MNEMONIC_STI};

	return table_any(sizeof(traps) / sizeof(*traps), i, traps[i] == insn->z.mnemonic) ||
	       insn->z.meta.category == ZYDIS_CATEGORY_IO ||
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
		/* With REX.B this is xchg %r8,%rax, which older kernels mistake for a nop. */
		if (p.opsize || p.rex & 1)
			return KERNEL_REFUSES;
		return p.any ? KERNEL_STEPS : KERNEL_EMULATES;
	}
	if (*op == 0xeb || *op == 0xe9 || *op == 0xe8 || (*op & 0xf0) == 0x70 ||
	    (*op == 0x0f && insn->z.length - p.len > 1 && (op[1] & 0xf0) == 0x80))
		return p.opsize ? KERNEL_REFUSES : KERNEL_EMULATES;
	return KERNEL_STEPS;
}

/* ---- does control reach a place only through the function's start? ---- */

/*
 * A probe that moves from a function's start to an instruction a few bytes later still sees exactly
 * all calls, if control reaches that place only through the start. This code checks every
 * instruction of the function, and follows its jumps into separate parts (".cold"), for one that
 * could land in between. Whatever cannot be decided counts as an objection.
 */

#define FLOW_FUNCTION_BYTES_MAX (1u << 20)
#define FLOW_PARTS_MAX 256
#define FLOW_PART_INSNS_MAX 8192
#define FLOW_TABLES_MAX 1024
#define FLOW_TABLE_ENTRIES_MAX 4096

struct flow {
	const struct elf_file *f;
	uint64_t start, end; /* range of the function */
	uint64_t skip;
	uint8_t *boundary, *target;    /* one bit per byte of the function */
	uint64_t part[FLOW_PARTS_MAX]; /* jump targets outside without a symbol */
	unsigned int part_cnt;
	/* addresses that the code takes, at which tables of switches begin */
	uint64_t table[FLOW_TABLES_MAX];
	unsigned int table_cnt;
	bool jumps_by_table;
	unsigned int budget; /* limit of instructions outside */
	struct x86_reader reader;
};

static void bit_set(uint8_t *bits, uint64_t at)
{
	bits[at / 8] |= (uint8_t)(1u << at % 8);
}

static const char *flow_jump(struct flow *w, uint64_t to)
{
	const struct elf_symbol *s;

	if (to > w->start && to - w->start <= w->skip)
		return "a branch lands just after the start";
	if (to >= w->start && to < w->end) {
		bit_set(w->target, to - w->start);
		return NULL;
	}
	/*
	 * A jump to a name is a tail call, unless the name is the compiler's own ("f.cold",
	 * "f.part.0").
	 */
	s = elf_file_symbol_from(w->f, to);
	if (s && s->addr == to && !strchr(s->name, '.'))
		return NULL;
	for (unsigned int i = 0; i < w->part_cnt; i++)
		if (w->part[i] == to)
			return NULL;
	if (w->part_cnt == FLOW_PARTS_MAX)
		return "it has too many parts elsewhere to follow";
	w->part[w->part_cnt++] = to;
	return NULL;
}

static const char *flow_insn(struct flow *w, const struct x86_insn *insn)
{
	uint64_t to;

	if (x86_branch_target(insn, &to)) {
		if (!x86_is_call(insn))
			return flow_jump(w, to);
		return to > w->start && to - w->start <= w->skip ?
			       "a call lands just after the start" :
			       NULL;
	}
	if (x86_is_indirect_jump(insn) && insn->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	    insn->op[0].mem.index != ZYDIS_REGISTER_NONE)
		return "an indirect jump could land just after the start";
	if (x86_is_indirect_jump(insn) && !x86_is_slot_jump(insn, &to))
		w->jumps_by_table = true;
	if (insn->z.mnemonic != ZYDIS_MNEMONIC_LEA || !x86_rip_operand(insn, &insn->op[1], &to))
		return NULL;
	if (to > w->start && to < w->end) /* for a computed goto */
		return flow_jump(w, to);
	if (w->table_cnt < FLOW_TABLES_MAX)
		w->table[w->table_cnt] = to;
	w->table_cnt++;
	return NULL;
}

/*
 * Checks the table of a switch: a list of places, each as a distance from the table. The length of
 * such a list is unknown; it ends where an entry leads out of the function.
 */
static const char *flow_table(struct flow *w, uint64_t table)
{
	const char *objection = NULL;
	int32_t away;

	for (unsigned int i = 0; i < FLOW_TABLE_ENTRIES_MAX && !objection; i++) {
		uint64_t at = table + i * sizeof(away), to;

		if (elf_file_read_addr(w->f, at, &away, sizeof(away)) != (long)sizeof(away))
			break;
		to = table + (uint64_t)(int64_t)away;
		if (to < w->start || to >= w->end)
			break;
		objection = flow_jump(w, to);
	}
	return objection;
}

/*
 * Checks every jump table of the function. Position-independent code loads the address of each
 * table, so all have been found. An indirect jump without a table is a tail call to another
 * function.
 */
static const char *flow_tables(struct flow *w)
{
	const char *objection = NULL;

	if (!w->jumps_by_table)
		return NULL;
	if (w->table_cnt > FLOW_TABLES_MAX || !elf_file_headers(w->f)->dynamic)
		return "an indirect jump could land just after the start";
	for (unsigned int i = 0; i < w->table_cnt && !objection; i++)
		objection = flow_table(w, w->table[i]);
	return objection;
}

static const char *flow_function(struct flow *w)
{
	const char *objection = NULL;
	struct x86_insn insn;

	for (uint64_t at = w->start; at < w->end && !objection; at += insn.z.length) {
		if (!x86_decode(&w->reader, at, &insn) || insn.z.length > w->end - at)
			return "it contains bytes that are not code";
		bit_set(w->boundary, at - w->start);
		objection = flow_insn(w, &insn);
	}
	return objection;
}

static const char *flow_part(struct flow *w, uint64_t at)
{
	const char *objection = NULL;
	struct x86_insn insn;

	while (!objection) {
		if (w->budget-- == 0)
			return "its parts elsewhere are too large to follow";
		if (!x86_decode(&w->reader, at, &insn))
			return "a jump leaves the code of the file";
		objection = flow_insn(w, &insn);
		if (x86_ends_block(&insn))
			break;
		at += insn.z.length;
	}
	return objection;
}

/* Checks the parts from *at on. */
static const char *flow_parts(struct flow *w, unsigned int *at)
{
	const char *objection = NULL;

	for (; *at < w->part_cnt && !objection; ++*at)
		objection = flow_part(w, w->part[*at]);
	return objection;
}

static const char *flow_walk(struct flow *w)
{
	unsigned int at = 0;
	const char *objection = flow_function(w)	   ?:
					flow_parts(w, &at) ?:
					flow_tables(w)	   ?:
							     flow_parts(w, &at);

	for (uint64_t i = 0; i < (w->end - w->start + 7) / 8 && !objection; i++)
		if (w->target[i] & ~w->boundary[i])
			objection = "a branch lands inside an instruction";
	return objection;
}

const char *x86_flow_objection(const struct elf_file *f, const struct elf_symbol *sym,
			       uint64_t skip)
{
	const struct elf_symbol *next = elf_file_symbol_from(f, sym->addr + 1);
	const char *objection;
	struct flow *w;

	if (next && next->addr - sym->addr <= skip)
		return "another symbol is too close to its start";
	if (sym->size == 0)
		return "its size is unknown";
	if (sym->size > FLOW_FUNCTION_BYTES_MAX || sym->addr + sym->size < sym->addr)
		return "it is too large to analyse";
	w = xcalloc(1, sizeof(*w));
	w->f = f;
	w->start = sym->addr;
	w->end = sym->addr + sym->size;
	w->skip = skip;
	w->budget = FLOW_PART_INSNS_MAX;
	w->boundary = xcalloc(1, sym->size / 8 + 1);
	w->target = xcalloc(1, sym->size / 8 + 1);
	w->reader.f = f;
	objection = flow_walk(w);
	free(w->boundary);
	free(w->target);
	free(w);
	return objection;
}
