/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where functions written for the test are left: by which returns and jumps, and which functions
 * cannot be known completely. One assembly file holds them all. Compiled C code is run as well.
 */
#include "lib/table.h"
#include "unit/test.h"
#include "target/elf/elf_file.h"
#include "target/elf/return_sites.h"
#include "unit/elf_fixture.h"

#if defined(__x86_64__)

#define LIB_FLAGS "-shared -nostdlib -Wl,-Bsymbolic"
#define COLD(name, code)                                                              \
	"\n.section .text.cold\n.type " name ".cold,@function\n" name                 \
	".cold: .cfi_startproc\n" code "\n.cfi_endproc\n.size " name ".cold, .-" name \
	".cold\n.text"
#define TABLE "lea numbers(%rip), %rdx\nmovslq (%rdx,%rdi,4), %rax\nadd %rdx, %rax\n"

/*
 * left: the function's sites sorted by address. "r" is a return, "t" a jump that leaves it. The
 * bytes from the start follow, or "@" for a part elsewhere, and the condition after "?". why: part
 * of the reason if it is refused.
 */
static const struct body_case {
	const char *name, *code, *left, *why;
} cases[] = {
	/* returns */
	{"one", "push %rbx\npop %rbx\nret", "r2", NULL},
	{"several", "test %rdi, %rdi\nje 1f\nret\n1: ret $16", "r5 r6", NULL},
	{"repeated", "rep ret", "r0", NULL},
	{"never", "ud2", "", NULL},
	{"endless", "1: jmp 1b", "", NULL},
	{"halts", "call away\nhlt", "", NULL},
	{"unreached", "ret\nnop\nret", "r0 r2", NULL},
	/* jumps that leave it */
	{"tail", "endbr64\njmp away", "t4", NULL},
	{"tail_if", "test %rdi, %rdi\njne away\nret", "t3?5 r5", NULL},
	{"tail_less", "test %rdi, %rdi\njl away\njmp away", "t3?c t5", NULL},
	{"tail_plt", "push %rbx\npop %rbx\njmp elsewhere@PLT", "t2", NULL},
	{"tail_got", "jmp *elsewhere@GOTPCREL(%rip)", "t0", NULL},
	{"tail_mine", "jmp *away@GOTPCREL(%rip)", "t0", NULL},
	{"to_itself", "dec %edi\njne to_itself\nret", "r4", NULL},
	{"tail_pointer", "jmp *%rax", "t0", NULL},
	{"tail_member", "mov (%rdi), %rax\njmp *16(%rax)", "t3", NULL},
	{"tail_framed", "push %rbp\nmov %rsp, %rbp\nsub $16, %rsp\ncall away\nleave\njmp *%rsi",
	 "t14", NULL},
	{"tail_popped", "push %rbx\nsub $40, %rsp\nadd $40, %rsp\npop %rbx\njmp *%rsi", "t10",
	 NULL},
	{"tail_array", "lea functions(%rip), %rax\njmp *(%rax,%rdi,8)", "t7", NULL},
	/* jumps that stay */
	{"switched", TABLE "notrack jmp *%rax\nret\njmp away", "r17 t18", NULL},
	{"switched_plain", TABLE "jmp *%rax\nret\njmp away", "r16 t17", NULL},
	{"switch_to_tail", TABLE "jmp *%rax\njmp *%rsi\njmp *8(%rsi)", "t16 t18", NULL},
	{"gotos", "push %rbx\nlea 1f(%rip), %rax\njmp *%rax\n1: pop %rbx\nret", "r11", NULL},
	{"gotos_array", "push %rbx\njmp *(%rax,%rdi,8)\npop %rbx\nret", "r5", NULL},
	{"labels_array", "lea labels(%rip), %rax\njmp *(%rax,%rdi,8)\nlabel: ret", "r10", NULL},
	/* parts elsewhere */
	{"chilled", "test %rdi, %rdi\nje chilled.cold\nret" COLD("chilled", "inc %eax\nret"),
	 "r9 @r", NULL},
	{"chilled_back",
	 "test %rdi, %rdi\nje chilled_back.cold\n.globl chilled_on\n.hidden chilled_on\nchilled_on: "
	 "ret" COLD("chilled_back", "inc %eax\njmp chilled_on"),
	 "r9", NULL},
	/* only the unwinder goes there */
	{"caught", "push %rbx\ncall away\npop %rbx\nret" COLD("caught", "pop %rbx\nret"), "r7 @r",
	 NULL},
	{"nameless",
	 "test %rdi, %rdi\nje 1f\nret\n.section .text.cold\n.cfi_startproc\nnop\n1: inc %eax\nret\n"
	 ".cfi_endproc\n.text",
	 "r9 @r", NULL},
	/* refused */
	{"garbled", "ret\n.byte 6, 6", NULL, "it contains bytes that are not code"},
	{"padded", "jmp 1f\n.long 0\n1: ret", NULL, "it contains bytes that are not code"},
	{"privileged", "mov %cr0, %rax\nret", NULL, "it contains bytes that are not code"},
	{"overlapped", "jmp 1f+1\n1: .byte 0x3d,0x90,0x90,0x90,0x90\nret", NULL,
	 "inside an instruction"},
	{"unknown_part", "jmp 1f\n.section .text.cold\nnop\n1: ret\n.text", NULL,
	 "no known function"},
	{"neighbour", "jmp away+1", NULL, "into another function"},
	{"array_or_gotos", "jmp *(%rax,%rdi,8)\nret", NULL, "indirect jump"},
	{"pointer_or_goto", "lea 1f(%rip), %rax\njmp *(%rsi)\n1: ret", NULL, "indirect jump"},
	{"lost_stack", "and $-32, %rsp\njmp *%rax", NULL, "indirect jump"},
	{"unbalanced", "push %rbx\nret", NULL, "another stack"},
	{"looped", "jrcxz far_return\nret", NULL, "loop instruction"},
	{"far_return", "lretq", NULL, "it contains bytes that are not code"},
	{"refused_jump", ".byte 0x2e\njmp *elsewhere@GOTPCREL(%rip)", NULL, "kernel refuses"},
};

