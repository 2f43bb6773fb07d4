/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Probe sites of functions written for the test, one per rule: what may be skipped, what must not,
 * what the kernel emulates or refuses, and what jumps where. One assembly file holds them all.
 */
#include "unit/test.h"
#include "target/elf/function_callers.h"
#include "target/elf/elf_file.h"
#include "target/elf/probe_site.h"
#include "record/sites_print.h"
#include "unit/elf_fixture.h"

#if defined(__x86_64__)

#define LIB_FLAGS "-shared -nostdlib -Wl,-Bsymbolic"
#define E SITE_EMULATED
#define S SITE_STEPPED
#define SWITCH(label)                                                                 \
	"lea 3f(%rip), %rdx\nmovslq (%rdx,%rdi,4), %rax\nadd %rdx, %rax\njmp *%rax\n" \
	".section .rodata\n.balign 4\n3: .long " label " - 3b\n.long 0x70000000\n"    \
	".text\n"
#define TAIL "xor %eax, %eax\npop %rbx\nret"

struct site_case {
	const char *name, *code;
	unsigned int nargs_regs;
	int err;
	unsigned int skipped;
	enum site_cost cost;
	const char *why; /* part of the reason */
};

static const struct site_case cases[] = {
	/* where it starts */
	{"push", "push %rbx\n" TAIL, 6, 0, 0, E, "push"},
	{"push_r12", "push %r12\npop %r12\nret", 6, 0, 0, E, "push"},
	{"push_rexw", ".byte 0x48,0x53\n" TAIL, 6, 0, 0, S, "stack pointer"},
	{"push_imm", "push $1\npop %rax\nret", 6, 0, 0, S, "stack pointer"},
	{"nop1", "nop\n" TAIL, 6, 0, 0, E, "nop"},
	{"jmp_first", "jmp away", 6, 0, 0, E, "jmp"},
	{"call_first", "call away\nret", 6, 0, 0, E, "call"},
	{"ret_first", "ret", 6, 0, 0, S, "stack pointer"},
	{"sub_rsp", "sub $24, %rsp\npush %rbx\n" TAIL, 6, 0, 0, S,
	 "sub at +0 moves the stack pointer"},
	{"realign", "lea 8(%rsp), %r10\nand $-32, %rsp\npush -8(%r10)\nret", 6, 0, 0, S,
	 "stack pointer"},
	/* moved */
	{"endbr_push", "endbr64\npush %rbx\n" TAIL, 6, 0, 4, E, "emulated"},
	{"mov_push", "mov %edi, %eax\npush %rbx\n" TAIL, 6, 0, 2, E, "emulated"},
	{"nopl_push", ".byte 0x0f,0x1f,0x44,0,0\npush %rbx\n" TAIL, 6, 0, 5, E, "emulated"},
	{"rip_load", "mov datum(%rip), %rax\npush %rbx\n" TAIL, 6, 0, 7, E, "emulated"},
	{"stack_arg", "mov 8(%rsp), %rax\npush %rbx\n" TAIL, 6, 0, 5, E, "emulated"},
	{"xor_jmp", "xor %r8d, %r8d\njmp away", 4, 0, 3, E, "emulated"},
	{"test_jcc", "test %rdi, %rdi\nje 1f\npush %rbx\n" TAIL "\n1: ret", 6, 0, 3, E, "emulated"},
	{"long_jcc", "cmp $1, %edi\n.byte 0x0f,0x84,0,0,0,0\nret", 6, 0, 3, E, "emulated"},
	{"tail_call", "endbr64\npush %rbx\npop %rbx\njmp away", 6, 0, 4, E, "emulated"},
	{"plt_call", "endbr64\npush %rbx\ncall elsewhere@PLT\npop %rbx\njmp elsewhere@PLT", 6, 0, 4,
	 E, "emulated"},
	{"slot_jump", "endbr64\npush %rbx\npop %rbx\njmp *elsewhere@GOTPCREL(%rip)", 6, 0, 4, E,
	 "emulated"},
	{"to_start", "endbr64\n0: push %rbx\npop %rbx\ndec %edi\njne to_start\nret", 6, 0, 4, E,
	 "emulated"},
	{"dead_reg", "mov %esi, %r9d\npush %rbx\n" TAIL, 5, 0, 3, E, "emulated"},
	/* not moved: a skipped instruction would matter */
	{"live_arg", "mov %esi, %r9d\npush %rbx\n" TAIL, 6, 0, 0, S, "overwrites an argument"},
	{"live_byte", "mov $1, %dl\npush %rbx\n" TAIL, 6, 0, 0, S, "overwrites an argument"},
	{"implicit", "cqo\npush %rbx\n" TAIL, 6, 0, 0, S, "overwrites an argument"},
	{"store", "movl $0, datum(%rip)\npush %rbx\n" TAIL, 6, 0, 0, S, "writes memory"},
	{"store_red", "mov %rdi, -8(%rsp)\npush %rbx\n" TAIL, 6, 0, 0, S, "writes memory"},
	{"load_arg", "mov (%rdi), %rax\npush %rbx\n" TAIL, 6, 0, 0, S, "may fault"},
	{"load_far", "mov 0x7000000(%rip), %rax\npush %rbx\n" TAIL, 6, 0, 0, S, "may fault"},
	{"load_tls", "mov %fs:0x28, %rax\npush %rbx\n" TAIL, 6, 0, 0, S, "may fault"},
	{"load_deep", "mov 4096(%rsp), %rax\npush %rbx\n" TAIL, 6, 0, 0, S, "may fault"},
	{"divide", "div %ebx\npush %rbx\n" TAIL, 2, 0, 0, S, "is not plain"},
	{"string", "rep stosb\npush %rbx\n" TAIL, 0, 0, 0, S, "writes memory"},
	{"timer", "rdtsc\npush %rbx\n" TAIL, 2, 0, 0, S, "is not plain"},
	{"far_push",
	 "mov $1, %rax\nmov $1, %rax\nmov $1, %rax\nmov $1, %rax\nmov $1, %rax\npush %rbx\n" TAIL,
	 6, 0, 0, S, "near the start"},
	/* not moved: control comes from elsewhere */
	{"back_to_site", "endbr64\n1: push %rbx\npop %rbx\ndec %edi\njne 1b\nret", 6, 0, 0, S,
	 "branch lands just after the start"},
	{"back_between", "endbr64\n1: mov %edi, %eax\npush %rbx\npop %rbx\njmp 1b", 6, 0, 0, S,
	 "branch lands just after the start"},
	{"call_between", "endbr64\n1: push %rbx\npop %rbx\ncall 1b\nret", 6, 0, 0, S, "call lands"},
	{"from_cold",
	 "endbr64\n1: push %rbx\npop %rbx\njmp 2f\n.section .text.cold\nnop\n2: inc %eax\njmp 1b\n.text",
	 6, 0, 0, S, "branch lands just after the start"},
	{"named_cold",
	 "endbr64\n1: push %rbx\npop %rbx\njmp named_cold.cold\n.section .text.cold\n"
	 ".type named_cold.cold,@function\nnamed_cold.cold: inc %eax\njmp 1b\n.text",
	 6, 0, 0, S, "branch lands just after the start"},
	{"cold_fine",
	 "endbr64\npush %rbx\npop %rbx\n1: jmp 2f\n.section .text.cold\nnop\n2: inc %eax\njmp 1b\n.text",
	 6, 0, 4, E, "emulated"},
	{"cold_tail",
	 "endbr64\npush %rbx\npop %rbx\njmp 2f\n.section .text.cold\nnop\n2: inc %eax\njmp *%rax\n.text",
	 6, 0, 4, E, "emulated"},
	{"tail", "endbr64\npush %rbx\npop %rbx\njmp *%rax", 6, 0, 4, E, "emulated"},
	{"table_fine", "endbr64\npush %rbx\npop %rbx\n" SWITCH("1f") "1: ret", 6, 0, 4, E,
	 "emulated"},
	{"table_back", "endbr64\n1: push %rbx\npop %rbx\n" SWITCH("1b") "ret", 6, 0, 0, S,
	 "branch lands just after the start"},
	{"table_mem", "endbr64\npush %rbx\npop %rbx\njmp *(%rax,%rdi,8)", 6, 0, 0, S,
	 "indirect jump"},
	{"second_name", "endbr64\n.globl second_entry\nsecond_entry: push %rbx\n" TAIL, 6, 0, 0, S,
	 "another symbol"},
	{"overlap", "endbr64\npush %rbx\njmp 1f+1\n1: .byte 0x3d,0x90,0x90,0x90,0x90\n" TAIL, 6, 0,
	 0, S, "inside an instruction"},
	{"not_code", "endbr64\npush %rbx\n" TAIL "\n.byte 0x06,0x06", 6, 0, 0, S,
	 "it contains bytes that are not code"},
	/* where the kernel refuses */
	{"nop2_push", ".byte 0x66,0x90\npush %rbx\n" TAIL, 6, 0, 2, E, "emulated"},
	{"nop2_ret", ".byte 0x66,0x90\nret", 6, 0, 2, S, "stack pointer"},
	{"cs_nop_push", ".byte 0x2e,0x0f,0x1f,0x40,0\npush %rbx\n" TAIL, 6, 0, 5, E, "emulated"},
	{"xchg_r8", ".byte 0x41,0x90\npush %rbx\n" TAIL, 6, -ENOTSUP, 0, S, ""},
	{"locked", "lock incl (%rdi)\nret", 6, -ENOTSUP, 0, S, ""},
	{"trap", "ud2", 6, -ENOTSUP, 0, S, ""},
	{"jmp16", ".byte 0x66,0xe9,0,0,0,0\nret", 6, -ENOTSUP, 0, S, ""},
	{"garbage", ".byte 0x06", 6, -EINVAL, 0, S, ""},
};

