/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The helper's side. Replies are objects, one per packet:
 *   {fds: true, ret, pairs, members: [[site, row, …] of each probe]}
 *	descriptors that belong to the next file's reply
 *   {attaching: true}
 *	the file has been read; attaching may take a while
 *   {file: {dev, ino, stamp, path, build_id, error, main, program, unwinds, interpreter, owner,
 *	segments, binding, sites, regions, lib_id, copies, offsets, library}}
 *   {added: {lib_id, dev, ino, stamp, offsets, sites, probes}}
 *	to "functions" and "handed_ops": one per library
 *   {done: true, …}
 *	the request is answered. "process" adds {process: {…}}. "map" and "path" add {dev, ino,
 *	stamp} of the file, or {error}. "attach" adds the same, or {dev, ino, stamp, sites: their
 *	number, failed: [function], refused}. "functions" adds {elsewhere: number}. "handed_ops"
 *	adds {left_bytes: memory that was too much to search}.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/code_file.h"
#include "target/predict_libraries.h"
#include "target/helper/helper_service.h"
#include "target/helper/inspect.h"
#include "target/proc.h"
#include "target/probes/code_turn.h"
#include "target/probes/site_list.h"
#include "lib/json_get.h"
#include "lib/file.h"
#include "lib/log.h"

void service_send(struct service *s, json_t *message)
{
	int err = helper_message_send(s->sock, message, NULL, 0);

	json_decref(message);
	if (err)
		_exit(1); /* the collector has ended */
}

static json_t *members_json(const struct perf_probe *p)
{
	json_t *members = json_array();

	for (size_t i = 0; i < p->cnt; i++) {
		json_array_append_new(members, json_integer(p->member[i].site));
		json_array_append_new(members, json_integer(p->member[i].func));
	}
	return members;
}

static void probes_send(struct service *s, bool ret, const struct perf_probes *probes)
{
	size_t batch = HELPER_FDS_MAX / 2, n, i;
	int fds[HELPER_FDS_MAX];
	json_t *message, *members;
	bool pairs;

	for (size_t at = 0; at < probes->cnt; at += n) {
		pairs = probes->v[at].event_fd >= 0;
		n = probes->cnt - at < batch ? probes->cnt - at : batch;
		members = json_array();
		for (i = 0; i < n; i++) {
			json_array_append_new(members, members_json(&probes->v[at + i]));
			fds[pairs ? 2 * i : i] = probes->v[at + i].link_fd;
			if (pairs)
				fds[2 * i + 1] = probes->v[at + i].event_fd;
		}
		message = json_pack("{s:b,s:b,s:b,s:o}", "fds", 1, "ret", ret, "pairs", pairs,
				    "members", members);
		if (helper_message_send(s->sock, message, fds, pairs ? 2 * n : n))
			_exit(1);
		json_decref(message);
	}
}

static json_t *id_json(const struct code_id *id)
{
	return json_pack("{s:I,s:I,s:I}", "dev", (json_int_t)id->dev, "ino", (json_int_t)id->ino,
			 "stamp", (json_int_t)id->stamp);
}

static void hooks_fd_send(struct service *s, int fd)
{
	json_t *message = json_pack("{s:b,s:b}", "fds", 1, "hooks", 1);

	if (helper_message_send(s->sock, message, &fd, 1))
		_exit(1);
	json_decref(message);
}

void service_links_send(struct service *s, const struct links *links)
{
	if (links->hooks_fd > 0)
		hooks_fd_send(s, links->hooks_fd);
	probes_send(s, false, &links->entry);
	probes_send(s, true, &links->ret);
}

static void file_report(struct service *s, const struct code_id *id, const struct stat *st,
			const char *path, const struct inspected *in, int lib_id, int err)
{
	json_t *f = id_json(id);

	json_object_set_new(f, "path", json_text(path));
	json_object_set_new(f, "build_id", json_string(in->build_id));
	json_object_set_new(f, "error", json_integer(err));
	json_object_set_new(f, "main", json_boolean(in->is_main));
	json_object_set_new(f, "program", json_boolean(in->interpreter[0] && !in->is_script));
	json_object_set_new(f, "preload", json_boolean(in->is_preload));
	json_object_set_new(f, "unwinds", json_boolean(in->unwinds));
	if (in->interpreter[0])
		json_object_set_new(f, "interpreter", json_text(in->interpreter));
	json_set_int(f, "owner", st->st_uid);
	if (in->segments)
		json_object_set(f, "segments", in->segments);
	if (in->binding)
		json_object_set(f, "binding", in->binding);
	if (in->sites)
		json_object_set(f, "sites", in->sites);
	if (in->regions)
		json_object_set(f, "regions", in->regions);
	if (lib_id >= 0) {
		json_set_int(f, "lib_id", lib_id);
		json_object_set(f, "copies", in->copies);
		json_object_set(f, "offsets", in->offsets);
		json_object_set(f, "library", in->library);
	}
	service_links_send(s, &in->links);
	service_send(s, json_pack("{s:o}", "file", f));
}

