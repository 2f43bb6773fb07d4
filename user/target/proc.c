/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Reads /proc: mappings, environment, relatives. It does not decide what to trace. */
#include "target/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/file.h"
#include "lib/table.h"
#include "lib/text.h"

#define TEXT_BYTES_MAX (4u << 20) /* environment and command line are cut at this length */
#define ANCESTORS_MAX 64	  /* levels between a rank and its launcher */
#define THREADS_LOOKED_AT 64

/* Parses a line of maps. True for an executable mapping of a file. */
static bool parse_map(char *line, struct proc_map *out)
{
	unsigned long long start, end, off, ino;
	const char *access = strchr(line, ' ');
	unsigned int major, minor;
	char perm[5];
	int at = 0;

	if (!access ||
	    /* most are not executable: this saves time with hundreds of processes */
	    access[3] != 'x')
		return false;
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, perm, &off, &major,
		   &minor, &ino, &at) != 7)
		return false;
	if (!ino || line[at] != '/')
		return false;
	out->start = start;
	out->end = end;
	out->off = off;
	out->ino = ino;
	out->dev = major << 20 | minor;
	out->path = xstrdup(line + at);
	return true;
}

int proc_maps_read(pid_t pid, struct proc_maps *out)
{
	char *rest, *text;
	size_t len;

	text = proc_file_read(proc_memory_of(pid), "maps", SIZE_MAX, &len);
	if (!text)
		return -errno;
	memset(out, 0, sizeof(*out));
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (!parse_map(line, table_append(out->map, out->cnt)))
			out->cnt--;
	}
	free(text);
	return 0;
}

void proc_maps_release(struct proc_maps *maps)
{
	for (size_t i = 0; i < maps->cnt; i++)
		free(maps->map[i].path);
	free(maps->map);
	memset(maps, 0, sizeof(*maps));
}

static bool maps_all(pid_t pid, const char *name, const char *other)
{
	size_t len;
	char *text = proc_file_read(proc_memory_of(pid), "maps", SIZE_MAX, &len);
	bool all = text && strstr(text, name) && strstr(text, other);

	free(text);
	return all;
}

#define LIBRARY "/libpovtrace-preload.so"

bool proc_is_launched(pid_t pid)
{
	return maps_all(pid, LIBRARY, LIBRARY);
}

bool proc_is_hooked(pid_t pid)
{
	return maps_all(pid, LIBRARY, "/memfd:povtrace");
}

static const char *env_get(const char *env, size_t len, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = env; p < env + len; p += strlen(p) + 1)
		if (!strncmp(p, name, n) && p[n] == '=')
			return p + n + 1;
	return NULL;
}

static int env_int(const char *env, size_t len, const char *name)
{
	const char *v = env_get(env, len, name);
	char *end;
	long n;

	if (!v || !isdigit((unsigned char)*v))
		return -1;
	n = strtol(v, &end, 10);
	return *end || n > INT_MAX ? -1 : (int)n;
}

/*
 * The first launcher whose variables are set decides. job NULL: the launcher sets no name, and its
 * daemon identifies the job. flavour is the MPI that it starts; NULL: any.
 */
