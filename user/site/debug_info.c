/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * libdwfl finds the debug information, libdw reads it. A compiler's table (.debug_aranges) shows
 * which compilation unit has an address. clang makes no such table: then all units are searched.
 */
#include "site/debug_info.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/text.h"

struct debug_info {
	Dwfl *dwfl;
	Dwfl_Module *module;
	void *cxx;   /* libstdc++, loaded when first needed */
	char *plain; /* last result of symbol_demangle() */
};

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static bool build_id_is(Dwfl_Module *module, const char *wanted)
{
	const unsigned char *bits;
	GElf_Addr addr;
	int n = dwfl_module_build_id(module, &bits, &addr);
	char hex[3];

	for (int i = 0; i < n; i++) {
		snprintf(hex, sizeof(hex), "%02x", bits[i]);
		if (strncmp(wanted + 2 * i, hex, 2))
			return false;
	}
	return n > 0 && !wanted[2 * n];
}

/* Without this check, libdwfl would also unpack compressed files and look into archives. */
static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
}

int debug_info_open(int fd, const char *path, const char *build_id, struct debug_info **out)
{
	struct debug_info *d = calloc(1, sizeof(*d));
	int err = -ENOEXEC;

	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	d->dwfl = is_elf(fd) ? dwfl_begin(&callbacks) : NULL;
	if (d->dwfl)
		d->module = dwfl_report_offline(d->dwfl, path, path, fd);
	if (!d->module)
		close(fd);
	else if (!dwfl_report_end(d->dwfl, NULL, NULL))
		err = !*build_id || build_id_is(d->module, build_id) ? 0 : -ESTALE;
	if (err)
		debug_info_close(d);
	else
		*out = d;
	return err;
}

void debug_info_close(struct debug_info *d)
{
	dwfl_end(d->dwfl);
	if (d->cxx)
		dlclose(d->cxx);
	free(d->plain);
	free(d);
}

/* Converts an offset to the module's addresses. */
static bool module_address(struct debug_info *d, uint64_t offset, Dwarf_Addr *out)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(d->module, &bias);
	GElf_Phdr ph;
	size_t n;

	if (!elf || elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || offset < ph.p_offset ||
		    offset - ph.p_offset >= ph.p_filesz)
			continue;
		*out = bias + ph.p_vaddr + (offset - ph.p_offset);
		return true;
	}
	return false;
}

/* Returns the compilation unit of an address, and converts the address to the unit's own. */
static Dwarf_Die *address_unit(struct debug_info *d, Dwarf_Addr *addr)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(d->module, *addr, &bias);

	while (!unit && (unit = dwfl_module_nextcu(d->module, unit, &bias)))
		if (dwarf_haspc(unit, *addr - bias) > 0)
			break;
	*addr -= bias;
	return unit;
}

/* A name may be stored at the function's declaration, or at the original of a copied function. */
static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attr));
}

/*
 * Finds the scopes around an address, inner ones first. Returns their number. The caller frees
 * *out.
 */
static int scopes_around(Dwarf_Die *unit, Dwarf_Addr addr, Dwarf_Die **out)
{
	Dwarf_Die *innermost = NULL;
	int n = dwarf_getscopes(unit, addr, &innermost);

	*out = NULL;
	/* for an inlined function, the scopes of its definition */
	n = n > 0 ? dwarf_getscopes_die(&innermost[0], out) : 0;
	free(innermost);
	return n;
}

/* Returns true for a function of MPI's C++ bindings. */
static bool die_is_binding(Dwarf_Die *die)
{
	static const char *const spaces[] = {"_ZN3MPI", "_ZNK3MPI", "_ZN5boost3mpi",
					     "_ZNK5boost3mpi", NULL};
	Dwarf_Attribute attr;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));

	return name && text_begins_any(name, spaces);
}

static bool die_number(Dwarf_Die *die, unsigned int name, Dwarf_Word *out)
{
	Dwarf_Attribute attr;

	return !dwarf_formudata(dwarf_attr(die, name, &attr), out);
}

