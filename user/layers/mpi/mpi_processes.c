/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Makes a struct mpi_process from the trace's meta objects. A process's "process" objects are kept
 * in time order. The struct is made when the first call of a library is decoded, from the object
 * that is valid then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "layers/layer.h"
#include "layers/mpi/mpi_process.h"
#include "layers/mpi/mpi_comm_internal.h"
#include "trace/trace_join.h"

#define HANDLE_BYTES_MAX 8
#define STATUS_BYTES_MAX 128

struct library {
	json_t *meta;
	const struct mpi_flavour_info *flavour;
	uint32_t handle_bytes, status_bytes;
	struct library *older; /* a replaced one with the same id: names in use point into it */
};

/* A "process" meta object. */
struct block {
	uint64_t ts_ns;
	json_t *meta;
};

struct process_blocks {
	struct block *blocks; /* sorted by ts_ns */
	size_t cnt, at;	      /* at: index of the valid one */
};

struct entry {
	struct mpi_process process;
	/* meta object from which it was made; NULL if there was none */
	const json_t *block;
	struct process_blocks *blocks; /* NULL if no meta object describes the process */
	uint64_t key;
};

#define RECENT_CNT 64 /* a power of two */

struct mpi_processes {
	struct map libraries; /* id -> struct library */
	struct map processes; /* pid -> struct process_blocks */
	struct map entries;   /* pid, library id -> struct entry */
	struct mpi_comms *comms;
	bool one_clock;			  /* no meta object of several hosts has come */
	struct entry *recent[RECENT_CNT]; /* cache of recently used entries, by process */
};

struct mpi_processes *mpi_processes_new(void)
{
	struct mpi_processes *s = xcalloc(1, sizeof(*s));

	s->comms = mpi_comms_new();
	s->one_clock = true;
	return s;
}

static void library_free(void *value)
{
	struct library *older;

	for (struct library *l = value; l; l = older) {
		older = l->older;
		json_decref(l->meta);
		free(l);
	}
}

static void blocks_free(void *value)
{
	struct process_blocks *p = value;

	for (size_t i = 0; i < p->cnt; i++)
		json_decref(p->blocks[i].meta);
	free(p->blocks);
	free(p);
}

static void entry_free(void *value)
{
	struct entry *e = value;

	if (e)
		mpi_process_release(&e->process);
	free(e);
}

void mpi_processes_free(struct mpi_processes *s)
{
	if (!s)
		return;
	map_free(&s->entries, entry_free);
	map_free(&s->processes, blocks_free);
	map_free(&s->libraries, library_free);
	mpi_comms_free(s->comms);
	free(s);
}

/* Reads a number, or its text "0x…". */
static bool json_u64(const json_t *v, uint64_t *out)
{
	const char *text = json_string_value(v);
	char *end;

	if (json_is_integer(v)) {
		*out = json_integer_value(v);
		return true;
	}
	if (!text || !*text)
		return false;
	errno = 0;
	*out = strtoull(text, &end, 0);
	return !*end && !errno;
}

static int64_t json_int(const json_t *obj, const char *key, int64_t dflt)
{
	const json_t *v = json_object_get(obj, key);

	return json_is_integer(v) ? json_integer_value(v) : dflt;
}

static void meta_library(struct mpi_processes *s, const json_t *meta)
{
	const json_t *layout = json_object_get(meta, "layout");
	int64_t id = json_int(meta, "id", -1), bytes;
	struct library *l;

	if (id < 0 || id > UINT16_MAX)
		return;
	l = xcalloc(1, sizeof(*l));
	l->meta = json_incref((json_t *)meta);
	l->flavour = mpi_flavour_find(json_get_text(meta, "flavour"));
	l->handle_bytes = l->flavour->handle_bytes;
	l->status_bytes = l->flavour->status_bytes;
	bytes = json_int(layout, "handle_bytes", 0);
	if (bytes == 4 || bytes == HANDLE_BYTES_MAX)
		l->handle_bytes = bytes;
	bytes = json_int(layout, "status_bytes", 0);
	if (bytes >= l->flavour->status_bytes && bytes <= STATUS_BYTES_MAX)
		l->status_bytes = bytes;
	l->older = map_set(&s->libraries, id, l);
}

