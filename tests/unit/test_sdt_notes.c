/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Static probes: those that the system's own header makes, notes put together by hand, of which most are not right, and the words
 * of both assemblers for where an argument is. readelf is the second witness.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "elf/elf_file.h"
#include "elf/sdt_arg.h"
#include "elf/sdt_notes.h"
#include "unit/elf_fixture.h"

/* Words of struct pt_regs. */
#define X86(n) ((n)*8)
#define RBP X86(4)
#define RBX X86(5)
#define RAX X86(10)
#define RSI X86(13)
#define RSP X86(19)

struct operand {
	const char *text;
	struct pov_note_arg want;
};

static void operands_check(enum sdt_machine machine, const struct operand *o, size_t cnt)
{
	struct pov_note_arg got;

	for (size_t i = 0; i < cnt; i++) {
		assert_int_equal(sdt_args_parse(machine, o[i].text, &got, 1), 1);
		if (memcmp(&got, &o[i].want, sizeof(got)))
			fail_msg("%s: kind %u, register %u, value %lld, %u bytes, signed %u",
				 o[i].text, got.kind, got.reg, (long long)got.value, got.bytes,
				 got.is_signed);
	}
}

TEST(x86)
{
	static const struct operand all[] = {
		{"8@%rax", {.kind = POV_NOTE_REGISTER, .reg = RAX, .bytes = 8}},
		{"4@%ebx", {.kind = POV_NOTE_REGISTER, .reg = RBX, .bytes = 4}},
		{"-2@%si", {.kind = POV_NOTE_REGISTER, .reg = RSI, .bytes = 2, .is_signed = 1}},
		{"1@%bpl", {.kind = POV_NOTE_REGISTER, .reg = RBP, .bytes = 1}},
		{"8@%r15", {.kind = POV_NOTE_REGISTER, .reg = 0, .bytes = 8}},
		{"1@%r9b", {.kind = POV_NOTE_REGISTER, .reg = X86(8), .bytes = 1}},
		{"8@8(%rsp)", {.kind = POV_NOTE_MEMORY, .reg = RSP, .value = 8, .bytes = 8}},
		{"-4@-24(%rbp)",
		 {.kind = POV_NOTE_MEMORY, .reg = RBP, .value = -24, .bytes = 4, .is_signed = 1}},
		{"8@(%rax)", {.kind = POV_NOTE_MEMORY, .reg = RAX, .bytes = 8}},
		{"-4@$-1", {.kind = POV_NOTE_CONSTANT, .value = -1, .bytes = 4, .is_signed = 1}},
		{"2@$65535", {.kind = POV_NOTE_CONSTANT, .value = 65535, .bytes = 2}},
		/* what one register and one read do not tell, and what is none */
		{"4@8(%rax,%rdx,4)", {0}},
		{"8@counter(%rip)", {0}},
		{"1@%ah", {0}},
		{"8f@%xmm0", {0}},
		{"3@%rax", {0}},
		{"-9223372036854775808@%rax", {0}},
		{"8@", {0}},
		{"@%rax", {0}},
		{"8@%", {0}},
		{"8@$", {0}},
		{"8@$5x", {0}},
		{"8@$99999999999999999999", {0}},
		{"8@8(%rsp)x", {0}},
		{"8@8(", {0}},
		{"8@x0", {0}},
		{"%rax", {0}},
		{"8@%raxraxraxraxraxraxraxraxraxraxraxraxraxraxraxraxraxraxraxraxraxrax", {0}},
	};

	operands_check(SDT_X86_64, all, sizeof(all) / sizeof(*all));
}

TEST(aarch64)
{
	static const struct operand all[] = {
		{"8@x0", {.kind = POV_NOTE_REGISTER, .reg = 0, .bytes = 8}},
		{"-4@w19", {.kind = POV_NOTE_REGISTER, .reg = 19 * 8, .bytes = 4, .is_signed = 1}},
		{"8@[sp]", {.kind = POV_NOTE_MEMORY, .reg = 31 * 8, .bytes = 8}},
		{"4@[x29, 24]", {.kind = POV_NOTE_MEMORY, .reg = 29 * 8, .value = 24, .bytes = 4}},
		{"4@[sp, #-8]", {.kind = POV_NOTE_MEMORY, .reg = 31 * 8, .value = -8, .bytes = 4}},
		{"-4@-1", {.kind = POV_NOTE_CONSTANT, .value = -1, .bytes = 4, .is_signed = 1}},
		{"8@#7", {.kind = POV_NOTE_CONSTANT, .value = 7, .bytes = 8}},
		{"8@x31", {0}},
		{"8@x-1", {0}},
		{"8@[x0, x1]", {0}},
		{"8@[x0, 8", {0}},
		{"8@[x0, 8]!", {0}},
		{"8@[", {0}},
		{"8@%rax", {0}},
	};
	struct pov_note_arg arg[2];

	operands_check(SDT_AARCH64, all, sizeof(all) / sizeof(*all));
	/* a blank between brackets is none between arguments */
	assert_int_equal(sdt_args_parse(SDT_AARCH64, " 4@[sp, 8]  8@x1 4@w2 ", arg, 2), 3);
	assert_int_equal(arg[0].value, 8);
	assert_int_equal(arg[1].reg, 8);
}