static char *cases_source(void)
{
	char *all = xstrdup(".text\n.type away,@function\naway: ret\n.size away,.-away\n"), *more;

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *n = cases[i].name;

		more = xasprintf("%s.globl %s\n.type %s,@function\n%s:\n%s\n.size %s, .-%s\n", all,
				 n, n, n, cases[i].code, n, n);
		free(all);
		all = more;
	}
	/* Without a size, its end is unknown. */
	more = xasprintf(
		"%s.globl unsized\n.type unsized,@function\nunsized: endbr64\npush %%rbx\nret\n"
		".data\n.globl datum\n.type datum,@object\n.size datum,8\ndatum: .quad 5\n"
		".section .note.GNU-stack,\"\"\n",
		all);
	free(all);
	return more;
}

static struct elf_file *lib;

static const struct elf_symbol *function(const char *name)
{
	if (!lib) {
		char *source = cases_source();

		lib = fixture_open("cases.S", source, LIB_FLAGS);
		free(source);
	}
	return elf_file_find(lib, name);
}

TEST(cases)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct site_case *c = &cases[i];
		const struct elf_symbol *s = function(c->name);
		struct probe_site site = {.why = "untouched"};
		int err;

		assert_non_null(s);
		err = probe_site_choose(lib, s, c->nargs_regs, &site);
		if (err != c->err || (!err && (site.skipped != c->skipped || site.cost != c->cost ||
					       !strstr(site.why, c->why))))
			fail_msg("%s: %d, +%u, %s, \"%s\" (first %s)", c->name, err, site.skipped,
				 site.cost == E ? "emulated" : "stepped", site.why, site.insn);
		if (err)
			assert_string_equal(site.why, "untouched");
		else
			assert_int_equal(site.offset, s->offset + site.skipped);
	}
}

