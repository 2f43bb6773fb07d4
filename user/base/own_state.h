/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What this process changes for itself of what it was started with, and gives back to what it starts. */
#ifndef POV_BASE_OWN_STATE_H
#define POV_BASE_OWN_STATE_H

#include <signal.h>
#include <stdbool.h>

/* Like sigaction; whether the signal was ignored when this process began. sig is below 32. */
bool own_signal_set(int sig, const struct sigaction *action);
/* With SIG_IGN or SIG_DFL. */
bool own_signal(int sig, void (*handler)(int));
/* As many open files as are allowed. 0 or -errno. */
int own_open_files_raise(void);
/* For a child that is about to execute a program. Async-signal-safe. */
void own_state_give_back(void);

#endif
