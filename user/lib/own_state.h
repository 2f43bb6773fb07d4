/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Signals and limits that this process changes for itself. The programs it starts get them as this
 * process was given them.
 */
#ifndef POV_LIB_OWN_STATE_H
#define POV_LIB_OWN_STATE_H

#include <signal.h>
#include <stdbool.h>

/*
 * Like sigaction, for signals below 32. Returns whether the signal was ignored when this process
 * began.
 */
bool own_signal_set(int sig, const struct sigaction *action);
/* The same with SIG_IGN or SIG_DFL. */
bool own_signal(int sig, void (*handler)(int));
/*
 * Ignores the signal if it was ignored when this process began, and restores its default otherwise.
 */
void own_signal_give_back(int sig);
/* Raises the limit of open files as far as allowed. 0 or -errno. */
int own_open_files_raise(void);
/* Restores all of it, in a child that is about to execute a program. Async-signal-safe. */
void own_state_give_back(void);

#endif
