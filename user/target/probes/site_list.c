/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A list is [[kind, offset, cookie, removable, has_returns]]. The helper sends it to the collector,
 * which passes it to later helpers with all that it knows.
 */
#include "target/probes/site_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/config.h"
#include "layers/func_table.h"
#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/probe_site.h"
#include "target/proc.h"

/*
 * A process that writes to its code gets its own copy of the page, which /proc/PID/pagemap shows.
 * Only code in such pages is read and compared.
 */
#define PAGE_BYTES 4096 /* the smallest of all machines: entries of larger pages are unused */
#define AROUND_MAX 64
#define BREAKPOINT 0xcc /* x86-64 */

/* entries of pagemap */
#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)
#define PAGE_OF_FILE (1ull << 61)

/* A mapping of the file. */
struct place {
	uint64_t start, off, bytes;
	uint64_t *page;
};

struct site_code {
	int file, memory;
	struct place *place;
	size_t cnt;
};

static int process_open(pid_t pid, const char *name)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", proc_memory_of(pid), name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void place_add(struct site_code *c, const struct proc_map *map, int pagemap)
{
	size_t bytes = (map->end - map->start) / PAGE_BYTES * sizeof(uint64_t);
	struct place p = {map->start, map->off, map->end - map->start, xcalloc(1, bytes + 1)};

	if (pread(pagemap, p.page, bytes, (off_t)(map->start / PAGE_BYTES * sizeof(uint64_t))) !=
	    (ssize_t)bytes) {
		free(p.page);
		return;
	}
	*table_append(c->place, c->cnt) = p;
}

struct site_code *site_code_open(pid_t pid, int file)
{
	struct site_code *c = xcalloc(1, sizeof(*c));
	struct proc_maps maps = {0};
	int pagemap = process_open(pid, "pagemap");
	struct stat st;

	c->file = file;
	c->memory = process_open(pid, "mem");
	if (pagemap >= 0 && !fstat(file, &st) && !proc_maps_read(pid, &maps))
		for (size_t i = 0; i < maps.cnt; i++)
			if (maps.map[i].ino == st.st_ino)
				place_add(c, &maps.map[i], pagemap);
	proc_maps_release(&maps);
	if (pagemap >= 0)
		close(pagemap);
	if (c->memory >= 0)
		return c;
	site_code_close(c);
	return NULL;
}

void site_code_close(struct site_code *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->cnt; i++)
		free(c->place[i].page);
	free(c->place);
	if (c->memory >= 0)
		close(c->memory);
	free(c);
}

static bool is_own_page(uint64_t page)
{
	return page & (PAGE_PRESENT | PAGE_SWAPPED) && !(page & PAGE_OF_FILE);
}

static bool is_same(const struct site_code *c, uint64_t addr, uint64_t offset, size_t bytes)
{
	uint8_t memory[AROUND_MAX], file[AROUND_MAX];

	if (pread(c->memory, memory, bytes, (off_t)addr) != (ssize_t)bytes ||
	    pread(c->file, file, bytes, (off_t)offset) != (ssize_t)bytes)
		return true;
	for (size_t i = 0; i < bytes; i++)
		if (memory[i] != file[i] && memory[i] != BREAKPOINT)
			return false;
	return true;
}

static bool place_is_original(const struct site_code *c, const struct place *p, uint64_t from,
			      uint64_t to)
{
	bool own = false;

	from = from > p->off ? from - p->off : 0;
	to = to - p->off < p->bytes ? to - p->off : p->bytes;
	for (uint64_t page = from / PAGE_BYTES; page * PAGE_BYTES < to; page++)
		own |= is_own_page(p->page[page]);
	return !own || is_same(c, p->start + from, p->off + from, to - from);
}

/*
 * Returns true if the process's code around an offset of the file, `before` and `after` bytes, is
 * the file's except for breakpoints, or if that is unknown. NULL: unknown.
 */
static bool site_code_is_original(const struct site_code *c, uint64_t offset, uint64_t before,
				  uint64_t after)
{
	if (before + after > AROUND_MAX)
		before = AROUND_MAX - after;
	for (size_t i = 0; c && i < c->cnt; i++) {
		const struct place *p = &c->place[i];

		if (offset >= p->off && offset - p->off < p->bytes &&
		    !place_is_original(c, p, offset > before ? offset - before : 0, offset + after))
			return false;
	}
	return true;
}

static const struct link_programs *programs_of(const struct inspect_options *opt,
					       enum site_kind kind)
{
	const struct link_programs *const programs[SITE_KINDS] = {
		[SITE_CALL] = &opt->calls,     [SITE_NOTE] = &opt->note,
		[SITE_REGION] = &opt->regions, [SITE_LOADER] = &opt->loader,
		[SITE_EXEC] = &opt->exec,      [SITE_HANDOVER] = &opt->handover,
		[SITE_LEFT] = &opt->calls,     [SITE_ASKED_LOADER] = &opt->loader,
	};

