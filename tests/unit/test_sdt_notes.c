/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Static probes: those made by the system's own header, and notes written by hand, most of them
 * wrong. Arguments: cases/sdt_args.txt.
 */
#include "unit/test.h"
#include "target/elf/elf_file.h"
#include "target/elf/sdt_notes.h"
#include "unit/cases.h"
#include "unit/elf_fixture.h"

#define ARGS_MAX 16

static void args_print(const struct pov_note_arg *arg, size_t cnt, FILE *out)
{
	for (size_t i = 0; i < cnt; i++) {
		const struct pov_note_arg *a = &arg[i];

		fputs(i ? ", " : "", out);
		if (a->kind == POV_NOTE_REGISTER)
			fprintf(out, "register %u", a->reg);
		else if (a->kind == POV_NOTE_MEMORY)
			fprintf(out, "memory %u%+lld", a->reg, (long long)a->value);
		else if (a->kind == POV_NOTE_CONSTANT)
			fprintf(out, "constant %lld", (long long)a->value);
		else
			fputs(a->value || a->reg ? "none, yet set" : "none", out);
		fprintf(out, a->is_signed ? "/-%u" : "/%u", a->bytes);
	}
}

static void play(const struct script *lines, FILE *out)
{
	const char *line = lines->line[0];
	struct pov_note_arg arg[ARGS_MAX];
	enum sdt_machine machine = *line == 'x' ? SDT_X86_64 : SDT_AARCH64;

	args_print(arg, sdt_args_parse(machine, strchr(line, ' ') + 1, arg, ARGS_MAX), out);
}

TEST(args)
{
	cases_run("sdt_args", play);
}

#if defined(__x86_64__)

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

static void note_check(const struct sdt_note *n, const char *wanted)
{
	assert_prints(wanted, out, fprintf(out, "%s:%s ", n->provider, n->name),
		      args_print(n->arg, n->arg_cnt, out));
	assert_int_equal(n->semaphore, 0);
}

TEST(header)
{
	const struct elf_symbol *s;
	struct sdt_note *notes;
	struct elf_file *f;
	uint8_t nop = 0;

	f = fixture_open("plain.c", made, "-shared -fPIC -O2");
	assert_int_equal(sdt_notes_read(f, &notes), 3);
	/* arguments are still in the registers in which the function gets them */
	note_check(&notes[0],
		   "made:four register 112/8, register 104/-4, register 96/8, constant -5/-2");
	note_check(&notes[1], "made:one memory 112+12/-4");
	note_check(&notes[2], "made:nothing ");
	s = elf_file_find(f, "plain");
	assert_true(notes[0].addr >= s->addr && notes[0].addr < s->addr + s->size);
	assert_int_equal(elf_file_read_offset(f, notes[0].offset, &nop, 1), 1);
	assert_int_equal(nop, 0x90);
	free(notes);
	elf_file_close(f);
}

TEST(semaphore)
{
	struct sdt_note *notes;
	struct elf_file *f;

	f = fixture_open("counted.c", counted, "-shared -fPIC -O2");
	assert_int_equal(sdt_notes_read(f, &notes), 1);
	assert_int_equal(notes[0].semaphore, elf_file_find(f, "made_counted_semaphore")->addr);
	free(notes);
	elf_file_close(f);
}

#else

TEST(header)
{
	skip_because("no sys/sdt.h (systemtap-sdt-dev)");
}

#endif

/* A note: its owner, type, length of its contents, and contents. */
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
	/* linked at other addresses */
	WHOLE("place - 4096", "base - 4096", "hand", "moved", "4@%eax")
		WHOLE("place", "base", "hand", "right", "")
	/* not SystemTap's */
	NOTE("stapsdX", "3", "9f - 8f", "8: .8byte place, base, 0\n.asciz \"a\", \"b\", \"c\"\n9:")
		NOTE("stapsdt", "2", "9f - 8f",
		     "8: .8byte place, base, 0\n.asciz \"a\", \"b\", \"c\"\n9:")
	/*
	 * too short, unterminated, without a name or arguments, not in code, a name without an end
	 */
	NOTE("stapsdt", "3", "9f - 8f", "8: .8byte place, base\n9:") NOTE(
		"stapsdt", "3", "9f - 8f", "8: .8byte place, base, 0\n.ascii \"provider\"\n9:")
		NOTE("stapsdt", "3", "9f - 8f", "8: .8byte place, base, 0\n.asciz \"a\", \"b\"\n9:")
			WHOLE("base", "base", "hand", "elsewhere",
			      "") WHOLE("place", "base", TEXT64, "long",
					"") WHOLE("place", "base", "hand", TEXT64, "")
				WHOLE("place", "base", "hand", "last",
				      "1@1 2@2 3@3 4@4 5@5 6@6 7@7 8@8 9@9 1@1 1@1 1@1 1@1 1@1")
	/* continues past the section's end */
	".balign 4\n.4byte 8, 4096, 3\n.asciz \"stapsdt\"\n";

TEST(by_hand)
{
	static const char *const want[] = {"moved", "right", "last"};
	const struct elf_symbol *s;
	struct sdt_note *notes;
	struct elf_file *f;

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

#endif
