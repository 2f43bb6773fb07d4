/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The last thing that a program does. */
#ifndef POV_LIB_FLUSH_H
#define POV_LIB_FLUSH_H

/*
 * Closes stdout and returns status, or 1 instead of 0 after printing why what was printed did not arrive: a full disk or a
 * closed pipe must not look like success.
 */
int flush_stdout(int status);

#endif
