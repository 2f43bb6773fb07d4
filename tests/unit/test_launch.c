/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The command's program and environment, its gate, and that nothing waits for a child that does not
 * come.
 */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"
#include "record/launch/launch.h"
#include "lib/person.h"
#include "trace_help.h"

static struct person theirs = {
	.uid = 54321, .gid = 54322, .name = "ann", .home = "/home/ann", .shell = "/bin/zsh"};

/* wanted: "NAME=VALUE", or "NAME" for a variable that is not set */
static void env_is(char **env, const char *wanted)
{
	char text[512] = "", *names = xstrdup(wanted), *save = NULL, *name;
	const char *value;

	for (char *v = strtok_r(names, " ", &save); v; v = strtok_r(NULL, " ", &save)) {
		name = strtok(v, "=");
		value = launch_env_get(env, name);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s%s",
			 *text ? " " : "", name, value ? "=" : "", value ? value : "");
	}
	assert_string_equal(text, wanted);
	free(names);
	launch_env_free(env);
}

/* Changes made by sudo are dropped; what was added later stays. */
TEST(environment)
{
	static const char before[] = "PATH=/opt/mpi/bin:/usr/bin\0LD_LIBRARY_PATH=/opt/mpi/lib\0"
				     "HOME=/home/ann\0USER=ann\0LOGNAME=ann\0SHELL=/bin/fish\0"
				     "EDITOR=vi\0TERM=xterm\0nonsense\0EMPTY=";
	static char *const ours[] = {"PATH=/usr/sbin:/usr/bin",
				     "HOME=/root",
				     "USER=root",
				     "LOGNAME=root",
				     "SHELL=/bin/bash",
				     "SUDO_UID=54321",
				     "SUDO_COMMAND=x",
				     "TERM=vt100",
				     "ADDED=1",
				     "EMPTY=no-longer",
				     "=odd",
				     NULL};

	env_is(launch_env_merge(before, sizeof(before), ours, &theirs),
	       "PATH=/opt/mpi/bin:/usr/bin LD_LIBRARY_PATH=/opt/mpi/lib HOME=/home/ann USER=ann "
	       "SHELL=/bin/fish EDITOR=vi TERM=vt100 ADDED=1 EMPTY=no-longer SUDO_UID SUDO_COMMAND "
	       "nonsense");
	env_is(launch_env_merge("A=1", 4, ours, &theirs),
	       "HOME=/home/ann LOGNAME=ann SHELL=/bin/zsh");
}

/*
 * For another user without a shell of that user above us: our environment, with that user's
 * identity.
 */
TEST(environment_of_another)
{
	setenv("PATH", "/usr/bin:/bin", 1);
	setenv("SUDO_UID", "1", 1);
	setenv("KEPT", "yes", 1);
	env_is(launch_env_make(&theirs, false),
	       "HOME=/home/ann USER=ann PATH=/usr/bin:/bin SUDO_UID KEPT=yes");
	env_is(launch_env_make(NULL, false), "SUDO_UID=1 KEPT=yes");
	unsetenv("SUDO_UID");
}

/* A program sees its environment entry by entry: names twice, and entries without a value. */
TEST(environment_as_it_is)
{
	static char *odd[] = {"A=first",   "NOTHING", "A=second", "=odd",
			      "PATH=/bin", "NOTHING", NULL};
	char **before = environ, **env, **with;

	environ = odd;
	env = launch_env_make(NULL, false);
	environ = before;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd) - 1; i++)
		assert_string_equal(env[i], odd[i]);
	assert_null(env[sizeof(odd) / sizeof(*odd) - 1]);
	with = launch_env_with(env, "PATH", "/usr/bin");
	assert_string_equal(with[0], "A=first");
	assert_string_equal(with[2], "A=second");
	assert_string_equal(with[4], "NOTHING");
	env_is(with, "A=first PATH=/usr/bin");
	launch_env_free(env);
}

static const char *script(const char *name, mode_t mode)
{
	const char *path = temp_path(name);

	file_store(path, "exit 7\n", 7); /* no "#!": run by a shell nevertheless */
	chmod(path, mode);
	return path;
}

