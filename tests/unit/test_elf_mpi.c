/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI libraries, made up and real. The made-up ones have members at places we choose, so that what is learned from
 * their code can be compared; the real ones are those installed, if any.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "elf/elf_file.h"
#include "elf/mpi_library.h"
#include "elf/probe_site.h"
#include "unit/elf_fixture.h"

#define LIB_FLAGS "-shared -fPIC -O2 -nostdlib"
#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#else
#define MULTIARCH "aarch64-linux-gnu"
#endif

/* Arguments: context, rank, local group, remote group, offset of the count, of a datatype's size. */
static const char openmpi_source[] =
	"struct group { char pad[COUNT]; int count; };\n"
	"struct comm { char head[256]; char more[256]; };\n"
	"#define AT(p, off, type) (*(type *)((char *)(p) + (off)))\n"
	"struct comm ompi_mpi_comm_world, ompi_mpi_comm_self;\n"
	"struct type { char pad[SIZE]; unsigned long size; char rest[480 - SIZE]; };\n"
	"#define T(n, s) struct type ompi_mpi_##n = {.size = s}\n"
	"T(char, 1); T(byte, 1); T(short, 2); T(int, 4); T(float, 4); T(double, 8); T(double_int, 0);\n"
	"struct type *hidden_pointer = &ompi_mpi_int;\n"
	"const char ompi_version_string[] = \"4.9.1\";\n"
	"extern int (*check)(void *, const char *); extern int strict;\n"
	"int opal_output(int, const char *, ...);\n"
	"int PMPI_Init(int *c, char ***v) { return 0; }\n"
	"int PMPI_Comm_rank(void *c, int *r)\n"
	"{ if (strict && check(c, \"x\")) return 5; *r = AT(c, RANK, int); return 0; }\n"
	"int PMPI_Comm_size(void *c, int *n)\n"
	"{ if (strict && check(c, \"x\")) return 5; *n = AT(c, LOCAL, struct group *)->count; return 0; }\n"
	"int PMPI_Comm_remote_size(void *c, int *n)\n"
	"{ *n = AT(c, 232, int) & 1 ? AT(c, REMOTE, struct group *)->count : 0; return 0; }\n"
	"int PMPI_Group_size(struct group *g, int *n) { GROUP; return 0; }\n"
	"int PMPI_Type_size(struct type *t, int *n)\n"
	"{ *n = t->size > 0x7fffffff ? -32766 : (int)t->size; return 0; }\n"
	"int ompi_comm_dump(void *c)\n"
	"{ opal_output(0, \"a\", AT(c, CONTEXT, unsigned)); opal_output(0, \"b\", AT(c, 300, int)); return 0; }\n"
	"int MPI_Init(int *, char ***) __attribute__((weak, alias(\"PMPI_Init\")));\n";

static struct elf_file *openmpi_open(const char *name, const char *defines)
{
	char *flags = xasprintf("%s %s", LIB_FLAGS, defines);
	struct elf_file *f = fixture_open(name, openmpi_source, flags);

	free(flags);
	return f;
}

static const struct mpi_named *named_find(const struct mpi_library *lib, const char *name)
{
	for (uint32_t i = 0; i < lib->named_cnt; i++)
		if (!strcmp(lib->named[i].name, name))
			return &lib->named[i];
	return NULL;
}

TEST(openmpi)
{
	struct mpi_library lib;
	struct elf_file *f;

	fixture_need_compiler();
	f = openmpi_open("ompi4.c",
			 "-DCONTEXT=224 -DRANK=228 -DLOCAL=248 -DREMOTE=256 -DCOUNT=16 -DSIZE=24 "
			 "-DGROUP='*n=g->count'");
	assert_int_equal(mpi_library_probe(f, &lib), 1);
	assert_int_equal(lib.flavour, MPI_OPENMPI);
	assert_string_equal(lib.version, "4.9.1");
	assert_int_equal(lib.layout.elem_bytes[POV_ELEM_HANDLE], 8);
	assert_int_equal(lib.layout.elem_bytes[POV_ELEM_STATUS], 24);
	assert_int_equal(lib.layout.flags, POV_LIB_HANDLE_PTR);
	assert_int_equal(lib.layout.type_size_off, 24);
#if defined(__x86_64__)
	assert_string_equal(lib.unsure, "");
	assert_int_equal(lib.layout.comm_context_off, 224);
	assert_int_equal(lib.layout.comm_context_bytes, 4);
	assert_int_equal(lib.layout.comm_rank_off, 228);
	assert_int_equal(lib.layout.comm_group_off, 248);
	assert_int_equal(lib.layout.comm_remote_off, 256);
	assert_int_equal(lib.layout.group_count_off, 16);
#endif
	assert_int_equal(named_find(&lib, "MPI_COMM_WORLD")->value,
			 elf_file_find(f, "ompi_mpi_comm_world")->addr);
	assert_int_equal(named_find(&lib, "MPI_DOUBLE")->size, 8);
	assert_int_equal(named_find(&lib, "MPI_DOUBLE_INT")->size, 12);
	assert_int_equal(named_find(&lib, "MPI_COMM_WORLD")->size, 0);
	assert_null(named_find(&lib, "MPI_SUM"));
	mpi_library_release(&lib);
	elf_file_close(f);
}

