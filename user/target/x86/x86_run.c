/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Interprets the general instructions that compilers generate for checks, loads and index
 * arithmetic. The stack and the answer are in our own memory, at addresses that no process has; all
 * other memory is the process's, and is only read. Anything else ends the interpretation.
 */
#include "target/x86/x86_run.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "target/x86/x86_code.h"

#define STEPS_MAX 1000
#define OWN_BYTES 4096
#define OWN_ADDR 0xffff900000000000ull /* in the kernel's half */
#define ANSWER_ADDR (OWN_ADDR + OWN_BYTES - 16)
#define CALLER_ADDR 0xffffa00000000000ull
#define CANARY_OFF 0x28 /* offset from %fs of the stack protector; any value will do */

enum { RAX = 0, RSP = 4, RBP = 5, RSI = 6, RDI = 7, REGS = 16 };

struct run {
	const struct x86_memory *memory;
	struct x86_reader reader;
	struct x86_insn insn;
	uint64_t at; /* address in the file */
	uint64_t reg[REGS];
	bool zero, sign, carry, overflow;
	bool flags_known; /* the flags are those of the last instruction that sets them */
	bool answered, returned;
	unsigned int depth; /* calls that have not returned */
	uint8_t own[OWN_BYTES];
};

static uint64_t value_cut(uint64_t v, unsigned int bits)
{
	return bits < 64 ? v & ((1ull << bits) - 1) : v;
}

static int64_t value_extend(uint64_t v, unsigned int bits)
{
	return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* ---- memory ---- */

static bool is_own(uint64_t addr, size_t bytes)
{
	return addr >= OWN_ADDR && addr - OWN_ADDR <= OWN_BYTES - bytes;
}

static int memory_read(struct run *r, uint64_t addr, size_t bytes, uint64_t *v)
{
	*v = 0;
	if (is_own(addr, bytes)) {
		memcpy(v, r->own + (addr - OWN_ADDR), bytes);
		return 0;
	}
	return r->memory->read(r->memory->ctx, addr, v, bytes);
}

static int memory_write(struct run *r, uint64_t addr, size_t bytes, uint64_t v)
{
	if (!is_own(addr, bytes))
		return -ENOTSUP;
	memcpy(r->own + (addr - OWN_ADDR), &v, bytes);
	r->answered |= addr == ANSWER_ADDR && bytes == sizeof(int32_t);
	return 0;
}

/* ---- operands ---- */

/* Returns a register's index. -ENOTSUP for the upper halves of 16-bit registers. */
static int register_index(ZydisRegister reg, unsigned int *idx)
{
	ZydisRegister whole = x86_whole_register(reg);

	if (whole == ZYDIS_REGISTER_NONE || (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH))
		return -ENOTSUP;
	*idx = whole - ZYDIS_REGISTER_RAX;
	return 0;
}

static int register_get(const struct run *r, ZydisRegister reg, uint64_t *v)
{
	unsigned int idx;

	*v = 0;
	if (reg == ZYDIS_REGISTER_NONE)
		return 0;
	if (register_index(reg, &idx))
		return -ENOTSUP;
	*v = r->reg[idx];
	return 0;
}

static bool is_canary(const ZydisDecodedOperand *op)
{
	return op->mem.segment == ZYDIS_REGISTER_FS && op->mem.disp.value == CANARY_OFF &&
	       op->mem.base == ZYDIS_REGISTER_NONE && op->mem.index == ZYDIS_REGISTER_NONE;
}

/* Computes a memory operand's address in the process. */
static int operand_address(const struct run *r, const ZydisDecodedOperand *op, uint64_t *addr)
{
	uint64_t base, index;

	if (op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS)
		return -ENOTSUP;
	if (x86_rip_operand(&r->insn, op, addr)) {
		*addr += r->memory->bias;
		return 0;
	}
	if (register_get(r, op->mem.base, &base) || register_get(r, op->mem.index, &index))
		return -ENOTSUP;
	*addr = base + index * op->mem.scale + (uint64_t)op->mem.disp.value;
	return 0;
}

static int operand_get(struct run *r, const ZydisDecodedOperand *op, uint64_t *v)
{
	uint64_t addr;
	int err;

	switch (op->type) {
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		*v = op->imm.value.u;
		return 0;
	case ZYDIS_OPERAND_TYPE_REGISTER:
		err = register_get(r, op->reg.value, v);
		*v = value_cut(*v, op->size);
		return err;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		*v = 0;
		if (is_canary(op))
			return 0;
		err = operand_address(r, op, &addr);
		return err ?: op->size > 64 ? -ENOTSUP : memory_read(r, addr, op->size / 8, v);
	default:
		return -ENOTSUP;
	}
}

static int operand_set(struct run *r, const ZydisDecodedOperand *op, uint64_t v)
{
	unsigned int idx;
	uint64_t addr;
	int err;

	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		err = operand_address(r, op, &addr);
		return err ?: op->size > 64 ? -ENOTSUP : memory_write(r, addr, op->size / 8, v);
	}
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || register_index(op->reg.value, &idx))
		return -ENOTSUP;
	if (op->size < 32) /* the rest of the register does not change */
		v = (r->reg[idx] & ~value_cut(~0ull, op->size)) | value_cut(v, op->size);
	r->reg[idx] = op->size == 32 ? (uint32_t)v : v;
	return 0;
}

