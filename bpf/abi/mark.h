/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How a program marks its phases for the tracer: by calls of MPI_Pcontrol. MPI defines that
 * function for tools; without a tool, it does nothing. The name is passed by value, in the words
 * after the level, so that nothing has to be read from the program's memory:
 *
 *	uint64_t w[POV_MARK_WORDS] = {0};
 *	memcpy(w, "warm-up", 7);
 *	MPI_Pcontrol(POV_MARK_BEGIN + level, w[0], w[1], w[2], w[3]);
 *	…
 *	MPI_Pcontrol(POV_MARK_END + level);
 *
 * Phases of one level do not overlap within a thread: a new phase ends the one before it. The
 * higher the level, the finer the phase.
 */
#ifndef POV_ABI_MARK_H
#define POV_ABI_MARK_H

#define POV_MARK_LEVELS 4	  /* 0 … 3 */
#define POV_MARK_WORDS 4	  /* words of the name */
#define POV_MARK_NAME_BYTES 32	  /* padded with zeros; a name without one counts as truncated */
#define POV_MARK_BEGIN 0x504f5600 /* + level */
#define POV_MARK_END 0x504f5610	  /* + level */

#endif
