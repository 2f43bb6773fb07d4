/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The user behind root, acting as a user for a while, and files created in that way. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/test.h"
#include "lib/person.h"
#include "unit/trace_help.h"

#define SOMEBODY 54321 /* a uid that does not exist */

static void need_root(void)
{
	if (geteuid())
		skip_because("needs root");
}

static void nobody_behind(void)
{
	static const char *const all[] = {"SUDO_UID", "SUDO_GID", "SUDO_USER", "PKEXEC_UID",
					  "DOAS_USER"};

	for (size_t i = 0; i < COUNT(all); i++)
		unsetenv(all[i]);
}

/* Returns the user behind sudo, if only this variable is set. */
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

	pthread_barrier_wait(&o->barrier); /* running before the switch … */
	pthread_barrier_wait(&o->barrier); /* … and while the main thread acts as the user */
	o->uid = geteuid();
	o->gid = getegid();
	pthread_barrier_wait(&o->barrier);
	return NULL;
}

/*
 * Rights and groups are the user's, and nothing of that stays. Other threads keep their rights
 * meanwhile.
 */
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

static bool is_somebody(void)
{
	uid_t r, e, s;

	return !getresuid(&r, &e, &s) && r == SOMEBODY && e == SOMEBODY && s == SOMEBODY;
}

TEST(become)
{
	struct person *p = somebody();
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(person_become(p) || !is_somebody() || getgroups(0, NULL) != 1 || !setuid(0));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	person_free(p);
}

/* ---- files ---- */

/* Asserts "none", "link", or the text ("trace" for a long one), the file's owner and its mode. */
static void file_is(const char *path, const char *wanted)
{
	char text[64] = "none", owner[24] = "mine";
	struct stat st;
	uint8_t *data;
	size_t len;

	if (!lstat(path, &st) && S_ISLNK(st.st_mode)) {
		strcpy(text, "link");
	} else if (!stat(path, &st)) {
		file_load(path, &data, &len);
		if (st.st_uid != geteuid())
			snprintf(owner, sizeof(owner), "%u:%u", st.st_uid, st.st_gid);
		snprintf(text, sizeof(text), "%.*s %s %o", len > 16 ? 5 : (int)len,
			 len > 16 ? "trace" : (char *)data, owner, st.st_mode & 07777);
		free(data);
	}
	assert_string_equal(text, wanted);
}

static void file_put(const char *path, const char *text, mode_t mode)
{
	file_store(path, text, strlen(text));
	assert_int_equal(chmod(path, mode), 0);
}

/* A directory of the user with a link to a file of root's. */
TEST(link_to_roots_file)
{
	struct person *p = somebody();
	const struct trace_writer_options opt = {.keep_old = true, .as = p};
	struct trace_writer *w;

	assert_int_equal(chdir(temp_path("")) || chmod(".", 0755), 0);
	file_put("secret", "root's", 0600);
	assert_int_equal(mkdir("theirs", 0700) || chown("theirs", p->uid, p->gid), 0);
	assert_int_equal(symlink("../secret", "theirs/run.pov"), 0);
	assert_int_equal(trace_writer_open("theirs/run.pov", &opt, &w), -EACCES);
	file_is("secret", "root's mine 600");
	/* Also where only root may create files. */
	assert_int_equal(trace_writer_open("mine.pov", &opt, &w), -EACCES);
	file_is("mine.pov", "none");
	unlink("theirs/run.pov");
	assert_int_equal(trace_writer_open("theirs/run.pov", &opt, &w), 0);
	assert_int_equal(trace_writer_finish(w, NULL), 0);
	file_is("theirs/run.pov", "trace 54321:54322 600");
	person_free(p);
}

TEST(old_is_kept)
{
	const struct trace_writer_options opt = {.keep_old = true};
	struct trace_writer *w;

	assert_int_equal(chdir(temp_path("")), 0);
	file_put("again.pov", "first", 0644);
	/* Undo restores the previous state. */
	assert_int_equal(trace_writer_open("again.pov", &opt, &w), 0);
	file_is("again.pov.old", "first mine 644");
	trace_writer_undo(w);
	file_is("again.pov", "first mine 644");
	file_is("again.pov.old", "none");
	/* A symbolic link stays a link. */
	assert_int_equal(symlink("again.pov", "link.pov"), 0);
	assert_int_equal(trace_writer_open("link.pov", &opt, &w), 0);
	assert_int_equal(trace_writer_finish(w, NULL), 0);
	file_is("link.pov", "link");
	file_is("again.pov.old", "first mine 644");
	/* An empty old file is not kept. Without an old file, undo leaves none. */
	file_put("fresh.pov", "", 0600);
	assert_int_equal(trace_writer_open("fresh.pov", &opt, &w), 0);
	file_is("fresh.pov.old", "none");
	trace_writer_undo(w);
	file_is("fresh.pov", "none");
}

/* Finishes a recording, and checks what that prints. */
static void finish_prints(struct trace_writer *w, const char *wanted)
{
	int saved = dup(STDERR_FILENO), fd = open("printed", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	enum log_level before = log_get_level();
	uint64_t bytes = 0;
	uint8_t *printed;
	size_t len;

	assert_true(saved >= 0 && fd >= 0);
	dup2(fd, STDERR_FILENO);
	log_set_level(LOG_WARN);
	assert_int_equal(trace_writer_finish(w, &bytes), 0);
	log_set_level(before);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
	assert_true(bytes > 0);
	file_load("printed", &printed, &len);
	assert_int_equal(len, strlen(wanted));
	assert_memory_equal(printed, wanted, len);
	free(printed);
}

/* A recording that goes on is not replaced, whatever its name. */
TEST(several_write)
{
	const struct trace_writer_options opt = {.keep_old = true};
	struct trace_writer *w[3];

	assert_int_equal(chdir(temp_path("")), 0);
	file_put("several.pov", "complete", 0644);
	for (int i = 0; i < 3; i++)
		assert_int_equal(trace_writer_open("several.pov", &opt, &w[i]), 0);
	trace_writer_undo(w[0]);
	finish_prints(w[1], "povtrace: warning: another recording was begun as several.pov: this "
			    "one is kept as several.pov.old.3\n");
	finish_prints(w[2], "");
	file_is("several.pov", "trace mine 600");
	file_is("several.pov.old", "complete mine 644");
	file_is("several.pov.old.3", "trace mine 600");
}
