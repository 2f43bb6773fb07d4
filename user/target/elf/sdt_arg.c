/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The text is made by compilers, but comes out of a file: nothing is taken for granted. A register's name may be narrower or wider than
 * the value: the size counts.
 */
#include "target/elf/sdt_arg.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define WORD_BYTES 8 /* of a register in struct pt_regs */
#define OPERAND_BYTES_MAX 64

/* In the order of struct pt_regs, by width. */
static const char *const x86_registers[][4] = {
	{"r15", "r15d", "r15w", "r15b"}, {"r14", "r14d", "r14w", "r14b"},
	{"r13", "r13d", "r13w", "r13b"}, {"r12", "r12d", "r12w", "r12b"},
	{"rbp", "ebp", "bp", "bpl"},	 {"rbx", "ebx", "bx", "bl"},
	{"r11", "r11d", "r11w", "r11b"}, {"r10", "r10d", "r10w", "r10b"},
	{"r9", "r9d", "r9w", "r9b"},	 {"r8", "r8d", "r8w", "r8b"},
	{"rax", "eax", "ax", "al"},	 {"rcx", "ecx", "cx", "cl"},
	{"rdx", "edx", "dx", "dl"},	 {"rsi", "esi", "si", "sil"},
	{"rdi", "edi", "di", "dil"},
};
#define X86_RSP 19
#define AARCH64_SP 31

/* A whole number and nothing behind it. */
static bool number_parse(const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 0);
	return end != text && !*end && !errno;
}

static bool x86_register(const char *name, struct pov_note_arg *out)
{
	if (!strcmp(name, "rsp") || !strcmp(name, "esp")) {
		out->reg = X86_RSP * WORD_BYTES;
		return true;
	}
	for (size_t i = 0; i < sizeof(x86_registers) / sizeof(*x86_registers); i++)
		for (size_t width = 0; width < 4; width++)
			if (!strcmp(name, x86_registers[i][width])) {
				out->reg = (pov_u16)(i * WORD_BYTES);
				return true;
			}
	return false;
}

/* "$5", "%rax", "24(%rbp)", "(%rbp)". */
static enum pov_note_kind x86_operand(char *text, struct pov_note_arg *out)
{
	char *open = strchr(text, '('), *close;

	if (*text == '$')
		return number_parse(text + 1, &out->value) ? POV_NOTE_CONSTANT : POV_NOTE_UNKNOWN;
	if (*text == '%')
		return x86_register(text + 1, out) ? POV_NOTE_REGISTER : POV_NOTE_UNKNOWN;
	close = open ? strchr(open, ')') : NULL;
	if (!close || close[1] || open[1] != '%')
		return POV_NOTE_UNKNOWN;
	*open = *close = '\0';
	if ((*text && !number_parse(text, &out->value)) || !x86_register(open + 2, out))
		return POV_NOTE_UNKNOWN;
	return POV_NOTE_MEMORY;
}

static bool aarch64_register(const char *name, struct pov_note_arg *out)
{
	int64_t n = AARCH64_SP;

	if (strcmp(name, "sp") && ((*name != 'x' && *name != 'w') || name[1] < '0' ||
				   name[1] > '9' || !number_parse(name + 1, &n) || n > 30))
		return false;
	out->reg = (pov_u16)(n * WORD_BYTES);
	return true;
}

/* "5", "x0", "[x29, 24]", "[sp]". */
static enum pov_note_kind aarch64_operand(char *text, struct pov_note_arg *out)
{
	char *close = strchr(text, ']'), *offset;

	if (*text != '[') {
		if (number_parse(text + (*text == '#'), &out->value))
			return POV_NOTE_CONSTANT;
		return aarch64_register(text, out) ? POV_NOTE_REGISTER : POV_NOTE_UNKNOWN;
	}
	if (!close || close[1])
		return POV_NOTE_UNKNOWN;
	*close = '\0';
	offset = strchr(text, ',');
	if (offset) {
		*offset++ = '\0';
		offset += strspn(offset, " #");
		if (!number_parse(offset, &out->value))
			return POV_NOTE_UNKNOWN;
	}
	return aarch64_register(text + 1, out) ? POV_NOTE_MEMORY : POV_NOTE_UNKNOWN;
}

/* "-4@…": signed, 4 bytes. What is behind the @, or NULL. */
static char *size_parse(char *text, struct pov_note_arg *out)
{
	char *at = strchr(text, '@');
	int64_t bytes;

	if (!at)
		return NULL;
	*at = '\0';
	if (!number_parse(text, &bytes))
		return NULL;
	out->is_signed = bytes < 0;
	if (bytes < 0 && bytes >= -8)
		bytes = -bytes;
	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return NULL;
	out->bytes = (pov_u8)bytes;
	return at + 1;
}

static struct pov_note_arg arg_parse(enum sdt_machine machine, const char *text, size_t length)
{
	struct pov_note_arg arg = {0};
	enum pov_note_kind kind;
	char copy[OPERAND_BYTES_MAX];
	char *operand;

	if (length >= sizeof(copy))
		return arg;
	memcpy(copy, text, length);
	copy[length] = '\0';
	operand = size_parse(copy, &arg);
	if (!operand)
		return (struct pov_note_arg){0};
	kind = machine == SDT_X86_64 ? x86_operand(operand, &arg) : aarch64_operand(operand, &arg);
	if (kind == POV_NOTE_UNKNOWN)
		return (struct pov_note_arg){0};
	arg.kind = (pov_u8)kind;
	return arg;
}

/* Up to the next blank that is not between brackets. */
static size_t arg_length(const char *text)
{
	bool within = false;
	size_t n;

	for (n = 0; text[n] && (within || text[n] != ' '); n++)
		within = text[n] == '[' || (within && text[n] != ']');
	return n;
}

size_t sdt_args_parse(enum sdt_machine machine, const char *text, struct pov_note_arg *out,
		      size_t max)
{
	size_t cnt = 0, length;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		length = arg_length(text);
		if (cnt < max)
			out[cnt] = arg_parse(machine, text, length);
		cnt++;
		text += length;
	}
	return cnt;
}
