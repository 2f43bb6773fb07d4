/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads a file's headers, and attaches the probes that make processes wait. inspect_library.c
 * handles functions of traced layers, inspect_region.c regions.
 */
#include "target/helper/inspect.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layers/func_table.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/elf_file.h"
#include "target/elf/function_callers.h"
#include "target/elf/probe_site.h"
#include "target/elf/sdt_notes.h"
#include "target/helper/library_kind.h"
#include "target/proc.h"
#include "target/probes/code_turn.h"
#include "target/probes/site_list.h"

/*
 * Two sorts of static probes are not used. A probe with a semaphore has valid arguments only while
 * the semaphore is raised. If the kernel half cannot read one of a probe's arguments, its record
 * would lack what its row promises.
 */

static bool note_is_usable(const struct sdt_note *n)
{
	if (n->semaphore || n->arg_cnt < POV_NOTE_ARGS)
		return false;
	return !table_any(POV_NOTE_ARGS, i, n->arg[i].kind == POV_NOTE_UNKNOWN);
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

#define CALLERS_MAX 64 /* callers of a loader's function; glibc has about a dozen */

/*
 * Chooses where to probe a function: if requested and possible at the calls in its own file, else
 * at its entry. Sets *at_calls to what was chosen.
 */
static size_t function_sites(const struct elf_file *elf, const struct elf_symbol *sym,
			     bool *at_calls, struct link_site *sites)
{
	uint64_t offsets[CALLERS_MAX];
	struct probe_site site;
	size_t cnt = 0;

	if (*at_calls)
		cnt = function_callers_find(elf, sym, offsets, CALLERS_MAX);
	*at_calls = cnt > 0;
	for (size_t i = 0; i < cnt; i++)
		sites[i] = (struct link_site){.offset = offsets[i]};
	if (cnt || !sym->has_offset)
		return cnt;
	sites[0] = (struct link_site){
		.offset = probe_site_choose(elf, sym, 6, &site) ? sym->offset : site.offset,
	};
	return 1;
}

/* Probes a function of the file, if it has it, so that every call is seen. */
static void function_attach(const struct inspect_options *opt, enum site_kind kind,
			    const char *path, const struct elf_file *elf, const char *name,
			    bool at_calls, struct inspected *out)
{
	const struct elf_symbol *sym = elf_file_find(elf, name);
	struct link_site sites[CALLERS_MAX];
	struct stat st;
	char why[160];
	size_t cnt;
	int err = 0, turn = -1;

	if (!sym)
		return;
	cnt = function_sites(elf, sym, &at_calls, sites);
	if (!cnt)
		return;
	if (!opt->each && !at_calls && !stat(path, &st))
		turn = code_turn_breakpoints(0, st.st_ino, proc_is_launched, why, sizeof(why));
	if (turn == -2) {
		log_warn("%s: no probe in %s, so programs may run before their probes are "
			 "attached: %s",
			 path, name, why);
		return;
	}
	opt->attaching(opt->ctx);
	site_list_put(opt, kind, path, sites, cnt, out, &err);
	code_turn_end(turn);
}

static json_t *segments_json(const struct elf_file *elf)
{
	json_t *a = json_array();
	uint64_t offset, addr, bytes;

	for (size_t i = 0; elf_file_exec_segment(elf, i, &offset, &addr, &bytes); i++)
		json_array_append_new(a, json_pack("[I,I,I]", (json_int_t)offset, (json_int_t)addr,
						   (json_int_t)bytes));
	return a;
}

/* Describes a binding. Steps outside of the first one's code segment are left out. */
static json_t *binding_json(const struct elf_file *elf)
{
	struct binding_step *step;
	size_t cnt = binding_steps_find(elf, &step);
	uint64_t offset, addr = 0, bytes = 0;
	json_t *steps = json_array();

	for (size_t i = 0; cnt && elf_file_exec_segment(elf, i, &offset, &addr, &bytes); i++)
		if (step[0].addr - addr < bytes)
			break;
	for (size_t i = 0; i < cnt; i++) {
		if (step[i].addr - addr >= bytes)
			continue;
		json_array_append_new(steps, json_integer((json_int_t)(step[i].addr - addr)));
		json_array_append_new(steps, json_integer(step[i].words));
	}
	free(step);
	if (json_array_size(steps) && bytes <= UINT32_MAX)
		return json_pack("{s:I,s:I,s:o}", "address", (json_int_t)addr, "bytes",
				 (json_int_t)bytes, "steps", steps);
	json_decref(steps);
	return NULL;
}

static json_t *needed_json(const struct elf_file *elf)
{
	json_t *a = json_array();
	const struct elf_headers *h = elf_file_headers(elf);

	for (size_t i = 0; i < h->needed_cnt; i++)
		json_array_append_new(a, json_string(h->needed[i]));
	return a;
}

/* Reads a script's interpreter: "#!/bin/sh -e\n" → "/bin/sh"; "" if it is not a script. */
static void shebang_read(int fd, char *buf, size_t bytes)
{
	char line[256];
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
	char *p = line + 2;
	size_t len;

	*buf = '\0';
	if (n < 4 || line[0] != '#' || line[1] != '!')
		return;
	line[n] = '\0';
	p += strspn(p, " \t");
	len = strcspn(p, " \t\r\n");
	if (p[0] == '/' && len < bytes)
		snprintf(buf, bytes, "%.*s", (int)len, p);
}

/*
 * Returns true for a static program: it has no loader in which a process could wait for its own
 * probes.
 */
static bool is_static(const struct elf_headers *h)
{
	return !*h->interpreter && !*h->soname && (!h->dynamic || h->is_pie);
}

static bool mentions_any(const struct elf_file *elf, const char *const *names)
{
	while (*names && !elf_file_mentions(elf, *names))
		names++;
	return *names;
}

/* Functions that throw, cancel a thread, or read the stack. */
static const char *const unwinding[] = {"__cxa_throw",
					"_Unwind_RaiseException",
					"_Unwind_ForcedUnwind",
					"_Unwind_Backtrace",
					"backtrace",
					"pthread_cancel",
					NULL};

/*
 * Returns true if a file handles exceptions or needs the C++ library: other files may throw for it.
 */
static bool is_cxx(const struct elf_file *elf)
{
	const struct elf_headers *h = elf_file_headers(elf);
	uint64_t offset, bytes;

	return table_any(h->needed_cnt, i,
			 !strncmp(h->needed[i], "libstdc++.", 10) ||
				 !strncmp(h->needed[i], "libc++.", 7)) ||
	       elf_file_section(elf, ".gcc_except_table", &offset, &bytes);
}

/*
 * Returns true if a file that uses MPI may unwind the stack through MPI's functions: by exceptions,
 * cancelled threads, or functions that read the stack. The MPI library itself does not count. Nor
 * do shared libraries count because of pthread_exit: Open MPI's plug-in for MPI-IO names it and
 * would make all programs slow.
 */
static bool may_unwind(const struct elf_file *elf)
{
	static const char *const mpi[] = {"MPI_Init", "MPI_Init_thread", "MPI_Comm_rank",
					  "MPI_Comm_size", NULL};

	if (!mentions_any(elf, mpi))
		return false;
	if (elf_file_headers(elf)->interpreter[0] && elf_file_mentions(elf, "pthread_exit"))
		return true;
	return !elf_file_defines(elf, "MPI_Init") && (is_cxx(elf) || mentions_any(elf, unwinding));
}

static int elf_inspect(const struct inspect_options *opt, const char *path,
		       const struct elf_file *elf, uint16_t lib_id, struct inspected *out)
{
	const struct elf_headers *h = elf_file_headers(elf);
	struct inspect_options all = *opt;

	if (opt->waits && is_static(h)) { /* it cannot wait, so its probes go into all processes */
		all.each = false;
		opt = &all;
	}
	snprintf(out->build_id, sizeof(out->build_id), "%s", h->build_id);
	snprintf(out->interpreter, sizeof(out->interpreter), "%s", h->interpreter);
	out->is_main = *h->interpreter || is_static(h);
	out->runpath = xstrdup(h->runpath);
	out->needed = needed_json(elf);
	out->segments = segments_json(elf);
	out->binding = binding_json(elf);
	/*
	 * The loader calls _dl_debug_state from a few places. We probe those places: debuggers put
	 * a breakpoint at the function itself, which the kernel would take for ours. With perf
	 * events there is one probe, at the function, because removing each takes 0.1 s.
	 */
	if (opt->loader.entry_fd >= 0 && elf_file_exports(elf, "_dl_debug_state"))
		function_attach(opt, opt->waits ? SITE_ASKED_LOADER : SITE_LOADER, path, elf,
				"_dl_debug_state", opt->loader.api == LINK_MULTI, out);
	if (opt->exec.entry_fd >= 0 && elf_file_exports(elf, "execve") &&
	    elf_file_exports(elf, "fexecve"))
		function_attach(opt, SITE_EXEC, path, elf, "execve", false, out);
	out->unwinds = may_unwind(elf);
	*opt->unwinds |= out->unwinds;
	if (opt->region_cnt)
		inspect_regions(opt, path, elf, out);
	return inspect_library(opt, path, elf, lib_id, out);
}

int inspect_file(const struct inspect_options *opt, const char *path, int fd, uint16_t lib_id,
		 struct inspected *out)
{
	struct elf_file *elf;
	int err;

	memset(out, 0, sizeof(*out));
	shebang_read(fd, out->interpreter, sizeof(out->interpreter));
	out->is_script = out->interpreter[0] != '\0';
	if (out->is_script)
		return 0;
	err = elf_file_open_fd(fd, &elf);
	if (err)
		return err;
	err = elf_inspect(opt, path, elf, lib_id, out);
	elf_file_close(elf);
	return err;
}

void inspected_release(struct inspected *in)
{
	links_release(&in->links);
	free(in->runpath);
	free(in->hooks);
	json_decref(in->needed);
	json_decref(in->library);
	json_decref(in->offsets);
	json_decref(in->sites);
	json_decref(in->segments);
	json_decref(in->binding);
	json_decref(in->regions);
	json_decref(in->copies);
	memset(in, 0, sizeof(*in));
}

json_t *inspect_copies(int exe_fd, const json_t *copies)
{
	json_t *out = json_array(), *row;
	const struct elf_symbol *copy;
	struct elf_file *exe;
	size_t i;

	if (elf_file_open_fd(exe_fd, &exe))
		return out;
	if (elf_file_headers(exe)->dynamic && !elf_file_defines(exe, "MPI_Init"))
		json_array_foreach((json_t *)copies, i, row)
		{
			const char *symbol = json_string_value(json_array_get(row, 1));

			copy = symbol ? elf_file_find(exe, symbol) : NULL;
			if (!copy || !copy->is_object)
				continue;
			json_array_append_new(out, json_pack("[O,o]", json_array_get(row, 0),
							     json_hex(copy->addr)));
		}
	elf_file_close(exe);
	return out;
}
