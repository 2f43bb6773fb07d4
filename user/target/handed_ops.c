/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The addresses of these objects are unknown, so all memory that a program has allocated and used
 * is searched. Each word is tested: could an object begin there with all its pointers leading into
 * one library's code? Few words pass, and these are examined further. The heap comes first, then
 * the mappings from small to large: libraries allocate little memory, and large mappings are mostly
 * a program's arrays.
 */
#include "target/handed_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/helper/library_kind.h"
#include "lib/log.h"
#include "lib/file.h"
#include "lib/table.h"
#include "target/proc.h"

#define PAGE_BYTES 4096 /* on x86-64 */
#define CHUNK_PAGES 256
#define CHUNK_BYTES ((size_t)CHUNK_PAGES * PAGE_BYTES)
#define READ_BYTES_MAX (256ull << 20)  /* limit per process, which takes 0.1 s */
#define MAPPED_BYTES_MAX (32ull << 30) /* limit of mapped bytes, most of which may be unused */
#define PAGE_IN_USE (3ull << 62)       /* bits in a word of pagemap: page is in memory or swapped */
#define PLACES_MAX 1024

struct mapping {
	uint64_t start, end;
	bool is_heap;
};

struct scan {
	struct handed_ops_memory memory;
	uint64_t text_start, text_end; /* range of all code, including gaps */
	int pagemap_fd;
	const struct library_kind *kind;
	uint64_t read_bytes, mapped_bytes, left_bytes;
	json_t *places;
	uint8_t buf[CHUNK_BYTES + PAGE_BYTES]; /* an object may extend past the chunk */
};

/* ---- access for library kinds ---- */

bool handed_ops_read(const struct handed_ops_memory *m, uint64_t addr, void *buf, size_t bytes)
{
	return addr <= INT64_MAX && pread(m->fd, buf, bytes, (off_t)addr) == (ssize_t)bytes;
}

const struct handed_ops_text *handed_ops_text_of(const struct handed_ops_memory *m, uint64_t addr)
{
	return table_where(m->text, m->text_cnt, i,
			   addr >= m->text[i].start && addr < m->text[i].end);
}

/* ---- objects ---- */

static void place_add(json_t *places, const char *name, uint64_t addr)
{
	json_t *known;
	size_t i;

	json_array_foreach(places, i, known)
	{
		if ((uint64_t)json_integer_value(json_array_get(known, 1)) == addr &&
		    !strcmp(json_string_value(json_array_get(known, 0)), name))
			return;
	}
	if (json_array_size(places) < PLACES_MAX)
		json_array_append_new(places, json_pack("[s,I]", name, (json_int_t)addr));
}

static void object_look(struct scan *s, const struct handed_ops_object *kind, const uint8_t *object)
{
	const struct handed_ops_text *text = handed_ops_text_of(&s->memory,
								u64_at(object + kind->always[0]));

	for (size_t i = 1; i < HELD_ALWAYS && kind->always[i]; i++)
		if (handed_ops_text_of(&s->memory, u64_at(object + kind->always[i])) != text)
			return;
	if (!text || !kind->is_one(&s->memory, object))
		return;
	for (size_t i = 0; i < kind->functions->cnt; i++) {
		uint64_t function = u64_at(object + kind->functions->member[i].offset);

		if (handed_ops_text_of(&s->memory, function) == text)
			place_add(s->places, kind->functions->member[i].name, function);
	}
}

/* ---- memory ---- */

static void pages_read(struct scan *s, uint64_t start, size_t first, size_t cnt)
{
	if (handed_ops_read(&s->memory, start + first * PAGE_BYTES, s->buf + first * PAGE_BYTES,
			    cnt * PAGE_BYTES))
		s->read_bytes += cnt * PAGE_BYTES;
}

/*
 * Reads a chunk into buf, with zeros where the process has never written. False if it has no
 * readable page in use.
 */
static bool chunk_read(struct scan *s, uint64_t start, size_t pages)
{
	uint64_t word[CHUNK_PAGES + 1], before = s->read_bytes;
	ssize_t n = pread(s->pagemap_fd, word, pages * sizeof(*word),
			  (off_t)(start / PAGE_BYTES * sizeof(*word)));
	size_t known = n > 0 ? (size_t)n / sizeof(*word) : 0, used = 0;

	for (size_t i = 0; i < known; i++)
		used += (word[i] & PAGE_IN_USE) != 0;
	if (!used)
		return false;
	memset(s->buf, 0, pages * PAGE_BYTES);
	for (size_t i = 0, end; i < known; i = end + 1) {
		for (end = i; end < known && word[end] & PAGE_IN_USE;)
			end++;
		if (end > i)
			pages_read(s, start, i, end - i);
	}
	return s->read_bytes > before;
}