TEST(odd_symbols)
{
	struct probe_site site;
	struct elf_symbol s;

	assert_int_equal(probe_site_choose(lib, function("unsized"), 6, &site), 0);
	assert_int_equal(site.skipped, 0);
	assert_non_null(strstr(site.why, "size is unknown"));
	assert_int_equal(probe_site_choose(lib, function("datum"), 6, &site), -ENXIO);
	s = *function("endbr_push");
	s.has_offset = false;
	assert_int_equal(probe_site_choose(lib, &s, 6, &site), -ENXIO);
	s.has_offset = true;
	s.size = UINT64_MAX;
	assert_int_equal(probe_site_choose(lib, &s, 6, &site), 0);
	assert_int_equal(site.skipped, 0);
	s.size = 1ul << 19; /* ends after the file's end */
	assert_int_equal(probe_site_choose(lib, &s, 6, &site), 0);
	assert_int_equal(site.skipped, 0);
}

static char *printed(const char *source, const struct site_function *asked, size_t cnt, bool json)
{
	struct elf_file *f = fixture_open("print.S", source, LIB_FLAGS);
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes), *full = fopen("/dev/full", "we");

	assert_int_equal(sites_print(f, "print.so", asked, cnt, json, out), 0);
	fclose(out);
	if (full) {
		setvbuf(full, NULL, _IONBF, 0);
		assert_true(sites_print(f, "print.so", asked, cnt, json, full) < 0);
		fclose(full);
	}
	elf_file_close(f);
	return text;
}