TEST(openmpi_unknown_layout)
{
	struct mpi_library lib;
	struct elf_file *f;

	fixture_need_compiler();
	/* Members elsewhere: the code is believed, and that is said. */
	f = openmpi_open("ompi9.c",
			 "-DCONTEXT=64 -DRANK=72 -DLOCAL=80 -DREMOTE=96 -DCOUNT=32 -DSIZE=40 "
			 "-DGROUP='*n=g->count'");
	assert_int_equal(mpi_library_probe(f, &lib), 1);
#if defined(__x86_64__)
	assert_non_null(strstr(lib.unsure, "no known version"));
	assert_int_equal(lib.layout.comm_context_off, 64);
	assert_int_equal(lib.layout.comm_rank_off, 72);
	assert_int_equal(lib.layout.comm_group_off, 80);
	assert_int_equal(lib.layout.comm_remote_off, 96);
	assert_int_equal(lib.layout.group_count_off, 32);
	assert_int_equal(lib.layout.type_size_off, 40);
	assert_int_equal(named_find(&lib, "MPI_INT")->size, 4);
#endif
	mpi_library_release(&lib);
	elf_file_close(f);

	/* Two functions disagree, or one is not to be understood: unknown, and said. */
	f = openmpi_open("ompi8.c",
			 "-DCONTEXT=224 -DRANK=228 -DLOCAL=248 -DREMOTE=256 -DCOUNT=16 -DSIZE=24 "
			 "-DGROUP='*n=g[1].count'");
	assert_int_equal(mpi_library_probe(f, &lib), 1);
	assert_int_equal(lib.layout.group_count_off, POV_OFF_NONE);
	assert_non_null(strstr(lib.unsure, "communicator's size"));
	mpi_library_release(&lib);
	elf_file_close(f);

	f = openmpi_open("ompi0.c",
			 "-DCONTEXT=224 -DRANK=228 -DLOCAL=248 -DREMOTE=256 -DCOUNT=16 -DSIZE=24 "
			 "-DGROUP='*n=g->count' -O0");
	assert_int_equal(mpi_library_probe(f, &lib), 1);
	assert_int_equal(lib.layout.comm_rank_off, POV_OFF_NONE);
	assert_int_equal(lib.layout.type_size_off, 24); /* data, not code */
	assert_non_null(strstr(lib.unsure, "communicator's rank"));
	mpi_library_release(&lib);
	elf_file_close(f);
}