#define LAUNCHER_SLURM 3
static const struct launcher {
	const char *name, *rank, *size, *job, *flavour;
} launchers[] = {
	{"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "openmpi"},
	{"mvapich2", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", NULL, "mpich"},
	{"hydra", "PMI_RANK", "PMI_SIZE", NULL, "mpich"},
	[LAUNCHER_SLURM] = {"slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", NULL},
	{"pmix", "PMIX_RANK", NULL, "PMIX_NAMESPACE", NULL},
};

/*
 * Returns true if a launcher may have started a process that uses an MPI of this flavour; NULL:
 * unknown.
 */
static bool launcher_fits(const struct launcher *l, const char *flavour)
{
	return !flavour || !l->flavour || !strcmp(l->flavour, flavour) ||
	       (strcmp(flavour, "openmpi") && strcmp(flavour, "mpich"));
}

/* Fields of /proc/PID/stat; all 0 if it cannot be read. */
struct proc_stat {
	char state; /* the first thread's */
	pid_t parent;
	unsigned int flags; /* the kernel's PF_* */
	unsigned int threads;
	/* Start time; with the pid it identifies the process while the machine is up. */
	unsigned long long start_ticks;
};

static struct proc_stat stat_read(pid_t pid)
{
	struct proc_stat st = {0};
	size_t len;
	char *text = proc_file_read(pid, "stat", TEXT_BYTES_MAX, &len);
	char *p = text ? strrchr(text, ')') : NULL;

	if (p)
		sscanf(p + 1,
		       " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %u %*d "
		       "%llu",
		       &st.state, &st.parent, &st.flags, &st.threads, &st.start_ticks);
	free(text);
	return st;
}

static bool same_value(const char *a, size_t a_len, const char *b, size_t b_len, const char *name)
{
	const char *va = env_get(a, a_len, name), *vb = env_get(b, b_len, name);

	return va == vb || (va && vb && !strcmp(va, vb));
}

#define SLURM_DAEMON "slurmstepd"

/* names: the beginnings of names that a process may have; they end with NULL. */
static bool has_comm(pid_t pid, const char *const *names)
{
	size_t len;
	char *comm = proc_file_read(pid, "comm", TEXT_BYTES_MAX, &len);
	bool found = comm && text_begins_any(comm, names);

	free(comm);
	return found;
}

/* Detects launchers. A launcher that a rank has started has that rank's environment, too. */
static bool is_launcher(pid_t pid)
{
	static const char *const names[] = {"hydra", "mpiexec", "mpirun",     "mpispawn", "orted",
					    "prted", "prterun", SLURM_DAEMON, NULL};

	return has_comm(pid, names);
}

/*
 * Returns true for a shell or wrapper between launcher and rank: it has the rank's own place in the
 * job.
 */
static bool has_place_of(pid_t pid, const struct launcher *l, const char *env, size_t len)
{
	size_t own_len;
	char *own;
	bool same;

	if (is_launcher(pid))
		return false;
	own = proc_file_read(pid, "environ", TEXT_BYTES_MAX, &own_len);
	if (!own)
		return false;
	same = env_get(own, own_len, l->rank) && same_value(own, own_len, env, len, l->rank) &&
	       (!l->size || same_value(own, own_len, env, len, l->size)) &&
	       same_value(own, own_len, env, len, "PMI_FD");
	free(own);
	return same;
}

/*
 * Finds the process that started all ranks of the job on this machine: the nearest ancestor without
 * a rank's place.
 */
static pid_t launcher_of(pid_t pid, const struct launcher *l, const char *env, size_t len)
{
	pid_t up = proc_parent(pid);

	for (int i = 0; up > 1 && i < ANCESTORS_MAX && has_place_of(up, l, env, len); i++)
		up = proc_parent(up);
	return up;
}

static void job_read(pid_t pid, const struct launcher *l, const char *env, size_t len,
		     struct proc_rank *out)
{
	const char *job = l->job ? env_get(env, len, l->job) : NULL;
	const char *step = !strcmp(l->name, "slurm") ? env_get(env, len, "SLURM_STEP_ID") : NULL;
	pid_t up;

	if (job) {
		snprintf(out->job, sizeof(out->job), "%.100s%s%.20s", job, step ? "." : "",
			 step ? step : "");
		return;
	}
	up = launcher_of(pid, l, env, len);
	snprintf(out->job, sizeof(out->job), "%s-%d-%llu", l->name, up, stat_read(up).start_ticks);
}

/* Slurm's daemon sets PMI's variables, too, but here Slurm names the job. */
static bool is_of_slurm(pid_t pid, const struct launcher *l, const char *env, size_t len)
{
	static const char *const daemon[] = {SLURM_DAEMON, NULL};

	return !l->job && env_get(env, len, "SLURM_JOB_ID") &&
	       has_comm(launcher_of(pid, l, env, len), daemon);
}

static void own_job(pid_t pid, struct proc_rank *out)
{
	out->rank = 0;
	out->size = 1;
	out->launcher = "singleton";
	snprintf(out->job, sizeof(out->job), "pid-%d-%llu", pid, stat_read(pid).start_ticks);
}

/*
 * Reads the rank that a launcher has set: the first launcher that fits the flavour, or, if fits is
 * false, the first one that does not. False: none.
 */
static bool rank_find(pid_t pid, const char *env, size_t len, const char *flavour, bool fits,
		      struct proc_rank *out)
{
	out->rank = out->size = -1;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const struct launcher *l = &launchers[i];

		if (launcher_fits(l, flavour) == fits)
			out->rank = env_int(env, len, l->rank);
		if (out->rank < 0)
			continue;
		if (l->size)
			out->size = env_int(env, len, l->size);
		if (is_of_slurm(pid, l, env, len))
			l = &launchers[LAUNCHER_SLURM];
		out->launcher = l->name;
		job_read(pid, l, env, len, out);
		return true;
	}
	return false;
}

/*
 * Returns true if a process has ended but was not waited for: it has no program any more, and its
 * memory reads as empty.
 */
static bool has_ended(pid_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", proc_memory_of(pid));
	return stat(path, &st) != 0;
}

int proc_rank_read(pid_t pid, const char *flavour, struct proc_rank *out, struct proc_rank *other)
{
	size_t len;
	char *env = proc_file_read(proc_memory_of(pid), "environ", TEXT_BYTES_MAX, &len);

	if (!env)
		return -errno;
	if (!len && has_ended(pid)) {
		free(env);
		return -ESRCH;
	}
	if (!rank_find(pid, env, len, flavour, true, out))
		own_job(pid, out);
	if (other)
		rank_find(pid, env, len, flavour, false, other);
	free(env);
	return 0;
}

bool proc_spawned_by(pid_t pid, struct proc_rank *root)
{
	size_t len;
	char *env = proc_file_read(proc_memory_of(pid), "environ", TEXT_BYTES_MAX, &len);
	const char *port = env ? env_get(env, len, "OMPI_PARENT_PORT") : NULL;
	bool spawned = port || (env && env_int(env, len, "PMI_SPAWNED") > 0);
	const char *tag = port ? strrchr(port, ':') : NULL, *rank = tag;

	*root = (struct proc_rank){.rank = -1, .size = -1, .launcher = ""};
	while (rank && rank > port && *rank != '.') /* Open MPI: JOB.RANK:TAG */
		rank--;
	if (rank && rank > port && isdigit((unsigned char)rank[1]) &&
	    rank - port < (ptrdiff_t)sizeof(root->job)) {
		memcpy(root->job, port, (size_t)(rank - port));
		root->rank = atoi(rank + 1);
	}
	free(env);
	return spawned;
}

/* ---- the job of a process whose environment does not name it ---- */

static pid_t launcher_above(pid_t pid)
{
	pid_t up = proc_parent(pid);

	for (int i = 0; up > 1 && i < ANCESTORS_MAX && !is_launcher(up); i++)
		up = proc_parent(up);
	return up;
}

struct job_search {
	pid_t launcher;
	const char *flavour;
	int size;
	struct proc_rank found; /* rank -1: not found */
	bool several;
};

static int job_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct job_search *s = ctx;
	struct proc_rank r;

	if (parent <= 1 || launcher_above(pid) != s->launcher ||
	    proc_rank_read(pid, s->flavour, &r, NULL) || r.size != s->size ||
	    !strcmp(r.launcher, "singleton"))
		return 0;
	s->several |= s->found.rank >= 0 && strcmp(s->found.job, r.job);
	s->found = r;
	return 0;
}

