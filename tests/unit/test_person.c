/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Who stands behind root, acting as somebody for a while, and files that are made so. */
#include <stdlib.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"
#include "base/person.h"
#include "trace_help.h"

#define SOMEBODY 54321 /* a number that nobody has */

static void need_root(void)
{
	if (!geteuid())
		return;
	print_message("SKIP: needs root\n");
	skip();
}

static void nobody_behind(void)
{
	static const char *const all[] = {"SUDO_UID", "SUDO_GID", "SUDO_USER", "PKEXEC_UID",
					  "DOAS_USER"};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		unsetenv(all[i]);
}

/* Who is behind, with this variable alone. */
static struct person *behind(const char *variable, const char *value)
{
	struct person *p;

	nobody_behind();
	setenv(variable, value, 1);
	if (!strcmp(value, "54321"))
		setenv("SUDO_GID", "54322", 1);
	p = person_behind();
	nobody_behind();
	return p;
}

static struct person *somebody(void)
{
	struct person *p;

	need_root();
	p = behind("SUDO_UID", "54321");
	assert_non_null(p);
	return p;
}

TEST(find)
{
	struct person *p;

	assert_int_equal(person_find("root", &p), 0);
	assert_int_equal(p->uid, 0);
	assert_string_equal(p->name, "root");
	assert_true(p->group_cnt >= 1 && p->home[0] == '/');
	person_free(p);
	assert_int_equal(person_find("0", &p), 0);
	assert_string_equal(p->name, "root");
	person_free(p);
	assert_int_equal(person_find("no such user", &p), -ENOENT);
	assert_int_equal(person_find("", &p), -ENOENT);
	assert_int_equal(person_find("-1", &p), -ENOENT);
}

static void behind_is(const char *variable, const char *value, int uid)
{
	struct person *p = behind(variable, value);

	assert_int_equal(p ? (int)p->uid : -1, uid);
	person_free(p);
}

TEST(behind)
{
	struct person *p = somebody();

	assert_int_equal(p->gid, 54322);
	assert_int_equal(p->group_cnt, 1);
	assert_int_equal(p->groups[0], 54322);
	person_free(p);
	nobody_behind();
	assert_null(person_behind());
	behind_is("SUDO_UID", "0", -1);
	behind_is("SUDO_UID", "", -1);
	behind_is("SUDO_UID", "-1", -1);
	behind_is("SUDO_UID", "4294967295", -1);
	behind_is("SUDO_UID", "54321", SOMEBODY);
	behind_is("PKEXEC_UID", "54321", SOMEBODY);
	behind_is("DOAS_USER", "no such user", -1);
	behind_is("DOAS_USER", "root", -1);
}

struct other_thread {
	pthread_barrier_t barrier;
	uid_t uid;
	gid_t gid;
};

static void *other_thread(void *arg)
{
	struct other_thread *o = arg;

	pthread_barrier_wait(&o->barrier); /* there before, … */
	pthread_barrier_wait(&o->barrier); /* … and now the main thread acts */
	o->uid = geteuid();
	o->gid = getegid();
	pthread_barrier_wait(&o->barrier);
	return NULL;
}

/* Rights and groups are the other's, and nothing of it stays. Other threads keep their rights meanwhile. */
TEST(act)
{
	struct other_thread o = {.uid = SOMEBODY, .gid = 54322};
	struct person *p = somebody();
	struct person_act act;
	gid_t before[64], group[64];
	int n = getgroups(64, before);
	pthread_t thread;

	assert_int_equal(pthread_barrier_init(&o.barrier, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, other_thread, &o), 0);
	pthread_barrier_wait(&o.barrier);
	assert_int_equal(person_act_begin(p, &act), 0);
	pthread_barrier_wait(&o.barrier);
	pthread_barrier_wait(&o.barrier);
	assert_int_equal(geteuid(), SOMEBODY);
	assert_int_equal(getegid(), 54322);
	assert_int_equal(getgroups(64, group), 1);
	assert_int_equal(group[0], 54322);
	assert_int_equal(open("/etc/shadow", O_RDONLY), -1);
	errno = ENOSPC;
	person_act_end(&act);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(geteuid(), 0);
	assert_int_equal(getegid(), 0);
	assert_int_equal(getgroups(64, group), n);
	assert_memory_equal(group, before, n * sizeof(*group));
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&o.barrier);
	assert_int_equal(o.uid, 0);
	assert_int_equal(o.gid, 0);
	person_free(p);
	assert_int_equal(person_act_begin(NULL, &act), 0);
	assert_int_equal(geteuid(), 0);
	person_act_end(&act);
}