#if defined(__x86_64__)

/* "Location: 0x…" of each, as readelf has it. */
static size_t readelf_locations(const char *path, uint64_t *out, size_t max)
{
	char *command = xasprintf("readelf -nW %s 2>/dev/null", path);
	FILE *p = popen(command, "r");
	size_t cnt = 0;
	char line[512];

	assert_non_null(p);
	while (fgets(line, sizeof(line), p) && cnt < max) {
		const char *at = strstr(line, "Location: ");

		if (at)
			out[cnt++] = strtoull(at + 10, NULL, 16);
	}
	pclose(p);
	free(command);
	return cnt;
}

#if __has_include(<sys/sdt.h>)

static const char counted[] =
	"#define _SDT_HAS_SEMAPHORES 1\n"
	"#include <sys/sdt.h>\n"
	"unsigned short made_counted_semaphore __attribute__((section(\".probes\")));\n"
	"int f(int a) { STAP_PROBE1(made, counted, a); return a; }\n";

static const char made[] = "#include <sys/sdt.h>\n"
			   "int plain(const char *text, int a, unsigned long b) {\n"
			   "	STAP_PROBE4(made, four, text, a, b, (short)-5);\n"
			   "	return a;\n"
			   "}\n"
			   "int other(const int *a) {\n"
			   "	STAP_PROBE1(made, one, a[3]);\n"
			   "	return *a;\n"
			   "}\n"
			   "int none(void) { STAP_PROBE(made, nothing); return 1; }\n";

static void four_check(const struct elf_file *f, const struct sdt_note *n)
{
	const struct elf_symbol *s = elf_file_find(f, "plain");
	uint8_t nop = 0;

	assert_string_equal(n->provider, "made");
	assert_string_equal(n->name, "four");
	assert_true(n->addr >= s->addr && n->addr < s->addr + s->size);
	assert_int_equal(elf_file_read_offset(f, n->offset, &nop, 1), 1);
	assert_int_equal(nop, 0x90);
	assert_int_equal(n->semaphore, 0);
	assert_int_equal(n->arg_cnt, 4);
	/* nothing has moved them yet: the registers in which a function is given them */
	assert_int_equal(n->arg[0].kind, POV_NOTE_REGISTER);
	assert_int_equal(n->arg[0].reg, X86(14));
	assert_int_equal(n->arg[0].bytes, 8);
	assert_int_equal(n->arg[1].reg, RSI);
	assert_int_equal(n->arg[1].bytes, 4);
	assert_true(n->arg[1].is_signed);
	assert_int_equal(n->arg[2].reg, X86(12));
	assert_false(n->arg[2].is_signed);
	assert_int_equal(n->arg[3].kind, POV_NOTE_CONSTANT);
	assert_int_equal(n->arg[3].value, -5);
}

