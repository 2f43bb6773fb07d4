/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Names phases for a tracer, as in abi/mark.h, by an MPI call that does nothing without a tracer.
 */
#ifndef POVBENCH_MARK_H
#define POVBENCH_MARK_H

void mark_begin(int level, const char *name);
void mark_end(int level);

#endif