static void meta_process(struct mpi_processes *s, const json_t *meta)
{
	int64_t pid = json_int(meta, "pid", -1);
	struct process_blocks *p;
	uint64_t ts = 0;
	size_t i;

	if (pid < 0 || pid > UINT32_MAX)
		return;
	json_u64(json_object_get(meta, "ts_ns"), &ts);
	p = map_get(&s->processes, pid);
	if (!p) {
		p = xcalloc(1, sizeof(*p));
		map_set(&s->processes, pid, p);
	}
	p->blocks = xrealloc(p->blocks, (p->cnt + 1) * sizeof(*p->blocks));
	for (i = p->cnt; i > 0 && p->blocks[i - 1].ts_ns > ts; i--)
		p->blocks[i] = p->blocks[i - 1];
	p->blocks[i] = (struct block){ts, json_incref((json_t *)meta)};
	p->cnt++;
}

/* Numbers the jobs in the order of names, whichever of them calls first. */
static void jobs_number(struct mpi_processes *s, const json_t *names)
{
	const json_t *name;
	size_t i;

	json_array_foreach(names, i, name) mpi_comms_job(s->comms, json_string_value(name), 0);
}

static void jobs_spawned(struct mpi_processes *s, const json_t *rows)
{
	const json_t *row;
	size_t job;

	json_array_foreach(rows, job, row) if (json_is_object(row))
	{
		const struct mpi_spawned spawned = {
			.job = (int32_t)job,
			.size = (int32_t)json_int(row, "size", -1),
			.from_ns = json_get_u64(row, "from_ns"),
			.to_ns = json_get_u64(row, "to_ns"),
			.root = {(int32_t)json_int(row, "root_job", -1),
				 (int32_t)json_int(row, "root_rank", -1)},
		};

		mpi_spawned_add(s->comms, &spawned);
	}
}

void mpi_processes_meta(struct mpi_processes *s, const json_t *meta)
{
	memset(s->recent, 0, sizeof(s->recent));
	if (json_is_type(meta, "library"))
		meta_library(s, meta);
	else if (json_is_type(meta, "process"))
		meta_process(s, meta);
	else if (json_is_type(meta, "jobs")) {
		jobs_number(s, json_object_get(meta, "names"));
		jobs_spawned(s, json_object_get(meta, "spawned"));
	} else if (json_is_type(meta, "hosts"))
		s->one_clock = json_array_size(json_object_get(meta, "rows")) < 2;
}

/* Moves on to the block that is valid at a time. Calls come almost in time order. */
static const json_t *process_block(struct process_blocks *p, uint64_t ts_ns)
{
	if (!p)
		return NULL;
	while (p->at + 1 < p->cnt && p->blocks[p->at + 1].ts_ns <= ts_ns)
		p->at++;
	return p->blocks[p->at].meta;
}

/* True if the library is mapped in the process; *bias: address minus address in the file. */
static bool block_bias(const json_t *block, uint16_t lib, uint64_t *bias)
{
	const json_t *libs = json_object_get(block, "libs"), *l;
	size_t i;

	json_array_foreach(libs, i, l) if (json_int(l, "id", -1) ==
					   lib) return json_u64(json_object_get(l, "bias"), bias);
	return false;
}

static bool same_member(const json_t *a, const json_t *b, const char *key)
{
	const json_t *va = json_object_get(a, key), *vb = json_object_get(b, key);

	return va == vb || json_equal(va, vb); /* json_equal() does not take two NULLs as equal */
}

/* True if b is a later block of the same image, written because one more library was mapped. */
static bool same_image(const json_t *a, const json_t *b, uint16_t lib)
{
	uint64_t bias_a = 0, bias_b = 0;

	if (a == b)
		return true;
	return a && b && block_bias(a, lib, &bias_a) == block_bias(b, lib, &bias_b) &&
	       bias_a == bias_b && same_member(a, b, "exe") && same_member(a, b, "cmdline");
}

static void name_add(struct mpi_process *s, const char *name, uint64_t value, int64_t bytes)
{
	struct mpi_predefined *p;

	if (!strcmp(name, "MPI_REQUEST_NULL"))
		s->request_null = value;
	else if (!strcmp(name, "ompi_request_empty"))
		s->request_empty = value;
	else if (!strcmp(name, "MPI_DATATYPE_NULL"))
		s->type_null = value;
	else if (!strcmp(name, "MPI_COMM_NULL"))
		s->comm_null = value;
	if (map_get(&s->named, value)) /* an alias: the first name stays */
		return;
	p = xmalloc(sizeof(*p));
	p->name = name;
	p->bytes = bytes > 0 ? bytes : -1;
	map_set(&s->named, value, p);
}

