/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Acting as another user changes the effective ids only. This drops all capabilities, not just
 * those for files; they return with uid 0. In the kernel, ids belong to threads. The C library's
 * functions change those of all threads, one of which may be attaching probes at that moment.
 */
#include "lib/person.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/human.h"
#include "lib/log.h"

#define GROUPS_FIRST 64

/* Reads a uid or gid. */
static bool id_read(const char *text, unsigned int *id)
{
	uint64_t n;

	if (!text || !*text || human_parse_u64(text, &n) || n >= UINT32_MAX)
		return false;
	*id = (unsigned int)n;
	return true;
}

static struct person *person_new(uid_t uid, gid_t gid, const char *home, const char *shell)
{
	struct person *p = xcalloc(1, sizeof(*p));

	p->uid = uid;
	p->gid = gid;
	p->home = xstrdup(home && *home ? home : "/");
	p->shell = xstrdup(shell && *shell ? shell : "/bin/sh");
	return p;
}

static struct person *person_of(const struct passwd *pw)
{
	struct person *p = person_new(pw->pw_uid, pw->pw_gid, pw->pw_dir, pw->pw_shell);
	int cnt = GROUPS_FIRST;

	p->name = xstrdup(pw->pw_name);
	p->groups = xcalloc(cnt, sizeof(*p->groups));
	while (getgrouplist(p->name, p->gid, p->groups, &cnt) < 0)
		p->groups = xrealloc(p->groups, cnt * sizeof(*p->groups));
	p->group_cnt = cnt;
	return p;
}

/* A user without an entry in the user database, as in a container. */
static struct person *person_of_number(uid_t uid, gid_t gid)
{
	struct person *p = person_new(uid, gid, NULL, NULL);

	p->name = xasprintf("uid %u", uid);
	p->groups = xcalloc(1, sizeof(*p->groups));
	p->groups[0] = gid;
	p->group_cnt = 1;
	return p;
}

int person_find(const char *name, struct person **out)
{
	const struct passwd *pw = getpwnam(name);
	unsigned int uid;

	if (!pw && id_read(name, &uid))
		pw = getpwuid(uid);
	if (!pw) {
		log_error("no user \"%s\" on this machine", name);
		return -ENOENT;
	}
	*out = person_of(pw);
	return 0;
}

struct person *person_behind(void)
{
	const char *user = getenv("SUDO_USER"), *doas = getenv("DOAS_USER");
	const struct passwd *pw = NULL;
	unsigned int uid, gid;

	if (geteuid())
		return NULL;
	if (id_read(getenv("SUDO_UID"), &uid)) {
		/* a uid may have several names */
		pw = user ? getpwnam(user) : NULL;
		if (!pw || pw->pw_uid != uid)
			pw = getpwuid(uid);
	} else if (id_read(getenv("PKEXEC_UID"), &uid)) {
		pw = getpwuid(uid);
	} else {
		pw = doas ? getpwnam(doas) : NULL;
		uid = pw ? pw->pw_uid : 0;
	}
	if (!uid)
		return NULL;
	if (pw)
		return person_of(pw);
	return person_of_number(uid, id_read(getenv("SUDO_GID"), &gid) ? gid : uid);
}

void person_free(struct person *p)
{
	if (!p)
		return;
	free(p->groups);
	free(p->name);
	free(p->home);
	free(p->shell);
	free(p);
}

int person_become(const struct person *p)
{
	if (setgroups(p->group_cnt, p->groups) || setresgid(p->gid, p->gid, p->gid) ||
	    setresuid(p->uid, p->uid, p->uid))
		return -errno;
	return 0;
}

static int thread_groups(size_t cnt, const gid_t *groups)
{
	return (int)syscall(SYS_setgroups, cnt, groups);
}

static int thread_gid(gid_t gid)
{
	return (int)syscall(SYS_setresgid, -1, gid, -1);
}

static int thread_uid(uid_t uid)
{
	return (int)syscall(SYS_setresuid, -1, uid, -1);
}

int person_act_begin(const struct person *p, struct person_act *act)
{
	int err, n;

	*act = (struct person_act){.uid = geteuid(), .gid = getegid()};
	if (!p || p->uid == act->uid)
		return 0;
	n = getgroups(0, NULL);
	act->groups = xcalloc(n > 0 ? n : 1, sizeof(*act->groups));
	n = getgroups(n > 0 ? n : 0, act->groups);
	act->group_cnt = n > 0 ? n : 0;
	act->acting = true;
	if (!thread_groups(p->group_cnt, p->groups) && !thread_gid(p->gid) && !thread_uid(p->uid))
		return 0;
	err = errno;
	person_act_end(act);
	log_error("cannot act as %s: %s", p->name, strerror(err));
	return -err;
}

void person_act_end(struct person_act *act)
{
	int err = errno;

	if (act->acting && (thread_uid(act->uid) || thread_gid(act->gid) ||
			    thread_groups(act->group_cnt, act->groups)))
		die("cannot become user %u again: %s", act->uid, strerror(errno));
	act->acting = false;
	free(act->groups);
	act->groups = NULL;
	errno = err;
}
