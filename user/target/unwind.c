/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See unwind.h. */
#include "target/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/table.h"
#include "target/proc.h"
#include "target/unwind_bytes.h"

#define MAPS_MAX 65536

/* ---- memory ---- */

bool unwind_read(const struct unwind *u, uint64_t addr, void *buf, size_t bytes)
{
	const struct unwind_copy *c = &u->copy;
	struct iovec to = {buf, bytes}, from = {(void *)(uintptr_t)addr, bytes};

	if (addr >= c->addr && addr - c->addr < c->bytes && c->bytes - (addr - c->addr) >= bytes) {
		memcpy(buf, c->data + (addr - c->addr), bytes);
		return true;
	}
	return u->pid && process_vm_readv(u->pid, &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

const struct unwind_map *unwind_map_of(const struct unwind *u, uint64_t addr)
{
	size_t at = table_first(0, u->maps, i, u->map[i].end > addr);

	return at < u->maps && u->map[at].start <= addr ? &u->map[at] : NULL;
}

bool unwind_code(const struct unwind *u, uint64_t addr, void *buf, size_t bytes)
{
	const struct unwind_map *m = unwind_map_of(u, addr);
	bool whole = false;
	char path[80];
	int fd;

	if (!m || m->vdso || bytes > m->end - addr)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, u->pid, m->start,
		 m->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		whole = pread(fd, buf, bytes, (off_t)(m->off + (addr - m->start))) ==
			(ssize_t)bytes;
		close(fd);
	}
	return whole;
}

static void map_add(struct unwind *u, const char *line)
{
	unsigned int major, minor;
	struct unwind_map m = {0};
	char perms[8];
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &m.start,
		   &m.end, perms, &m.off, &major, &minor, &m.ino, &path) < 7 ||
	    u->maps == MAPS_MAX)
		return;
	m.vdso = path && !strncmp(line + path, "[vdso]", 6);
	if (!m.ino && !m.vdso)
		return;
	m.dev = major << 20 | minor;
	*table_append(u->map, u->maps) = m;
}

int unwind_open(pid_t pid, struct unwind *out)
{
	char path[32], *line = NULL;
	size_t room = 0;
	FILE *in;

	pid = proc_memory_of(pid);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	in = fopen(path, "re");
	if (!in)
		return -errno;
	*out = (struct unwind){.pid = pid};
	while (getline(&line, &room, in) > 0)
		map_add(out, line);
	free(line);
	fclose(in);
	return 0;
}

void unwind_close(struct unwind *u)
{
	free(u->map);
	*u = (struct unwind){0};
}

/* ---- a step ---- */

static bool is_known(const struct unwind_regs *r, uint64_t reg)
{
	return reg < UNWIND_REGS && r->known >> reg & 1;
}

#define EXPRESSION_DEPTH 16

/* Applies an operation to the two values on top of the stack. False: unknown operation. */
static bool expression_two(uint8_t op, uint64_t a, uint64_t b, uint64_t *out)
{
	switch (op) {
	case 0x1a: /* and */
		*out = a & b;
		return true;
	case 0x1c: /* minus */
		*out = a - b;
		return true;
	case 0x22: /* plus */
		*out = a + b;
		return true;
	case 0x24: /* shl */
		*out = b < 64 ? a << b : 0;
		return true;
	case 0x2a: /* ge */
		*out = (int64_t)a >= (int64_t)b;
		return true;
	}
	return false;
}

/*
 * Evaluates the expressions that tables use: those of procedure linkage tables, and of functions
 * that align their stack.
 */
