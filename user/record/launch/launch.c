/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Uses two pipes: the child blocks on one, and the other closes by itself when exec succeeds. No
 * wait is unlimited: the child may be stopped, or its program may be on a file system that does not
 * answer.
 */
#include "record/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/own_state.h"
#include "lib/person.h"
#include "record/launch/launch_env.h"

/* ---- the plan: what a launch needs beforehand, with the rights of its user ---- */

static int program_check(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? -errno : 0;
}

/* Searches like execvp: skips files that may not be executed, and keeps that as the reason. */
static int program_search(const char *name, const char *path, char **out)
{
	int err = -ENOENT, e;

	for (;; path++) {
		size_t len = strcspn(path, ":");
		char *file = xasprintf("%.*s%s%s", (int)len, path, len ? "/" : "", name);

		e = program_check(file);
		if (!e) {
			*out = file;
			return 0;
		}
		free(file);
		if (e == -EACCES)
			err = e;
		path += len;
		if (!*path)
			return err;
	}
}

static int program_find(struct launch_plan *plan)
{
	const char *name = plan->argv[0], *path = launch_env_get(plan->envp, "PATH");
	const char *who = plan->as ? plan->as->name : NULL;
	int err;

	if (!strchr(name, '/')) {
		err = program_search(name, path ? path : "/usr/bin:/bin", &plan->program);
		if (err)
			log_error("cannot execute %s: %s in the PATH%s%s (%s)", name,
				  err == -ENOENT ? "not found" : strerror(-err), who ? " of " : "",
				  who ? who : "", path ? path : "not set");
		return err;
	}
	err = program_check(name);
	if (!err)
		plan->program = xstrdup(name);
	else
		log_error("cannot execute %s%s%s: %s", name, who ? " as " : "", who ? who : "",
			  strerror(-err));
	return err;
}

/* Checks that the user may enter the current directory: sudo keeps ours. */
static int directory_check(const struct person *as)
{
	char *cwd;
	int err;

	if (!as || !faccessat(AT_FDCWD, ".", X_OK, AT_EACCESS))
		return 0;
	err = -errno;
	cwd = getcwd(NULL, 0);
	log_error("%s may not enter this directory%s%s%s: %s; change to another one, or run the "
		  "command as root (--user root)",
		  as->name, cwd ? " (" : "", cwd ? cwd : "", cwd ? ")" : "", strerror(-err));
	free(cwd);
	return err;
}

int launch_plan_make(char *const *argv, const struct person *as, bool behind,
		     struct launch_plan *out)
{
	struct person_act act;
	int err;

	*out = (struct launch_plan){.argv = argv, .as = as};
	out->envp = launch_env_make(as, behind);
	err = person_act_begin(as, &act);
	if (!err) {
		err = directory_check(as);
		if (!err)
			err = program_find(out);
		person_act_end(&act);
	}
	if (err)
		launch_plan_release(out);
	return err;
}

void launch_plan_release(struct launch_plan *plan)
{
	launch_env_free(plan->envp);
	free(plan->program);
	*plan = (struct launch_plan){0};
}

#define REAP_WAIT_MS 1000

bool launch_reap(pid_t pid, int timeout_ms, int *status)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	pid_t got;

	while (!(got = waitpid(pid, status, WNOHANG)) && timeout_ms-- > 0)
		nanosleep(&nap, NULL);
	return got == pid;
}

/* Like execvp, runs a file without a format known to the kernel with a shell. */
static int shell_exec(const struct launch_plan *plan)
{
	size_t argc = 0;

	while (plan->argv[argc])
		argc++;

	char *argv[argc + 2];

	argv[0] = "/bin/sh";
	argv[1] = plan->program;
	for (size_t i = 1; i <= argc; i++)
		argv[i + 1] = plan->argv[i];
	execve(argv[0], argv, plan->envp);
	return errno;
}

static int program_exec(const struct launch_plan *plan)
{
	execve(plan->program, plan->argv, plan->envp);
	return errno == ENOEXEC ? shell_exec(plan) : errno;
}

static void child_main(const struct launch_plan *plan, int gate, int error)
{
	int err = 0;
	ssize_t n;
	char c;

	do
		n = read(gate, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(1); /* the tracer gave up and has printed why */
	if (plan->as)
		err = -person_become(plan->as);
	if (!err) {
		own_state_give_back();
		err = program_exec(plan);
	}
	if (write(error, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static void pipe_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int launch_start(const struct launch_plan *plan, struct launch *out)
{
	int gate[2] = {-1, -1}, error[2] = {-1, -1}, err = 0;
	pid_t pid = -1;

	if (!pipe2(gate, O_CLOEXEC) && !pipe2(error, O_CLOEXEC))
		pid = fork();
	if (pid < 0)
		err = -errno;
	if (!pid) {
		close(gate[1]);
		close(error[0]);
		child_main(plan, gate[0], error[1]);
	}
	pipe_close(&gate[0]);
	pipe_close(&error[1]);
	if (!err) {
		*out = (struct launch){.pid = pid, .gate_fd = gate[1], .error_fd = error[0]};
		return 0;
	}
	pipe_close(&gate[1]);
	pipe_close(&error[0]);
	log_error("cannot start %s: %s", plan->argv[0], strerror(-err));
	return err;
}

/* Kills the child at once: it never ran its program. */
static void child_remove(struct launch *l)
{
	int status;

	kill(l->pid, SIGKILL);
	launch_reap(l->pid, REAP_WAIT_MS, &status);
	l->pid = 0;
}

int launch_executed(struct launch *l, const struct launch_plan *plan, int timeout_ms)
{
	struct pollfd p = {.fd = l->error_fd, .events = POLLIN};
	int err = 0;

	if (l->pid <= 0 || l->error_fd < 0)
		return 0;
	if (poll(&p, 1, timeout_ms) <= 0)
		return 1;
	if (read(l->error_fd, &err, sizeof(err)) != sizeof(err))
		err = 0;
	pipe_close(&l->error_fd);
	if (!err)
		return 0;
	log_error("cannot execute %s: %s", plan->program, strerror(err));
	child_remove(l);
	return -err;
}

int launch_open_gate(struct launch *l, const struct launch_plan *plan)
{
	int err = write(l->gate_fd, "", 1) == 1 ? 0 : -errno;

	pipe_close(&l->gate_fd);
	if (!err)
		return launch_executed(l, plan, 0);
	log_error("cannot start %s: %s", plan->argv[0], strerror(-err));
	return err;
}

void launch_cancel(struct launch *l)
{
	struct pollfd p = {.fd = l->error_fd, .events = POLLIN};

	if (l->pid <= 0)
		return;
	/*
	 * A closed pipe means that the child has just executed its program. Then it belongs to the
	 * user.
	 */
	if (l->gate_fd >= 0 || (l->error_fd >= 0 && !poll(&p, 1, 0)))
		child_remove(l);
	pipe_close(&l->gate_fd);
	pipe_close(&l->error_fd);
}
