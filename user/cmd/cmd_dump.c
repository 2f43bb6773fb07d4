/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace dump asks a running `record --last` to write what it keeps in memory. The recorder
 * writes the file with the rights of the user for whom it records.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/flight/dump_requests.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/run_socket.h"
#include "lib/option.h"
#include "lib/table.h"

struct dump_options {
	const char *output;
};

static const struct option_def options[] = {
	{"output", 'o', OPTION_STRING, offsetof(struct dump_options, output), "FILE",
	 .help = "Output file. If not given: run.1.pov, run.2.pov … beside the recorder's own "
		 "file, the first that does not exist. An existing recording FILE is kept as "
		 "FILE.old."},
	{.name = NULL},
};

/* ---- running recorders ---- */

struct recorders {
	pid_t *pid;
	size_t cnt;
};

static int place_of(pid_t pid, struct sockaddr_un *at)
{
	char path[64];

	snprintf(path, sizeof(path), DUMP_SOCKET_DIR "/" DUMP_SOCKET_BEGIN "%d" DUMP_SOCKET_END,
		 pid);
	return run_socket_place(path, at);
}

static void recorder_add(struct recorders *r, pid_t pid)
{
	struct sockaddr_un at;

	if (place_of(pid, &at) || !run_socket_is_served(&at))
		return;
	*table_append(r->pid, r->cnt) = pid;
}

static void recorders_find(struct recorders *r)
{
	DIR *dir;
	struct dirent *e;
	int pid, end;

	*r = (struct recorders){0};
	run_socket_sweep(DUMP_SOCKET_DIR, DUMP_SOCKET_BEGIN);
	dir = opendir(DUMP_SOCKET_DIR);
	while (dir && (e = readdir(dir))) {
		end = 0;
		if (sscanf(e->d_name, DUMP_SOCKET_BEGIN "%d" DUMP_SOCKET_END "%n", &pid, &end) ==
			    1 &&
		    end && !e->d_name[end] && pid > 0)
			recorder_add(r, pid);
	}
	if (dir)
		closedir(dir);
}

static void recorder_print(pid_t pid)
{
	char words[256] = "", path[32];
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	f = fopen(path, "r");
	len = f ? fread(words, 1, sizeof(words) - 1, f) : 0;
	if (f)
		fclose(f);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)words[i] < 0x20 || words[i] == 0x7f)
			words[i] = i + 1 < len ? ' ' : 0;
	fprintf(stderr, "  %d  %s\n", pid, words);
}

/* Finds the recorder wanted, or (0) the only one. 0, or -errno (printed). */
static int recorder_choose(pid_t wanted, pid_t *out)
{
	struct recorders r;
	int err = -ESRCH;

	recorders_find(&r);
	*out = wanted;
	for (size_t i = 0; wanted && i < r.cnt && err; i++)
		if (r.pid[i] == wanted)
			err = 0;
	if (!wanted && r.cnt == 1) {
		*out = r.pid[0];
		err = 0;
	} else if (!wanted && r.cnt > 1) {
		log_error("dump: several `povtrace record --last` are running; give one's process "
			  "number:");
		for (size_t i = 0; i < r.cnt; i++)
			recorder_print(r.pid[i]);
	} else if (err && wanted) {
		log_error("dump: process %d is not a running `povtrace record --last`", wanted);
	} else if (err) {
		log_error("dump: no `povtrace record --last` is running");
	}
	free(r.pid);
	return err;
}

/* ---- the request ---- */

/* The recorder has another working directory, so it needs a full path. 0 or -errno (printed). */
static int path_absolute(const char *path, char *out, size_t room)
{
	char *cwd = *path == '/' ? NULL : realpath(".", NULL);
	int n, err = 0;

	if (*path != '/' && !cwd) {
		err = -errno;
		log_error("dump: cannot find the working directory: %s", strerror(-err));
		return err;
	}
	n = snprintf(out, room, "%s%s%s", cwd ? cwd : "", cwd ? "/" : "", path);
	free(cwd);
	if (n >= 0 && (size_t)n < room)
		return 0;
	log_error("dump: the file name is too long");
	return -ENAMETOOLONG;
}

static int recorder_connect(pid_t pid)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;
	struct sockaddr_un at;

	err = fd < 0 ? -errno : place_of(pid, &at);
	if (!err && connect(fd, (struct sockaddr *)&at, sizeof(at)))
		err = -errno;
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	log_error("dump: cannot reach the recorder (process %d): %s", pid, strerror(-err));
	return err;
}

static int recorder_ask(pid_t pid, const struct dump_request *request, struct dump_answer *answer)
{
	int fd = recorder_connect(pid);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = send(fd, request, sizeof(*request), MSG_NOSIGNAL);
	while (n > 0) {
		n = recv(fd, answer, sizeof(*answer), 0);
		if (n >= 0 || errno != EINTR)
			break;
		n = 1;
	}
	close(fd);
	if (n != (ssize_t)sizeof(*answer) || answer->magic != DUMP_MAGIC) {
		log_error("dump: the recorder (process %d) ended before it had written the file",
			  pid);
		return -ECONNRESET;
	}
	if (answer->status)
		log_error("dump: the recorder (process %d) could not write the file; its messages "
			  "say why",
			  pid);
	return answer->status;
}

static void answer_print(const struct dump_answer *a)
{
	char span[HUMAN_BYTES], size[HUMAN_BYTES];

	printf("%.*s: %s, %s\n", DUMP_PATH_BYTES - 1, a->path,
	       human_ns(span, sizeof(span), a->end_ns - a->begin_ns),
	       human_bytes(size, sizeof(size), a->bytes));
}

static int pid_parse(int argc, char **argv, pid_t *pid)
{
	uint64_t n = 0;

	*pid = 0;
	if (!argc)
		return 0;
	if (argc > 1 || human_parse_u64(argv[0], &n) || !n || n > 1 << 22) {
		log_error("dump: give at most one process number; see `povtrace help dump`");
		return -EINVAL;
	}
	*pid = (pid_t)n;
	return 0;
}

static int dump_run(const void *opts, int argc, char **argv, int dashdash)
{
	struct dump_request request = {.magic = DUMP_MAGIC};
	const struct dump_options *o = opts;
	struct dump_answer answer;
	pid_t pid;

	if (pid_parse(argc, argv, &pid))
		return 2;
	if (geteuid()) {
		log_error("dump needs root, as record does: run it with sudo");
		return 1;
	}
	if (o->output && path_absolute(o->output, request.path, sizeof(request.path)))
		return 1;
	if (recorder_choose(pid, &pid) || recorder_ask(pid, &request, &answer))
		return 1;
	answer_print(&answer);
	return 0;
}

static const char *const examples[] = {
	"sudo povtrace dump",
	"write what the running recorder keeps to a file beside its own",
	"sudo povtrace dump -o slow.pov",
	"write it to slow.pov in this directory",
	"sudo povtrace dump 4242",
	"ask the recorder that is process 4242, if there are several",
	NULL,
};

const struct command cmd_dump = {
	.name = "dump",
	.brief = "Have a running `record --last` write what it keeps.",
	.usage = "[options] [PID]",
	.details =
		"Asks the recorder, process PID or the only running one, to write the newest "
		"part of its recording to a file, waits until the file is complete, and prints its "
		"name, the time that it covers, and its size. The recording continues. The file is "
		"written with the rights of the user that the recorder writes for, and belongs to "
		"that user.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct dump_options),
	.run = dump_run,
};
