/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The last step of a program. */
#ifndef POV_LIB_FLUSH_H
#define POV_LIB_FLUSH_H

/*
 * Closes stdout and returns status. If the output did not arrive, prints why and returns 1 instead
 * of 0: a full disk or a closed pipe must not look like success.
 */
int flush_stdout(int status);

#endif
