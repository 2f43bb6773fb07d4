/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Counts the MPI calls of a program that keeps no books itself. Loaded by LD_PRELOAD, it has a
 * function for each of the library's. All do the same: add one and jump to the library's function,
 * whatever the arguments are (x86-64). user/layers/mpi/mpi.def lists the functions; with
 * -DCOUNT_UCP or -DCOUNT_UCT, UCX's tables do. UCX fills its own tables of functions by name, so
 * they point here, too. Most calls that the library makes to its own functions are not counted.
 *
 * At the end of a process that made calls, it writes the books of expect.h to $POV_EXPECT. They do
 * not tell polls that found something from others.
 */
#define EXPECT_WITHOUT_MPI
#include "../mpi/expect.h"

#include <dlfcn.h>

#ifdef COUNT_UCP
#define TABLE "../../user/layers/ucp/ucp.def"
#define LIBRARIES "libucp.so.0"
#define BOOKS "count_ucp"
#elif defined(COUNT_UCT)
#define TABLE "../../user/layers/uct/uct.def"
#define LIBRARIES "libuct.so.0", "libuct_cma.so.0"
#define BOOKS "count_uct"
#else
#define TABLE "../../user/layers/mpi/mpi.def"
#define LIBRARIES "libmpi.so.40", "libmpich.so.12"
#define BOOKS "count_calls"
#endif

enum {
#define POV_FUNC(name, ...) ROW_##name,
#include TABLE
#undef POV_FUNC
	FUNCS
};

static const char *const names[] = {
#define POV_FUNC(name, ...) #name,
#include TABLE
#undef POV_FUNC
};

/* used by the code below */
unsigned long long count_calls[FUNCS] __attribute__((visibility("hidden")));
void *count_real[FUNCS] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"), used)) void *count_find(unsigned long func);

/*
 * Finds the library's function. RTLD_NEXT does not if the library was loaded later for a single
 * module (Python).
 */
void *count_find(unsigned long func)
{
	static const char *const libraries[] = {LIBRARIES};
	void *real = dlsym(RTLD_NEXT, names[func]), *lib;

	for (size_t i = 0; !real && i < sizeof(libraries) / sizeof(*libraries); i++) {
		lib = dlopen(libraries[i], RTLD_NOLOAD | RTLD_LAZY);
		if (lib)
			real = dlsym(lib, names[func]);
	}
	if (!real) {
		fprintf(stderr, "count_calls: no %s\n", names[func]);
		abort();
	}
	count_real[func] = real;
	return real;
}

/* Counts and jumps to the library's function. The first call finds it, and saves the arguments. */
#define POV_FUNC(name, ...)                                                         \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
		"	lock incq count_calls+8*%c0(%%rip)\n"                             \
		"	mov count_real+8*%c0(%%rip), %%r11\n"                             \
		"	test %%r11, %%r11\n"                                              \
		"	jz 1f\n"                                                          \
		"	jmp *%%r11\n"                                                     \
		"1:	mov $%c0, %%r11\n"                                              \
		"	jmp count_first\n.size " #name ", .-" #name ::"i"(ROW_##name));
__attribute__((used)) static void functions(void)
{
#include TABLE
}
#undef POV_FUNC

__asm__(".text\ncount_first:\n"
	"	push %rdi\n	push %rsi\n	push %rdx\n	push %rcx\n	push %r8\n	push %r9\n"
	"	push %rax\n" /* MPI_Pcontrol has an ellipsis; 7 pushes align the stack again */
	"	mov %r11, %rdi\n"
	"	call count_find\n"
	"	mov %rax, %r11\n"
	"	pop %rax\n	pop %r9\n	pop %r8\n	pop %rcx\n	pop %rdx\n	pop %rsi\n	pop %rdi\n"
	"	jmp *%r11\n");

__attribute__((destructor)) static void books_write(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	for (int i = 0; i < FUNCS; i++)
		if (count_calls[i])
			expect_add(names[i], NO_PEER, count_calls[i], 0, 0, 0);
	if (!rank)
		rank = getenv("PMI_RANK");
	if (!rank)
		rank = getenv("COUNT_RANK");
	if (rank && expect_row_cnt)
		expect_write(BOOKS, atoi(rank));
}