/* ---- instructions ---- */

static void flags_set(struct run *r, uint64_t result, unsigned int bits, bool carry, bool overflow)
{
	r->zero = !value_cut(result, bits);
	r->sign = value_extend(result, bits) < 0;
	r->carry = carry;
	r->overflow = overflow;
	r->flags_known = true;
}

static uint64_t value_add(struct run *r, uint64_t a, uint64_t b, unsigned int bits)
{
	uint64_t v = value_cut(a + b, bits);

	flags_set(r, v, bits, v < value_cut(a, bits), value_extend((a ^ v) & (b ^ v), bits) < 0);
	return v;
}

/* Returns a - b, or a - b - 1 with borrow. */
static uint64_t value_subtract(struct run *r, uint64_t a, uint64_t b, bool borrow,
			       unsigned int bits)
{
	uint64_t v = value_cut(a - b - borrow, bits);
	bool carry = value_cut(a, bits) < value_cut(b, bits) ||
		     (borrow && value_cut(a, bits) == value_cut(b, bits));

	flags_set(r, v, bits, carry, value_extend((a ^ b) & (a ^ v), bits) < 0);
	return v;
}

/*
 * Evaluates a condition: the low four bits of the instruction's opcode, the lowest of which negates
 * it.
 */
static int condition_holds(const struct run *r, bool *holds)
{
	static const char codes[] = {'o', 'b', 'e', 'a', 's', 'p', 'l', 'g'};
	bool v;

	switch (codes[r->insn.z.opcode >> 1 & 7]) {
	case 'o':
		v = r->overflow;
		break;
	case 'b':
		v = r->carry;
		break;
	case 'e':
		v = r->zero;
		break;
	case 'a':
		v = r->carry || r->zero;
		break;
	case 's':
		v = r->sign;
		break;
	case 'l':
		v = r->sign != r->overflow;
		break;
	case 'g':
		v = r->zero || r->sign != r->overflow;
		break;
	default: /* parity */
		return -ENOTSUP;
	}
	*holds = v != (r->insn.z.opcode & 1);
	/* The remaining ones are jumps by a counter. */
	return r->flags_known && (r->insn.z.opcode & 0xf0) != 0xe0 ? 0 : -ENOTSUP;
}

static int run_push(struct run *r, uint64_t v)
{
	r->reg[RSP] -= 8;
	return memory_write(r, r->reg[RSP], 8, v);
}

static int run_pop(struct run *r, uint64_t *v)
{
	int err = memory_read(r, r->reg[RSP], 8, v);

	r->reg[RSP] += 8;
	return err;
}

static int run_return(struct run *r)
{
	uint64_t to;
	int err = run_pop(r, &to);

	r->returned = !err && to == CALLER_ADDR;
	if (err || r->returned)
		return err;
	if (!r->depth)
		return -ENOTSUP;
	r->depth--;
	r->at = to;
	return 0;
}

static int run_call(struct run *r)
{
	uint64_t to = 0;
	int err = x86_branch_target(&r->insn, &to) ? run_push(r, r->at) : -ECANCELED;

	r->depth++;
	r->at = to;
	return err;
}

