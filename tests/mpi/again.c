/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A process that is one of two ranks, and then executes a program of its own, where the communicator of all has one
 * member and, in MPICH, the same handle. Neither asks for the size there: what is known of the first one's says
 * nothing of the second one's. Prints "again PID SUM" for the counts that each program hands over.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* What a launcher told us is not for the next program. */
static void environment_clean(void)
{
	static const char *const prefixes[] = {"PMI",	"HYD",	"MPI_", "MPIR",
					       "OMPI_", "PMIX", "PRTE"};

	for (char **e = environ; *e;) {
		char name[256];
		size_t i;

		for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
			if (!strncmp(*e, prefixes[i], strlen(prefixes[i])))
				break;
		if (i == sizeof(prefixes) / sizeof(*prefixes)) {
			e++;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(*e, "="), *e);
		unsetenv(name);
		e = environ;
	}
}

int main(int argc, char **argv)
{
	int counts[2] = {3, 5}, displs[2] = {0, 3}, first = argc < 2, rank = 0, size = 1;
	char out[8] = "", in[8];

	MPI_Init(&argc, &argv);
	if (first) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		MPI_Comm_size(MPI_COMM_WORLD, &size);
	}
	MPI_Allgatherv(out, counts[rank], MPI_CHAR, in, counts, displs, MPI_CHAR, MPI_COMM_WORLD);
	printf("again %d %d\n", (int)getpid(), size == 2 ? counts[0] + counts[1] : counts[0]);
	fflush(stdout);
	MPI_Finalize();
	if (!first)
		return 0;
	environment_clean();
	execl(argv[0], argv[0], "second", (char *)NULL);
	perror(argv[0]);
	return 1;
}