	return programs[kind];
}

TABLE_ORDER(by_offset, struct link_site, table_compare(a->offset, b->offset))

/* Attaches at return instructions, which several functions may share. */
static void returns_attach(const struct inspect_options *opt, pid_t pid, const char *path,
			   const struct link_site *sites, size_t cnt, struct links *links, int *err)
{
	struct link_programs p = {.ret_fd = -1, .api = opt->calls.api, .pid = pid};
	struct link_site *v = xcalloc(cnt + 1, sizeof(*v));
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < cnt; i++)
		if (POV_PLACE(sites[i].cookie) & POV_PLACE_ENDS)
			v[n++] = sites[i];
	qsort(v, n, sizeof(*v), by_offset);
	for (size_t i = 0; i < n; i++)
		if (!i || v[i].offset != v[i - 1].offset)
			v[kept++] = v[i];
	if (kept && (p.entry_fd = late_program_fd(opt->returns)) < 0)
		*err = -p.entry_fd;
	else
		links_attach(links, &p, path, v, kept, err);
	free(v);
}

TABLE_ORDER(by_place, struct link_site, POV_PLACE(a->cookie) - POV_PLACE(b->cookie))

/*
 * Keeps for each function either its return probe or its return instructions. Returns how many
 * sites are left.
 */
static size_t returns_choose(struct link_site *sites, size_t cnt, bool unwinds)
{
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++) {
		struct link_site s = sites[i];

		if (!unwinds && POV_PLACE(s.cookie) & POV_PLACE_ENDS)
			continue;
		if (unwinds && s.has_returns) {
			s.cookie |= POV_COOKIE_PLACE(POV_PLACE_BEGINS, 0);
			s.removable = false;
		}
		sites[n++] = s;
	}
	return n;
}

/*
 * Attaches the sites of calls, returns first: no entry may be recorded without its return. Returns
 * the number of entries.
 */
static size_t calls_attach(const struct inspect_options *opt, pid_t pid, bool unwinds,
			   const char *path, struct link_site *sites, size_t cnt,
			   struct links *links, int *err)
{
	struct link_programs pair = opt->calls, entry = opt->calls;
	size_t pairs = 0, entries = 0;

	entry.ret_fd = -1;
	pair.pid = entry.pid = pid;
	cnt = returns_choose(sites, cnt, unwinds);
	table_sort(sites, cnt, by_place);
	while (pairs < cnt && !POV_PLACE(sites[pairs].cookie))
		pairs++;
	while (pairs + entries < cnt &&
	       POV_PLACE(sites[pairs + entries].cookie) == POV_PLACE_BEGINS)
		entries++;
	returns_attach(opt, pid, path, sites, cnt, links, err);
	return links_attach(links, &entry, path, sites + pairs, entries, err) +
	       links_attach(links, &pair, path, sites, pairs, err);
}

static size_t sites_attach(const struct inspect_options *opt, enum site_kind kind, pid_t pid,
			   bool unwinds, const char *path, struct link_site *sites, size_t cnt,
			   struct links *links, int *err)
{
	struct link_programs programs = *programs_of(opt, kind);

	programs.pid = pid;
	if (kind == SITE_CALL || kind == SITE_LEFT)
		return calls_attach(opt, pid, unwinds, path, sites, cnt, links, err);
	return links_attach(links, &programs, path, sites, cnt, err);
}

size_t site_list_put(const struct inspect_options *opt, enum site_kind kind, const char *path,
		     struct link_site *sites, size_t cnt, struct inspected *out, int *err)
{
	if (!opt->each)
		return sites_attach(opt, kind, 0, *opt->unwinds, path, sites, cnt, &out->links,
				    err);
	if (!out->sites)
		out->sites = json_array();
	for (size_t i = 0; i < cnt; i++)
		json_array_append_new(out->sites,
				      json_pack("[i,I,I,b,b]", kind, (json_int_t)sites[i].offset,
						(json_int_t)sites[i].cookie, sites[i].removable,
						sites[i].has_returns));
	return cnt;
}

static enum site_kind kind_at(const json_t *sites, size_t i)
{
	json_int_t kind = json_integer_value(json_array_get(json_array_get(sites, i), 0));

	return kind >= 0 && kind < SITE_KINDS ? (enum site_kind)kind : SITE_CALL;
}

static struct link_site site_at(const json_t *sites, size_t i)
{
	const json_t *site = json_array_get(sites, i);

	return (struct link_site){
		.offset = (uint64_t)json_integer_value(json_array_get(site, 1)),
		.cookie = (uint64_t)json_integer_value(json_array_get(site, 2)),
		.index = (uint32_t)i,
		.removable = json_is_true(json_array_get(site, 3)),
		.has_returns = json_is_true(json_array_get(site, 4)),
	};
}