static int plan_of(const char *program, struct launch_plan *plan)
{
	static char *argv[2];

	argv[0] = (char *)program;
	return launch_plan_make(argv, NULL, false, plan);
}

TEST(program)
{
	struct launch_plan plan;

	assert_int_equal(plan_of("/does/not/exist", &plan), -ENOENT);
	assert_int_equal(plan_of("/", &plan), -EACCES);
	assert_int_equal(plan_of(script("plain", 0644), &plan), -EACCES);
	assert_int_equal(plan_of(script("runs", 0755), &plan), 0);
	launch_plan_release(&plan);
	assert_int_equal(chdir(temp_path("")), 0);
	setenv("PATH", "/does/not/exist:.", 1);
	assert_int_equal(plan_of("nosuch", &plan), -ENOENT);
	assert_int_equal(plan_of("plain", &plan), -EACCES);
	assert_int_equal(plan_of("runs", &plan), 0);
	assert_int_equal(access(plan.program, X_OK), 0);
	launch_plan_release(&plan);
	setenv("PATH", "/usr/bin:/bin", 1);
}

TEST(runs)
{
	struct launch_plan plan;
	struct launch l;
	int status = -1;

	assert_int_equal(plan_of(script("runs", 0755), &plan), 0);
	assert_int_equal(launch_start(&plan, &l), 0);
	assert_false(launch_reap(l.pid, 0, &status));
	assert_true(launch_open_gate(&l, &plan) >= 0);
	assert_int_equal(launch_executed(&l, &plan, 10000), 0);
	assert_true(launch_reap(l.pid, 10000, &status));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	/* The program disappears after it was found. */
	assert_int_equal(launch_start(&plan, &l), 0);
	unlink(plan.program);
	assert_true(launch_open_gate(&l, &plan) >= 0 || !l.pid);
	assert_int_equal(l.pid ? launch_executed(&l, &plan, 10000) : -ENOENT, -ENOENT);
	assert_int_equal(l.pid, 0);
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
	launch_plan_release(&plan);
}

static void start_stopped(struct launch_plan *plan, struct launch *l)
{
	int status;

	assert_int_equal(launch_start(plan, l), 0);
	kill(l->pid, SIGSTOP);
	assert_int_equal(waitpid(l->pid, &status, WUNTRACED), l->pid);
}

/*
 * A child that is stopped, as by NSS modules or a dead file server: neither the gate nor the end
 * waits for it.
 */
TEST(stopped)
{
	struct launch_plan plan;
	struct launch l;
	int status;

	assert_int_equal(plan_of(script("runs", 0755), &plan), 0);
	start_stopped(&plan, &l);
	assert_int_equal(launch_open_gate(&l, &plan), 1);
	assert_int_equal(launch_executed(&l, &plan, 0), 1);
	kill(l.pid, SIGCONT);
	assert_int_equal(launch_executed(&l, &plan, 10000), 0);
	assert_true(launch_reap(l.pid, 10000, &status));
	/* Cancelled before it began, and after. */
	for (int open = 0; open < 2; open++) {
		start_stopped(&plan, &l);
		if (open)
			assert_int_equal(launch_open_gate(&l, &plan), 1);
		launch_cancel(&l);
		assert_int_equal(l.pid, 0);
		assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
	}
	launch_plan_release(&plan);
}

/* A program that runs is left alone. */
TEST(cancel_spares)
{
	static char *argv[] = {"sleep", "60", NULL};
	struct launch_plan plan;
	struct launch l;
	int status;

	assert_int_equal(launch_plan_make(argv, NULL, false, &plan), 0);
	assert_int_equal(launch_start(&plan, &l), 0);
	assert_true(launch_open_gate(&l, &plan) >= 0);
	assert_int_equal(launch_executed(&l, &plan, 10000), 0);
	launch_cancel(&l);
	assert_true(l.pid > 0);
	assert_int_equal(kill(l.pid, 0), 0);
	assert_false(launch_reap(l.pid, 0, &status));
	kill(l.pid, SIGKILL);
	assert_true(launch_reap(l.pid, 10000, &status));
	launch_plan_release(&plan);
}
