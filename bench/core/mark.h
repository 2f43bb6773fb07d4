/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Names of phases for a tracer, as abi/mark.h says; a call of MPI that does nothing if nobody traces. */
#ifndef POVBENCH_MARK_H
#define POVBENCH_MARK_H

void mark_begin(int level, const char *name);
void mark_end(int level);

#endif