/*
 * Shifts. A shift by zero does not change the flags; the carry of others is not kept, because
 * nothing uses it.
 */
static uint64_t value_shift(struct run *r, uint64_t a, uint64_t by, unsigned int bits)
{
	bool arithmetic = r->insn.z.mnemonic == ZYDIS_MNEMONIC_SAR;
	uint64_t v;

	by &= bits == 64 ? 63 : 31;
	if (!by)
		return a;
	v = r->insn.z.mnemonic == ZYDIS_MNEMONIC_SHL ? a << by :
	    arithmetic ? (uint64_t)(value_extend(a, bits) >> (by < bits ? by : bits - 1)) :
			 a >> by;
	v = value_cut(v, bits);
	flags_set(r, v, bits, false, false);
	return v;
}

/*
 * Runs an instruction with two operands, the first one also being the result. *keep: the result is
 * written.
 */
static int arithmetic_result(struct run *r, uint64_t a, uint64_t b, unsigned int bits, uint64_t *v,
			     bool *keep)
{
	*keep = true;
	switch (r->insn.z.mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		*v = value_add(r, a, b, bits);
		return 0;
	case ZYDIS_MNEMONIC_CMP:
		*keep = false; /* fall through */
	case ZYDIS_MNEMONIC_SUB:
		*v = value_subtract(r, a, b, false, bits);
		return 0;
	case ZYDIS_MNEMONIC_SBB:
		*v = value_subtract(r, a, b, r->carry, bits);
		return r->flags_known ? 0 : -ENOTSUP;
	case ZYDIS_MNEMONIC_TEST:
		*keep = false; /* fall through */
	case ZYDIS_MNEMONIC_AND:
		*v = a & b;
		break;
	case ZYDIS_MNEMONIC_OR:
		*v = a | b;
		break;
	case ZYDIS_MNEMONIC_XOR:
		*v = a ^ b;
		break;
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		*v = value_shift(r, a, b, bits);
		return 0;
	default:
		return -ENOTSUP;
	}
	flags_set(r, *v, bits, false, false);
	return 0;
}

static int run_arithmetic(struct run *r)
{
	const ZydisDecodedOperand *op = r->insn.op;
	uint64_t a, b, v = 0;
	bool keep;
	int err = operand_get(r, &op[0], &a);

	err = err ?: operand_get(r, &op[1], &b);
	err = err ?: arithmetic_result(r, a, b, op[0].size, &v, &keep);
	return err || !keep ? err : operand_set(r, &op[0], v);
}

/* Runs an instruction with one operand. */
static int run_unary(struct run *r)
{
	const ZydisDecodedOperand *op = r->insn.op;
	bool carry = r->carry;
	uint64_t v;
	int err = operand_get(r, &op[0], &v);

	switch (r->insn.z.mnemonic) {
	case ZYDIS_MNEMONIC_NEG:
		v = value_subtract(r, 0, v, false, op[0].size);
		break;
	case ZYDIS_MNEMONIC_INC:
		v = value_add(r, v, 1, op[0].size);
		r->carry = carry;
		break;
	case ZYDIS_MNEMONIC_DEC:
		v = value_subtract(r, v, 1, false, op[0].size);
		r->carry = carry;
		break;
	default: /* not */
		v = value_cut(~v, op[0].size);
	}
	return err ?: operand_set(r, &op[0], v);
}

/* Multiplies. Its flags only show an overflow, which nothing uses here. */
static int run_multiply(struct run *r)
{
	const ZydisDecodedOperand *op = r->insn.op;
	unsigned int cnt = r->insn.z.operand_count_visible;
	uint64_t a, b;
	int err;

	if (cnt < 2)
		return -ENOTSUP;
	err = operand_get(r, &op[cnt - 2], &a);
	err = err ?: operand_get(r, &op[cnt - 1], &b);
	r->flags_known = false;
	return err ?: operand_set(r, &op[0], value_cut(a * b, op[0].size));
}

