/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Files with code and their ids; and which of their symbols belong to a function selected as
 * region.
 */
#include <sys/sysmacros.h>

#include "unit/test.h"
#include "abi/config.h"
#include "target/code_file.h"
#include "target/helper/inspect.h"
#include "target/elf/elf_file.h"

TEST(ids)
{
	struct code_files files = {0};
	const struct code_id other[] = {{1, 2, 4}, {1, 3, 3}, {2, 2, 3}};
	struct code_file *f = xcalloc(1, sizeof(*f));
	const struct code_id alias = {9, 2, 3};

	f->id = (struct code_id){1, 2, 3};
	code_files_add(&files, &f->id, f);
	assert_ptr_equal(code_files_find(&files, &f->id), f);
	for (size_t i = 0; i < 3; i++)
		assert_null(code_files_find(&files, &other[i]));
	code_files_add(&files, &alias, f);
	code_files_add(&files, &alias, f);
	assert_ptr_equal(code_files_find(&files, &alias), f);
	assert_int_equal(files.owned.cnt, 1);
	code_files_release(&files);
}

/* Device numbers beyond 8 bits of minor, and contents rewritten under the same inode number. */
TEST(stat)
{
	const struct stat a = {.st_dev = makedev(259, 70000),
			       .st_ino = 5,
			       .st_size = 10,
			       .st_ctim.tv_sec = 1700000000};
	struct stat later = a, longer = a;
	struct code_id id = code_id_of(&a), same = code_id_of(&a), other;

	assert_int_equal(id.dev, 259ull << 20 | 70000);
	assert_true(code_id_equal(&id, &same));
	later.st_ctim.tv_nsec = 1;
	other = code_id_of(&later);
	assert_false(code_id_equal(&id, &other));
	longer.st_size = 11;
	other = code_id_of(&longer);
	assert_false(code_id_equal(&id, &other));
}

static void libraries_add(struct code_files *files, uid_t owner, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		struct library *lib = xcalloc(1, sizeof(*lib));

		lib->owner = owner;
		code_files_add_library(files, lib);
	}
}

TEST(room)
{
	struct code_files files = {0};
	size_t taken = 0;

	while (code_files_have_room(&files, 1000)) {
		libraries_add(&files, 1000, 1);
		taken++;
	}
	assert_true(taken >= 8 && taken <= POV_LIBS_MAX / 4);
	assert_true(code_files_have_room(&files, 1001));
	assert_true(code_files_have_room(&files, 0));
	libraries_add(&files, 0, POV_LIBS_MAX - taken);
	assert_false(code_files_have_room(&files, 0));
	code_files_release(&files);
}

TEST(bias)
{
	struct code_file f = {.segments = json_pack("[[i,i,i],[i,i,i]]", 0x1000, 0x1000, 0x500,
						    0x3040, 0x5040, 0x800)};
	uint64_t bias;

	assert_int_equal(code_file_bias(&f, 0x7f0000001000, 0x1000, &bias), 0);
	assert_int_equal(bias, 0x7f0000000000);
	/* The second segment begins in the middle of its first page. */
	assert_int_equal(code_file_bias(&f, 0x7f0000005000, 0x3000, &bias), 0);
	assert_int_equal(bias, 0x7f0000000000);
	assert_true(code_file_bias(&f, 0x7f0000000000, 0x900000, &bias) < 0);
	json_decref(f.segments);
}

__attribute__((noinline, used)) static int in_symtab_alone(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

TEST(region_names)
{
	assert_true(region_is("solve", "solve"));
	assert_true(region_is("solve.constprop.0", "solve"));
	assert_true(region_is("solve.isra.0.constprop.1", "solve"));
	assert_true(region_is("solve.lto_priv.0", "solve"));
	assert_false(region_is("solve2", "solve"));
	assert_false(region_is("sol", "solve"));
	assert_false(region_is("a_solve", "solve"));
	/* parts that the rest of the function jumps to or calls */
	assert_false(region_is("solve.cold", "solve"));
	assert_false(region_is("solve.part.0", "solve"));
	assert_false(region_is("solve.constprop.0.cold", "solve"));
	assert_false(region_is("solve.isra.0.part.0", "solve"));
}

/* A file's names alone show whether it may contain a region. */
TEST(region_mentions)
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