static bool expression_cfa(const struct unwind *u, const struct unwind_regs *r,
			   const struct unwind_rules *rules, uint64_t *cfa)
{
	struct bytes b = {rules->expression, rules->expression + rules->expression_bytes, false};
	uint64_t stack[EXPRESSION_DEPTH + 1] = {0};
	unsigned int n = 0;

	while (b.at < b.end && !b.bad && n < EXPRESSION_DEPTH) {
		uint8_t op = (uint8_t)bytes_take(&b, 1);

		if (op >= 0x30 && op <= 0x4f) { /* lit */
			stack[n++] = op - 0x30u;
		} else if (op >= 0x70 && op <= 0x80) { /* breg */
			uint64_t reg = op - 0x70u, off = (uint64_t)sleb_take(&b);

			if (reg < UNWIND_REGS && !is_known(r, reg))
				return false;
			stack[n++] = (reg < UNWIND_REGS ? r->reg[reg] : r->pc) + off;
		} else if (op == 0x06 && n) { /* deref */
			if (!unwind_read(u, stack[n - 1], &stack[n - 1], 8))
				return false;
		} else if (op == 0x23 && n) { /* plus_uconst */
			stack[n - 1] += uleb_take(&b);
		} else if (n > 1 && expression_two(op, stack[n - 2], stack[n - 1], &stack[n - 2])) {
			n--;
		} else {
			return false;
		}
	}
	*cfa = n ? stack[n - 1] : 0;
	return n && !b.bad && b.at == b.end;
}

bool unwind_rules_end(const struct unwind_rules *rules)
{
	return rules->reg[UNWIND_REGS].is == UNWIND_UNKNOWN;
}

/*
 * True if the stack pointer has passed the place where a register is saved: the function is about
 * to return, and has restored the register. Tables do not tell of that, and what lies below the
 * stack is soon overwritten.
 */
static bool is_restored(const struct unwind_regs *r, uint64_t saved_at)
{
	return is_known(r, UNWIND_RSP) && saved_at < r->reg[UNWIND_RSP];
}

/* Registers that a call may change are unknown in the caller. */
#define SAVED_BY_CALLER 0x0f37u /* rax rdx rcx rsi rdi r8-r11 */

bool unwind_rules_apply(const struct unwind *u, const struct unwind_rules *rules,
			struct unwind_regs *r, uint64_t *cfa)
{
	struct unwind_regs out = *r;
	uint64_t value;

	if (rules->expression_bytes) {
		if (!expression_cfa(u, r, rules, cfa))
			return false;
	} else if (is_known(r, rules->cfa_reg)) {
		*cfa = r->reg[rules->cfa_reg] + (uint64_t)rules->cfa_off;
	} else {
		return false;
	}
	for (unsigned int i = 0; i <= UNWIND_REGS; i++) {
		uint64_t at = *cfa + (uint64_t)(int64_t)rules->reg[i].off;
		bool known = rules->reg[i].is != UNWIND_UNKNOWN;

		if (rules->reg[i].is == UNWIND_SAME ||
		    (i < UNWIND_REGS && rules->reg[i].is == UNWIND_AT_CFA && is_restored(r, at)))
			continue;
		if (rules->reg[i].is == UNWIND_AT_CFA)
			known = unwind_read(u, at, &value, sizeof(value));
		else
			value = at;
		if (i == UNWIND_REGS) {
			if (!known)
				return false;
			out.pc = value;
		} else {
			out.reg[i] = value;
			out.known = known ? out.known | 1u << i : out.known & ~(1u << i);
		}
	}
	if (rules->reg[UNWIND_RSP].is == UNWIND_SAME) {
		out.reg[UNWIND_RSP] = *cfa;
		out.known |= 1u << UNWIND_RSP;
	}
	out.known &= ~SAVED_BY_CALLER;
	*r = out;
	return rules->reg[UNWIND_REGS].is != UNWIND_SAME;
}

int unwind_step(const struct unwind *u, struct unwind_regs *regs, bool returns,
		struct unwind_frame *frame)
{
	struct unwind_rules rules;

	if (!unwind_rules_find(u, regs->pc - returns, &rules))
		return -1;
	if (unwind_rules_end(&rules))
		return 0;
	frame->function = rules.function;
	frame->bytes = rules.bytes;
	return unwind_rules_apply(u, &rules, regs, &frame->cfa) ? 1 : -1;
}
