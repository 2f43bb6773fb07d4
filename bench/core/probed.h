/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Whether somebody traces what is being measured. */
#ifndef POVBENCH_PROBED_H
#define POVBENCH_PROBED_H

#include <stdbool.h>

/*
 * An MPI function that is timed has other code in memory than in its file: a tracer's probe, each hit of which takes about a
 * microsecond. false also if that cannot be read.
 */
bool probed_mpi(void);

#endif
