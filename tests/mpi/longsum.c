/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arrays of which only the sum is kept, of lengths around where the kernel half takes other ways. Prints
 * "longsum LENGTH SUM" for each.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static const int lengths[] = {1,     16,      17,      16384,	     16385,
				      65537, 1000003, 1 << 22, (1 << 22) + 1};
	int most = (1 << 22) + 1, *len = malloc(most * sizeof(int)),
	    *at = malloc(most * sizeof(int));
	MPI_Datatype type;

	MPI_Init(&argc, &argv);
	if (!len || !at)
		return 1;
	for (int i = 0, end = 0; i < most; i++) {
		len[i] = 1 + i % 7;
		at[i] = end;
		end += len[i];
	}
	for (size_t l = 0; l < sizeof(lengths) / sizeof(*lengths); l++) {
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
