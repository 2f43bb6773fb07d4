/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Which places call a function: direct calls and jumps, not bytes within other instructions that look like them. */
#include <stdlib.h>

#include "unit/test.h"
#include "elf/call_sites.h"
#include "elf/elf_file.h"
#include "unit/elf_fixture.h"

#if defined(__x86_64__)

#define FLAGS "-shared -nostdlib -Wl,-Bsymbolic"

static size_t find(const char *code, const char *name, size_t max, int64_t *at)
{
	struct elf_file *f = fixture_open("calls.S", code, FLAGS);
	const struct elf_symbol *s = elf_file_find(f, name);
	uint64_t offsets[8] = {0};
	size_t n;

	assert_non_null(s);
	n = call_sites_find(f, s, offsets, max);
	for (size_t i = 0; i < n; i++)
		at[i] = (int64_t)(offsets[i] - s->offset);
	elf_file_close(f);
	return n;
}

#define HEAD \
	".section .note.GNU-stack,\"\"\n.text\n.globl f\n.type f,@function\nf: ret\n.size f,.-f\n"

TEST(calls)
{
	int64_t at[8];

	/* at 1: a call; at 6: in an immediate, where the distance is right by itself; at 16: a jump */
	assert_int_equal(find(HEAD "call f\n"
				   "movabs $0xfffffff3e8, %rax\n"
				   "jmp f\n"
				   "call *%rax\n"
				   "ret\n",
			      "f", 8, at),
			 1);
	assert_int_equal(at[0], 1);
	assert_int_equal(find(HEAD "1: call f\nnop\n.byte 0xe9\n.long f-.-4\nret\n", "f", 8, at),
			 2);
	assert_int_equal(at[0], 1);
	assert_int_equal(at[1], 7);
}

TEST(none)
{
	int64_t at[8];

	assert_int_equal(find(HEAD "lea f(%rip), %rax\ncall *%rax\nret\n", "f", 8, at), 0);
	/* too many: none rather than some */
	assert_int_equal(find(HEAD "call f\ncall f\ncall f\nret\n", "f", 2, at), 0);
	assert_int_equal(find(HEAD "call f\ncall f\ncall f\nret\n", "f", 3, at), 3);
	/* no code in the middle: what follows may be read wrongly */
	assert_int_equal(find(HEAD "call f\nret\n.byte 0x06\ncall f\nret\n", "f", 8, at), 0);
}

#else
TEST(decoding)
{
	puts("SKIP: code is decoded on x86-64 only");
	skip();
}
#endif