TEST(mpich)
{
	static const char source[] = "const char MPII_Version_string[] = \"4.3.2\";\n"
				     "int PMPI_Init_thread(void) { return 0; }\n";
	static const char quiet[] =
		"int pr(char *, const char *, ...);\n"
		"static __attribute__((noinline)) int impl(char *s)\n"
		"{ return pr(s, \"MPICH Version: %s\", \"4.2.7rc1\") + 1; }\n"
		"int PMPI_Get_library_version(char *s, int *n) { return impl(s) + 2; }\n"
		"int PMPI_Init(void) { return 0; }\n";
	struct mpi_library lib;
	struct elf_file *f;

	fixture_need_compiler();
	f = fixture_open("mpich.c", source, LIB_FLAGS);
	assert_int_equal(mpi_library_probe(f, &lib), 1);
	assert_int_equal(lib.flavour, MPI_MPICH);
	assert_string_equal(lib.version, "4.3.2");
	assert_int_equal(lib.layout.elem_bytes[POV_ELEM_HANDLE], 4);
	assert_int_equal(lib.layout.elem_bytes[POV_ELEM_STATUS], 20);
	assert_int_equal(lib.layout.flags, POV_LIB_TYPE_IN_HANDLE);
	assert_int_equal(lib.layout.comm_rank_off, POV_OFF_NONE);
	assert_int_equal(lib.layout.skip[0], 1);
	assert_int_equal(lib.layout.skip[1], UINT64_MAX);
	assert_int_equal(lib.layout.root, -3);
	assert_int_equal(lib.layout.proc_null, -1);
	assert_int_equal(named_find(&lib, "MPI_COMM_WORLD")->value, 0x44000000);
	assert_int_equal(named_find(&lib, "MPI_LONG_DOUBLE")->size, 16);
	assert_int_equal(named_find(&lib, "MPI_DOUBLE_INT")->size, 12);
	mpi_library_release(&lib);
	elf_file_close(f);

	f = fixture_open("mpich12.c", quiet, LIB_FLAGS " -Wl,-soname,libmpi_cray.so.12");
	assert_int_equal(mpi_library_probe(f, &lib), 1);
	assert_int_equal(lib.flavour, MPI_MPICH);
#if defined(__x86_64__)
	assert_string_equal(lib.version, "4.2.7rc1");
#endif
	mpi_library_release(&lib);
	elf_file_close(f);
}

TEST(others)
{
	static const char init[] = "const char words[] = \"Intel(R) MPI Library %s\\0"
				   "Intel(R) MPI Library 2021.9 for Linux\";\n"
				   "int PMPI_Init(void) { return 0; }\n";
	static const char tool[] =
		"int PMPI_Init(void); int MPI_Init(void) { return PMPI_Init(); }\n";
	struct mpi_library lib;
	struct elf_file *f;

	fixture_need_compiler();
	f = fixture_open("abi.c", init, LIB_FLAGS " -Wl,-soname,libmpi_abi.so.0");
	assert_int_equal(mpi_library_probe(f, &lib), 1);
	assert_int_equal(lib.flavour, MPI_ABI5);
	assert_int_equal(lib.layout.elem_bytes[POV_ELEM_HANDLE], 8);
	assert_int_equal(lib.layout.elem_bytes[POV_ELEM_STATUS], 32);
	assert_int_equal(lib.layout.flags, 0);
	assert_int_equal(named_find(&lib, "MPI_REQUEST_NULL")->value, 0x180);
	assert_int_equal(named_find(&lib, "MPI_INT64_T")->size, 8);
	assert_int_equal(named_find(&lib, "MPI_COMPLEX32")->size, 32);
	mpi_library_release(&lib);
	elf_file_close(f);

	f = fixture_open("unknown.c", init, LIB_FLAGS);
	assert_int_equal(mpi_library_probe(f, &lib), 1);
	assert_int_equal(lib.flavour, MPI_UNKNOWN);
	assert_string_equal(mpi_flavour_name(lib.flavour), "unknown");
	assert_string_equal(lib.version, "Intel(R) MPI Library 2021.9 for Linux");
	assert_int_equal(lib.layout.elem_bytes[POV_ELEM_HANDLE], 0);
	assert_int_equal(lib.layout.elem_bytes[POV_ELEM_STATUS], 0);
	assert_true(lib.unsure[0]);
	assert_int_equal(lib.named_cnt, 0);
	mpi_library_release(&lib);
	elf_file_close(f);

	f = fixture_open("tool.c", tool, LIB_FLAGS);
	assert_int_equal(mpi_library_probe(f, &lib), 0);
	elf_file_close(f);
}