static int run_move(struct run *r)
{
	const ZydisDecodedOperand *op = r->insn.op;
	bool is_signed = r->insn.z.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
			 r->insn.z.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
	uint64_t v;
	int err = operand_get(r, &op[1], &v);

	return err   ?:
		       operand_set(r, &op[0],
				   is_signed ? value_cut((uint64_t)value_extend(v, op[1].size),
							 op[0].size) :
					       v);
}

static int run_address(struct run *r)
{
	const ZydisDecodedOperand *op = r->insn.op;
	uint64_t addr;
	int err = operand_address(r, &op[1], &addr);

	return err ?: operand_set(r, &op[0], value_cut(addr, op[0].size));
}

/* Runs a conditional jump, move or set. */
static int run_conditional(struct run *r)
{
	const ZydisDecodedOperand *op = r->insn.op;
	uint64_t v, old;
	bool holds;
	int err = condition_holds(r, &holds);

	if (err)
		return err;
	if (r->insn.z.meta.category == ZYDIS_CATEGORY_COND_BR) {
		if (!x86_branch_target(&r->insn, &v))
			return -ENOTSUP;
		r->at = holds ? v : r->at;
		return 0;
	}
	if (r->insn.z.meta.category == ZYDIS_CATEGORY_SETCC)
		return operand_set(r, &op[0], holds);
	err = operand_get(r, &op[1], &v);
	err = err ?: operand_get(r, &op[0], &old);
	return err ?: operand_set(r, &op[0], holds ? v : old);
}

static int run_other(struct run *r)
{
	const ZydisDecodedOperand *op = r->insn.op;
	uint64_t v;
	int err;

	switch (r->insn.z.mnemonic) {
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_ENDBR64:
		return 0;
	case ZYDIS_MNEMONIC_PUSH:
		err = operand_get(r, &op[0], &v);
		return err ?: run_push(r, v);
	case ZYDIS_MNEMONIC_POP:
		err = run_pop(r, &v);
		return err ?: operand_set(r, &op[0], v);
	case ZYDIS_MNEMONIC_LEAVE:
		r->reg[RSP] = r->reg[RBP];
		return run_pop(r, &r->reg[RBP]);
	case ZYDIS_MNEMONIC_RET:
		return run_return(r);
	case ZYDIS_MNEMONIC_JMP:
		return x86_branch_target(&r->insn, &r->at) ? 0 : -ENOTSUP;
	case ZYDIS_MNEMONIC_CWDE:
		r->reg[RAX] = (uint32_t)value_extend(r->reg[RAX], 16);
		return 0;
	case ZYDIS_MNEMONIC_CDQE:
		r->reg[RAX] = (uint64_t)value_extend(r->reg[RAX], 32);
		return 0;
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		return run_unary(r);
	case ZYDIS_MNEMONIC_LEA:
		return run_address(r);
	case ZYDIS_MNEMONIC_IMUL:
		return run_multiply(r);
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return run_move(r);
	default:
		return run_arithmetic(r);
	}
}

static int run_step(struct run *r)
{
	if (!x86_decode(&r->reader, r->at, &r->insn))
		return -ENOTSUP;
	if (x86_is_indirect_jump(&r->insn))
		return -ECANCELED;
	r->at += r->insn.z.length;
	if (x86_is_call(&r->insn))
		return run_call(r);
	switch (r->insn.z.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_SETCC:
	case ZYDIS_CATEGORY_CMOV:
		return run_conditional(r);
	default:
		return run_other(r);
	}
}

int x86_run_question(const struct elf_file *f, const struct x86_memory *memory, uint64_t function,
		     uint64_t first, int32_t *number)
{
	struct run r = {.memory = memory, .reader = {.f = f}, .at = function};
	int err;

	r.reg[RDI] = first;
	r.reg[RSI] = ANSWER_ADDR;
	r.reg[RSP] = ANSWER_ADDR - 64;
	err = run_push(&r, CALLER_ADDR);
	for (int i = 0; i < STEPS_MAX && !err && !r.returned; i++)
		err = run_step(&r);
	if (!err && !r.returned)
		err = -ENOTSUP;
	if (err)
		return r.depth ? -ECANCELED : err;
	if ((uint32_t)r.reg[RAX] || !r.answered)
		return -ECANCELED;
	memcpy(number, r.own + (ANSWER_ADDR - OWN_ADDR), sizeof(*number));
	return 0;
}
