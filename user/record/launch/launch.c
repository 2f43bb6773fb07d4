/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Starting uses two pipes: the child blocks on one, and the other closes by itself when exec
 * succeeds. No wait is unlimited: the child may be stopped, or its program may be on a file system
 * that does not answer.
 */
#include "record/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/log.h"
#include "lib/own_state.h"
#include "lib/person.h"
#include "lib/text.h"

/*
 * ---- the environment ----
 *
 * sudo and similar programs change the environment of the command that they run. Their own one is
 * still that of the user's shell, and /proc/PID/environ shows it. So the environment is read from
 * our topmost ancestor that is not the user's own. If sudo has executed us in its own process,
 * there is no such ancestor, and the initial environment of the shell is used.
 */

#define ENVIRON_BYTES_MAX (4u << 20)
#define STATUS_BYTES_MAX 65536
#define ANCESTORS_MAX 64
#define PATH_LAST "/usr/local/bin:/usr/bin:/bin"

struct env {
	char **v; /* NULL-terminated; owned */
	size_t cnt;
};

/* Returns true if an entry "NAME=value" has this name. */
static bool entry_has_name(const char *entry, const char *name, size_t len)
{
	return !strncmp(entry, name, len) && entry[len] == '=';
}

const char *launch_env_get(char *const *envp, const char *name)
{
	size_t len = strlen(name);

	for (; *envp; envp++)
		if (entry_has_name(*envp, name, len))
			return *envp + len + 1;
	return NULL;
}

/* Adds an entry, and takes it over. Names may be there twice; programs see the first. */
static void env_add(struct env *e, char *entry)
{
	e->v = xrealloc(e->v, (e->cnt + 2) * sizeof(*e->v));
	e->v[e->cnt++] = entry;
	e->v[e->cnt] = NULL;
}

/* Adds or replaces an entry, and takes it over. */
static void env_put(struct env *e, char *entry)
{
	size_t len = strcspn(entry, "=");

	for (size_t i = 0; i < e->cnt; i++)
		if (entry_has_name(e->v[i], entry, len)) {
			free(e->v[i]);
			e->v[i] = entry;
			return;
		}
	env_add(e, entry);
}

static void env_set(struct env *e, const char *name, const char *value)
{
	env_put(e, xasprintf("%s=%s", name, value));
}

static void env_default(struct env *e, const char *name, const char *value)
{
	if (!e->cnt || !launch_env_get(e->v, name))
		env_set(e, name, value);
}

/*
 * Returns true for variables that sudo and similar programs set: the shell's values of these are
 * kept.
 */
static bool set_by_sudo(const char *entry)
{
	static const char *const names[] = {"HOME",  "LOGNAME", "USER", "USERNAME", "MAIL",
					    "SHELL", "PATH",	"_",	NULL};
	static const char *const prefixes[] = {"SUDO_", "PKEXEC_", "DOAS_", NULL};

	for (size_t i = 0; names[i]; i++)
		if (entry_has_name(entry, names[i], strlen(names[i])))
			return true;
	return text_begins_any(entry, prefixes);
}

static bool path_has(const char *path, const char *dir, size_t len)
{
	for (;; path++) {
		size_t n = strcspn(path, ":");

		if (n == len && !strncmp(path, dir, len))
			return true;
		path += n;
		if (!*path)
			return false;
	}
}

/*
 * Appends those directories of our PATH that theirs lacks, so that programs in root's PATH are
 * found, too.
 */
static void path_merge(struct env *e, const char *ours)
{
	const char *theirs = launch_env_get(e->v, "PATH");
	char *path = xstrdup(theirs ? theirs : ""), *longer;

	while (ours && *ours) {
		size_t len = strcspn(ours, ":");

		if (len && !path_has(path, ours, len)) {
			longer = xasprintf("%s%s%.*s", path, *path ? ":" : "", (int)len, ours);
			free(path);
			path = longer;
		}
		ours += len + (ours[len] == ':');
	}
	env_set(e, "PATH", *path ? path : PATH_LAST);
	free(path);
}

static void person_default(struct env *e, const struct person *as)
{
	env_default(e, "HOME", as->home);
	env_default(e, "USER", as->name);
	env_default(e, "LOGNAME", as->name);
	env_default(e, "SHELL", as->shell);
}

char **launch_env_merge(const char *theirs, size_t bytes, char *const *ours,
			const struct person *as)
{
	struct env e = {0};

	for (size_t at = 0; at < bytes; at += strlen(theirs + at) + 1)
		if (strchr(theirs + at, '='))
			env_put(&e, xstrdup(theirs + at));
	for (; *ours; ours++)
		if (strchr(*ours, '=') && !set_by_sudo(*ours))
			env_put(&e, xstrdup(*ours));
	person_default(&e, as);
	return e.v;
}

/* Copies our own environment, with the user's name and home if given. */
static char **env_of_ours(const struct person *as)
{
	struct env e = {xcalloc(1, sizeof(*e.v)), 0};

	for (char **v = environ; *v; v++)
		if (!as || !set_by_sudo(*v) || entry_has_name(*v, "PATH", 4))
			env_add(&e, xstrdup(*v));
	if (as)
		person_default(&e, as);
	return e.v;
}

static bool status_read(pid_t pid, pid_t *parent, uid_t *uid)
{
	size_t bytes;
	char *text = proc_file_read(pid, "status", STATUS_BYTES_MAX, &bytes), *p, *u;
	bool ok;

	p = text ? strstr(text, "\nPPid:") : NULL;
	u = text ? strstr(text, "\nUid:") : NULL;
	ok = p && u;
	if (ok) {
		*parent = (pid_t)strtol(p + 6, NULL, 10);
		*uid = (uid_t)strtoul(u + 5, NULL, 10);
	}
	free(text);
	return ok;
}

/* Finds the process that has the user's environment, or 0. */
static pid_t process_behind(uid_t user)
{
	pid_t pid = getpid(), below = 0, parent;
	uid_t uid;

	for (int i = 0; i < ANCESTORS_MAX && pid > 0 && status_read(pid, &parent, &uid); i++) {
		if (uid == user)
			return below == getpid() ? pid : below;
		below = pid;
		pid = parent;
	}
	return 0;
}

char **launch_env_make(const struct person *as, bool behind)
{
	pid_t pid = as && behind ? process_behind(as->uid) : 0;
	const char *ours = getenv("PATH");
	struct env e = {0};
	size_t bytes;
	char *theirs = pid ? proc_file_read(pid, "environ", ENVIRON_BYTES_MAX, &bytes) : NULL;

	if (theirs && bytes && bytes < ENVIRON_BYTES_MAX)
		e.v = launch_env_merge(theirs, bytes, environ, as);
	free(theirs);
	if (!e.v)
		e.v = env_of_ours(as);
	while (e.v[e.cnt])
		e.cnt++;
	if (as)
		path_merge(&e, ours);
	return e.v;
}

char **launch_env_with(char *const *envp, const char *name, const char *value)
{
	struct env e = {xcalloc(1, sizeof(*e.v)), 0};

	for (char *const *v = envp; *v; v++)
		if (!entry_has_name(*v, name, strlen(name)))
			env_add(&e, xstrdup(*v));
	if (value)
		env_add(&e, xasprintf("%s=%s", name, value));
	return e.v;
}

void launch_env_free(char **envp)
{
	for (char **v = envp; v && *v; v++)
		free(*v);
	free(envp);
}

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
