/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Recordings change code in two ways that exclude each other. A launched process writes jumps over
 * functions' first instructions (user/preload/hook.c). Probes that are not tied to a process put
 * breakpoints into all processes, and one in a jump would kill the process. A process that finds
 * breakpoints writes no jumps. So it is enough that nobody looks at code while another recording
 * changes it: recorders on the same machine take turns, by a lock on a file in POV_PRELOAD_DIR.
 */
#ifndef POV_TARGET_PROBES_CODE_TURN_H
#define POV_TARGET_PROBES_CODE_TURN_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Begins a turn in which processes write jumps; several recorders may have one at a time. Does not
 * wait. Returns a descriptor for code_turn_end, -EAGAIN if breakpoints are being placed, or another
 * -errno if there can be no lock.
 */
int code_turn_jumps(void);
/*
 * Begins a turn in which breakpoints are placed into all processes that map a file. has_jumps tells
 * which processes have jumps in it. Waits up to 5 s for processes that write jumps. Returns a
 * descriptor for code_turn_end, -1 if there can be no lock, or -2 if there is no turn: then
 * why[bytes] has the reason, as a clause: a process with jumps in that file's code, or one that
 * takes too long to write them.
 */
int code_turn_breakpoints(ino_t ino, bool (*has_jumps)(pid_t pid), char *why, size_t bytes);
void code_turn_end(int turn); /* no-op below 0 */

#endif
