/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How a program marks its phases for a tracer of it: calls of MPI_Pcontrol, which MPI has for such purposes and
 * which do nothing unless a tool gives them a meaning. The name travels by value, in the words behind the level, so
 * that nothing has to be read from the program's memory:
 *
 *	uint64_t w[POV_MARK_WORDS] = {0};
 *	memcpy(w, "warm-up", 7);
 *	MPI_Pcontrol(POV_MARK_BEGIN + level, w[0], w[1], w[2], w[3]);
 *	…
 *	MPI_Pcontrol(POV_MARK_END + level);
 *
 * Phases of one level of a thread follow one another: a new one ends the one before. The higher the level, the
 * finer the phase.
 */
#ifndef POV_ABI_MARK_H
#define POV_ABI_MARK_H

#define POV_MARK_LEVELS 4	  /* 0 … 3 */
#define POV_MARK_WORDS 4	  /* of the name */
#define POV_MARK_NAME_BYTES 32	  /* padded with zeros; a full one counts as cut */
#define POV_MARK_BEGIN 0x504f5600 /* + level */
#define POV_MARK_END 0x504f5610	  /* + level */

#endif
