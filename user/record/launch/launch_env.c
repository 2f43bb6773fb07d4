/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * sudo and similar programs still have the shell's environment from before they cleaned it:
 * /proc/PID/environ shows it. The process is our topmost ancestor that is not the user's own. If
 * there is none because sudo executed us in its place, the shell's environment from its start is
 * used.
 */
#include "record/launch/launch_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/person.h"
#include "lib/file.h"

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
	e->v = xrealloc(e->v, (e->cnt + 2) * sizeof(*e->v));
	e->v[e->cnt++] = entry;
	e->v[e->cnt] = NULL;
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
	for (size_t i = 0; prefixes[i]; i++)
		if (!strncmp(entry, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
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
			env_put(&e, xstrdup(*v));
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
	struct env e = {0};

	for (char *const *v = envp; *v; v++)
		if (!entry_has_name(*v, name, strlen(name)))
			env_put(&e, xstrdup(*v));
	env_put(&e, xasprintf("%s=%s", name, value));
	return e.v;
}

void launch_env_free(char **envp)
{
	for (char **v = envp; v && *v; v++)
		free(*v);
	free(envp);
}
