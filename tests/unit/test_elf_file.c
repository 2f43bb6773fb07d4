/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Symbols, names and bytes of ELF files made for the test, and of files that are foreign, sparse or
 * no files at all. The fuzzer fuzz_elf damages them.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "unit/test.h"
#include "target/elf/elf_file.h"
#include "unit/elf_exercise.h"
#include "unit/elf_fixture.h"
#include "unit/files.h"

#define LIB_FLAGS "-shared -fPIC -O1 -nostdlib -Wl,-soname,libfix.so.7 -Wl,--build-id=0xc0ffee11"

static const char lib_source[] =
	"int value = 0x11223344;\n"
	"int later[100];\n"
	"__attribute__((noinline)) static int hidden(int a) { return a * 7 + value; }\n"
	"int first(int a) { return hidden(a) + 1; }\n"
	"int twin(int a) __attribute__((alias(\"first\")));\n"
	"int absent(int);\n"
	"int caller(int a) { return absent(a) + later[a]; }\n";

/* In stripped files, only the begin of functions is known. */
TEST(function_at)
{
	static const char *const flags[] = {LIB_FLAGS " -fasynchronous-unwind-tables",
					    LIB_FLAGS " -fasynchronous-unwind-tables -s"};
	struct elf_symbol whole = {0}, stripped;
	struct elf_file *f;

	f = fixture_open("lib.c", lib_source, flags[0]);
	assert_non_null(elf_file_find(f, "hidden"));
	assert_true(elf_file_function_at(f, elf_file_find(f, "hidden")->addr, &whole));
	assert_string_equal(whole.name, "hidden");
	elf_file_close(f);
	whole.name = NULL;
	f = fixture_open("lib.c", lib_source, flags[1]);
	assert_null(elf_file_find(f, "hidden"));
	assert_true(elf_file_function_at(f, whole.addr, &stripped));
	assert_string_equal(stripped.name, "");
	assert_true(stripped.is_func && stripped.has_offset);
	assert_int_equal(stripped.offset, whole.offset);
	assert_int_equal(stripped.size, whole.size);
	for (uint64_t at = 1; at < whole.size; at++)
		assert_false(elf_file_function_at(f, whole.addr + at, &stripped));
	assert_false(elf_file_function_at(f, 0, &stripped));
	assert_false(elf_file_function_at(f, UINT64_MAX, &stripped));
	assert_false(elf_file_function_at(f, elf_file_find(f, "value")->addr, &stripped));
	elf_file_close(f);
}

/*
 * Asserts a symbol's properties: d defined, x exported, s in the symbol table, F function, O
 * object, b bytes in the file.
 */
static void symbol_is(const struct elf_file *f, const char *name, const char *wanted)
{
	const struct elf_symbol *s = elf_file_find(f, name);
	char text[8];

	snprintf(text, sizeof(text), "%s%s%s%s%s%s", elf_file_defines(f, name) ? "d" : "",
		 elf_file_exports(f, name) ? "x" : "", s ? "s" : "", s && s->is_func ? "F" : "",
		 s && s->is_object ? "O" : "", s && s->has_offset ? "b" : "");
	if (strcmp(text, wanted) != 0)
		fail_msg("%s: %s, not %s", name, text, wanted);
}

TEST(library)
{
	const struct elf_symbol *s;
	const struct elf_headers *h;
	struct elf_file *f;
	uint64_t addr, bytes;
	int v = 0;

	f = fixture_open("lib.c", lib_source, LIB_FLAGS);
	h = elf_file_headers(f);
	assert_true(h->dynamic);
	assert_string_equal(h->soname, "libfix.so.7");
	assert_string_equal(h->build_id, "c0ffee11");
	assert_int_equal(h->needed_cnt, 0);
	symbol_is(f, "first", "dxsFb");
	symbol_is(f, "hidden", "dsFb");
	symbol_is(f, "value", "dxsOb");
	symbol_is(f, "later", "dxsO");
	symbol_is(f, "absent", "");
	symbol_is(f, "firs", "");
	symbol_is(f, "", "");

	s = elf_file_find(f, "value");
	assert_int_equal(s->size, 4);
	assert_int_equal(elf_file_read_addr(f, s->addr, &v, 4), 4);
	assert_int_equal(v, 0x11223344);
	v = 0;
	assert_int_equal(elf_file_read_offset(f, s->offset, &v, 4), 4);
	assert_int_equal(v, 0x11223344);

	s = elf_file_find(f, "later");
	assert_int_equal(elf_file_read_addr(f, s->addr + 16, &v, 4), -ENXIO);
	assert_true(elf_file_maps(f, s->addr, 400));
	assert_false(elf_file_maps(f, s->addr, 1 << 20));

	s = elf_file_find(f, "first");
	assert_int_equal(elf_file_find(f, "twin")->addr, s->addr);
	assert_int_equal(elf_file_offset_to_addr(f, s->offset, &addr), 0);
	assert_int_equal(addr, s->addr);
	assert_int_equal(elf_file_symbol_from(f, s->addr)->addr, s->addr);
	assert_true(elf_file_symbol_from(f, s->addr + 1)->addr > s->addr);
	assert_null(elf_file_symbol_from(f, UINT64_MAX));
	assert_true(elf_file_section(f, ".text", &addr, &bytes));
	assert_true(s->size && s->offset >= addr && s->offset + s->size <= addr + bytes);
	assert_false(elf_file_section(f, ".bss", &addr, &bytes));
	assert_false(elf_file_section(f, ".nope", &addr, &bytes));
	elf_file_close(f);
}