/* Remembers an inspected file, and which library numbers are taken. */
static void file_keep(struct service *s, const struct code_id *id, uid_t owner,
		      const struct inspected *in, int lib_id)
{
	struct code_file *f = xcalloc(1, sizeof(*f));
	struct library *lib;

	f->id = *id;
	f->interpreter = in->interpreter[0] ? xstrdup(in->interpreter) : NULL;
	code_file_add_sites(f, in->sites);
	f->segments = json_incref(in->segments);
	code_files_add(s->files, id, f);
	if (lib_id < 0)
		return;
	lib = xcalloc(1, sizeof(*lib));
	lib->id = lib_id;
	lib->owner = owner;
	lib->meta = json_incref(in->library);
	lib->offsets = json_incref(in->offsets);
	f->lib = lib;
	code_files_add_library(s->files, lib);
}

static int hooks_file(const struct inspected *in)
{
	size_t bytes = in->hook_cnt * sizeof(*in->hooks);
	int fd = memory_file_make(bytes);

	if (fd >= 0 && pwrite(fd, in->hooks, bytes, 0) == (ssize_t)bytes)
		return fd;
	log_warn("attach: cannot create the table of functions that processes record themselves");
	if (fd >= 0)
		close(fd);
	return 0;
}

/*
 * Inspects an open file and replies, unless this was done before. path is the file as its process
 * sees it; open_path is the path by which we can open it. interpreter (PATH_MAX bytes, may be NULL)
 * receives the interpreter of a script. 0 or -errno.
 */
static int file_look(struct service *s, int fd, const char *path, const char *open_path,
		     struct code_id *id, struct inspected *in)
{
	uint16_t next = s->files->lib_cnt;
	const struct code_file *known;
	struct stat st;
	int err;

	memset(in, 0, sizeof(*in));
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	*id = code_id_of(&st);
	known = code_files_find(s->files, id);
	if (known && known->interpreter)
		snprintf(in->interpreter, sizeof(in->interpreter), "%s", known->interpreter);
	if (known)
		return 0;
	if (!code_files_have_room(s->files, st.st_uid))
		next = POV_LIBS_MAX; /* recognise it but do not attach */
	err = inspect_file(s->opt, open_path, fd, next, in);
	if (in->hook_cnt)
		in->links.hooks_fd = hooks_file(in);
	file_report(s, id, &st, path, in, in->library ? next : -1, err);
	file_keep(s, id, st.st_uid, in, in->library ? next : -1);
	return err;
}

static int path_open(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static int path_visit(void *ctx, const char *path, struct inspected *in)
{
	int fd = path_open(path), err;
	struct code_id id;

	if (fd < 0) {
		memset(in, 0, sizeof(*in));
		return -errno;
	}
	err = file_look(ctx, fd, path, path, &id, in);
	close(fd);
	return err;
}

static void done_report(struct service *s, const struct code_id *id, int err)
{
	json_t *m = err ? json_pack("{s:i}", "error", err) : id_json(id);

	json_object_set_new(m, "done", json_true());
	service_send(s, m);
}

int service_map_look(struct service *s, json_int_t pid, uint64_t start, uint64_t end,
		     char link[MAP_LINK_BYTES], struct code_id *id)
{
	char path[PATH_MAX];
	struct inspected in;
	int fd, err;
	ssize_t n;

	snprintf(link, MAP_LINK_BYTES, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 proc_memory_of((pid_t)pid), start, end);
	fd = path_open(link);
	if (fd < 0)
		return -errno;
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	err = file_look(s, fd, path, link, id, &in);
	inspected_release(&in);
	/* A file that is not ELF has an id, too; only an unreadable one has none. */
	if (id->ino)
		return fd;
	close(fd);
	return err < 0 ? err : -ENOENT;
}

static void map_serve(struct service *s, const json_t *request)
{
	char link[MAP_LINK_BYTES];
	struct code_id id = {};
	int fd;

	fd = service_map_look(s, json_get_int(request, "pid"),
			      (uint64_t)json_get_int(request, "start"),
			      (uint64_t)json_get_int(request, "end"), link, &id);
	done_report(s, &id, fd < 0 ? fd : 0);
	if (fd >= 0)
		close(fd);
}

/*
 * Opens an absolute path as the process sees it: symbolic links in a container begin at its root,
 * not at ours.
 */
static int root_path_open(pid_t pid, const char *path)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
			       .resolve = RESOLVE_IN_ROOT};
	char root[32];
	int dir, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	close(dir);
	return fd;
}

