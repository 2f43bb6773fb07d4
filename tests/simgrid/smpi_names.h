/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Included before every source that is built for SimGrid, after what its compiler includes by
 * itself: that makes macros of functions whose names struct comm's operations have, too. What
 * remains makes clocks and nanosleep simulated.
 */
#ifndef POV_SMPI_NAMES_H
#define POV_SMPI_NAMES_H

#undef sleep
#undef free

#endif
