/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two sorts of static probes are not used. One with a semaphore has valid arguments only while that
 * is raised. One with an argument that the kernel half cannot read would deliver less than its row
 * promises.
 */
#include "target/helper/inspect.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/helper/library_kind.h"
#include "target/probes/site_list.h"
#include "lib/log.h"
#include "target/elf/sdt_notes.h"
#include "layers/func_table.h"

static bool note_is_usable(const struct sdt_note *n)
{
	if (n->semaphore || n->arg_cnt < POV_NOTE_ARGS)
		return false;
	for (size_t i = 0; i < POV_NOTE_ARGS; i++)
		if (n->arg[i].kind == POV_NOTE_UNKNOWN)
			return false;
	return true;
}

static const struct note_row *row_of(const struct library_kind *kind, const struct sdt_note *n)
{
	for (const struct note_row *r = kind->notes; r->row; r++)
		if (!strcmp(r->provider, n->provider) && !strcmp(r->name, n->name))
			return r;
	return NULL;
}

/* Returns the row of the function table that a note is recorded as, or -1. */
static int wanted_row(const bool *wanted, const struct note_row *r)
{
	int row = func_table_find(r->row);

	return row >= 0 && wanted[row] ? row : -1;
}

bool inspect_notes_wanted(const bool *wanted)
{
	for (size_t i = 0; library_kinds[i]; i++)
		for (const struct note_row *r = library_kinds[i]->notes; r && r->row; r++)
			if (wanted_row(wanted, r) >= 0)
				return true;
	return false;
}

/* Gives the kernel half the locations of the arguments. */
static bool recipe_set(const struct inspect_options *opt, const struct sdt_note *n, uint64_t cookie)
{
	struct pov_note recipe;

	memcpy(recipe.arg, n->arg, sizeof(recipe.arg));
	return !bpf_map_update_elem(opt->notes_fd, &cookie, &recipe, BPF_ANY);
}

size_t inspect_notes(const struct inspect_options *opt, const char *path,
		     const struct elf_file *elf, const struct library_kind *kind, uint16_t lib_id,
		     bool (*is_seen)(const void *ctx, const char *function), const void *ctx,
		     struct inspected *out, json_t *names)
{
	size_t attached = 0, cnt;
	struct sdt_note *notes;

	cnt = kind->notes && opt->note.entry_fd >= 0 ? sdt_notes_read(elf, &notes) : 0;
	if (!cnt)
		return 0;
	for (size_t i = 0; i < cnt; i++) {
		const struct note_row *r = row_of(kind, &notes[i]);
		int row = r ? wanted_row(opt->wanted, r) : -1, err = 0;
		struct link_site site = {.offset = notes[i].offset};

		if (row < 0 || is_seen(ctx, r->function) || !note_is_usable(&notes[i]))
			continue;
		site.cookie = POV_NOTE_COOKIE(row, lib_id, i);
		if (!recipe_set(opt, &notes[i], site.cookie) ||
		    !site_list_put(opt, SITE_NOTE, path, &site, 1, out, &err)) {
			log_warn("attach: %s: cannot attach to its static probe %s:%s: %s", path,
				 r->provider, r->name, strerror(err ?: errno));
			continue;
		}
		json_array_append_new(names, json_string(r->row));
		attached++;
	}
	free(notes);
	return attached;
}
