/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI libraries, artificial and real. The artificial ones have members at chosen offsets, to check
 * what is derived from their code. The real ones are those installed, if any.
 */
#include "unit/test.h"
#include "target/elf/elf_file.h"
#include "layers/mpi/library_mpi_layout.h"
#include "target/elf/probe_site.h"
#include "unit/elf_fixture.h"

#define LIB_FLAGS "-shared -fPIC -O2 -nostdlib"
#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#else
#define MULTIARCH "aarch64-linux-gnu"
#endif

/*
 * Macros: offsets of context, rank, local group, remote group, the group's count and a datatype's
 * size.
 */
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

static const struct mpi_named *named_find(const struct mpi_library *lib, const char *name)
{
	for (uint32_t i = 0; i < lib->named_cnt; i++)
		if (!strcmp(lib->named[i].name, name))
			return &lib->named[i];
	return NULL;
}

static int member(FILE *out, const char *name, uint32_t off)
{
	return off == POV_OFF_NONE ? 0 : fprintf(out, " %s=%u", name, off);
}

/* Prints what a probe found; unknown members are omitted. */
static void library_print(const struct elf_file *f, const struct mpi_library *lib, FILE *out)
{
	static const char *const names[] = {"MPI_COMM_WORLD", "MPI_REQUEST_NULL", "MPI_INT",
					    "MPI_DOUBLE",     "MPI_DOUBLE_INT",	  "MPI_LONG_DOUBLE",
					    "MPI_COMPLEX32",  "MPI_SUM"};
	const struct pov_lib *l = &lib->layout;

	fprintf(out, "%s \"%s\" handle=%u status=%u%s%s", mpi_flavour_name(lib->flavour),
		lib->version, l->elem_bytes[POV_ELEM_HANDLE], l->elem_bytes[POV_ELEM_STATUS],
		l->flags & POV_LIB_HANDLE_PTR ? " pointers" : "",
		l->flags & POV_LIB_TYPE_IN_HANDLE ? " type_in_handle" : "");
	member(out, "type_size", l->type_size_off);
	if (member(out, "context", l->comm_context_off))
		fprintf(out, "/%u", l->comm_context_bytes);
	member(out, "rank", l->comm_rank_off);
	member(out, "group", l->comm_group_off);
	member(out, "remote", l->comm_remote_off);
	member(out, "count", l->group_count_off);
	if (lib->flavour == MPI_MPICH)
		fprintf(out, " skip=%#llx,%#llx root=%d null=%d", (unsigned long long)l->skip[0],
			(unsigned long long)l->skip[1], l->root, l->proc_null);
	for (size_t i = 0; i < COUNT(names); i++) {
		const struct mpi_named *n = named_find(lib, names[i]);

		if (n && l->flags & POV_LIB_HANDLE_PTR) /* the handle is an address */
			fprintf(out, " %s:%u", elf_file_symbol_from(f, n->value)->name, n->size);
		else if (n)
			fprintf(out, " %s=%#llx:%u", names[i], (unsigned long long)n->value,
				n->size);
	}
}

struct library_case {
	const char *name, *source, *flags, *text;
	const char *unsure; /* part of the doubt; NULL: none */
};

#define NAMED " ompi_mpi_comm_world:0 ompi_mpi_int:4 ompi_mpi_double:8 ompi_mpi_double_int:12"
#define MPICH(version)                                                                        \
	"mpich \"" version "\" handle=4 status=20 type_in_handle skip=0x1,0xffffffffffffffff" \
	" root=-3 null=-1 MPI_COMM_WORLD=0x44000000:0 MPI_REQUEST_NULL=0x2c000000:0"          \
	" MPI_INT=0x4c000405:4 MPI_DOUBLE=0x4c00080b:8 MPI_DOUBLE_INT=0x8c000001:12"          \
	" MPI_LONG_DOUBLE=0x4c00100c:16 MPI_COMPLEX32=0x4c00202c:32 MPI_SUM=0x58000003:0"
#define OPENMPI_4 "-DCONTEXT=224 -DRANK=228 -DLOCAL=248 -DREMOTE=256 -DCOUNT=16 -DSIZE=24 "

static const char mpich_source[] = "const char MPII_Version_string[] = \"4.3.2\";\n"
				   "int PMPI_Init_thread(void) { return 0; }\n";
static const char quiet_source[] =
	"int pr(char *, const char *, ...);\n"
	"static __attribute__((noinline)) int impl(char *s)\n"
	"{ return pr(s, \"MPICH Version: %s\", \"4.2.7rc1\") + 1; }\n"
	"int PMPI_Get_library_version(char *s, int *n) { return impl(s) + 2; }\n"
	"int PMPI_Init(void) { return 0; }\n";
static const char init_source[] = "const char words[] = \"Intel(R) MPI Library %s\\0"
				  "Intel(R) MPI Library 2021.9 for Linux\";\n"
				  "int PMPI_Init(void) { return 0; }\n";

