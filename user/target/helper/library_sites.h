/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The places in one library at which its functions are recorded: probe sites, return instructions,
 * and hooks of functions that processes record themselves.
 */
#ifndef POV_TARGET_HELPER_LIBRARY_SITES_H
#define POV_TARGET_HELPER_LIBRARY_SITES_H

#include "target/helper/inspect.h"

struct elf_symbol;
struct inner_function;
struct library_kind;

/* The sites chosen in one library, and the rows without a site. */
struct library_sites {
	const json_t *tried; /* offsets of earlier sites in the library, or NULL */
	struct link_site *site;
	uint32_t cnt, room;
	bool unwinds; /* processes will get probes on return instructions, as far as is known yet */
	struct link_site *ret; /* sites at return instructions, which several functions may share */
	uint32_t ret_cnt, ret_room;
	json_t *missing; /* names of functions that the library lacks */
	json_t *stepped; /* names of functions whose instruction is single-stepped */
	unsigned int emulated;
	const bool *removable; /* by row: functions that may have to be detached; NULL: none */
	/* Sites of functions of the top layer that processes record themselves; NULL: none. */
	struct library_sites *left;
	struct pov_hook *hook; /* hooks through which processes record these functions */
	uint32_t hook_cnt, hook_room;
};

struct library_sites library_sites_new(const struct inspect_options *opt);
void library_sites_release(struct library_sites *list);

/*
 * Adds the function of a row, which begins at sym. by_returns: also adds its return instructions.
 * It must be false for a row with two functions: one may jump to the other, which would look like
 * another call of the same function.
 */
void library_sites_add_function(struct library_sites *list, const struct elf_file *elf,
				const struct elf_symbol *sym, uint16_t lib_id, size_t row,
				bool by_returns);
/* Adds a library's inner functions of one row. Returns their number. */
size_t library_sites_add_inner(struct library_sites *list, const struct inner_function *inner,
			       size_t cnt, const struct elf_file *elf, uint16_t lib_id, size_t row);
/*
 * Adds the functions that a library's symbols name for one row, or hooks for them. has_inner: the
 * row also has inner functions, so it is not missing without symbols.
 */
void library_sites_add_row(struct library_sites *list, const struct library_kind *kind,
			   bool has_inner, const struct elf_file *elf, uint16_t lib_id, size_t row);

/* Lists the names of all functions with sites, or only of refused ones. */
json_t *library_sites_names(const struct library_sites *list, bool failed_only);
/*
 * Attaches the sites. refused: why none may be attached, or "". Puts the result into out->links,
 * out->offsets and members of out->library. Returns the number attached.
 */
size_t library_sites_attach(const struct inspect_options *opt, const char *path,
			    const char *refused, struct library_sites *list, struct inspected *out);

#endif
