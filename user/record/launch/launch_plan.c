/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What a launch needs to know beforehand, found with the rights of the user that the command will run as. */
#include "record/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/launch/launch_env.h"
#include "lib/log.h"
#include "lib/person.h"

static int program_check(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? -errno : 0;
}

/* As execvp searches: what may not be executed is passed over, and remembered as the reason. */
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

/* sudo keeps the directory, which need not be one of the user's. */
static int directory_check(const struct person *as)
{
	char *cwd;
	int err;

	if (!as || !faccessat(AT_FDCWD, ".", X_OK, AT_EACCESS))
		return 0;
	err = -errno;
	cwd = getcwd(NULL, 0);
	log_error(
		"%s may not enter this directory%s%s%s: %s; go to another one, or run the command as root "
		"(--user root)",
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