TEST(become)
{
	struct person *p;
	int status;
	pid_t pid;

	p = somebody();
	pid = fork();
	if (!pid) {
		uid_t r, e, s;

		if (person_become(p) || getresuid(&r, &e, &s))
			_exit(1);
		_exit(r == SOMEBODY && e == SOMEBODY && s == SOMEBODY && getgroups(0, NULL) == 1 &&
				      setuid(0) < 0 ?
			      0 :
			      2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	person_free(p);
}

/* ---- files ---- */

static const char *file_put(const char *name, const char *text, mode_t mode)
{
	const char *path = temp_path(name);

	file_store(path, text, strlen(text));
	chmod(path, mode);
	return path;
}

static void file_holds(const char *path, const char *text, uid_t uid)
{
	struct stat st;
	uint8_t *data;
	size_t len;

	file_load(path, &data, &len);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(data, text, len);
	free(data);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, uid);
}

/* A directory of theirs, with a link to a file of root's. */
TEST(link_to_roots_file)
{
	char dir[256], link[300], secret[256];
	struct trace_writer_options opt = {.keep_old = true};
	struct trace_writer *w;
	struct person *p;
	struct stat st;

	p = somebody();
	opt.as = p;
	snprintf(secret, sizeof(secret), "%s", file_put("secret", "root's", 0600));
	snprintf(dir, sizeof(dir), "%s", temp_path("theirs"));
	assert_int_equal(mkdir(dir, 0700), 0);
	assert_int_equal(chown(dir, p->uid, p->gid), 0);
	snprintf(link, sizeof(link), "%s/run.pov", dir);
	assert_int_equal(symlink(secret, link), 0);
	assert_int_equal(chmod(temp_path(""), 0755), 0);
	assert_int_equal(trace_writer_open(link, &opt, &w), -EACCES);
	file_holds(secret, "root's", 0);
	assert_int_equal(stat(secret, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* And where root alone may create files. */
	assert_int_equal(trace_writer_open(temp_path("mine.pov"), &opt, &w), -EACCES);
	assert_int_equal(stat(temp_path("mine.pov"), &st), -1);
	unlink(link);
	assert_int_equal(trace_writer_open(link, &opt, &w), 0);
	assert_int_equal(trace_writer_finish(w), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_int_equal(st.st_uid, SOMEBODY);
	assert_int_equal(st.st_gid, 54322);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	person_free(p);
}

TEST(old_is_kept)
{
	const struct trace_writer_options opt = {.keep_old = true};
	struct trace_writer *w;
	char path[256], old[256], link[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s", file_put("again.pov", "first", 0644));
	snprintf(old, sizeof(old), "%s", temp_path("again.pov.old"));
	/* Undone: as if nothing had been. */
	assert_int_equal(trace_writer_open(path, &opt, &w), 0);
	file_holds(old, "first", geteuid());
	trace_writer_undo(w);
	file_holds(path, "first", geteuid());
	assert_int_equal(stat(old, &st), -1);
	/* A link stays one. */
	snprintf(link, sizeof(link), "%s", temp_path("link.pov"));
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(trace_writer_open(link, &opt, &w), 0);
	assert_int_equal(trace_writer_finish(w), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	file_holds(old, "first", geteuid());
	/* An empty one is no loss; without a former file undoing leaves none. */
	file_put("fresh.pov", "", 0600);
	snprintf(path, sizeof(path), "%s", temp_path("fresh.pov"));
	assert_int_equal(trace_writer_open(path, &opt, &w), 0);
	assert_int_equal(stat(temp_path("fresh.pov.old"), &st), -1);
	trace_writer_undo(w);
	assert_int_equal(stat(path, &st), -1);
}

ALL_TESTS(unit_quiet, NULL);
