/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI through function pointers in addition to calls by name, as in ctypes, cffi, numba-mpi and
 * PMPI tools. Usage: pointers HOW
 *
 *	handle	dlsym() of a handle of the loaded library (RTLD_NOLOAD, RTLD_LOCAL)
 *	table	a static table that the loader fills
 *	early	pointers from dlsym(RTLD_NEXT), taken by a constructor before anything has run
 *	symbols	addresses from the library's own symbol table, without dlsym()
 *	new	a handle of dlmopen(): another copy of the library, which is only asked
 */
#include <dlfcn.h>
#include <link.h>

#include "expect.h"

#define BARRIERS 101

struct calls {
	int (*initialized)(int *flag);
	int (*barrier)(MPI_Comm comm);
	int (*sendrecv)(const void *sbuf, int scnt, MPI_Datatype stype, int dest, int stag,
			void *rbuf, int rcnt, MPI_Datatype rtype, int source, int rtag,
			MPI_Comm comm, MPI_Status *status);
	int (*comm_rank)(MPI_Comm comm, int *r);
};

static const struct calls linked = {MPI_Initialized, PMPI_Barrier, MPI_Sendrecv, PMPI_Comm_rank};
static struct calls early;

typedef void *find(void *scope, const char *name);

static struct calls calls_find(find *by, void *scope)
{
	struct calls c;

	MUST(*(void **)&c.initialized = by(scope, "MPI_Initialized"));
	MUST(*(void **)&c.barrier = by(scope, "MPI_Barrier"));
	MUST(*(void **)&c.sendrecv = by(scope, "PMPI_Sendrecv"));
	MUST(*(void **)&c.comm_rank = by(scope, "MPI_Comm_rank"));
	return c;
}

static void *by_dlsym(void *scope, const char *name)
{
	return dlsym(scope, name);
}

__attribute__((constructor)) static void early_find(void)
{
	early = calls_find(by_dlsym, RTLD_NEXT);
}

/* ---- past dlsym ---- */

struct symbols {
	const ElfW(Sym) * syms;
	const char *names;
};

/*
 * Linkers place the string table directly after the symbol table, which gives the symbol table's
 * end.
 */
static void *by_symbols(void *scope, const char *name)
{
	const struct link_map *map = scope;
	struct symbols s = {0};

	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			s.syms = (const void *)d->d_un.d_ptr;
		if (d->d_tag == DT_STRTAB)
			s.names = (const void *)d->d_un.d_ptr;
	}
	for (const ElfW(Sym) *sym = s.syms; (const char *)sym < s.names; sym++)
		if (sym->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(sym->st_info) == STT_FUNC &&
		    !strcmp(s.names + sym->st_name, name))
			return (void *)(map->l_addr + sym->st_value);
	return NULL;
}

static void *library_handle(int new_one)
{
	Dl_info info;
	void *lib;

	MUST(dladdr((void *)MPI_Init, &info));
	lib = new_one ? dlmopen(LM_ID_NEWLM, info.dli_fname, RTLD_NOW) :
			dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL);
	if (!lib)
		fprintf(stderr, "%s\n", dlerror());
	MUST(lib);
	return lib;
}

static struct calls calls_by(const char *how)
{
	struct link_map *map;

	if (!strcmp(how, "table"))
		return linked;
	if (!strcmp(how, "early"))
		return early;
	if (!strcmp(how, "symbols")) {
		MUST(!dlinfo(library_handle(0), RTLD_DI_LINKMAP, &map));
		return calls_find(by_symbols, map);
	}
	return calls_find(by_dlsym, library_handle(!strcmp(how, "new")));
}

static void ask(const struct calls *c, int times)
{
	int flag;

	for (int i = 0; i < times; i++) {
		expect_add("MPI_Initialized", NO_PEER, 1, 0, 0, 0);
		c->initialized(&flag);
	}
	printf("begun: %d\n", flag);
}

static void talk(const struct calls *c)
{
	int out = 7, in, me;

	for (int i = 0; i < BARRIERS; i++) {
		expect_add("MPI_Barrier", NO_PEER, 1, 0, 0, 0);
		c->barrier(MPI_COMM_WORLD);
		if (i % 10 == 0)
			DO(MPI_Barrier, MPI_COMM_WORLD);
	}
	expect_add("MPI_Sendrecv", rank, 1, 4, 4, 0);
	c->sendrecv(&out, 1, MPI_INT, rank, 1, &in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD,
		    MPI_STATUS_IGNORE);
	expect_add("MPI_Comm_rank", NO_PEER, 1, 0, 0, 0);
	c->comm_rank(MPI_COMM_WORLD, &me);
	printf("rank %d of %d: %d\n", me, size, in);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "handle";
	struct calls c = calls_by(how);

	ask(&c, 3);
	expect_init(&argc, &argv);
	ask(&c, 5);
	if (strcmp(how, "new"))
		talk(&c);
	expect_finish();
	return 0;
}
