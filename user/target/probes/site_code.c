/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A process that writes to its code gets its own copy of the page, which /proc/PID/pagemap shows.
 * Only code in such pages is read and compared.
 */
#include "target/probes/site_code.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/table.h"
#include "target/proc.h"

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

bool site_code_is_original(const struct site_code *c, uint64_t offset, uint64_t before,
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
