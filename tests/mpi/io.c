/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Files: the library's I/O half calls other MPI functions. These must appear as nested calls and
 * not as the program's own. Usage: io [DIRECTORY]
 */
#include "expect.h"

static char buf[4096];

static void independent(MPI_File f)
{
	MPI_Status st;
	MPI_Request req;

	for (int i = 0; i < 31; i++)
		MOVE(MPI_File_write_at, 101, 0, f, (MPI_Offset)(i * 101), buf, 101, MPI_CHAR, &st);
	for (int i = 0; i < 29; i++)
		MOVE(MPI_File_read_at, 0, 103, f, (MPI_Offset)(i * 3), buf, 103, MPI_CHAR, &st);
	for (int i = 0; i < 7; i++) {
		MOVE(MPI_File_iwrite_at, 107, 0, f, (MPI_Offset)0, buf, 107, MPI_CHAR, &req);
		DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	}
}

static void collective(MPI_File f)
{
	MPI_Status st;

	DO(MPI_File_set_view, f, (MPI_Offset)(rank * 2048), MPI_INT, MPI_INT, "native",
	   MPI_INFO_NULL);
	for (int i = 0; i < 23; i++)
		MOVE(MPI_File_write_all, 19 * 4, 0, f, buf, 19, MPI_INT, &st);
	DO(MPI_File_seek, f, (MPI_Offset)0, MPI_SEEK_SET);
	for (int i = 0; i < 19; i++)
		MOVE(MPI_File_read_all, 0, 17 * 4, f, buf, 17, MPI_INT, &st);
	for (int i = 0; i < 11; i++)
		MOVE(MPI_File_write_at_all, 13 * 4, 0, f, (MPI_Offset)0, buf, 13, MPI_INT, &st);
}

int main(int argc, char **argv)
{
	char path[256];
	MPI_File f;

	snprintf(path, sizeof(path), "%s/povtrace-io.dat", argc > 1 ? argv[1] : "/tmp");
	expect_init(&argc, &argv);
	DO(MPI_File_open, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	independent(f);
	collective(f);
	DO(MPI_File_sync, f);
	DO(MPI_File_close, &f);
	if (rank == 0)
		DO(MPI_File_delete, path, MPI_INFO_NULL);
	expect_finish();
	return 0;
}