TEST(print)
{
	static const char source[] =
		".text\n.globl MPI_Send,MPI_Recv,MPI_Bad\n"
		".type MPI_Send,@function\nMPI_Send: endbr64\npush %rbx\npop %rbx\nret\n"
		".size MPI_Send,.-MPI_Send\n"
		".type MPI_Recv,@function\nMPI_Recv: sub $8,%rsp\nadd $8,%rsp\nret\n"
		".size MPI_Recv,.-MPI_Recv\n"
		".type MPI_Bad,@function\nMPI_Bad: ud2\n.size MPI_Bad,.-MPI_Bad\n"
		".section .note.GNU-stack,\"\"\n";
	static const struct site_function asked[] = {{"MPI_Recv", 6}, {"MPI_Nope", 6}};
	char *text = printed(source, NULL, 0, false);

	assert_non_null(strstr(text, "MPI_Send"));
	assert_non_null(strstr(text, "endbr64"));
	assert_non_null(strstr(text, "sub $0x8, %rsp"));
	assert_non_null(strstr(text, "+4  emulated"));
	assert_non_null(strstr(text, "moves the stack pointer"));
	assert_non_null(strstr(text, "3 functions: 1 emulated (1 of them after the start), "
				     "1 single-stepped, 1 cannot be probed\n"));
	free(text);
	text = printed(source, asked, 2, true);
	assert_non_null(strstr(text, "\"function\":\"MPI_Recv\""));
	assert_null(strstr(text, "MPI_Send"));
	assert_non_null(strstr(text, "\"absent\":1"));
	free(text);
	assert_non_null(function("push"));
	assert_int_equal(sites_print(lib, "cases.so", NULL, 0, false, stdout), -ENOENT);
}

#define F ".section .note.GNU-stack,\"\"\n.text\n.globl f\n.type f,@function\nf: ret\n.size f,.-f\n"

/*
 * Which instructions call a function, as distances from it: direct calls and jumps, not bytes
 * within other instructions.
 */
TEST(calls)
{
	static const struct {
		const char *code;
		size_t max;
		const char *at;
	} rows[] = {
		/* a call; bytes in an immediate whose distance fits by chance; a jump */
		{F "call f\nmovabs $0xfffffff3e8, %rax\njmp f\ncall *%rax\nret\n", 8, " 1"},
		{F "1: call f\nnop\n.byte 0xe9\n.long f-.-4\nret\n", 8, " 1 7"},
		{F "lea f(%rip), %rax\ncall *%rax\nret\n", 8, ""},
		/* too many: none instead of some */
		{F "call f\ncall f\ncall f\nret\n", 2, ""},
		{F "call f\ncall f\ncall f\nret\n", 3, " 1 6 11"},
		/* invalid code in the middle: the rest may be misread */
		{F "call f\nret\n.byte 0x06\ncall f\nret\n", 8, ""},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct elf_file *f = fixture_open("calls.S", rows[i].code, LIB_FLAGS);
		const struct elf_symbol *s = elf_file_find(f, "f");
		uint64_t found[8] = {0};
		size_t n = function_callers_find(f, s, found, rows[i].max);
		char at[64] = "";

		for (size_t k = 0; k < n; k++)
			sprintf(at + strlen(at), " %lld", (long long)(found[k] - s->offset));
		assert_string_equal(at, rows[i].at);
		elf_file_close(f);
	}
}

static int close_cases(void **state)
{
	elf_file_close(lib);
	return 0;
}

ALL_TESTS(NULL, close_cases);

#else
TEST(decoding)
{
	skip_because("code is decoded on x86-64 only");
}
#endif