TEST(entries)
{
	static const char source[] = "int PMPI_Same(int a) { return a + 1; }\n"
				     "int MPI_Same(int a) __attribute__((alias(\"PMPI_Same\")));\n"
				     "int PMPI_Jump(int a) { return a + 2; }\n"
				     "int MPI_Jump(int a) { return PMPI_Jump(a); }\n"
				     "int PMPI_Wrap(int a) { return a + 3; }\n"
				     "int MPI_Wrap(int a) { return PMPI_Wrap(a) * 2; }\n"
				     "int MPI_Only(int a) { return a + 4; }\n"
				     "int PMPI_Hidden(int a) { return a + 5; }\n"
				     "int MPI_data;\n";
	static const char *const flags[] = {
		"-shared -fPIC -O2 -nostdlib -fcf-protection", /* through the PLT */
		"-shared -fPIC -O2 -nostdlib -fno-plt",	       /* through the GOT */
		"-shared -fPIC -O2 -nostdlib -Wl,-Bsymbolic",  /* directly */
	};
	const struct elf_symbol *s[2];

	fixture_need_compiler();
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		char *name = xasprintf("entries%zu.c", i),
		     *all = xasprintf("%s -fno-inline", flags[i]);
		struct elf_file *f = fixture_open(name, source, all);

		assert_int_equal(elf_file_find_mpi(f, "MPI_Same", s), 1);
		assert_int_equal(s[0]->addr, elf_file_find(f, "PMPI_Same")->addr);
#if defined(__x86_64__)
		assert_int_equal(elf_file_find_mpi(f, "MPI_Jump", s), 1);
		assert_string_equal(s[0]->name, "PMPI_Jump");
#endif
		assert_int_equal(elf_file_find_mpi(f, "MPI_Wrap", s), 2);
		assert_true(s[0]->addr != s[1]->addr);
		assert_int_equal(elf_file_find_mpi(f, "MPI_Only", s), 1);
		assert_string_equal(s[0]->name, "MPI_Only");
		assert_int_equal(elf_file_find_mpi(f, "MPI_Hidden", s), 1);
		assert_string_equal(s[0]->name, "PMPI_Hidden");
		assert_int_equal(elf_file_find_mpi(f, "MPI_data", s), 0);
		assert_int_equal(elf_file_find_mpi(f, "MPI_Nope", s), 0);
		elf_file_close(f);
		free(name);
		free(all);
	}
}

static void check_installed(const char *path, enum mpi_flavour flavour)
{
	unsigned int functions = 0, emulated = 0, moved = 0, none = 0;
	const struct elf_symbol *sym, *s[2];
	struct mpi_library lib;
	struct elf_file *f;
	size_t cnt;

	if (elf_file_open(path, &f)) {
		print_message("SKIP: no %s here\n", path);
		skip();
	}
	assert_int_equal(mpi_library_probe(f, &lib), 1);
	assert_int_equal(lib.flavour, flavour);
	assert_true(lib.version[0] >= '1' && lib.version[0] <= '9');
	cnt = elf_file_symbols(f, &sym);
	for (size_t i = 0; i < cnt; i++) {
		struct probe_site site;
		uint8_t byte;

		if (!sym[i].is_func || strncmp(sym[i].name, "PMPI_", 5))
			continue;
		functions++;
		assert_true(elf_file_find_mpi(f, sym[i].name + 1, s) >= 1);
		if (probe_site_choose(f, &sym[i], 6, &site)) {
			none++;
			continue;
		}
		assert_int_equal(elf_file_read_offset(f, site.offset, &byte, 1), 1);
		emulated += site.cost == SITE_EMULATED;
		moved += site.skipped > 0;
	}
	print_message("%s: %s %s, %u functions, %u emulated (%u moved), %u without a site; "
		      "\"%s\"\n",
		      path, mpi_flavour_name(lib.flavour), lib.version, functions, emulated, moved,
		      none, lib.unsure);
	assert_true(functions >= 400);
	assert_int_equal(none, 0);
#if defined(__x86_64__)
	assert_true(emulated * 100 >= functions * 80);
	if (flavour == MPI_OPENMPI)
		assert_true(lib.layout.comm_rank_off != POV_OFF_NONE &&
			    lib.layout.comm_group_off != POV_OFF_NONE &&
			    lib.layout.comm_remote_off != POV_OFF_NONE &&
			    lib.layout.comm_context_off != POV_OFF_NONE);
#endif
	if (flavour == MPI_OPENMPI)
		assert_int_equal(lib.layout.type_size_off, 0x18);
	assert_non_null(named_find(&lib, "MPI_COMM_WORLD"));
	assert_int_equal(named_find(&lib, "MPI_INT")->size, 4);
	mpi_library_release(&lib);
	elf_file_close(f);
}

TEST(installed_openmpi)
{
	check_installed("/usr/lib/" MULTIARCH "/libmpi.so.40", MPI_OPENMPI);
}

TEST(installed_mpich)
{
	check_installed("/usr/lib/" MULTIARCH "/libmpich.so.12", MPI_MPICH);
}

ALL_TESTS(NULL, fixture_remove_all);
