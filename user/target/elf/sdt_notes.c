/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Notes are not loaded with the file. So a tool that later moves the file's segments (prelink) does
 * not correct the addresses in them, but it does move the section .stapsdt.base. Each note has the
 * address of this section at link time, and the difference corrects the note.
 */
#include "target/elf/sdt_notes.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/elf_file.h"

#define OWNER "stapsdt"
#define NOTE_TYPE 3
#define SECTION_BYTES_MAX (1u << 20)

#if defined(__aarch64__)
#define MACHINE SDT_AARCH64
#else
#define MACHINE SDT_X86_64
#endif

struct reader {
	const struct elf_file *f;
	uint64_t base; /* address of .stapsdt.base; 0: the file has none */
	struct sdt_note *note;
	uint32_t cnt;
};

/* Converts the address of code to a file offset. */
static bool code_offset(const struct elf_file *f, uint64_t addr, uint64_t *out)
{
	uint64_t offset, start, bytes;

	for (size_t i = 0; elf_file_exec_segment(f, i, &offset, &start, &bytes); i++)
		if (addr >= start && addr - start < bytes) {
			*out = offset + (addr - start);
			return true;
		}
	return false;
}

/* Returns the string at *at, and moves *at after it; NULL if it does not end before `end`. */
static const char *string_take(const char **at, const char *end)
{
	const char *string = *at, *nul = memchr(string, 0, (size_t)(end - string));

	*at = nul ? nul + 1 : end;
	return nul ? string : NULL;
}

/* Parses a note: three addresses and three strings. */
static bool note_parse(const struct reader *r, const char *desc, size_t bytes, struct sdt_note *out)
{
	const char *end = desc + bytes, *provider, *name, *args;
	uint64_t addr[3];

	if (bytes < sizeof(addr))
		return false;
	memcpy(addr, desc, sizeof(addr));
	desc += sizeof(addr);
	provider = string_take(&desc, end);
	name = string_take(&desc, end);
	args = string_take(&desc, end);
	if (!provider || !name || !args || strlen(provider) >= sizeof(out->provider) ||
	    strlen(name) >= sizeof(out->name))
		return false;
	*out = (struct sdt_note){.addr = addr[0], .semaphore = addr[2]};
	if (r->base) {
		out->addr += r->base - addr[1];
		out->semaphore += out->semaphore ? r->base - addr[1] : 0;
	}
	if (!code_offset(r->f, out->addr, &out->offset))
		return false;
	strcpy(out->provider, provider);
	strcpy(out->name, name);
	out->arg_cnt = sdt_args_parse(MACHINE, args, out->arg, SDT_ARGS_MAX);
	return true;
}

static void note_add(struct reader *r, const char *desc, size_t bytes)
{
	struct sdt_note note;

	if (!note_parse(r, desc, bytes, &note))
		return;
	*table_append(r->note, r->cnt) = note;
}

static size_t bytes_align(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

static void section_parse(struct reader *r, const char *at, size_t left)
{
	Elf64_Nhdr h;
	size_t name, all;

	while (left >= sizeof(h)) {
		memcpy(&h, at, sizeof(h));
		name = bytes_align(h.n_namesz);
		all = sizeof(h) + name + bytes_align(h.n_descsz);
		if (all > left)
			return;
		if (h.n_type == NOTE_TYPE && h.n_namesz == sizeof(OWNER) &&
		    !memcmp(at + sizeof(h), OWNER, sizeof(OWNER)))
			note_add(r, at + sizeof(h) + name, h.n_descsz);
		at += all;
		left -= all;
	}
}

size_t sdt_notes_read(const struct elf_file *f, struct sdt_note **out)
{
	struct reader r = {.f = f};
	uint64_t offset, bytes;
	char *section;
	long n;

	*out = NULL;
	if (!elf_file_section(f, ".note.stapsdt", &offset, &bytes) || bytes > SECTION_BYTES_MAX)
		return 0;
	if (!elf_file_section_addr(f, ".stapsdt.base", &r.base))
		r.base = 0;
	section = xmalloc(bytes + 1);
	n = elf_file_read_offset(f, offset, section, bytes);
	section_parse(&r, section, n > 0 ? (size_t)n : 0);
	free(section);
	*out = r.note;
	return r.cnt;
}

/* ---- arguments ---- */

/*
 * Compilers make the text, but it comes from a file, so nothing is assumed. A register's name may
 * be narrower or wider than the value: the size counts.
 */

#define WORD_BYTES 8 /* size of a register in struct pt_regs */
#define OPERAND_BYTES_MAX 64

/* Register names in the order of struct pt_regs, by width. */
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

/* Parses a whole number with nothing after it. */
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

/* Parses "$5", "%rax", "24(%rbp)" or "(%rbp)". */
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

/* Parses "5", "x0", "[x29, 24]" or "[sp]". */
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

/* Parses the size: "-4@…" is signed, 4 bytes. Returns the text after the @, or NULL. */
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

/* Returns the length up to the next blank outside brackets. */
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
