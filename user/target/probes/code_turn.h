/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Turns for recordings that change the same code. A launched process writes jumps over functions'
 * first instructions (user/preload/hook.c). Another recording may put breakpoints there, and a
 * breakpoint inside a jump would kill the process. The second recording finds the code changed and
 * leaves it alone, provided that it does not look during the change. So recorders on one machine
 * take turns: they lock a file in POV_PRELOAD_DIR, in which byte PID stands for process PID.
 */
#ifndef POV_TARGET_PROBES_CODE_TURN_H
#define POV_TARGET_PROBES_CODE_TURN_H

#include <stdbool.h>
#include <sys/types.h>

/* Returns a descriptor for a recorder whose processes write jumps; -errno: there are no locks. */
int code_turn_open(void);
/*
 * Begins a turn in which process pid writes jumps; turn is the result of code_turn_open. Returns at
 * once: false if a recorder is placing breakpoints in that process. Without locks (turn < 0) it
 * returns true.
 */
bool code_turn_jumps(int turn, pid_t pid);
void code_turn_jumps_end(int turn, pid_t pid);
/*
 * Begins a turn in which breakpoints are placed into a process, or with pid 0 into all processes
 * that map the file ino. has_jumps returns true for processes with jumps in their code. Waits up to
 * 5 s for processes that write jumps. Returns a descriptor for code_turn_end; -1 if there are no
 * locks; or -2 if there is no turn, with the reason in why[bytes] as a clause. Reasons: a process
 * takes too long to write its jumps, or, with pid 0, one that maps the file has jumps.
 */
int code_turn_breakpoints(pid_t pid, ino_t ino, bool (*has_jumps)(pid_t pid), char *why,
			  size_t bytes);
void code_turn_end(int turn); /* no-op below 0 */

#endif
