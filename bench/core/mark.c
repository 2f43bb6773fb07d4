/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI_Pcontrol is for profilers, and every MPI has it as a function that returns at once. A level that nobody means
 * is without effect also for the profilers that give it a meaning.
 */
#include "core/mark.h"

#include "abi/mark.h"

#include <mpi.h>
#include <stdint.h>
#include <string.h>

void mark_begin(int level, const char *name)
{
	uint64_t word[POV_MARK_WORDS] = {0};

	if (level < 0 || level >= POV_MARK_LEVELS)
		return;
	memcpy(word, name, strnlen(name, POV_MARK_NAME_BYTES));
	MPI_Pcontrol(POV_MARK_BEGIN + level, word[0], word[1], word[2], word[3]);
}

void mark_end(int level)
{
	if (level >= 0 && level < POV_MARK_LEVELS)
		MPI_Pcontrol(POV_MARK_END + level);
}
