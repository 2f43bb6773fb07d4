/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "lib/own_state.h"

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>

static uint32_t set, ignored; /* a bit for each signal */
static struct rlimit open_files;
static bool open_files_raised;

bool own_signal_set(int sig, const struct sigaction *action)
{
	uint32_t bit = 1u << sig;
	struct sigaction was;

	if (sigaction(sig, action, &was))
		return false;
	if (!(set & bit) && !(was.sa_flags & SA_SIGINFO) && was.sa_handler == SIG_IGN)
		ignored |= bit;
	set |= bit;
	return ignored & bit;
}

bool own_signal(int sig, void (*handler)(int))
{
	return own_signal_set(sig, &(struct sigaction){.sa_handler = handler});
}

void own_signal_give_back(int sig)
{
	signal(sig, ignored >> sig & 1 ? SIG_IGN : SIG_DFL);
}

int own_open_files_raise(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return -errno;
	if (r.rlim_cur == r.rlim_max)
		return 0;
	open_files = r;
	r.rlim_cur = r.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r))
		return -errno;
	open_files_raised = true;
	return 0;
}

void own_state_give_back(void)
{
	for (int sig = 1; sig < 32; sig++)
		if (set >> sig & 1)
			own_signal_give_back(sig);
	if (open_files_raised)
		setrlimit(RLIMIT_NOFILE, &open_files);
}