TEST(other_hash_and_needed)
{
	struct elf_file *f =
		fixture_open("sysv.c", lib_source,
			     "-shared -fPIC -O1 -Wl,--hash-style=sysv,--no-as-needed -lm -s");
	const struct elf_headers *h = elf_file_headers(f);

	symbol_is(f, "first", "dxsFb");
	symbol_is(f, "twin", "dxsFb");
	symbol_is(f, "hidden", "");
	symbol_is(f, "absent", "");
	assert_string_equal(h->soname, "");
	assert_true(h->needed_cnt >= 2);
	assert_string_equal(h->needed[0], "libm.so.6");
	elf_file_close(f);
}

TEST(versions)
{
	static const char source[] = "__asm__(\".symver f_new,f@@V2\\n.symver f_old,f@V1\\n\");\n"
				     "int f_old(void) { return 1; }\n"
				     "int f_new(void) { return 2; }\n";
	static const char map[] = "V1 { local: *; }; V2 { global: f; } V1;";
	uint64_t of_new, of_old, seen = 0;
	const struct elf_symbol *all;
	struct elf_file *f;
	size_t cnt;

	free(fixture_write("v.map", map, strlen(map)));
	f = fixture_open("ver.c", source, "-shared -fPIC -O1 -nostdlib -Wl,--version-script=v.map");
	of_new = elf_file_find(f, "f_new")->addr;
	of_old = elf_file_find(f, "f_old")->addr;
	assert_int_equal(elf_file_find(f, "f")->addr, of_new);
	cnt = elf_file_symbols(f, &all);
	for (size_t i = 0; i < cnt; i++) {
		assert_null(strchr(all[i].name, '@'));
		if (!strcmp(all[i].name, "f"))
			seen |= all[i].addr == of_new ? 1 : all[i].addr == of_old ? 2 : 4;
	}
	assert_int_equal(seen, 1 | 2);
	elf_file_close(f);
}

TEST(ifunc)
{
	static const char source[] = "static int a(void) { return 1; }\n"
				     "static void *pick(void) { return a; }\n"
				     "int chosen(void) __attribute__((ifunc(\"pick\")));\n";
	struct elf_file *f = fixture_open("ifunc.c", source, "-shared -fPIC -O1 -nostdlib");

	symbol_is(f, "chosen", "dxsb");
	elf_file_close(f);
}

TEST(static_program)
{
	static const char source[] = "int PMPI_Init(int *c, char ***v) { return 0; }\n"
				     "void _start(void) { PMPI_Init(0, 0); for (;;) ; }\n";
	struct elf_file *f = fixture_open("static.c", source, "-static -nostdlib -O0 -no-pie");

	assert_false(elf_file_headers(f)->dynamic);
	symbol_is(f, "PMPI_Init", "dsFb");
	/* Linkers store a name as the tail of another; that is not a symbol of this name. */
	symbol_is(f, "MPI_Init", "");
	symbol_is(f, "_start", "dsFb");
	elf_file_close(f);
}

static void expect_error(const char *name, const void *bytes, size_t cnt, int err)
{
	char *path = fixture_write(name, bytes, cnt);
	struct elf_file *f;

	assert_int_equal(elf_file_open(path, &f), err);
	free(path);
}

TEST(refused)
{
	static const struct {
		const char *name;
		int at, byte, right;
	} foreign[] = {{"32-bit", 4, 1, 2}, {"big endian", 5, 2, 1}, {"MIPS", 18, 8, 0}};
	struct elf_file *f;
	uint8_t *image;
	size_t cnt;
	char *path;

	expect_error("empty", "", 0, -ENOEXEC);
	expect_error("text", "#!/bin/sh\nexit 0\n", 17, -ENOEXEC);
	assert_int_equal(elf_file_open("/", &f), -ENOEXEC);
	assert_int_equal(elf_file_open("/nonexistent/x", &f), -ENOENT);
	image = fixture_image("good.c", lib_source, LIB_FLAGS, &cnt);
	for (size_t i = 0; i < COUNT(foreign); i++) {
		image[foreign[i].at] = (uint8_t)foreign[i].byte;
		expect_error(foreign[i].name, image, cnt, -ENOEXEC);
		image[foreign[i].at] = (uint8_t)foreign[i].right;
	}
	free(image);
	path = fixture_build("object.c", lib_source, "-c");
	assert_int_equal(elf_file_open(path, &f), -ENOEXEC);
	free(path);
	assert_int_equal(mkfifo(temp_path("fifo"), 0600), 0);
	assert_int_equal(elf_file_open(temp_path("fifo"), &f),
			 -ENOEXEC); /* must not wait for a writer */
}

/* A file that claims to be huge (and is, but is empty) must not cause large allocations. */
TEST(sparse)
{
	size_t cnt;
	struct elf_file *f;
	uint64_t shoff, huge = 1ull << 38;
	uint16_t shnum;
	uint8_t *image = fixture_image("sparse.c", lib_source, LIB_FLAGS, &cnt);
	char *path;

	memcpy(&shoff, image + 40, 8);
	memcpy(&shnum, image + 60, 2);
	for (unsigned int i = 0; i < shnum; i++)
		memcpy(image + shoff + 64ul * i + 32, &huge, 8); /* sh_size */
	path = fixture_write("sparse", image, cnt);
	free(image);
	if (truncate(path, (off_t)1 << 40))
		skip_because("no sparse files of 1 TiB on this file system");
	assert_int_equal(elf_file_open(path, &f), 0);
	assert_null(elf_file_find(f, "hidden"));
	elf_exercise(f);
	elf_file_close(f);
	free(path);
}
