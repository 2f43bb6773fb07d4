/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Lists probe sites as text or JSON: one row per function of the library, then the sums.
 * probe_site.c makes the choice, so the list shows what recording does.
 */
#include "record/sites_print.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_out.h"
#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/elf_file.h"
#include "layers/mpi/library_mpi_layout.h"
#include "target/elf/probe_site.h"

struct site_row {
	/* name of the function; if MPI_X and PMPI_X are two, name of the symbol */
	const char *name;
	struct probe_site site;
	int err; /* error of probe_site_choose: no site */
};

struct site_list {
	struct site_row *row;
	size_t cnt;
	size_t emulated, moved, stepped, none, absent;
};

static const char *row_why(const struct site_row *r)
{
	switch (r->err) {
	case 0:
		return r->site.why;
	case -ENOTSUP:
		return "the kernel puts no probe on its first instruction";
	case -EINVAL:
		return "its bytes are no instruction";
	default:
		return "it has no code in the file";
	}
}

static const char *row_cost(const struct site_row *r)
{
	if (r->err)
		return "none";
	return r->site.cost == SITE_EMULATED ? "emulated" : "stepped";
}

static void list_add(struct site_list *l, const struct elf_file *f, const char *name,
		     const struct elf_symbol *sym, unsigned int nargs_regs)
{
	struct site_row *r = table_append(l->row, l->cnt);

	r->name = name;
	r->err = probe_site_choose(f, sym, nargs_regs, &r->site);
	if (r->err) {
		l->none++;
		return;
	}
	if (r->site.cost == SITE_EMULATED)
		l->emulated++;
	else
		l->stepped++;
	if (r->site.skipped)
		l->moved++;
}

static void list_add_name(struct site_list *l, const struct elf_file *f,
			  const struct site_function *function)
{
	const struct elf_symbol *sym[2];
	unsigned int n = elf_file_find_mpi(f, function->name, sym);

	if (n == 0)
		l->absent++;
	for (unsigned int i = 0; i < n; i++)
		list_add(l, f, n == 1 ? function->name : sym[i]->name, sym[i],
			 function->nargs_regs);
}

/*
 * Returns true for MPI_Xyz or PMPI_Xyz, but not for MPI_XYZ (Fortran) or a part of a function
 * (MPI_Xyz.cold).
 */
static bool is_mpi_name(const char *name)
{
	name += *name == 'P';
	return !strncmp(name, "MPI_", 4) && isupper((unsigned char)name[4]) &&
	       (islower((unsigned char)name[5]) || name[5] == '_') && !strchr(name, '.');
}

/* Adds all functions. A function with a PMPI_ name is listed under its MPI_ name only. */
static void list_add_all(struct site_list *l, const struct elf_file *f)
{
	const struct elf_symbol *sym;
	size_t cnt = elf_file_symbols(f, &sym);

	for (size_t i = 0; i < cnt; i++) {
		struct site_function function = {.name = sym[i].name, .nargs_regs = 6};

		if (!sym[i].is_func || !is_mpi_name(sym[i].name) ||
		    (i > 0 && !strcmp(sym[i - 1].name, sym[i].name)))
			continue;
		if (*sym[i].name == 'P') {
			function.name++;
			if (elf_file_find(f, function.name))
				continue;
		}
		list_add_name(l, f, &function);
	}
}

static void text_print(const struct site_list *l, const char *path, const struct mpi_library *mpi,
		       FILE *out)
{
	if (mpi->flavour)
		fprintf(out, "%s: %s%s%s\n", path, mpi_flavour_name(mpi->flavour),
			*mpi->version ? " " : "", mpi->version);
	else
		fprintf(out, "%s\n", path);
	if (*mpi->unsure)
		fprintf(out, "note: %s\n", mpi->unsure);
	fprintf(out, "%-34s %-30s %5s  %-8s  %s\n", "FUNCTION", "FIRST INSTRUCTION", "SITE", "COST",
		"WHY");
	for (size_t i = 0; i < l->cnt; i++) {
		const struct site_row *r = &l->row[i];
		char site[8] = "-";

		if (!r->err)
			snprintf(site, sizeof(site), "+%u", r->site.skipped);
		fprintf(out, "%-34s %-30s %5s  %-8s  %s\n", r->name, r->err ? "" : r->site.insn,
			site, row_cost(r), row_why(r));
	}
	fprintf(out,
		"%zu functions: %zu emulated (%zu of them after the start), %zu single-stepped",
		l->cnt, l->emulated, l->moved, l->stepped);
	if (l->none)
		fprintf(out, ", %zu cannot be probed", l->none);
	if (l->absent)
		fprintf(out, "; %zu requested ones are not in this library", l->absent);
	fputc('\n', out);
}

static void json_row(struct json_out *j, const struct site_row *r)
{
	json_out_object_begin(j);
	json_out_key_string(j, "function", r->name);
	if (!r->err) {
		json_out_key_string(j, "first", r->site.insn);
		json_out_key(j, "offset");
		json_out_hex(j, r->site.offset);
		json_out_key_uint(j, "skipped", r->site.skipped);
	}
	json_out_key_string(j, "cost", row_cost(r));
	json_out_key_string(j, "why", row_why(r));
	json_out_object_end(j);
}

static int json_print(const struct site_list *l, const struct elf_file *f, const char *path,
		      const struct mpi_library *mpi, FILE *out)
{
	struct json_out *j = json_out_new(out, JSON_OUT_LINES);

	json_out_object_begin(j);
	json_out_key_string(j, "path", path);
	json_out_key_string(j, "build_id", elf_file_headers(f)->build_id);
	json_out_key_string(j, "flavour", mpi_flavour_name(mpi->flavour));
	json_out_key_string(j, "version", mpi->version);
	json_out_key_string(j, "unsure", mpi->unsure);
	json_out_key_array(j, "functions");
	for (size_t i = 0; i < l->cnt; i++)
		json_row(j, &l->row[i]);
	json_out_array_end(j);
	json_out_key_uint(j, "emulated", l->emulated);
	json_out_key_uint(j, "moved", l->moved);
	json_out_key_uint(j, "stepped", l->stepped);
	json_out_key_uint(j, "none", l->none);
	json_out_key_uint(j, "absent", l->absent);
	json_out_object_end(j);
	return json_out_finish(j);
}

int sites_print(const struct elf_file *f, const char *path, const struct site_function *functions,
		size_t cnt, bool json, FILE *out)
{
	struct site_list list = {0};
	struct mpi_library mpi = {0};
	int err = 0;

	for (size_t i = 0; functions && i < cnt; i++)
		list_add_name(&list, f, &functions[i]);
	if (!functions)
		list_add_all(&list, f);
	if (list.cnt == 0) {
		log_error("%s: it defines no function that can be traced; name the library itself "
			  "(libmpi.so) or a statically linked program",
			  path);
		return -ENOENT;
	}
	mpi_library_probe(f, &mpi);
	if (json)
		err = json_print(&list, f, path, &mpi, out);
	else
		text_print(&list, path, &mpi, out);
	if (!err && ferror(out))
		err = -EIO;
	mpi_library_release(&mpi);
	free(list.row);
	return err;
}
