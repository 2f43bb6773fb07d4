/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Describes processes to the collector: rank, settings, copies of data, who spawned them. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/json_get.h"
#include "lib/map.h"
#include "target/code_file.h"
#include "target/helper/helper_service.h"
#include "target/helper/inspect.h"
#include "target/mpi_world.h"
#include "target/proc.h"

/*
 * Computes where the program is loaded: the entry reported by the kernel minus the one in its file.
 */
static int exe_bias(pid_t pid, int exe, uint64_t *bias)
{
	uint64_t entry;
	Elf64_Ehdr h;

	if (pread(exe, &h, sizeof(h), 0) != sizeof(h) || proc_auxv_get(pid, AT_ENTRY, &entry))
		return -ENOEXEC;
	*bias = entry - h.e_entry;
	return 0;
}

/*
 * Returns [[name, address in the file]] of a program's copies of a library's objects. The same for
 * all ranks.
 */
static const json_t *copies_of(struct service *s, int exe, const json_t *copies)
{
	struct code_id id;
	struct stat st;
	uint64_t key;
	json_t *known;

	if (fstat(exe, &st))
		return NULL;
	id = code_id_of(&st);
	key = id.ino * 31 + id.stamp * 17 + id.dev + json_array_size(copies);
	known = map_get(&s->copied, key);
	if (!known) {
		known = inspect_copies(exe, copies);
		map_set(&s->copied, key, known);
	}
	return known;
}

static json_t *copied_json(struct service *s, pid_t pid, const json_t *copies)
{
	const json_t *known = NULL;
	json_t *out = json_array(), *row;
	char path[32];
	uint64_t bias = 0;
	size_t i;
	int exe;

	if (!json_array_size(copies))
		return out;
	snprintf(path, sizeof(path), "/proc/%d/exe", proc_memory_of(pid));
	exe = open(path, O_RDONLY | O_CLOEXEC);
	if (exe < 0)
		return out;
	if (!exe_bias(pid, exe, &bias))
		known = copies_of(s, exe, copies);
	json_array_foreach((json_t *)known, i, row)
	{
		uint64_t addr = strtoull(json_string_value(json_array_get(row, 1)), NULL, 16);

		json_array_append_new(out, json_pack("[O,o]", json_array_get(row, 0),
						     json_hex(addr + bias)));
	}
	close(exe);
	return out;
}

static void settings_put(json_t *process, pid_t pid)
{
	unsigned int left_out;
	json_t *settings = proc_settings_read(pid, &left_out);

	if (!settings)
		return;
	json_object_set_new(process, "settings", settings);
	if (left_out)
		json_set_int(process, "settings_left_out", left_out);
}

/* Returns true if a forked process has its parent's copy of an initialised MPI. */
static bool is_copied(struct service *s, pid_t pid, const json_t *copied)
{
	struct mpi_world parents;

	return proc_is_fork(pid) && !mpi_world_ask(&s->worlds, proc_parent(pid), copied, &parents);
}

static json_t *rank_json(const struct proc_rank *r)
{
	return json_pack("{s:s,s:i,s:i,s:s}", "launcher", r->launcher, "rank", r->rank, "size",
			 r->size, "job", r->job);
}

/*
 * Describes how a launcher started a process that is alone according to MPI. "use" is the launcher
 * of its MPI, if it is installed under Debian's name.
 */
static json_t *started_json(const struct proc_rank *r, const char *flavour)
{
	static const char *const dirs[] = {"/usr/local/bin", "/usr/bin"};
	json_t *o = rank_json(r);
	char path[128];

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(path, sizeof(path), "%s/mpirun.%s", dirs[i], flavour);
		if (!access(path, X_OK))
			json_object_set_new(o, "use", json_string(strrchr(path, '/') + 1));
	}
	return o;
}

/*
 * Describes the rank. MPI's own answer has priority. Until MPI can answer, the environment gives a
 * `hint`, which helps if the process ends before it can be asked. `started` describes how a
 * launcher started a process that is alone according to MPI.
 */
static void rank_put(struct service *s, json_t *process, pid_t pid, const json_t *request)
{
	const json_t *copied = json_object_get(process, "copied");
	struct proc_rank rank = {-1, -1, "", ""}, other = {-1, -1, "", ""};
	bool began = json_get_bool(request, "began"), known, believed;
	struct mpi_world world;
	json_t *ranks;
	int err = mpi_world_ask(&s->worlds, pid, copied, &world);

	known = !err && (began || !is_copied(s, pid, copied));
	/*
	 * For a process that was already running and that cannot be asked, the environment is all
	 * there is.
	 */
	believed = began ||
		   (err == -ENOTSUP && json_get_bool(request, "ran") && !proc_is_fork(pid));
	proc_rank_read(pid, world.flavour, &rank, &other);
	json_object_set_new(process, "hint", rank_json(&rank));
	if (!known && !believed)
		rank = (struct proc_rank){-1, -1, "", ""};
	if (known && rank.size > 1 && world.size == 1)
		other = rank;
	else if (known && world.size == 1 && *rank.job && strcmp(rank.launcher, "singleton"))
		json_object_set_new(process, "launcher_job", json_string(rank.job));
	if (known && (world.size == 1 || rank.size != world.size))
		proc_rank_of(pid, world.flavour, world.rank, world.size, &rank);
	else if (known)
		rank.rank = world.rank;
	ranks = rank_json(&rank);
	json_object_update(process, ranks);
	json_decref(ranks);
	json_object_set_new(process, "initialised", json_boolean(known || believed));
	json_object_set_new(process, "rank_by",
			    json_string(known	 ? "mpi" :
					believed ? "environment" :
						   ""));
	if (known && world.size == 1 && other.size > 1)
		json_object_set_new(process, "started", started_json(&other, world.flavour));
}

static void spawned_put(json_t *process, pid_t pid)
{
	struct proc_rank root;
	json_t *by;

	if (!proc_spawned_by(pid, &root))
		return;
	by = json_object();
	if (root.rank >= 0) {
		json_object_set_new(by, "job", json_string(root.job));
		json_object_set_new(by, "rank", json_integer(root.rank));
	}
	json_object_set_new(process, "spawned_by", by);
}

void service_process(struct service *s, const json_t *request)
{
	pid_t pid = (pid_t)json_get_int(request, "pid");
	json_t *m = proc_describe(pid);

	json_object_set_new(m, "copied", copied_json(s, pid, json_object_get(request, "copies")));
	rank_put(s, m, pid, request);
	if (json_get_bool(m, "initialised")) {
		spawned_put(m, pid);
		settings_put(m, pid);
	}
	if (proc_stdout(pid))
		json_object_set_new(m, "stdout", json_string(proc_stdout(pid)));
	service_send(s, json_pack("{s:b,s:o}", "done", 1, "process", m));
}
