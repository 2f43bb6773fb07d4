/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A library that a running program loads. One of its functions is a region (tests/mpi/regions.c).
 */
int region_far(int n);

int region_far(int n)
{
	return n + 1;
}