/* Opens a path as the process sees it, from its own root or working directory. */
static int process_path_open(json_int_t pid, const char *path, char *open_path, size_t bytes)
{
	int fd = *path == '/' ? root_path_open(proc_memory_of((pid_t)pid), path) : -1;

	if (fd >= 0) {
		snprintf(open_path, bytes, "/proc/self/fd/%d", fd);
		return fd;
	}
	/* the kernel does not know the call, or the path leads through /proc */
	if (*path == '/' && errno != ENOSYS && errno != EPERM && errno != EXDEV && errno != EAGAIN)
		return -1;
	snprintf(open_path, bytes, "/proc/%d/%s/%s", proc_memory_of((pid_t)pid),
		 *path == '/' ? "root" : "cwd", path);
	return path_open(open_path);
}

static int mapping_open(struct service *s, const json_t *request, const char *pid,
			char link[MAP_LINK_BYTES], struct code_id *id)
{
	return service_map_look(s, json_get_int(request, pid), json_get_u64(request, "start"),
				json_get_u64(request, "end"), link, id);
}

/* Opens a file by its path in the process, or by its mapping there. */
static int place_open(struct service *s, const json_t *request, const char *pid, char *link,
		      size_t bytes, struct code_id *id)
{
	const char *path = json_string_value(json_object_get(request, "path"));
	char mapped[MAP_LINK_BYTES];
	struct stat st;
	int fd;

	if (!path) {
		fd = mapping_open(s, request, pid, mapped, id);
		snprintf(link, bytes, "%s", mapped);
		return fd;
	}
	fd = process_path_open(json_get_int(request, pid), path, link, bytes);
	if (fd >= 0 && !fstat(fd, &st))
		*id = code_id_of(&st);
	return fd;
}

static void attached_report(struct service *s, const struct code_id *id, const struct code_file *f,
			    const json_t *failed, int err)
{
	json_t *m = id_json(id);

	json_object_set_new(m, "done", json_true());
	json_set_int(m, "sites", f ? (int64_t)json_array_size(f->sites) : 0);
	json_object_set(m, "failed", (json_t *)failed);
	if (!f || err == ESRCH)
		json_set_int(m, "error", -err);
	else if (err)
		json_object_set_new(m, "refused",
				    json_string(err == EUCLEAN ?
							"something has replaced their code" :
							strerror(err)));
	service_send(s, m);
}

/*
 * Detects Valgrind, which reads the code of the program that it runs, and would find our
 * breakpoints in it.
 */
static bool is_valgrind(pid_t pid)
{
	char link[32], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", proc_memory_of(pid));
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	return strstr(path, "/valgrind/") != NULL;
}

/*
 * Returns why a process gets no probes; NULL: it gets them. The kernel finds a process's memory by
 * its first thread (uprobe_multi_link_filter).
 */
static const char *refusal_of(pid_t pid)
{
	if (is_valgrind(pid))
		return "Valgrind would meet the breakpoints";
	if (proc_memory_of(pid) != pid)
		return "the kernel cannot probe a process whose first thread has ended";
	return NULL;
}

static int file_turn(pid_t pid, int fd, char *why, size_t bytes)
{
	struct stat st;

	return fstat(fd, &st) ? -1 :
				code_turn_breakpoints(pid, st.st_ino, proc_is_hooked, why, bytes);
}

/*
 * Serves "attach". A forked process maps the file at the same place as its parent until it executes
 * another program.
 */
