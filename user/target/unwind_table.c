/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Reads unwind tables: the rules of a function at one address. See unwind.h. */
#include <elf.h>
#include <string.h>

#include "target/unwind.h"
#include "target/unwind_bytes.h"

#define FRAME_BYTES_MAX 4096 /* longest entry of the table */
#define REMEMBERED_MAX 8
#define PAGE_BYTES 4096

/* ---- the table of a file ---- */

/* Returns where the process has the ELF header of the file that contains an address; 0: unknown. */
static uint64_t header_of(const struct unwind *u, uint64_t addr)
{
	const struct unwind_map *m = unwind_map_of(u, addr);

	if (!m)
		return 0;
	for (const struct unwind_map *at = m + 1; at-- > u->map;)
		if (at->ino == m->ino && at->dev == m->dev && at->vdso == m->vdso && !at->off)
			return at->start;
	return 0;
}

/* Finds the address of the table's header. */
static bool table_find(const struct unwind *u, uint64_t addr, uint64_t *table)
{
	uint64_t at = header_of(u, addr), first = UINT64_MAX, frames = 0;
	Elf64_Ehdr e = {0};
	Elf64_Phdr p = {0};

	if (!at || !unwind_read(u, at, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_phentsize != sizeof(p))
		return false;
	for (unsigned int i = 0; i < e.e_phnum && i < 64; i++) {
		if (!unwind_read(u, at + e.e_phoff + i * sizeof(p), &p, sizeof(p)))
			return false;
		if (p.p_type == PT_LOAD && p.p_vaddr < first)
			first = p.p_vaddr;
		if (p.p_type == PT_GNU_EH_FRAME)
			frames = p.p_vaddr;
	}
	if (!frames || first == UINT64_MAX)
		return false;
	*table = at - (first & ~(uint64_t)(PAGE_BYTES - 1)) + frames;
	return true;
}

struct table_header {
	uint8_t version, pointer_enc, count_enc, rows_enc;
	int32_t pointer;
	uint32_t count;
};

struct table_row { /* both relative to the header's address */
	int32_t function, frame;
};

/* The encodings that all linkers use. */
#define COUNT_UDATA4 0x03
#define ROWS_DATAREL_SDATA4 0x3b

/* Finds the entry (FDE) of the function that may contain an address. */
static bool entry_find(const struct unwind *u, uint64_t addr, uint64_t *entry)
{
	uint64_t table, lo = 0;
	struct table_header h = {0};
	struct table_row row = {0};

	if (!table_find(u, addr, &table) || !unwind_read(u, table, &h, sizeof(h)) ||
	    h.version != 1 || h.count_enc != COUNT_UDATA4 || h.rows_enc != ROWS_DATAREL_SDATA4)
		return false;
	for (uint64_t hi = h.count; lo < hi;) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (!unwind_read(u, table + sizeof(h) + mid * sizeof(row), &row, sizeof(row)))
			return false;
		if (table + (uint64_t)(int64_t)row.function <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || !unwind_read(u, table + sizeof(h) + (lo - 1) * sizeof(row), &row, sizeof(row)))
		return false;
	*entry = table + (uint64_t)(int64_t)row.frame;
	return true;
}

/* ---- an entry ---- */

#define ENC_PCREL 0x10

/* Returns the size of a pointer in an encoding; 0: not used by compilers. */
static size_t pointer_bytes(uint8_t enc)
{
	switch (enc & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c:
		return 8;
	case 0x03:
	case 0x0b:
		return 4;
	case 0x02:
	case 0x0a:
		return 2;
	default:
		return 0;
	}
}

/* Reads a pointer. here is the address of the pointer itself. */
static uint64_t pointer_take(struct bytes *b, uint8_t enc, uint64_t here)
{
	size_t n = pointer_bytes(enc);
	uint64_t v = bytes_take(b, n);

	if (enc & 0x08 && n < 8 && n)
		v = (uint64_t)((int64_t)(v << (64 - 8 * n)) >> (64 - 8 * n));
	b->bad |= !n || (enc & 0x70 && (enc & 0x70) != ENC_PCREL) || enc & 0x80;
	return (enc & 0x70) == ENC_PCREL ? v + here : v;
}

struct common { /* contents of a CIE */
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_enc;
	bool has_size, signal;
	uint8_t data[FRAME_BYTES_MAX];
	struct bytes code;
};

/* Reads an entry's bytes after its length. */
static bool entry_read(const struct unwind *u, uint64_t at, uint8_t *data, struct bytes *out)
{
	uint32_t len;

	if (!unwind_read(u, at, &len, sizeof(len)) || len < 4 || len > FRAME_BYTES_MAX ||
	    !unwind_read(u, at + sizeof(len), data, len))
		return false;
	*out = (struct bytes){data, data + len, false};
	return true;
}

static void augmentation_read(const char *text, uint64_t base, struct common *c, struct bytes *b)
{
	const uint8_t *first = c->data;

	c->has_size = *text == 'z';
	if (!c->has_size) {
		b->bad |= *text != 0;
		return;
	}
	uleb_take(b);
	for (text++; *text; text++) {
		uint64_t here = base + (uint64_t)(b->at - first);

		if (*text == 'R') {
			c->pointer_enc = (uint8_t)bytes_take(b, 1);
		} else if (*text == 'L') {
			bytes_take(b, 1);
		} else if (*text == 'P') {
			uint8_t enc = (uint8_t)bytes_take(b, 1);

			pointer_take(b, enc & ~0x80, here + 1);
		} else if (*text == 'S') {
			c->signal = true;
		} else {
			b->bad = true;
		}
	}
}

static bool common_read(const struct unwind *u, uint64_t at, struct common *c)
{
	const char *text;
	struct bytes b;
	uint8_t version;

	if (!entry_read(u, at, c->data, &b) || bytes_take(&b, 4))
		return false;
	version = (uint8_t)bytes_take(&b, 1);
	text = (const char *)b.at;
	if ((version != 1 && version != 3) || !memchr(text, 0, (size_t)(b.end - b.at)))
		return false;
	b.at += strlen(text) + 1;
	c->pointer_enc = 0;
	c->signal = false;
	c->code_align = uleb_take(&b);
	c->data_align = sleb_take(&b);
	/* the return address */
	if ((version == 1 ? bytes_take(&b, 1) : uleb_take(&b)) != UNWIND_REGS)
		return false;
	augmentation_read(text, at + 4, c, &b);
	c->code = b;
	return !b.bad;
}

/* ---- its instructions ---- */

struct machine {
	struct unwind_rules now, first, kept[REMEMBERED_MAX];
	unsigned int nkept;
	uint64_t loc, pc;
	const struct common *c;
};

static void rule_set(struct machine *m, uint64_t reg, enum unwind_rule is, int64_t off)
{
	if (reg > UNWIND_REGS) { /* vector registers and the like */
		return;
	}
	m->now.reg[reg].is = off == (int32_t)off ? is : UNWIND_UNKNOWN;
	m->now.reg[reg].off = (int32_t)off;
}

static void cfa_set(struct machine *m, uint64_t reg, int64_t off)
{
	m->now.cfa_reg = reg < UNWIND_REGS ? (uint8_t)reg : UNWIND_REGS;
	m->now.cfa_off = off;
	m->now.expression_bytes = 0;
}

static void state_keep(struct machine *m, struct bytes *b, bool restore)
{
	if (restore && m->nkept)
		m->now = m->kept[--m->nkept];
	else if (!restore && m->nkept < REMEMBERED_MAX)
		m->kept[m->nkept++] = m->now;
	else
		b->bad = true;
}

static void expression_skip(struct machine *m, struct bytes *b, bool cfa)
{
	uint64_t reg = cfa ? 0 : uleb_take(b), n = uleb_take(b);

	if (n > (uint64_t)(b->end - b->at)) {
		b->bad = true;
		return;
	}
	if (cfa) {
		b->bad |= n > UNWIND_EXPRESSION_MAX;
		m->now.expression_bytes = (uint8_t)n;
		memcpy(m->now.expression, b->at, b->bad ? 0 : n);
	} else {
		rule_set(m, reg, UNWIND_UNKNOWN, 0);
	}
	b->at += n;
}

/* Runs an instruction that has no operand in its first byte. */
static void extended_run(struct machine *m, struct bytes *b, uint8_t op)
{
	int64_t align = m->c->data_align;
	uint64_t reg;

	switch (op) {
	case 0x00: /* nop */
		break;
	case 0x02:
	case 0x03:
	case 0x04: /* advance_loc1, 2, 4 */
		m->loc += bytes_take(b, 1u << (op - 2)) * m->c->code_align;
		break;
	case 0x05: /* offset_extended */
		reg = uleb_take(b);
		rule_set(m, reg, UNWIND_AT_CFA, (int64_t)uleb_take(b) * align);
		break;
	case 0x06: /* restore_extended */
		reg = uleb_take(b);
		if (reg <= UNWIND_REGS)
			m->now.reg[reg] = m->first.reg[reg];
		break;
	case 0x07: /* undefined */
		rule_set(m, uleb_take(b), UNWIND_UNKNOWN, 0);
		break;
	case 0x08: /* same_value */
		rule_set(m, uleb_take(b), UNWIND_SAME, 0);
		break;
	case 0x09: /* register */
		reg = uleb_take(b);
		uleb_take(b);
		rule_set(m, reg, UNWIND_UNKNOWN, 0);
		break;
	case 0x0a:
	case 0x0b: /* remember_state, restore_state */
		state_keep(m, b, op == 0x0b);
		break;
	case 0x0c: /* def_cfa */
		reg = uleb_take(b);
		cfa_set(m, reg, (int64_t)uleb_take(b));
		break;
	case 0x0d: /* def_cfa_register */
		cfa_set(m, uleb_take(b), m->now.cfa_off);
		break;
	case 0x0e: /* def_cfa_offset */
		cfa_set(m, m->now.cfa_reg, (int64_t)uleb_take(b));
		break;
	case 0x0f:
	case 0x10:
	case 0x16: /* def_cfa_expression, expression, val_expression */
		expression_skip(m, b, op == 0x0f);
		break;
	case 0x11: /* offset_extended_sf */
		reg = uleb_take(b);
		rule_set(m, reg, UNWIND_AT_CFA, sleb_take(b) * align);
		break;
	case 0x12: /* def_cfa_sf */
		reg = uleb_take(b);
		cfa_set(m, reg, sleb_take(b) * align);
		break;
	case 0x13: /* def_cfa_offset_sf */
		cfa_set(m, m->now.cfa_reg, sleb_take(b) * align);
		break;
	case 0x14: /* val_offset */
		reg = uleb_take(b);
		rule_set(m, reg, UNWIND_CFA_PLUS, (int64_t)uleb_take(b) * align);
		break;
	case 0x2e: /* GNU_args_size */
		uleb_take(b);
		break;
	default:
		b->bad = true;
	}
}

/* Runs the instructions up to the wanted address. */
static bool code_run(struct machine *m, struct bytes b)
{
	while (b.at < b.end && !b.bad && m->loc <= m->pc) {
		uint8_t op = (uint8_t)bytes_take(&b, 1), low = op & 0x3f;

		switch (op >> 6) {
		case 1:
			m->loc += low * m->c->code_align;
			break;
		case 2:
			rule_set(m, low, UNWIND_AT_CFA, (int64_t)uleb_take(&b) * m->c->data_align);
			break;
		case 3:
			if (low <= UNWIND_REGS)
				m->now.reg[low] = m->first.reg[low];
			break;
		default:
			extended_run(m, &b, op);
		}
	}
	return !b.bad;
}

bool unwind_rules_find(const struct unwind *u, uint64_t pc, struct unwind_rules *out)
{
	uint8_t data[FRAME_BYTES_MAX];
	uint64_t entry, common, start, bytes;
	struct machine m = {.pc = pc};
	struct common c;
	struct bytes b;

	if (!entry_find(u, pc, &entry) || !entry_read(u, entry, data, &b))
		return false;
	common = entry + 4 - bytes_take(&b, 4);
	if (!common_read(u, common, &c))
		return false;
	start = pointer_take(&b, c.pointer_enc, entry + 8);
	bytes = pointer_take(&b, c.pointer_enc & 0x0f, 0);
	if (c.has_size) {
		uint64_t skip = uleb_take(&b);

		b.bad |= skip > (uint64_t)(b.end - b.at);
		if (!b.bad)
			b.at += skip;
	}
	if (b.bad || pc < start || pc - start >= bytes)
		return false;
	m.c = &c;
	m.loc = start;
	if (!code_run(&m, c.code))
		return false;
	m.first = m.now;
	m.loc = start;
	if (!code_run(&m, b))
		return false;
	*out = m.now;
	out->function = start;
	out->bytes = bytes;
	return true;
}
