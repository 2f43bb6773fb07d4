/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Interprets MPI_Comm_rank and MPI_Comm_size for MPI_COMM_WORLD. In a library that is not
 * initialised, they call the error handler; if they do not check this, they find a communicator
 * without members. Either shows that the process has no rank yet.
 */
#include "target/mpi_world.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/code_file.h"
#include "target/proc.h"
#include "lib/file.h"
#include "lib/json_get.h"
#include "target/elf/elf_file.h"
#include "target/x86/x86_code.h"
#include "target/x86/x86_run.h"

struct asking {
	struct mpi_worlds *worlds;
	const json_t *copied;
	int memory; /* memory of the process */
	struct mpi_world *out;
	int err;
};

static int memory_read(void *ctx, uint64_t addr, void *to, size_t bytes)
{
	const struct asking *a = ctx;
	ssize_t n = pread(a->memory, to, bytes, (off_t)addr);

	return n == (ssize_t)bytes ? 0 : n < 0 ? -errno : -EFAULT;
}

/* Finds the value in the row [name, "0x…", …] of this name. */
static bool value_find(const json_t *rows, const char *name, uint64_t *value)
{
	const json_t *row;
	const char *n, *text;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		n = json_string_value(json_array_get(row, 0));
		text = json_string_value(json_array_get(row, 1));
		if (!n || !text || strcmp(n, name))
			continue;
		*value = strtoull(text, NULL, 0);
		return true;
	}
	return false;
}

/* Finds the handle of MPI_COMM_WORLD in the process. */
static bool world_find(const struct asking *a, const json_t *library, uint64_t bias,
		       uint64_t *handle)
{
	static const char name[] = "MPI_COMM_WORLD";
	bool is_pointer = json_get_bool(json_object_get(library, "layout"), "handle_is_pointer");

	if (is_pointer && value_find(a->copied, name, handle))
		return true;
	if (!value_find(json_object_get(library, "named"), name, handle))
		return false;
	*handle += is_pointer ? bias : 0;
	return true;
}

static int question_ask(const struct asking *a, const struct elf_file *f, const char *function,
			uint64_t bias, uint64_t handle, int32_t *number)
{
	const struct x86_memory memory = {memory_read, (void *)a, bias};
	const struct elf_symbol *sym[2];
	unsigned int cnt = elf_file_find_mpi(f, function, sym);

	return cnt ? x86_run_question(f, &memory, sym[0]->addr, handle, number) : -ENOTSUP;
}

static int library_ask(struct asking *a, const struct elf_file *f, const json_t *library,
		       uint64_t bias)
{
	int32_t rank = -1, size = -1;
	uint64_t handle = 0;
	bool can = X86_IS_THIS_MACHINE && world_find(a, library, bias, &handle);
	int err = can ? 0 : -ENOTSUP;

	err = err ?: question_ask(a, f, "MPI_Comm_rank", bias, handle, &rank);
	err = err ?: question_ask(a, f, "MPI_Comm_size", bias, handle, &size);
	if (err)
		return err == -ENOTSUP ? err : -ENOENT;
	if (rank < 0 || rank >= size)
		return -ENOENT;
	a->out->rank = rank;
	a->out->size = size;
	return 0;
}

static const struct elf_file *file_of(struct mpi_worlds *w, const struct library_place *at)
{
	uint64_t key = at->file->lib->id + 1u;
	struct elf_file *f = map_get(&w->opened, key);
	char path[96];
	int mount, err;

	if (f)
		return f;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 proc_memory_of(at->pid), at->map->start, at->map->end);
	mount = file_own_mount(path); /* the file stays open */
	if (mount >= 0)
		snprintf(path, sizeof(path), "/proc/self/fd/%d", mount);
	err = elf_file_open(path, &f);
	if (mount >= 0)
		close(mount);
	if (err)
		return NULL;
	map_set(&w->opened, key, f);
	return f;
}

static void on_place(void *ctx, const struct library_place *at)
{
	const struct library *lib = at->file->lib;
	const struct elf_file *f;
	struct asking *a = ctx;

	if (!a->err || !library_has_layer(lib, "mpi"))
		return;
	f = file_of(a->worlds, at);
	if (f)
		a->err = library_ask(a, f, lib->meta, at->bias);
	if (!a->err || !a->out->flavour)
		a->out->flavour = json_get_text(lib->meta, "flavour");
}

/* memory: number under which /proc shows the process's memory */
static int memory_ask(struct mpi_worlds *w, pid_t pid, pid_t memory, const json_t *copied,
		      struct mpi_world *out)
{
	struct asking a = {.worlds = w, .copied = copied, .out = out, .err = -ENOENT};
	char path[32];

	*out = (struct mpi_world){-1, -1, NULL};
	snprintf(path, sizeof(path), "/proc/%d/mem", memory);
	a.memory = open(path, O_RDONLY | O_CLOEXEC);
	if (a.memory < 0)
		return -errno;
	library_places_each(w->files, pid, on_place, &a);
	close(a.memory);
	return a.err;
}

int mpi_world_ask(struct mpi_worlds *w, pid_t pid, const json_t *copied, struct mpi_world *out)
{
	pid_t memory = proc_memory_of(pid), now;
	int err = memory_ask(w, pid, memory, copied, out);

	if (!err)
		return 0;
	now = proc_memory_of(pid); /* the first thread may just have ended */
	return now == memory ? err : memory_ask(w, pid, now, copied, out);
}
