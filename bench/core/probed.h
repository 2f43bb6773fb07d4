/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Detects that somebody traces the measured program. */
#ifndef POVBENCH_PROBED_H
#define POVBENCH_PROBED_H

#include <stdbool.h>

/*
 * True if the code of a timed MPI function in memory differs from its file. Then it has a tracer's
 * probe, and each call takes about a microsecond more. False also if the code cannot be read.
 */
bool probed_mpi(void);

#endif