/* Finds the place where an inlined function was called. */
static bool call_line(Dwarf_Die *unit, Dwarf_Die *die, struct debug_place *out)
{
	Dwarf_Word file, line;
	Dwarf_Files *files;
	const char *name;
	size_t cnt;

	if (!die_number(die, DW_AT_call_file, &file) || !die_number(die, DW_AT_call_line, &line) ||
	    !line || line > INT32_MAX || dwarf_getsrcfiles(unit, &files, &cnt))
		return false;
	name = dwarf_filesrc(files, file, NULL, NULL);
	if (!name)
		return false;
	out->file = name;
	out->line = (uint32_t)line;
	return true;
}

/*
 * Finds the innermost of nested inlined functions that is the program's own: its name, and the
 * place inside it.
 */
static void place_find_function(Dwarf_Die *unit, Dwarf_Addr addr, struct debug_place *out)
{
	Dwarf_Die *scope;
	int n = scopes_around(unit, addr, &scope);

	for (int i = 0; i < n && !out->function; i++) {
		int tag = dwarf_tag(&scope[i]);

		if (tag == DW_TAG_inlined_subroutine && die_is_binding(&scope[i]) &&
		    call_line(unit, &scope[i], out))
			continue;
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
		    tag == DW_TAG_entry_point)
			out->function = die_name(&scope[i]);
	}
	free(scope);
}

static bool place_find_line(struct debug_info *d, Dwarf_Addr addr, struct debug_place *out)
{
	Dwarf_Die *unit = address_unit(d, &addr);
	Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, addr) : NULL;
	int number;

	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return false;
	out->file = dwarf_linesrc(line, NULL, NULL);
	out->line = (uint32_t)number;
	place_find_function(unit, addr, out);
	return out->file;
}

/* Returns the begin of the bracket that ends at `end`; NULL: none. */
static char *bracket_begin(const char *name, char *end)
{
	int depth = 0;

	for (char *p = end; p >= name; p--) {
		depth += (*p == ')') - (*p == '(');
		if (!depth)
			return p;
	}
	return NULL;
}

/*
 * Removes types: "void heat::solve<3>(double const*, int)" becomes "heat::solve<3>", as in debug
 * information. A name that cannot be parsed stays whole.
 */
static const char *name_without_types(char *name)
{
	char *end = strrchr(name, ')'), *begin = end ? bracket_begin(name, end) : NULL;
	int depth = 0;

	if (!begin || begin == name)
		return name;
	*begin = '\0';
	if (strstr(name, "operator"))
		return name;
	for (char *p = begin - 1; p > name; p--) {
		depth += (*p == '>' || *p == ')') - (*p == '<' || *p == '(');
		if (!depth && *p == ' ')
			return p + 1;
	}
	return name;
}

/*
 * Returns a C++ symbol as it is written in the source. Uses libstdc++, which such programs need to
 * run; without it, returns the symbol itself.
 */
static const char *symbol_demangle(struct debug_info *d, const char *symbol)
{
	char *(*convert)(const char *name, char *buf, size_t *n, int *status);
	int status;

	if (strncmp(symbol, "_Z", 2))
		return symbol;
	if (!d->cxx)
		d->cxx = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	*(void **)&convert = d->cxx ? dlsym(d->cxx, "__cxa_demangle") : NULL;
	if (!convert)
		return symbol;
	free(d->plain);
	d->plain = convert(symbol, NULL, NULL, &status);
	return d->plain ? name_without_types(d->plain) : symbol;
}

bool debug_info_find(struct debug_info *d, uint64_t offset, struct debug_place *out)
{
	struct debug_place found = {0};
	const char *symbol;
	Dwarf_Addr addr;
	GElf_Off from;
	GElf_Sym sym;

	if (!offset || !module_address(d, offset - 1, &addr))
		return false;
	if (!place_find_line(d, addr, &found))
		found = (struct debug_place){0};
	symbol = dwfl_module_addrinfo(d->module, addr, &from, &sym, NULL, NULL, NULL);
	if (symbol && !found.function) {
		found.function = symbol_demangle(d, symbol);
		found.function_offset = from + 1;
	}
	if (!found.function)
		return false;
	*out = found;
	return true;
}