/* A fast test, because most words do not point to code. */
static bool may_be_function(const struct scan *s, uint64_t word)
{
	return word >= s->text_start && word < s->text_end;
}

static void chunk_scan(struct scan *s, uint64_t start, uint64_t end)
{
	size_t room = end - start < sizeof(s->buf) ? end - start : sizeof(s->buf);
	size_t first = room < CHUNK_BYTES ? room : CHUNK_BYTES;

	if (!chunk_read(s, start, room / PAGE_BYTES))
		return;
	for (const struct handed_ops_object *kind = s->kind->handed_ops; kind->functions; kind++)
		for (size_t at = 0; at < first && at + kind->bytes <= room; at += sizeof(uint64_t))
			if (may_be_function(s, u64_at(s->buf + at + kind->always[0])))
				object_look(s, kind, s->buf + at);
}

static void mapping_scan(struct scan *s, const struct mapping *m)
{
	uint64_t at = m->start;

	s->mapped_bytes += m->end - m->start;
	if (s->mapped_bytes <= MAPPED_BYTES_MAX)
		for (; at < m->end && s->read_bytes < READ_BYTES_MAX; at += CHUNK_BYTES)
			chunk_scan(s, at, m->end);
	s->left_bytes += at < m->end ? m->end - at : 0;
}

/* Parses a line of maps. True for memory that programs allocate. */
static bool mapping_parse(const char *line, struct mapping *out)
{
	unsigned long long ino;
	char perm[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %llu %n", &out->start, &out->end,
		   perm, &ino, &at) != 4)
		return false;
	out->is_heap = !strcmp(line + at, "[heap]");
	return !strncmp(perm, "rw-p", 4) && !ino &&
	       (!line[at] || out->is_heap || !strncmp(line + at, "[anon:", 6));
}

TABLE_ORDER(mapping_compare, struct mapping, table_compare(b->is_heap, a->is_heap),
	    table_compare(a->end - a->start, b->end - b->start))

/* Reads the mappings, in the order of the search. NULL with errno. */
static struct mapping *mappings_read(pid_t pid, size_t *cnt)
{
	struct mapping *v = NULL;
	size_t len;
	char *text = proc_file_read(proc_memory_of(pid), "maps", SIZE_MAX, &len), *rest;

	if (!text)
		return NULL;
	*cnt = 0;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!mapping_parse(line, table_append(v, *cnt)))
			(*cnt)--;
	}
	free(text);
	if (*cnt)
		qsort(v, *cnt, sizeof(*v), mapping_compare);
	return v;
}

static int memory_open(pid_t pid, const char *name)
{
	char path[48];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", proc_memory_of(pid), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void memory_close(struct scan *s)
{
	if (s->memory.fd >= 0)
		close(s->memory.fd);
	if (s->pagemap_fd >= 0)
		close(s->pagemap_fd);
}

static struct scan *scan_new(pid_t pid, const struct library_kind *kind,
			     const struct handed_ops_text *text, size_t text_cnt, json_t *places)
{
	struct scan *s = xcalloc(1, sizeof(*s));

	s->memory = (struct handed_ops_memory){memory_open(pid, "mem"), text, text_cnt};
	s->pagemap_fd = memory_open(pid, "pagemap");
	s->kind = kind;
	s->places = places;
	s->text_start = UINT64_MAX;
	for (size_t i = 0; i < text_cnt; i++) {
		if (text[i].start < s->text_start)
			s->text_start = text[i].start;
		if (text[i].end > s->text_end)
			s->text_end = text[i].end;
	}
	return s;
}

int handed_ops_find(pid_t pid, const struct library_kind *kind, const struct handed_ops_text *text,
		    size_t text_cnt, json_t *places, uint64_t *left_bytes)
{
	struct scan *s = scan_new(pid, kind, text, text_cnt, places);
	struct mapping *v = NULL;
	size_t cnt = 0;
	int err = 0;

	if (s->memory.fd < 0 || s->pagemap_fd < 0)
		err = s->memory.fd < 0 ? s->memory.fd : s->pagemap_fd;
	else if (!(v = mappings_read(pid, &cnt)))
		err = -errno;
	for (size_t i = 0; i < cnt; i++)
		mapping_scan(s, &v[i]);
	if (!err)
		*left_bytes = s->left_bytes;
	memory_close(s);
	free(v);
	free(s);
	return err;
}