static char *cases_source(void)
{
	char *all = xstrdup(".text\n.type away,@function\naway: .cfi_startproc\nnop\nret\n"
			    ".cfi_endproc\n.size away,.-away\n"),
	     *more;

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *n = cases[i].name;

		more = xasprintf("%s.globl %s\n.type %s,@function\n%s: .cfi_startproc\n%s\n"
				 ".cfi_endproc\n.size %s, .-%s\n",
				 all, n, n, n, cases[i].code, n, n);
		free(all);
		all = more;
	}
	more = xasprintf("%s.globl unsized\n.type unsized,@function\nunsized: ret\n"
			 ".section .rodata\nnumbers: .long 0\n.section .data.rel.ro,\"aw\"\n"
			 "functions: .quad away\nlabels: .quad label\n"
			 ".section .note.GNU-stack,\"\"\n",
			 all);
	free(all);
	return more;
}

TABLE_ORDER(by_offset, struct return_site, table_compare(a->offset, b->offset))

/* Returns the sites as in struct body_case; caller frees. */
static char *sites_text(const struct elf_symbol *s, struct return_sites *sites)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (sites->cnt)
		qsort(sites->v, sites->cnt, sizeof(*sites->v), by_offset);
	for (size_t i = 0; i < sites->cnt; i++) {
		const struct return_site *at = &sites->v[i];

		fprintf(out, "%s", i ? " " : "");
		if (at->offset - s->offset < s->size)
			fprintf(out, "%c%d", at->is_tail ? 't' : 'r',
				(int)(at->offset - s->offset));
		else
			fprintf(out, "@%c", at->is_tail ? 't' : 'r');
		if (at->condition != POV_CONDITION_NONE)
			fprintf(out, "?%x", at->condition);
	}
	fclose(out);
	return text;
}

static bool case_check(const struct elf_file *f, const struct body_case *c)
{
	const struct elf_symbol *s = elf_file_find(f, c->name);
	struct return_sites sites;
	bool fine;
	char *text;
	int err;

	assert_non_null(s);
	err = return_sites_find(f, s, &sites);
	text = sites_text(s, &sites);
	fine = c->why ? err == -ENOTSUP && strstr(sites.why, c->why) :
			!err && !strcmp(text, c->left);
	if (!fine)
		print_error("%s: %d, \"%s\", \"%s\" instead of \"%s\"\n", c->name, err,
			    sites.why ?: "", text, c->why ?: c->left);
	free(text);
	return_sites_release(&sites);
	return fine;
}

