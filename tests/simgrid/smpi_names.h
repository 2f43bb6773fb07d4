/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * SimGrid's compiler includes a header of its own first, which makes macros of sleep, free and
 * others. struct comm has operations of these two names, so this header, included next, removes the
 * two macros. The other ones make clocks and nanosleep simulated.
 */
#ifndef POV_SMPI_NAMES_H
#define POV_SMPI_NAMES_H

#undef sleep
#undef free

#endif
