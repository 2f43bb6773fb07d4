/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "cmd/recording/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/own_state.h"
#include "lib/person.h"

/* Time for the command to end after a Ctrl-C, which it receives, too. */
#define REAP_WAIT_MS 2000

static volatile int stop, interrupted, asked;
static bool in_background; /* a script started us with &, so SIGINT was ignored */

static void on_signal(int sig, siginfo_t *info, void *context)
{
	/* Ctrl-C at the terminal reaches the command as well; a signal from kill does not. */
	bool of_terminal = sig == SIGINT && info->si_code == SI_KERNEL;

	(void)context;
	if (of_terminal && in_background)
		return;
	if (of_terminal)
		interrupted = 1;
	stop = 1;
}

static void on_asked(int sig)
{
	(void)sig;
	asked++;
}

const volatile int *watch_requests(void)
{
	struct sigaction sa = {.sa_handler = on_asked, .sa_flags = SA_RESTART};

	own_signal_set(SIGUSR1, &sa);
	return &asked;
}

const volatile int *watch_signals(void)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	in_background = own_signal_set(SIGINT, &sa);
	own_signal_set(SIGTERM, &sa);
	if (own_signal_set(SIGHUP, &sa)) /* nohup */
		own_signal_give_back(SIGHUP);
	own_signal(SIGPIPE, SIG_IGN);
	return &stop;
}

bool watch_reap(pid_t pid, int *status)
{
	return launch_reap(pid, interrupted ? REAP_WAIT_MS : 0, status);
}

static int pids_parse(const struct option_list *list, pid_t **out)
{
	pid_t *pids = xcalloc(list->cnt + 1, sizeof(*pids));
	char *end;
	long n;

	for (size_t i = 0; i < list->cnt; i++) {
		n = strtol(list->item[i], &end, 10);
		if (*end || n <= 0 || n > 1 << 22) {
			log_error("-p %s: not a process number", list->item[i]);
			free(pids);
			return -EINVAL;
		}
		pids[i] = n;
	}
	*out = pids;
	return 0;
}

/* Finds the users who run the command and own the files; NULL is our own user. */
static int people_find(struct watch *w, const char *user, const struct person **runner)
{
	w->behind = person_behind();
	if (user && person_find(user, &w->named))
		return -ENOENT;
	*runner = user ? w->named : w->behind;
	w->owner = w->behind;
	if (user && !w->named->uid)
		w->owner = NULL;
	if (user && w->named->uid == geteuid())
		*runner = NULL;
	else if (user && w->behind && w->named->uid == w->behind->uid)
		*runner = w->behind;
	return 0;
}

int watch_prepare(const struct option_list *pids, const char *user, int argc, char **argv,
		  struct watch *out)
{
	struct watch w = {.pid_cnt = pids->cnt};
	const struct person *runner;

	if (pids_parse(pids, &w.pids))
		return 2;
	if (people_find(&w, user, &runner) ||
	    (argc && launch_plan_make(argv, runner, runner == w.behind, &w.plan))) {
		watch_release(&w);
		return 1;
	}
	*out = w;
	return 0;
}

void watch_release(struct watch *w)
{
	launch_plan_release(&w->plan);
	person_free(w->behind);
	person_free(w->named);
	free(w->pids);
	*w = (struct watch){0};
}

int watch_status(int child_status)
{
	if (child_status == -1)
		return 0;
	if (WIFSIGNALED(child_status)) {
		log_warn("the command was killed by signal %d (%s)", WTERMSIG(child_status),
			 strsignal(WTERMSIG(child_status)));
		return 128 + WTERMSIG(child_status);
	}
	if (WEXITSTATUS(child_status))
		log_warn("the command exited with status %d", WEXITSTATUS(child_status));
	return WEXITSTATUS(child_status);
}