TEST(cases)
{
	char *source = cases_source();
	struct elf_file *f = fixture_open("bodies.S", source, LIB_FLAGS);

	size_t failed = 0;

	free(source);
	for (size_t i = 0; i < COUNT(cases); i++)
		failed += !case_check(f, &cases[i]);
	elf_file_close(f);
	assert_int_equal(failed, 0);
}

TEST(odd_symbols)
{
	char *source = cases_source();
	struct elf_file *f = fixture_open("bodies.S", source, LIB_FLAGS);
	struct elf_symbol s = *elf_file_find(f, "one");
	struct return_sites sites;

	free(source);
	assert_int_equal(return_sites_find(f, elf_file_find(f, "unsized"), &sites), -ENOTSUP);
	assert_string_equal(sites.why, "its size is unknown");
	s.size = UINT64_MAX;
	assert_int_equal(return_sites_find(f, &s, &sites), -ENOTSUP);
	s.size = 1ul << 19; /* ends after the file's end */
	assert_int_equal(return_sites_find(f, &s, &sites), -ENOTSUP);
	s.size = 0; /* the table of exception frames has the size */
	assert_int_equal(return_sites_find(f, &s, &sites), 0);
	assert_int_equal(sites.cnt, 1);
	return_sites_release(&sites);
	elf_file_close(f);
}

/* Sites of the functions that it ends with a jump to. */
TEST(followed)
{
	static const struct {
		const char *name;
		int err;
		const char *left;
	} rows[] = {
		{"several", 0, "r5 r6"},    {"tail", 0, "@r"},
		{"tail_if", 0, "@r r5"},    {"tail_less", 0, "@r"},
		{"to_itself", 0, "r4"},	    {"never", 0, ""},
		{"tail_mine", 0, "@r"},	    {"tail_plt", -ENOTSUP, ""},
		{"tail_got", -ENOTSUP, ""}, {"tail_pointer", -ENOTSUP, ""},
		{"garbled", -ENOTSUP, ""},
	};
	char *source = cases_source();
	struct elf_file *f = fixture_open("bodies.S", source, LIB_FLAGS);

	free(source);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct elf_symbol *s = elf_file_find(f, rows[i].name);
		struct return_sites sites;
		int err = return_sites_follow(f, s, &sites);
		char *text = sites_text(s, &sites);

		if (err != rows[i].err || strcmp(text, rows[i].left) != 0)
			fail_msg("%s: %d, \"%s\"", rows[i].name, err, text);
		free(text);
		return_sites_release(&sites);
	}
	elf_file_close(f);
}

/* Also in a stripped file, which has no names of cold parts. */
TEST(compiled)
{
	static const char source[] =
		"extern void out(int) __attribute__((noreturn, cold)); int (*next)(int);\n"
		"int swept(int n, int *p) { switch (n) { case 0: return p[1]; case 1: return p[7] * 3;\n"
		"case 2: return next(9); case 3: p[2] = 4; return 8; case 4: return p[0] - 1;\n"
		"case 5: return next(p[3]) + 1; case 6: return p[5]; } return -1; }\n"
		"int checked(int n, int *p) { if (__builtin_expect(n < 0, 0)) out(n); p[0] = next(n); return n; }\n"
		"int passed(int n) { return next(n + 1); }\n";
	static const char *const names[] = {"swept", "checked", "passed"};

	for (int i = 0; i < 4; i++) {
		struct elf_file *f = fixture_open(
			"compiled.c", source,
			(const char *[]){"-O2 -shared -fPIC", "-O0 -shared -fPIC",
					 "-O2 -shared -fPIC -s", "-Os -shared -fPIC"}[i]);
		struct return_sites sites;

		for (size_t k = 0; k < 3; k++) {
			if (return_sites_find(f, elf_file_find(f, names[k]), &sites))
				fail_msg("%d: %s: %s", i, names[k], sites.why);
			assert_true(sites.cnt > 0);
			return_sites_release(&sites);
		}
		elf_file_close(f);
	}
}

#else

TEST(refused)
{
	struct return_sites sites;

	assert_int_equal(return_sites_find(NULL, NULL, &sites), -ENOTSUP);
	assert_non_null(sites.why);
}

#endif
