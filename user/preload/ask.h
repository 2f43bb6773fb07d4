/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Gets the setup, the pool, and the list of functions to hook from the collector. */
#ifndef POV_PRELOAD_ASK_H
#define POV_PRELOAD_ASK_H

#include "preload/in_process.h"

/* Size of the pool in bytes; 0: no pool yet. */
extern u64 pool_bytes;

/*
 * Asks each collector until one records this process, waits until that one has inspected all files
 * that the process has mapped, and hooks the functions that it names. Gets a pool, too, if there is
 * none, as in a child of fork. False if nobody records the process.
 */
bool ask_plan(void);
/*
 * Reports a program that the process is about to execute, and waits for permission. Does nothing in
 * a confined process.
 */
void ask_program(const char *path);
/*
 * True if the process has a filter of system calls (seccomp), which may kill it for any that it
 * does not need itself. Makes only calls that loaders make, too.
 */
bool is_confined(void);

#endif
