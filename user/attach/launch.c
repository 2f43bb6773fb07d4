/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Two pipes: one the child blocks on, one that closes by itself when exec succeeds. */
#include "attach/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

static int become(const struct passwd *pw)
{
	if (initgroups(pw->pw_name, pw->pw_gid) || setgid(pw->pw_gid) || setuid(pw->pw_uid))
		return -errno;
	setenv("HOME", pw->pw_dir, 1);
	setenv("USER", pw->pw_name, 1);
	setenv("LOGNAME", pw->pw_name, 1);
	return 0;
}

static void child_main(char *const *argv, const struct passwd *pw, int gate, int error)
{
	int err = 0;
	ssize_t n;
	char c;

	do
		n = read(gate, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(1); /* the tracer gave up, and has said why */
	if (pw)
		err = -become(pw);
	if (!err) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGPIPE, SIG_DFL);
		execvp(argv[0], argv);
		err = errno;
	}
	if (write(error, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int launch_start(char *const *argv, const char *user, struct launch *out)
{
	int gate[2], error[2], err;
	struct passwd *pw = NULL;
	pid_t pid;

	if (user && !(pw = getpwnam(user))) {
		log_error("no user \"%s\" on this machine", user);
		return -ENOENT;
	}
	if (pipe2(gate, O_CLOEXEC))
		goto fail;
	if (pipe2(error, O_CLOEXEC))
		goto fail_gate;
	pid = fork();
	if (pid < 0)
		goto fail_error;
	if (!pid) {
		close(gate[1]);
		close(error[0]);
		child_main(argv, pw, gate[0], error[1]);
	}
	close(gate[0]);
	close(error[1]);
	out->pid = pid;
	out->gate_fd = gate[1];
	out->error_fd = error[0];
	return 0;
fail_error:
	err = -errno;
	close(error[0]);
	close(error[1]);
	errno = -err;
fail_gate:
	err = -errno;
	close(gate[0]);
	close(gate[1]);
	errno = -err;
fail:
	err = -errno;
	log_error("cannot start %s: %s", argv[0], strerror(-err));
	return err;
}

int launch_open_gate(struct launch *l, const char *program)
{
	int err = 0;
	ssize_t n;

	if (write(l->gate_fd, "", 1) != 1)
		err = errno;
	close(l->gate_fd);
	l->gate_fd = -1;
	if (!err) {
		do
			n = read(l->error_fd, &err, sizeof(err));
		while (n < 0 && errno == EINTR);
		if (n != sizeof(err))
			err = 0;
	}
	close(l->error_fd);
	l->error_fd = -1;
	if (!err)
		return 0;
	log_error("cannot execute %s: %s", program, strerror(err));
	waitpid(l->pid, NULL, 0);
	l->pid = 0;
	return -err;
}

void launch_cancel(struct launch *l)
{
	if (l->pid <= 0 || l->gate_fd < 0)
		return;
	close(l->gate_fd);
	close(l->error_fd);
	waitpid(l->pid, NULL, 0);
	l->pid = 0;
	l->gate_fd = l->error_fd = -1;
}