void proc_rank_of(pid_t pid, const char *flavour, int rank, int size, struct proc_rank *out)
{
	struct job_search s = {.launcher = launcher_above(pid),
			       .flavour = flavour,
			       .size = size,
			       .found = {.rank = -1}};

	if (size == 1) {
		own_job(pid, out);
		return;
	}
	if (s.launcher > 1)
		proc_for_each(job_visit, &s);
	*out = s.found;
	if (s.found.rank < 0 || s.several) {
		out->launcher = "";
		snprintf(out->job, sizeof(out->job), "launcher-%d-%llu",
			 s.launcher > 1 ? s.launcher : proc_parent(pid),
			 stat_read(s.launcher > 1 ? s.launcher : proc_parent(pid)).start_ticks);
	}
	out->rank = rank;
	out->size = size;
}

int proc_auxv_get(pid_t pid, uint64_t type, uint64_t *value)
{
	uint64_t *v;
	size_t len;
	int err = -ENOENT;

	v = (uint64_t *)proc_file_read(proc_memory_of(pid), "auxv", TEXT_BYTES_MAX, &len);
	if (!v)
		return -errno;
	for (size_t i = 0; (i + 2) * sizeof(*v) <= len && err; i += 2)
		if (v[i] == type) {
			*value = v[i + 1];
			err = 0;
		}
	free(v);
	return err;
}

