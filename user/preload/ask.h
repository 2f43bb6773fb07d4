/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What this library has from the collector: the setup, the pool, and which functions to hook. */
#ifndef POV_PRELOAD_ASK_H
#define POV_PRELOAD_ASK_H

#include "preload/in_process.h"

/* Bytes of the pool, once there is one. */
extern u64 pool_bytes;

/*
 * Asks those who may be recording, and waits until the one that records this process has looked at all that it has mapped; hooks the
 * functions that it names. Without pool, as in a child of fork, that too. False if nobody records it.
 */
bool ask_plan(void);
/* Tells of a program that the process is about to execute, and waits until it may. */
void ask_program(const char *path);

#endif
