/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two tables: files, each with the process that reads it, and places that were looked up. Both are
 * bounded, because a trace can name any number of them.
 */
#include "site/site_names.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/text.h"
#include "model/model.h"

/*
 * Runs one povtrace-lines per file and asks it over a socket, which is its stdin and stdout. If it
 * has ended, MSG_NOSIGNAL makes writing to the socket fail; writing to a pipe would raise SIGPIPE.
 */

#define ANSWER_SECONDS 60 /* the first answer needs tables of the whole file */

/*
 * Returns the environment without variables by which libdw would ask servers for debug information.
 * The caller frees it.
 */
static char **environment_offline(void)
{
	size_t n = 0, kept = 0;
	char **env;

	while (environ[n])
		n++;
	env = xcalloc(n + 1, sizeof(*env));
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "DEBUGINFOD_", strlen("DEBUGINFOD_")))
			env[kept++] = environ[i];
	return env;
}

/* 0 or an errno value. */
static int lines_spawn(const char *program, char *const *argv, int fd, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	char **env = environment_offline();
	int err;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, fd, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(pid, program, &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	free(env);
	return err;
}

void module_names_start(struct module_names *n, const char *program,
			const struct model_module *file)
{
	const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	char stamp[24];
	const char *argv[] = {program, file->path, file->build_id, stamp, NULL};
	int ends[2];

	n->fd = -1;
	snprintf(stamp, sizeof(stamp), "%" PRIu64, file->stamp);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return;
	if (setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    lines_spawn(program, (char *const *)argv, ends[1], &n->pid))
		close(ends[0]);
	else
		n->fd = ends[0];
	close(ends[1]);
}

static bool lines_receive(int fd, void *out, size_t bytes)
{
	return !bytes || recv(fd, out, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

/* Returns 0; 1: nothing is known about that offset; -1: no more answers will come. */
static int lines_ask(int fd, uint64_t offset, struct site_answer *out, char *function, char *file)
{
	struct site_answer a;

	if (send(fd, &offset, sizeof(offset), MSG_NOSIGNAL) != sizeof(offset) ||
	    !lines_receive(fd, &a, sizeof(a)) || a.function_bytes > SITE_NAME_BYTES ||
	    a.file_bytes > SITE_NAME_BYTES || !lines_receive(fd, function, a.function_bytes) ||
	    !lines_receive(fd, file, a.file_bytes))
		return -1;
	function[a.function_bytes] = file[a.file_bytes] = '\0';
	*out = a;
	return !a.function_bytes;
}

bool module_names_find(struct module_names *n, uint64_t offset, struct site_answer *out,
		       char function[SITE_NAME_BYTES + 1], char file[SITE_NAME_BYTES + 1])
{
	int err = n->fd < 0 ? -1 : lines_ask(n->fd, offset, out, function, file);

	if (err < 0)
		module_names_stop(n);
	return !err;
}

void module_names_stop(struct module_names *n)
{
	if (n->fd < 0)
		return;
	close(n->fd);
	n->fd = -1;
	kill(n->pid, SIGKILL);
	waitpid(n->pid, NULL, 0);
}

#define FILES_MAX 64
#define SITES_MAX 65536

struct known_file {
	const struct model_module *module; /* first of several equal modules */
	struct module_names names;
};

struct known_site {
	const struct model_module *module;
	uint64_t offset;
	struct site_name name; /* owned; function NULL: nothing is known */
	struct known_site *next;
};

struct sites {
	char *program; /* NULL: not installed */
	struct known_file file[FILES_MAX];
	size_t files;
	struct map by_module; /* pointer → struct known_file */
	struct map by_place;  /* hash of module and offset → list of struct known_site */
	size_t cnt;
};

struct sites *sites_new(void)
{
	struct sites *s = xcalloc(1, sizeof(*s));

	s->program = own_file_find("povtrace-lines");
	return s;
}

static void sites_list_free(void *first)
{
	struct known_site *next;

	for (struct known_site *k = first; k; k = next) {
		next = k->next;
		free((char *)k->name.function);
		free((char *)k->name.file);
		free((char *)k->name.text);
		free(k);
	}
}

void sites_free(struct sites *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->files; i++)
		module_names_stop(&s->file[i].names);
	map_release(&s->by_module);
	map_free(&s->by_place, sites_list_free);
	free(s->program);
	free(s);
}

static bool module_equal(const struct model_module *a, const struct model_module *b)
{
	return a->stamp == b->stamp && !strcmp(a->build_id, b->build_id) &&
	       !strcmp(a->path, b->path);
}

/* Returns the known file of a module. NULL: its contents are not available. */
static struct known_file *module_file(struct sites *s, const struct model_module *module)
{
	struct known_file *f = map_get(&s->by_module, (uintptr_t)module);
	size_t i;

	if (f || !s->program || (!*module->build_id && !module->stamp))
		return f;
	for (i = 0; i < s->files && !module_equal(s->file[i].module, module); i++)
		;
	if (i == FILES_MAX)
		return NULL;
	f = &s->file[i];
	map_set(&s->by_module, (uintptr_t)module, f);
	if (i == s->files) {
		s->files++;
		f->module = module;
		module_names_start(&f->names, s->program, module);
	}
	return f;
}

/* Takes over text. */
static char *text_make_printable(char *text)
{
	char *clean = text_printable(text, UINT_MAX);

	free(text);
	return clean;
}

static void site_look_up(struct sites *s, struct known_site *k)
{
	struct known_file *f = module_file(s, k->module);
	char function[SITE_NAME_BYTES + 1], file[SITE_NAME_BYTES + 1], *module;
	struct site_answer a;

	if (!f || !module_names_find(&f->names, k->offset, &a, function, file))
		return;
	k->name.function = xstrdup(function);
	k->name.function_offset = a.function_offset;
	if (*file) {
		k->name.file = xstrdup(file);
		k->name.line = a.line;
		k->name.text = text_make_printable(
			xasprintf("%s (%s:%" PRIu32 ")", function, text_base_name(file), a.line));
	} else {
		module = text_module_name(k->module->path);
		k->name.text = text_make_printable(
			xasprintf("%s+0x%" PRIx64 " (%s)", function, a.function_offset, module));
		free(module);
	}
}

const struct site_name *sites_find(struct sites *s, const struct model_site *site)
{
	struct known_site *k, *first;
	uint64_t hash;

	if (!s || !site->module)
		return NULL;
	hash = (uintptr_t)site->module * UINT64_C(0x9e3779b97f4a7c15) ^ site->offset;
	first = map_get(&s->by_place, hash);
	for (k = first; k && (k->module != site->module || k->offset != site->offset);)
		k = k->next;
	if (!k) {
		if (s->cnt == SITES_MAX)
			return NULL;
		s->cnt++;
		k = xcalloc(1, sizeof(*k));
		k->module = site->module;
		k->offset = site->offset;
		k->next = first;
		map_set(&s->by_place, hash, k);
		site_look_up(s, k);
	}
	return k->name.function ? &k->name : NULL;
}

char *sites_text(struct sites *s, const struct model_site *site)
{
	const struct site_name *name = sites_find(s, site);
	char *module, *text;

	if (name)
		return xstrdup(name->text);
	if (site->module) {
		module = text_module_name(site->module->path);
		text = text_make_printable(xasprintf("%s+0x%" PRIx64, module, site->offset));
		free(module);
		return text;
	}
	return site->address ? xasprintf("0x%" PRIx64, site->address) : xstrdup("?");
}