pid_t proc_parent(pid_t pid)
{
	return stat_read(pid).parent;
}

#define PF_FORKNOEXEC 0x40 /* from the kernel */

bool proc_is_fork(pid_t pid)
{
	return stat_read(pid).flags & PF_FORKNOEXEC;
}

/* Returns true for states of a thread that has ended but whose number is still in use. */
static bool has_exited(char state)
{
	return state == 'Z' || state == 'X';
}

bool proc_alive(pid_t pid)
{
	struct proc_stat st = stat_read(pid);

	return st.state && (!has_exited(st.state) || st.threads > 1);
}

pid_t proc_process_of(pid_t tid)
{
	size_t len;
	char *text = proc_file_read(tid, "status", TEXT_BYTES_MAX, &len);
	const char *at = text ? strstr(text, "\nTgid:") : NULL;
	pid_t pid = at ? atoi(at + strlen("\nTgid:")) : 0;

	free(text);
	return pid > 0 ? pid : tid;
}

pid_t proc_memory_of(pid_t pid)
{
	pid_t tid[THREADS_LOOKED_AT];
	size_t cnt;

	if (!has_exited(stat_read(pid).state))
		return pid;
	cnt = proc_threads(pid, tid, THREADS_LOOKED_AT);
	for (size_t i = 0; i < cnt; i++)
		if (!has_exited(stat_read(tid[i]).state))
			return tid[i];
	return pid;
}

size_t proc_threads(pid_t pid, pid_t *tid, size_t max)
{
	struct dirent *e;
	char path[64];
	size_t n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && n < max && (e = readdir(d)))
		if (atoi(e->d_name) > 0)
			tid[n++] = atoi(e->d_name);
	if (d)
		closedir(d);
	return n;
}

bool proc_same_namespace(pid_t pid, const char *kind)
{
	struct stat mine, theirs;
	char path[64], own[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, kind);
	snprintf(own, sizeof(own), "/proc/self/ns/%s", kind);
	if (stat(own, &mine) || stat(path, &theirs))
		return true; /* the kernel has no such namespaces (time: before 5.6) */
	return mine.st_ino == theirs.st_ino;
}

json_t *proc_describe(pid_t pid)
{
	json_t *o = json_object(), *args = json_array();
	pid_t with_memory = proc_memory_of(pid);
	char link[64], exe[PATH_MAX], *cmd;
	struct stat st;
	size_t len = 0;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", with_memory);
	n = readlink(link, exe, sizeof(exe) - 1);
	cmd = proc_file_read(with_memory, "cmdline", TEXT_BYTES_MAX, &len);
	/* In the middle of an execve, arguments and environment are empty: no program yet. */
	exe[n < 0 || !len ? 0 : n] = '\0';
	json_set_int(o, "pid", pid);
	json_set_int(o, "ppid", proc_parent(pid));
	json_object_set_new(o, "exe", json_text(exe));
	for (char *p = cmd; cmd && p < cmd + len; p += strlen(p) + 1)
		json_array_append_new(args, json_text(p));
	free(cmd);
	json_object_set_new(o, "cmdline", args);
	snprintf(link, sizeof(link), "/proc/%d", with_memory);
	json_object_set_new(o, "uid", json_integer(stat(link, &st) ? -1 : (json_int_t)st.st_uid));
	return o;
}

/* Checks the major number: consoles and serial lines, and pseudo-terminals. */
static bool is_terminal(dev_t dev)
{
	return major(dev) == 4 || (major(dev) >= 136 && major(dev) <= 143);
}

const char *proc_stdout(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/1", proc_memory_of(pid));
	if (stat(path, &st))
		return NULL;
	if (S_ISCHR(st.st_mode))
		return is_terminal(st.st_rdev) ? "terminal" : NULL;
	return S_ISFIFO(st.st_mode) ? "pipe" : S_ISREG(st.st_mode) ? "file" : NULL;
}

int proc_for_each(int (*fn)(void *ctx, pid_t pid, pid_t parent), void *ctx)
{
	struct dirent *e;
	int err = 0;
	pid_t pid;
	DIR *d = opendir("/proc");

	if (!d)
		return -errno;
	while (!err && (e = readdir(d))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		pid = atoi(e->d_name);
		err = fn(ctx, pid, proc_parent(pid));
	}
	closedir(d);
	return err;
}
