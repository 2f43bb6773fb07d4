/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A struct that a program passes to the PMPI tool by value, in memory. */
#ifndef TESTS_MPI_PAIR_H
#define TESTS_MPI_PAIR_H

struct pair {
	long first;
	double middle;
	long last;
};

#endif
