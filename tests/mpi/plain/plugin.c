/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A program that starts without MPI, like Python: after 0.3 s it loads the library named on its
 * command line and calls it through pointers, from its main thread and two more. It is not linked
 * with MPI. Usage: plugin LIBRARY, such as libmpi.so.40 or libmpich.so.12
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <dlfcn.h>
#include <stdint.h>

#define MPICH_WORLD 0x44000000u
#define MPICH_SELF 0x44000001u
#define MPICH_CHAR 0x4c000101u
#define THREAD_MULTIPLE 3

typedef uintptr_t handle; /* an int in MPICH, a pointer in Open MPI: the same register */

static int (*init_thread)(int *argc, char ***argv, int required, int *provided);
static int (*comm_rank)(handle comm, int *rank);
static int (*barrier)(handle comm);
static int (*sendrecv)(const void *sbuf, int scnt, handle stype, int dest, int stag, void *rbuf,
		       int rcnt, handle rtype, int source, int rtag, handle comm, uintptr_t status);
static int (*finalize)(void);

static handle world, self, chars;
static uintptr_t status_ignore;

static void load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	MUST(lib);
	MUST(*(void **)&init_thread = dlsym(lib, "MPI_Init_thread"));
	MUST(*(void **)&comm_rank = dlsym(RTLD_DEFAULT, "MPI_Comm_rank"));
	MUST(*(void **)&barrier = dlsym(lib, "MPI_Barrier"));
	MUST(*(void **)&sendrecv = dlsym(lib, "MPI_Sendrecv"));
	MUST(*(void **)&finalize = dlsym(lib, "PMPI_Finalize"));
	world = (handle)dlsym(lib, "ompi_mpi_comm_world");
	self = (handle)dlsym(lib, "ompi_mpi_comm_self");
	chars = (handle)dlsym(lib, "ompi_mpi_char");
	if (!world) {
		world = MPICH_WORLD;
		self = MPICH_SELF;
		chars = MPICH_CHAR;
		status_ignore = 1;
	}
}

static void *worker(void *arg)
{
	int tag = (int)(long)arg;
	char out[128] = "", in[128];

	for (int i = 0; i < 41; i++) {
		expect_add("MPI_Sendrecv", 0, 1, 101, 101, 0);
		sendrecv(out, 101, chars, 0, tag, in, 101, chars, 0, tag, self, status_ignore);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int rank, got;

	MUST(argc > 1);
	usleep(300000);
	load(argv[1]);
	expect_add("MPI_Init_thread", NO_PEER, 1, 0, 0, 0);
	init_thread(&argc, &argv, THREAD_MULTIPLE, &got);
	expect_add("MPI_Comm_rank", NO_PEER, 1, 0, 0, 0);
	comm_rank(world, &rank);
	for (int i = 0; i < 31; i++) {
		expect_add("MPI_Barrier", NO_PEER, 1, 0, 0, 0);
		barrier(world);
	}
	threads_run(2, worker, 3);
	expect_add("MPI_Finalize", NO_PEER, 1, 0, 0, 0);
	finalize();
	expect_write("plugin", rank);
	return 0;
}