static void attach_serve(struct service *s, const json_t *request)
{
	pid_t pid = json_get_bool(request, "wide") ? 0 : (pid_t)json_get_int(request, "pid");
	struct site_choice choice = {
		.from = json_get_u64(request, "from"),
		/* a request names sites to replace a link, and such sites have return probes */
		.unwinds = *s->opt->unwinds && !json_object_get(request, "sites"),
		.left = json_get_bool(request, "left"),
		.loader = json_object_get(request, "path") || json_get_bool(request, "loader"),
		.sites = json_object_get(request, "sites"),
		.rows = json_object_get(request, "rows"),
		.rows_too = json_object_get(request, "rows_too"),
		.without = json_object_get(request, "without"),
	};
	const char *refusal = pid ? refusal_of(pid) : NULL;
	json_t *failed = json_array();
	struct code_file *f = NULL;
	struct site_code *code;
	char link[PATH_MAX + 64], why[160];
	struct links links = {};
	struct code_id id = {};
	int fd, err, turn = -1;

	fd = place_open(s, request, "pid", link, sizeof(link), &id);
	if (fd < 0 && json_get_int(request, "parent"))
		fd = place_open(s, request, "parent", link, sizeof(link), &id);
	err = fd < 0 ? -fd : 0;
	if (fd >= 0)
		f = code_files_find(s->files, &id);
	if (fd >= 0 && !choice.rows) /* with rows, the recorder that asks has the turn */
		turn = file_turn(pid, fd, why, sizeof(why));
	if (turn == -2)
		refusal = why;
	if (refusal) {
		service_send(s, json_pack("{s:b,s:s}", "done", 1, "failed", refusal));
		goto out;
	}
	service_send(s, json_pack("{s:b}", "attaching", 1));
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd); /* the mapping may vanish meanwhile */
	choice.code = code = f && pid ? site_code_open(pid, fd) : NULL;
	choice.library = f && f->lib;
	if (f)
		err = site_list_attach(s->opt, f->sites, &choice, pid, link, &links, failed);
	site_code_close(code);
	code_turn_end(turn);
	if (f && !pid)
		f->is_wide = true;
	service_links_send(s, &links);
	/*
	 * The collector has its own copies until the report. Closing the last copy takes long: the
	 * kernel waits for all threads in the probes, and these wait for us.
	 */
	links_release(&links);
	attached_report(s, &id, f, failed, err);
out:
	json_decref(failed);
	if (fd >= 0)
		close(fd);
}

static void path_serve(struct service *s, const json_t *request)
{
	json_int_t pid = json_get_int(request, "pid");
	const char *path = json_string_value(json_object_get(request, "path"));
	char open_path[PATH_MAX + 64], next[256];
	struct inspected in = {};
	struct code_id id = {};
	json_t *m, *last = NULL;
	int fd;

	for (int depth = 0; depth < 4 && path; depth++) {
		fd = process_path_open(pid, path, open_path, sizeof(open_path));
		if (fd < 0)
			break;
		json_decref(last);
		last = json_text(path);
		file_look(s, fd, path, open_path, &id, &in);
		close(fd);
		snprintf(next, sizeof(next), "%s", in.interpreter);
		inspected_release(&in);
		path = next[0] ? next : NULL;
	}
	m = id_json(&id);
	json_object_set_new(m, "done", json_true());
	if (last)
		json_object_set_new(m, "last", last);
	service_send(s, m);
}

static void command_serve(struct service *s, const json_t *request)
{
	predict_libraries(request, "/etc/ld.so.cache", path_visit, s);
	service_send(s, json_pack("{s:b}", "done", 1));
}

static const struct {
	const char *name;
	void (*serve)(struct service *s, const json_t *request);
} services[] = {
	{"map", map_serve},
	{"attach", attach_serve},
	{"path", path_serve},
	{"command", command_serve},
	{"functions", service_functions},
	{"handed_ops", service_handed_ops},
	{"process", service_process},
};

static void attaching_report(void *ctx)
{
	service_send(ctx, json_pack("{s:b}", "attaching", 1));
}

void helper_main(int sock, const struct inspect_options *opt, struct code_files *files)
{
	struct inspect_options own = *opt;
	struct service s = {.sock = sock, .opt = &own, .files = files, .worlds.files = files};
	int fds[HELPER_FDS_MAX];
	const char *what;
	json_t *request;
	size_t cnt;

	own.attaching = attaching_report;
	own.ctx = &s;
	while ((request = helper_message_receive(sock, 0, fds, &cnt))) {
		what = json_string_value(json_object_get(request, "do"));
		for (size_t i = 0; what && i < sizeof(services) / sizeof(*services); i++)
			if (!strcmp(services[i].name, what))
				services[i].serve(&s, request);
		json_decref(request);
	}
}
