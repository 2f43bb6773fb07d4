/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Which symbols are a function that is to be a region; and whether a file may have one, by its names alone. */

#include "unit/test.h"
#include "attach/inspect_region.h"
#include "elf/elf_file.h"

__attribute__((noinline, used)) static int in_symtab_alone(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

TEST(names)
{
	assert_true(region_is("solve", "solve"));
	assert_true(region_is("solve.constprop.0", "solve"));
	assert_true(region_is("solve.isra.0.constprop.1", "solve"));
	assert_true(region_is("solve.lto_priv.0", "solve"));
	assert_false(region_is("solve2", "solve"));
	assert_false(region_is("sol", "solve"));
	assert_false(region_is("a_solve", "solve"));
	/* jumped to, or called by the rest of the function */
	assert_false(region_is("solve.cold", "solve"));
	assert_false(region_is("solve.part.0", "solve"));
	assert_false(region_is("solve.constprop.0.cold", "solve"));
	assert_false(region_is("solve.isra.0.part.0", "solve"));
}

TEST(mentions)
{
	const struct elf_symbol *sym;
	struct elf_file *f;

	assert_int_equal(in_symtab_alone(7), 7);
	assert_int_equal(elf_file_open("/proc/self/exe", &f), 0);
	assert_true(elf_file_mentions(f, "in_symtab_alone"));
	assert_true(elf_file_mentions(f, "main"));
	assert_false(elf_file_mentions(f, "in_symtab_alon"));
	assert_false(elf_file_mentions(f, "in_no_table_of_it"));
	sym = elf_file_find(f, "in_symtab_alone");
	assert_non_null(sym);
	assert_true(sym->is_func && sym->has_offset);
	elf_file_close(f);
}