static const struct library_case libraries[] = {
	{"ompi4.c", openmpi_source, OPENMPI_4 "-DGROUP='*n=g->count'",
	 "openmpi \"4.9.1\" handle=8 status=24 pointers type_size=24 context=224/4 rank=228"
	 " group=248 remote=256 count=16" NAMED,
	 NULL},
	/* members at other offsets: the probe trusts the code and reports that */
	{"ompi9.c", openmpi_source,
	 "-DCONTEXT=64 -DRANK=72 -DLOCAL=80 -DREMOTE=96 -DCOUNT=32 -DSIZE=40 -DGROUP='*n=g->count'",
	 "openmpi \"4.9.1\" handle=8 status=24 pointers type_size=40 context=64/4 rank=72"
	 " group=80 remote=96 count=32" NAMED,
	 "no known version"},
	/* two functions disagree */
	{"ompi8.c", openmpi_source, OPENMPI_4 "-DGROUP='*n=g[1].count'",
	 "openmpi \"4.9.1\" handle=8 status=24 pointers type_size=24 context=224/4 rank=228"
	 " group=248 remote=256" NAMED,
	 "communicator's size"},
	/* the code cannot be understood; a type's size comes from data */
	{"ompi0.c", openmpi_source, OPENMPI_4 "-DGROUP='*n=g->count' -O0",
	 "openmpi \"4.9.1\" handle=8 status=24 pointers type_size=24" NAMED, "communicator's rank"},
	{"mpich.c", mpich_source, "", MPICH("4.3.2"), NULL},
	{"mpich12.c", quiet_source, "-Wl,-soname,libmpi_cray.so.12", MPICH("4.2.7rc1"), NULL},
	{"abi.c", init_source, "-Wl,-soname,libmpi_abi.so.0",
	 "mpi-abi \"Intel(R) MPI Library 2021.9 for Linux\" handle=8 status=32"
	 " MPI_COMM_WORLD=0x101:0 MPI_REQUEST_NULL=0x180:0 MPI_INT=0x209:4"
	 " MPI_DOUBLE=0x214:8 MPI_DOUBLE_INT=0x229:12 MPI_LONG_DOUBLE=0x220:16"
	 " MPI_COMPLEX32=0x2eb:32 MPI_SUM=0x21:0",
	 NULL},
	{"unknown.c", init_source, "",
	 "unknown \"Intel(R) MPI Library 2021.9 for Linux\" handle=0 status=0", ""},
};

static void library_check(const struct library_case *c)
{
	char *flags = xasprintf("%s %s", LIB_FLAGS, c->flags);
	struct elf_file *f = fixture_open(c->name, c->source, flags);
	struct mpi_library lib;

	assert_int_equal(mpi_library_probe(f, &lib), 1);
#if defined(__x86_64__)
	assert_prints(c->text, out, library_print(f, &lib, out));
	if (c->unsure)
		assert_true(*lib.unsure && strstr(lib.unsure, c->unsure));
	else
		assert_string_equal(lib.unsure, "");
#endif
	mpi_library_release(&lib);
	elf_file_close(f);
	free(flags);
}

TEST(libraries)
{
	static const char tool[] =
		"int PMPI_Init(void); int MPI_Init(void) { return PMPI_Init(); }\n";
	struct elf_file *f = fixture_open("tool.c", tool, LIB_FLAGS);
	struct mpi_library lib;

	/* A wrapper of MPI is no library. */
	assert_int_equal(mpi_library_probe(f, &lib), 0);
	elf_file_close(f);
	for (size_t i = 0; i < COUNT(libraries); i++)
		library_check(&libraries[i]);
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
	/* through the PLT, through the GOT, directly */
	static const char *const flags[] = {
		LIB_FLAGS " -fno-inline -fcf-protection",
		LIB_FLAGS " -fno-inline -fno-plt",
		LIB_FLAGS " -fno-inline -Wl,-Bsymbolic",
	};
	const struct elf_symbol *s[2];

	for (size_t i = 0; i < COUNT(flags); i++) {
		struct elf_file *f = fixture_open("entries.c", source, flags[i]);

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
	}
}

static void check_installed(const char *path, enum mpi_flavour flavour)
{
	unsigned int functions = 0, emulated = 0;
	const struct elf_symbol *sym, *s[2];
	struct mpi_library lib;
	struct elf_file *f;
	size_t cnt;

	if (elf_file_open(path, &f))
		skip_because("no %s here", path);
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
		assert_int_equal(probe_site_choose(f, &sym[i], 6, &site), 0);
		assert_int_equal(elf_file_read_offset(f, site.offset, &byte, 1), 1);
		emulated += site.cost == SITE_EMULATED;
	}
	assert_true(functions >= 400);
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
