/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The library in recorded processes that records their calls: where it is, and the setup that all
 * processes share. preload_requests.c answers the processes, preload_threads.c reads their records.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "layers/func_table.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/person.h"
#include "lib/run_socket.h"
#include "record/host/cgroup_limits.h"
#include "record/kernel.h"
#include "record/launch/launch.h"
#include "record/launch/launch_env.h"
#include "record/preload/preload_internal.h"

#define LIBRARY "libpovtrace-preload.so" /* beside this program, or in the installation */
#define SOCKET_DIR POV_PRELOAD_DIR
#define SOCKET_BEGIN POV_PRELOAD_SOCKET
#define BACKLOG 256
#define SPARE_PART 16 /* this fraction of the available memory may be used for larger rings */

/* ---- the library ---- */

static bool is_readable(const char *path, const struct person *as)
{
	struct person_act act;
	bool readable;

	if (person_act_begin(as, &act))
		return false;
	readable = !faccessat(AT_FDCWD, path, R_OK, AT_EACCESS);
	person_act_end(&act);
	return readable;
}

/* Tries to make a socket where processes look for it. 0 or -errno. */
static int socket_place_try(void)
{
	struct sockaddr_un at;
	char path[64];
	int err, fd;

	snprintf(path, sizeof(path), SOCKET_DIR "/" SOCKET_BEGIN "%d.sock", getpid());
	err = run_socket_place(path, &at);
	if (err)
		return err;
	fd = run_socket_listen(&at, 1);
	if (fd < 0)
		return fd;
	unlink(path);
	close(fd);
	return 0;
}

char *preload_library_find(const struct launch_plan *plan, char **problem)
{
	char *found = own_file_find(LIBRARY), *path = found ? realpath(found, NULL) : NULL;
	int err;

	free(found);
	*problem = NULL;
	if (!path)
		*problem = xasprintf(LIBRARY " is not installed beside povtrace");
	else if (!is_readable(path, plan->as))
		*problem = xasprintf(
			"%s may not read %s; install povtrace where all users can read it",
			plan->as ? plan->as->name : "root", path);
	else if (path[strcspn(path, " :")]) /* ld.so separates names here */
		*problem = xasprintf("LD_PRELOAD cannot name \"%s\"; install povtrace in a folder "
				     "without blanks and colons",
				     path);
	else if ((err = socket_place_try()))
		*problem = xasprintf("processes cannot reach the recorder: " SOCKET_DIR ": %s",
				     strerror(-err));
	if (!*problem)
		return path;
	free(path);
	return NULL;
}

/* ---- the setup ---- */

/* Finds the rows of the layer for which the library has shims. */
static void rows_find(struct preload *p)
{
	while (!func_table_layer(p->first_row)->is_top)
		p->first_row++;
	while (p->first_row + p->rows < func_table_count() &&
	       func_table_layer(p->first_row + p->rows)->is_top)
		p->rows++;
}

/* Makes the setup, which only we can write: our mapping is older than the seal. */
static int setup_make(struct preload *p)
{
	p->setup_bytes = sizeof(*p->setup) + p->rows * sizeof(struct pov_fn) +
			 POV_PRELOAD_HOOKS_MAX * sizeof(struct pov_hook);
	p->setup_fd = memory_file_make(p->setup_bytes);
	if (p->setup_fd < 0)
		return p->setup_fd;
	p->setup = mmap(NULL, p->setup_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->setup_fd, 0);
	if (p->setup == MAP_FAILED) {
		p->setup = NULL;
		return -errno;
	}
	if (fcntl(p->setup_fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL))
		return -errno;
	p->setup->spin_gap_ns = p->opt.spin_gap_ns;
	p->setup->first_row = p->first_row;
	p->setup->rows = p->rows;
	for (uint32_t i = 0; i < p->rows; i++) {
		p->setup->fn[i] = p->opt.fns[p->first_row + i];
		p->wanted[i] = p->opt.wanted[p->first_row + i];
		p->setup->fn[i].unused = !p->wanted[i];
	}
	return 0;
}

static int socket_make(struct preload *p)
{
	struct sockaddr_un at;
	int err;

	run_socket_sweep(SOCKET_DIR, SOCKET_BEGIN);
	p->path = xasprintf(SOCKET_DIR "/" SOCKET_BEGIN "%d.sock", getpid());
	err = run_socket_place(p->path, &at);
	if (err)
		return err;
	p->fd = run_socket_listen(&at, BACKLOG);
	return p->fd < 0 ? p->fd : 0;
}

int preload_open(const struct preload_options *opt, struct preload **out)
{
	struct preload *p = xcalloc(1, sizeof(*p));
	int err;

	p->opt = *opt;
	p->fd = p->setup_fd = -1;
	rows_find(p);
	p->spare = memory_available() / SPARE_PART;
	p->wanted = xcalloc(p->rows, sizeof(*p->wanted));
	err = opt->records ? setup_make(p) : 0;
	if (!err)
		err = socket_make(p);
	if (err) {
		log_error("cannot listen for programs that record their own calls: %s",
			  strerror(-err));
		preload_close(p);
		return err;
	}
	cycle_rate_begin(&p->cycle_rate);
	preload_say_alive(p, true);
	if (p->setup)
		opt->kernel->calls_until_too = &p->setup->calls_until;
	*out = p;
	return 0;
}

static void pool_free(void *pool)
{
	preload_pool_free(pool);
}

void preload_close(struct preload *p)
{
	if (!p)
		return;
	preload_say_alive(p, false);
	p->opt.kernel->calls_until_too = NULL;
	while (p->asking_cnt)
		close(p->asking[--p->asking_cnt].conn);
	map_free(&p->pools, pool_free);
	map_release(&p->threads);
	if (p->fd >= 0) {
		unlink(p->path);
		close(p->fd);
	}
	if (p->setup)
		munmap(p->setup, p->setup_bytes);
	if (p->setup_fd >= 0)
		close(p->setup_fd);
	free(p->wanted);
	free(p->path);
	free(p);
}

char **preload_environment(const struct preload *p, const struct launch_plan *plan)
{
	const char *others = launch_env_get(plan->envp, "LD_PRELOAD");
	const char *name = strrchr(p->opt.library, '/');
	char *preload, **with;

	preload = xasprintf("%.*s%s%s%s%s", (int)(name - p->opt.library), p->opt.library,
			    p->opt.records ? "/" : POV_PRELOAD_WAITS, name + 1,
			    others && *others ? ":" : "", others ?: "");
	with = launch_env_with(plan->envp, "LD_PRELOAD", preload);
	free(preload);
	return with;
}

void preload_say_alive(struct preload *p, bool alive)
{
	if (!p->setup)
		return;
	__atomic_store_n(&p->setup->collector_ns, alive ? kernel_now_ns() : 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->setup->cycle_rate, alive ? cycle_rate_get(&p->cycle_rate) : 0,
			 __ATOMIC_RELAXED);
}

void preload_function_set(struct preload *p, uint32_t row, bool counted, bool left_out)
{
	uint32_t at = row - p->first_row;

	if (at >= p->rows || !p->wanted[at])
		return;
	__atomic_store_n(&p->setup->fn[at].counted, counted, __ATOMIC_RELAXED);
	__atomic_store_n(&p->setup->fn[at].unused, left_out, __ATOMIC_RELAXED);
}

uint32_t preload_missed_cnt(const struct preload *p)
{
	return p->missed;
}