/* True if an object was copied into the executable; then it is used there, not in the library. */
static bool copied_to(const json_t *block, const char *name, uint64_t *address)
{
	const json_t *pair;
	size_t i;

	json_array_foreach(json_object_get(block, "copied"), i, pair)
	{
		const char *n = json_string_value(json_array_get(pair, 0));

		if (n && !strcmp(n, name))
			return json_u64(json_array_get(pair, 1), address);
	}
	return false;
}

static void names_fill(struct mpi_process *s, const struct library *l, uint16_t lib,
		       const json_t *block)
{
	bool moved = l->flavour->handles_are_addresses;
	uint64_t bias = 0, value;
	const json_t *row;
	bool placed = block_bias(block, lib, &bias);
	size_t i;

	json_array_foreach(json_object_get(l->meta, "named"), i, row)
	{
		const char *name = json_string_value(json_array_get(row, 0));
		int64_t bytes = json_integer_value(json_array_get(row, 2));

		if (!name || !json_u64(json_array_get(row, 1), &value))
			continue;
		if (moved && copied_to(block, name, &value))
			name_add(s, name, value, bytes);
		else if (!moved || placed)
			name_add(s, name, moved ? value + bias : value, bytes);
	}
}

/* False for Open MPI 5, which has local ids beside those on which all members agree. */
static bool contexts_agree(const json_t *library)
{
	const char *version = json_get_text(library, "version");

	return !strcmp(json_get_text(library, "flavour"), "openmpi") && *version >= '1' &&
	       *version <= '4' && version[1] == '.';
}

static struct entry *entry_new(struct mpi_processes *s, uint32_t pid, uint16_t lib,
			       const json_t *block)
{
	struct library *l = map_get(&s->libraries, lib);
	struct entry *e = xcalloc(1, sizeof(*e));

	mpi_process_init(&e->process, l ? l->flavour : mpi_flavour_find(""));
	e->block = block;
	e->process.world_rank = json_int(block, "rank", -1);
	e->process.world_size = json_int(block, "size", -1);
	e->process.trace_comms = s->comms;
	e->process.job = mpi_comms_job(s->comms, json_get_text(block, "job"), pid);
	e->process.host = trace_host_of(pid);
	e->process.one_clock = s->one_clock;
	if (!l)
		return e;
	e->process.contexts_agree = contexts_agree(l->meta);
	e->process.handle_bytes = l->handle_bytes;
	e->process.status_bytes = l->status_bytes;
	names_fill(&e->process, l, lib, block);
	return e;
}

/* Keeps what was learned; sets job, rank and size, which may be known only now. */
static void entry_continue(struct mpi_processes *s, struct entry *e, uint32_t pid,
			   const json_t *block)
{
	e->block = block;
	mpi_process_world_set(&e->process,
			      mpi_comms_job(s->comms, json_get_text(block, "job"), pid),
			      json_int(block, "rank", e->process.world_rank),
			      json_int(block, "size", e->process.world_size));
}

/* The entry of a process and library; made or replaced if necessary. */
static struct entry *entry_find(struct mpi_processes *s, uint32_t pid, uint16_t lib, uint64_t key,
				uint64_t ts_ns)
{
	struct process_blocks *blocks = map_get(&s->processes, pid);
	const json_t *block = process_block(blocks, ts_ns);
	struct entry *e = map_get(&s->entries, key);

	if (e && e->block != block && same_image(e->block, block, lib))
		entry_continue(s, e, pid, block);
	if (!e || e->block != block) {
		entry_free(e);
		e = entry_new(s, pid, lib, block);
		map_set(&s->entries, key, e);
	}
	e->key = key;
	e->blocks = blocks;
	return e;
}

struct mpi_process *mpi_processes_get(struct mpi_processes *s, uint32_t pid, uint16_t lib,
				      uint64_t ts_ns)
{
	uint64_t key = (uint64_t)pid << 16 | lib;
	struct entry **recent = &s->recent[pid % RECENT_CNT];

	if (!*recent || (*recent)->key != key ||
	    (*recent)->block != process_block((*recent)->blocks, ts_ns))
		*recent = entry_find(s, pid, lib, key, ts_ns);
	return &(*recent)->process;
}