TEST(header)
{
	struct sdt_note *notes;
	struct elf_file *f;
	uint64_t where[4];
	char *path;

	fixture_need_compiler();
	path = fixture_build("plain.c", made, "-shared -fPIC -O2");
	assert_int_equal(elf_file_open(path, &f), 0);
	assert_int_equal(sdt_notes_read(f, &notes), 3);
	four_check(f, &notes[0]);
	assert_string_equal(notes[1].name, "one");
	assert_int_equal(notes[1].arg[0].kind, POV_NOTE_MEMORY);
	assert_int_equal(notes[1].arg[0].value, 12);
	assert_int_equal(notes[1].arg[0].reg, X86(14));
	assert_string_equal(notes[2].name, "nothing");
	assert_int_equal(notes[2].arg_cnt, 0);
	assert_int_equal(readelf_locations(path, where, 4), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(notes[i].addr, where[i]);
	free(notes);
	elf_file_close(f);
	free(path);
}

TEST(semaphore)
{
	struct sdt_note *notes;
	struct elf_file *f;

	fixture_need_compiler();
	f = fixture_open("counted.c", counted, "-shared -fPIC -O2");
	assert_int_equal(sdt_notes_read(f, &notes), 1);
	assert_int_equal(notes[0].semaphore, elf_file_find(f, "made_counted_semaphore")->addr);
	free(notes);
	elf_file_close(f);
}

#else

static void test_header(void **state)
{
	(void)state;
	print_message("SKIP: no sys/sdt.h (systemtap-sdt-dev)\n");
	skip();
}

static void test_semaphore(void **state)
{
	test_header(state);
}

#endif

/* A note: its owner, type, length of what it holds, and that. */
#define NOTE(owner, type, bytes, holds) \
	".balign 4\n.4byte 8, " bytes ", " type "\n.asciz \"" owner "\"\n.balign 4\n" holds "\n"
#define WHOLE(addr, base, provider, name, args)                                                \
	NOTE("stapsdt", "3", "9f - 8f",                                                        \
	     "8: .8byte " addr ", " base ", 0\n.asciz \"" provider "\"\n.asciz \"" name "\"\n" \
	     ".asciz \"" args "\"\n9:")
#define TEXT64 "0123456789012345678901234567890123456789012345678901234567890123"

static const char made_by_hand[] =
	".section .stapsdt.base, \"a\"\nbase: .space 1\n"
	".text\n.globl f\n.type f, @function\nf: nop\nplace: nop\nret\n.size f, . - f\n"
	".section .note.stapsdt, \"\", @note\n"
	/* linked when all was elsewhere */
	WHOLE("place - 4096", "base - 4096", "hand", "moved", "4@%eax")
		WHOLE("place", "base", "hand", "right", "")
	/* not SystemTap's */
	NOTE("stapsdX", "3", "9f - 8f", "8: .8byte place, base, 0\n.asciz \"a\", \"b\", \"c\"\n9:")
		NOTE("stapsdt", "2", "9f - 8f",
		     "8: .8byte place, base, 0\n.asciz \"a\", \"b\", \"c\"\n9:")
	/* too short, without an end, without a name or arguments, not in code, a name without end */
	NOTE("stapsdt", "3", "9f - 8f", "8: .8byte place, base\n9:") NOTE(
		"stapsdt", "3", "9f - 8f", "8: .8byte place, base, 0\n.ascii \"provider\"\n9:")
		NOTE("stapsdt", "3", "9f - 8f", "8: .8byte place, base, 0\n.asciz \"a\", \"b\"\n9:")
			WHOLE("base", "base", "hand", "elsewhere",
			      "") WHOLE("place", "base", TEXT64, "long",
					"") WHOLE("place", "base", "hand", TEXT64, "")
				WHOLE("place", "base", "hand", "last",
				      "1@1 2@2 3@3 4@4 5@5 6@6 7@7 8@8 9@9 1@1 1@1 1@1 1@1 1@1")
	/* goes on behind the section's end */
	".balign 4\n.4byte 8, 4096, 3\n.asciz \"stapsdt\"\n";

TEST(by_hand)
{
	static const char *const want[] = {"moved", "right", "last"};
	const struct elf_symbol *s;
	struct sdt_note *notes;
	struct elf_file *f;

	fixture_need_compiler();
	f = fixture_open("hand.S", made_by_hand, "-shared -nostdlib");
	s = elf_file_find(f, "f");
	assert_int_equal(sdt_notes_read(f, &notes), 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(notes[i].name, want[i]);
		assert_int_equal(notes[i].addr, s->addr + 1);
		assert_int_equal(notes[i].offset, s->offset + 1);
	}
	assert_int_equal(notes[0].arg_cnt, 1);
	assert_int_equal(notes[1].arg_cnt, 0);
	assert_int_equal(notes[2].arg_cnt, 14);
	free(notes);
	elf_file_close(f);
	f = fixture_open("bare.c", "int f(void) { return 0; }", "-shared -nostdlib");
	assert_int_equal(sdt_notes_read(f, &notes), 0);
	assert_null(notes);
	elf_file_close(f);
}

/* Any byte of the notes may be another one: the sanitizers tell whether more is read than is there. */
TEST(damaged)
{
	uint64_t offset, bytes;
	uint32_t random = 1;
	struct sdt_note *notes;
	struct elf_file *f;
	unsigned char *image;
	char *path;
	size_t cnt;

	fixture_need_compiler();
	path = fixture_build("damaged.S", made_by_hand, "-shared -nostdlib");
	assert_int_equal(elf_file_open(path, &f), 0);
	assert_true(elf_file_section(f, ".note.stapsdt", &offset, &bytes));
	elf_file_close(f);
	image = fixture_read(path, &cnt);
	free(path);
	for (int i = 0; i < 2000; i++) {
		uint64_t at;

		random = random * 1664525 + 1013904223;
		at = offset + (random >> 8) % bytes;
		image[at] ^= (unsigned char)(1u << (random >> 4) % 8);
		f = fixture_open_bytes(image, cnt);
		assert_non_null(f);
		for (size_t n = sdt_notes_read(f, &notes); n--;)
			assert_true(strlen(notes[n].provider) < SDT_NAME_BYTES &&
				    strlen(notes[n].name) < SDT_NAME_BYTES);
		free(notes);
		elf_file_close(f);
	}
	free(image);
}

#else

static void skip_here(void **state)
{
	(void)state;
	print_message("SKIP: makes files with x86-64 code\n");
	skip();
}

#define test_header skip_here
#define test_semaphore skip_here
#define test_by_hand skip_here
#define test_damaged skip_here

#endif

ALL_TESTS(NULL, fixture_remove_all);