static void failed_name(const struct inspect_options *opt, enum site_kind kind, uint64_t cookie,
			json_t *failed)
{
	size_t row = POV_COOKIE_FUNC(cookie);

	if ((kind == SITE_CALL || kind == SITE_LEFT) && row < func_table_count())
		json_array_append_new(failed, json_string(func_table_get(row)->name));
	else if (kind == SITE_REGION && row < opt->region_cnt)
		json_array_append_new(failed, json_string(opt->region[row]));
}

/* Attaches cnt sites of one kind. */
static int run_attach(const struct inspect_options *opt, enum site_kind kind, pid_t pid,
		      bool unwinds, const char *path, struct link_site *v, size_t cnt,
		      struct links *links, json_t *failed)
{
	int err = 0;

	if (programs_of(opt, kind)->entry_fd < 0)
		return 0;
	sites_attach(opt, kind, pid, unwinds, path, v, cnt, links, &err);
	for (size_t i = 0; err && err != ESRCH && i < cnt; i++)
		if (v[i].failed)
			failed_name(opt, kind, v[i].cookie, failed);
	return err;
}

static bool numbers_have(const json_t *numbers, json_int_t number)
{
	const json_t *one;

	for (size_t at = 0; (one = json_array_get(numbers, at)); at++)
		if (json_integer_value(one) == number)
			return true;
	return false;
}

static bool is_chosen(const struct site_choice *choice, enum site_kind kind, const json_t *sites,
		      size_t i)
{
	struct link_site s = site_at(sites, i);
	json_int_t row = POV_COOKIE_FUNC(s.cookie);

	if (choice->sites)
		return numbers_have(choice->sites, (json_int_t)i);
	if (choice->rows)
		return kind == SITE_LEFT && numbers_have(choice->rows, row);
	if (s.removable && numbers_have(choice->without, row))
		return false;
	return kind == SITE_LEFT	 ? choice->left || numbers_have(choice->rows_too, row) :
	       kind == SITE_ASKED_LOADER ? choice->loader :
					   true;
}

/* bytes to compare after an entry probe: tools that replace functions overwrite their start */
#define BYTES_AFTER 16

/*
 * Returns true if no other tool has changed the code at a site. Only regions and MPI libraries are
 * compared. Loaders are not: a launched process has our jump in its loader until it executes the
 * program that gets the probe. In an MPI library all sites are compared, also the one in
 * MPI_Finalize where processes wait, because another recording may have put a jump there.
 */
static bool has_own_code(const struct site_choice *choice, enum site_kind kind,
			 const struct link_site *s)
{
	bool ends = POV_PLACE(s->cookie) & POV_PLACE_ENDS;

	if (!choice->library && kind != SITE_REGION)
		return true;
	return site_code_is_original(choice->code, s->offset, ends ? 0 : PROBE_SITE_SKIP_MAX,
				     ends ? 1 : BYTES_AFTER);
}

bool site_list_function(const json_t *sites, uint64_t from, uint64_t to, uint64_t *cookie)
{
	for (size_t i = 0; i < json_array_size(sites); i++) {
		enum site_kind kind = kind_at(sites, i);
		struct link_site s = site_at(sites, i);

		if ((kind == SITE_CALL || kind == SITE_LEFT) && s.offset >= from && s.offset < to &&
		    !(POV_PLACE(s.cookie) & POV_PLACE_ENDS)) {
			*cookie = s.cookie;
			return true;
		}
	}
	return false;
}

void site_list_count(const json_t *sites, size_t *own, size_t *left)
{
	for (size_t i = 0; i < json_array_size(sites); i++) {
		*left += kind_at(sites, i) == SITE_LEFT;
		*own += kind_at(sites, i) != SITE_LEFT && kind_at(sites, i) != SITE_ASKED_LOADER;
	}
}

int site_list_attach(const struct inspect_options *opt, const json_t *sites,
		     const struct site_choice *choice, pid_t pid, const char *path,
		     struct links *links, json_t *failed)
{
	size_t cnt = json_array_size(sites), n, run;
	struct link_site *v = xcalloc(cnt + 1, sizeof(*v));
	int err = 0, e;

	for (size_t at = choice->from; at < cnt && err != ESRCH; at += run) {
		enum site_kind kind = kind_at(sites, at);

		n = 0;
		for (run = 0; at + run < cnt && kind_at(sites, at + run) == kind; run++)
			if (is_chosen(choice, kind, sites, at + run)) {
				v[n] = site_at(sites, at + run);
				if (has_own_code(choice, kind, &v[n])) {
					n++;
					continue;
				}
				failed_name(opt, kind, v[n].cookie, failed);
				err = EUCLEAN;
			}
		e = n ? run_attach(opt, kind, pid, choice->unwinds, path, v, n, links, failed) : 0;
		if (e)
			err = e;
	}
	free(v);
	return err;
}
