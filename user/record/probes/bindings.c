/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * If the table has no room for a step, the step is left out. Calls of that function then get a call
 * site in the binding instead of in the program.
 */
#include "record/probes/bindings.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "target/code_file.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "record/kernel.h"

/* Adds a step to the table. A concurrent reader sees the whole step or none of it. */
static bool step_put(struct pov_step *table, uint16_t file, uint32_t offset, uint16_t words)
{
	uint32_t place = POV_STEP_PLACE(file, offset);

	for (uint32_t i = 0; i < POV_STEP_TRIES; i++) {
		struct pov_step *s = &table[(place + i) % POV_STEPS];

		if (s->words)
			continue;
		s->offset = offset;
		s->file = file;
		__atomic_store_n(&s->words, words, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

/* Adds a file's steps: [offset, words, offset, words, …]. */
static void steps_put(struct bindings *b, const json_t *steps)
{
	size_t cnt = json_array_size(steps) / 2, left_out = 0;

	for (size_t i = 0; i < cnt; i++) {
		uint32_t offset = (uint32_t)json_integer_value(json_array_get(steps, 2 * i));
		uint16_t words = (uint16_t)json_integer_value(json_array_get(steps, 2 * i + 1));

		if (b->step_cnt < POV_STEPS / 2 &&
		    step_put(b->kernel->binding_steps, b->file_cnt, offset, words))
			b->step_cnt++;
		else
			left_out++;
	}
	if (left_out)
		log_debug("bindings: no room for %zu of %zu steps", left_out, cnt);
}

static void file_number(struct bindings *b, struct code_file *f)
{
	if (f->binding_number || b->file_cnt == UINT8_MAX)
		return;
	f->binding_number = ++b->file_cnt;
	steps_put(b, json_object_get(f->binding, "steps"));
}

/*
 * Removes ranges that overlap [start, end). Keeps the array dense, because readers stop at the
 * first free entry.
 */
static bool range_drop(struct pov_bindings *v, uint64_t start, uint64_t end)
{
	unsigned int kept = 0, i;

	for (i = 0; i < POV_BINDINGS_MAX && v->v[i].bytes; i++)
		if (v->v[i].start >= end || v->v[i].start + v->v[i].bytes <= start)
			v->v[kept++] = v->v[i];
	if (kept == i)
		return false;
	memset(&v->v[kept], 0, (POV_BINDINGS_MAX - kept) * sizeof(v->v[0]));
	return true;
}

static bool range_add(struct pov_bindings *v, const struct pov_binding *one)
{
	for (unsigned int i = 0; i < POV_BINDINGS_MAX; i++) {
		if (v->v[i].bytes)
			continue;
		v->v[i] = *one;
		return true;
	}
	return false;
}

/*
 * Writes a process's bindings to the BPF map. BPF programs read the map again when the change
 * counter differs.
 */
static void process_bindings_store(const struct bindings *b, uint32_t pid,
				   const struct pov_bindings *v)
{
	int err = v ? bpf_map_update_elem(b->kernel->bindings_fd, &pid, v, BPF_ANY) :
		      bpf_map_delete_elem(b->kernel->bindings_fd, &pid);

	if (err && errno != ENOENT)
		log_debug("cannot store the bindings of process %u: %s", pid, strerror(errno));
	__atomic_fetch_add(b->kernel->bindings_changes, 1, __ATOMIC_RELEASE);
}

static bool file_add(struct bindings *b, pid_t pid, struct code_file *f, uint64_t start,
		     uint64_t off)
{
	struct pov_binding one = {.bytes = (uint32_t)json_get_u64(f->binding, "bytes")};
	uint64_t bias;

	if (code_file_bias(f, start, off, &bias))
		return false;
	file_number(b, f);
	one.file = f->binding_number;
	one.start = bias + json_get_u64(f->binding, "address");
	return one.file &&
	       range_add(map_make(&b->by_pid, (uint64_t)pid, sizeof(struct pov_bindings)), &one);
}

void bindings_map(struct bindings *b, pid_t pid, struct code_file *f, uint64_t start,
		  uint64_t bytes, uint64_t off)
{
	struct pov_bindings *v = map_get(&b->by_pid, (uint64_t)pid);
	bool changed = v && range_drop(v, start, start + bytes);

	changed |= f->binding && file_add(b, pid, f, start, off);
	if (changed)
		process_bindings_store(b, (uint32_t)pid, map_get(&b->by_pid, (uint64_t)pid));
}

void bindings_fork(struct bindings *b, pid_t parent, pid_t child)
{
	const struct pov_bindings *v = map_get(&b->by_pid, (uint64_t)parent);

	bindings_gone(b, child);
	if (!v)
		return;
	*(struct pov_bindings *)map_make(&b->by_pid, (uint64_t)child, sizeof(*v)) = *v;
	process_bindings_store(b, (uint32_t)child, v);
}

void bindings_gone(struct bindings *b, pid_t pid)
{
	struct pov_bindings *v = map_remove(&b->by_pid, (uint64_t)pid);

	if (v)
		process_bindings_store(b, (uint32_t)pid, NULL);
	free(v);
}

void bindings_get(const struct bindings *b, pid_t pid, struct pov_bindings *out,
		  struct pov_step *step)
{
	const struct pov_bindings *v = map_get(&b->by_pid, (uint64_t)pid);

	*out = v ? *v : (struct pov_bindings){0};
	if (v)
		memcpy(step, b->kernel->binding_steps, POV_STEPS * sizeof(*step));
}

void bindings_release(struct bindings *b)
{
	map_free(&b->by_pid, free);
}
