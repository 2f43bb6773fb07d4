/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arrays of which only the sum is recorded.
 *
 *	arrays long	lengths near the limits where the kernel half changes its method. Prints
 *			"longsum LENGTH SUM" for each
 *	arrays again	a process that is one of two ranks and then executes another program, where
 *			the communicator of all has one member and, in MPICH, the same handle.
 *			Neither program asks for the size there, so knowledge about the first must
 *			not apply to the second. Prints "again PID SUM" for the counts that each
 *			program passes
 *	arrays failed	calls that fail before they write how long their list is. The list ends
 *			where memory ends
 */
#include <sys/mman.h>

#include "expect.h"

extern char **environ;

static int long_arrays(int *argc, char ***argv)
{
	static const int lengths[] = {1,     16,      17,      16384,	     16385,
				      65537, 1000003, 1 << 22, (1 << 22) + 1};
	static int len[(1 << 22) + 1], at[(1 << 22) + 1];
	MPI_Datatype type;

	MPI_Init(argc, argv);
	for (int i = 0, end = 0; i < (int)ARRAY_SIZE(len); i++) {
		len[i] = 1 + i % 7;
		at[i] = end;
		end += len[i];
	}
	for (size_t l = 0; l < ARRAY_SIZE(lengths); l++) {
		long sum = 0;

		for (int i = 0; i < lengths[l]; i++)
			sum += len[i];
		MPI_Type_indexed(lengths[l], len, at, MPI_CHAR, &type);
		MPI_Type_free(&type);
		printf("longsum %d %ld\n", lengths[l], sum);
	}
	MPI_Finalize();
	return 0;
}

static int failed(int *argc, char ***argv)
{
	long page = sysconf(_SC_PAGESIZE);
	char *end = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	int count = 0x7fffff00, *indices;
	MPI_Request req = MPI_REQUEST_NULL;

	MUST(end != MAP_FAILED && !mprotect(end += page, page, PROT_NONE));
	indices = (int *)end - 1;
	MPI_Init(argc, argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 3; i++)
		MUST(MPI_Waitsome(-1, &req, &count, indices, MPI_STATUSES_IGNORE));
	MUST(count == 0x7fffff00);
	MPI_Finalize();
	return 0;
}

/* Removes the launcher's variables, which are not meant for the next program. */
static void environment_clean(void)
{
	static const char *const prefixes[] = {"PMI",	"HYD",	"MPI_", "MPIR",
					       "OMPI_", "PMIX", "PRTE"};
	char name[256];

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		for (char **e = environ; *e;) {
			if (strncmp(*e, prefixes[i], strlen(prefixes[i]))) {
				e++;
				continue;
			}
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(*e, "="), *e);
			unsetenv(name);
			e = environ;
		}
}

static int again(int *argc, char ***argv, int first)
{
	int counts[2] = {3, 5}, displs[2] = {0, 3};
	char out[8] = "", in[8], *self = **argv;

	MPI_Init(argc, argv);
	size = 1;
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
	execl(self, self, "second", (char *)NULL);
	perror(self);
	return 1;
}

int main(int argc, char **argv)
{
	MUST(argc == 2);
	if (!strcmp(argv[1], "long"))
		return long_arrays(&argc, &argv);
	if (!strcmp(argv[1], "failed"))
		return failed(&argc, &argv);
	return again(&argc, &argv, !strcmp(argv[1], "again"));
}
