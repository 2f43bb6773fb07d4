/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Actions of real programs that reports once got wrong: reduced MODE [FILE].
 *
 *	failed	each rank sends 22 times to a rank that does not exist, and goes on
 *	file	each rank writes 32 pieces of 1 MiB to FILE, and reads 16 of them
 *	busy	barriers, with more ranks than cores
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define SENDS 22
#define PIECE (1 << 20)
#define WRITES 32
#define READS 16
#define BARRIERS 2000

static int rank, size;

static void failed(void)
{
	int x = 0;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < SENDS; i++)
		MPI_Send(&x, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD); /* FAILED */
}

static void file(const char *path)
{
	char *piece = calloc(1, PIECE);
	MPI_File f;

	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	for (int i = 0; i < WRITES; i++)
		MPI_File_write_at(f, (MPI_Offset)(i * size + rank) * PIECE, piece, PIECE, MPI_CHAR,
				  MPI_STATUS_IGNORE);
	for (int i = 0; i < READS; i++)
		MPI_File_read_at(f, (MPI_Offset)(i * size + rank) * PIECE, piece, PIECE, MPI_CHAR,
				 MPI_STATUS_IGNORE);
	MPI_File_close(&f);
	free(piece);
}

static void busy(void)
{
	for (int i = 0; i < BARRIERS; i++)
		MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!strcmp(mode, "failed"))
		failed();
	else if (!strcmp(mode, "file") && argc > 2)
		file(argv[2]);
	else if (!strcmp(mode, "busy"))
		busy();
	MPI_Finalize();
	return 0;
}
