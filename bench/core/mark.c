/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI_Pcontrol is meant for profilers, and every MPI has it as a function that returns at once. The
 * level is one that no profiler uses, so other profilers ignore these calls.
 */
#include "core/comm_mpi.h"

#include "abi/mark.h"

#include <stdint.h>
#include <string.h>

void mpi_mark_begin(struct comm *c, int level, const char *name)
{
	uint64_t word[POV_MARK_WORDS] = {0};

	if (level < 0 || level >= POV_MARK_LEVELS)
		return;
	memcpy(word, name, strnlen(name, POV_MARK_NAME_BYTES));
	MPI_Pcontrol(POV_MARK_BEGIN + level, word[0], word[1], word[2], word[3]);
}

void mpi_mark_end(struct comm *c, int level)
{
	if (level >= 0 && level < POV_MARK_LEVELS)
		MPI_Pcontrol(POV_MARK_END + level);
}
