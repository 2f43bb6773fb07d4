/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How far a binding's return address is above the stack pointer at its calls. Checked for functions
 * written for the test, and for installed bindings against readelf's output of the exception unwind
 * tables.
 */
#include "lib/table.h"
#include "unit/test.h"
#include "target/elf/function_callers.h"
#include "target/elf/elf_file.h"
#include "unit/elf_fixture.h"

#if defined(__x86_64__)

#define LIB_FLAGS "-shared -nostdlib -Wl,-Bsymbolic -Wl,-soname,b.so"
#define INIT ".globl mpi_init_\n.type mpi_init_,@function\n"
#define FUNCTION(name, code)                                                           \
	".type " name ",@function\n" name ": .cfi_startproc\n" code "\n.cfi_endproc\n" \
	".size " name ",.-" name "\n"
#define BINDING(code) ".text\n" INIT FUNCTION("mpi_init_", code) ".section .note.GNU-stack,\"\"\n"
#define MPI "call MPI_Init@plt\n"

static const struct step_case {
	const char *name, *source, *flags, *words;
} cases[] = {
	{"pushed", BINDING("push %rbx\nsub $16, %rsp\n" MPI "add $16, %rsp\npop %rbx\nret"),
	 LIB_FLAGS, "3"},
	{"arguments on the stack",
	 BINDING("sub $8, %rsp\npush %rdi\npush %rsi\n" MPI "add $16, %rsp\n" MPI
		 "add $8, %rsp\nret"),
	 LIB_FLAGS, "3 1"},
	{"frame pointer", BINDING("push %rbp\nmov %rsp, %rbp\nsub $32, %rsp\n" MPI "leave\nret"),
	 LIB_FLAGS, "5"},
	{"not through the PLT", BINDING("push %rbx\ncall *MPI_Init@GOTPCREL(%rip)\npop %rbx\nret"),
	 LIB_FLAGS, "1"},
	{"by a pointer", BINDING("push %rbx\ncall *%rax\npop %rbx\nret"), LIB_FLAGS, "1"},
	{"of a size that nobody knows",
	 BINDING("push %rbp\nmov %rsp, %rbp\nsub %rdi, %rsp\n" MPI "leave\nret"), LIB_FLAGS, ""},
	{"two depths", BINDING("push %rbx\ntest %rdi, %rdi\nje 1f\npush %rbx\n1: " MPI "ud2"),
	 LIB_FLAGS, ""},
	{"others than MPI", BINDING("push %rbx\ncall malloc@plt\npop %rbx\nret"), LIB_FLAGS, ""},
	{"a function of its own",
	 ".text\n" FUNCTION("within", "sub $24, %rsp\n" MPI "add $24, %rsp\nret")
		 INIT FUNCTION("mpi_init_", "push %rbx\ncall within\npop %rbx\nret"),
	 LIB_FLAGS, "3 1"},
	{"one that nobody calls",
	 ".text\n" FUNCTION("alone", "sub $24, %rsp\n" MPI "add $24, %rsp\nret")
		 INIT FUNCTION("mpi_init_", "push %rbx\n" MPI "pop %rbx\nret"),
	 LIB_FLAGS, "1"},
	{"no binding", ".text\n.globl init\n" FUNCTION("init", "push %rbx\n" MPI "pop %rbx\nret"),
	 LIB_FLAGS, ""},
	{"C++", ".text\n.globl init\n" FUNCTION("init", "push %rbx\n" MPI "pop %rbx\nret"),
	 "-shared -nostdlib -Wl,-soname,libmpi_cxx.so.40", "1"},
	{"MPI itself",
	 ".text\n.globl MPI_Init\n" FUNCTION("MPI_Init", "ret")
		 INIT FUNCTION("mpi_init_", "push %rbx\n" MPI "pop %rbx\nret"),
	 "-shared -nostdlib -Wl,-soname,b.so", ""},
};

TEST(written)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct elf_file *f = fixture_open("binding.S", cases[i].source, cases[i].flags);
		struct binding_step *step;
		size_t cnt = binding_steps_find(f, &step);
		char words[64] = "";

		for (size_t k = 0; k < cnt; k++)
			sprintf(words + strlen(words), "%s%u", k ? " " : "", step[k].words);
		if (strcmp(words, cases[i].words))
			fail_msg("%s: %s, not %s", cases[i].name, words, cases[i].words);
		free(step);
		elf_file_close(f);
	}
}

struct frame_row {
	uint64_t addr;
	/* Offset of the frame's address above the stack pointer; 0: stated in another way. */
	unsigned int offset;
};

/*
 * Reads the rows from readelf. They are sorted by address within each function; the functions are
 * not.
 */
static size_t frame_rows(const char *path, struct frame_row **out)
{
	unsigned long long addr, start, end;
	char command[512], line[512];
	size_t cnt = 0, room = 0;
	unsigned int offset;
	FILE *f;

	snprintf(command, sizeof(command), "readelf --debug-dump=frames-interp %s 2>/dev/null",
		 path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const char *fde = strstr(line, " FDE ");

		offset = 0;
		if (fde && (fde = strstr(fde, "pc=")) &&
		    sscanf(fde, "pc=%llx..%llx", &start, &end) == 2)
			addr = start;
		else if (sscanf(line, "%16llx rsp+%u ", &addr, &offset) != 2 &&
			 sscanf(line, "%16llx exp ", &addr) != 1)
			continue;
		if (fde)
			offset = 8;
		if (cnt == room) {
			room = room ? 2 * room : 1024;
			*out = realloc(*out, room * sizeof(**out));
		}
		(*out)[cnt++] = (struct frame_row){addr, offset};
	}
	pclose(f);
	return cnt;
}

TABLE_ORDER(row_compare, struct frame_row, table_compare(a->addr, b->addr))

/* Rows with the same address have the same offset. */
static unsigned int offset_at(const struct frame_row *row, size_t cnt, uint64_t addr)
{
	size_t i = 0;

	while (i < cnt && row[i].addr <= addr)
		i++;
	return i ? row[i - 1].offset : 0;
}

static void installed_check(const char *path)
{
	struct frame_row *row = NULL;
	struct binding_step *step;
	size_t rows, cnt, wrong = 0;
	struct elf_file *f;

	if (elf_file_open(path, &f)) {
		printf("# not installed: %s\n", path);
		return;
	}
	rows = frame_rows(path, &row);
	qsort(row, rows, sizeof(*row), row_compare);
	cnt = binding_steps_find(f, &step);
	assert_true(rows && cnt >= 100);
	for (size_t i = 0; i < cnt; i++)
		wrong += offset_at(row, rows, step[i].addr - 1) != 8 * (step[i].words + 1);
	printf("# %s: %zu calls\n", path, cnt);
	assert_int_equal(wrong, 0);
	free(step);
	free(row);
	elf_file_close(f);
}

TEST(installed)
{
	fixture_need("readelf");
	installed_check("/usr/lib/x86_64-linux-gnu/libmpi_mpifh.so.40");
	installed_check("/usr/lib/x86_64-linux-gnu/libmpi_usempif08.so.40");
	installed_check("/usr/lib/x86_64-linux-gnu/libmpichfort.so.12");
	installed_check("/usr/lib/x86_64-linux-gnu/libmpi_cxx.so.40");
	installed_check("/usr/lib/x86_64-linux-gnu/libmpichcxx.so.12");
}

#endif
