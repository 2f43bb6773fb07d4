/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A session that keeps the newest part of its recording (record --last): it begins a segment every so often, says at its beginning
 * what a recording that began there would have found, and has what is kept written when somebody asks: by a signal, by
 * povtrace dump, or because a call took too long. A file that is written so ends where a segment is cut; records that come
 * later, but are of before, still belong to it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/person.h"
#include "record/flight/dump_socket.h"
#include "record/host/host.h"
#include "record/flight/known.h"
#include "record/meta.h"
#include "record/open_calls.h"
#include "record/preload/preload.h"
#include "record/session_priv.h"
#include "record/flight/trigger.h"
#include "record/flight/under_way.h"
#include "layers/func_table.h"
#include "trace/trace_flight.h"

#define SEGMENTS 4 /* of a span of time */

/* What had been counted when a segment began. */
struct keep_mark {
	uint64_t begin_ns, own_cpu_ns, recursions;
	struct drops_mark drops;
};

/* A file being written. */
struct keep_file {
	char *path, *why; /* NULL: none is */
	uint64_t begin_ns, end_ns;
	bool asked;	/* by povtrace dump */
	bool triggered; /* by a call */
};

struct session_keep {
	const struct keep_options *opt;
	struct known *known;
	struct trigger trigger;
	struct dump_socket socket;
	struct map alive; /* processes when the last segment began, by pid */
	struct keep_mark *mark;
	size_t mark_cnt;
	uint64_t begun_ns;	 /* the last segment that files may begin with */
	struct under_way *under; /* being found out, or NULL */
	struct keep_file file;
	uint64_t triggered_ns; /* end of what was last written because of a call */
	int signals;	       /* answered */
	unsigned int number;   /* of the last file's name */
};

void session_keep_open(struct session *s)
{
	struct session_keep *k;

	if (!s->opt->keep)
		return;
	k = xcalloc(1, sizeof(*k));
	k->opt = s->opt->keep;
	k->known = known_new(s->fns, (uint32_t)func_table_count());
	trigger_init(&k->trigger, k->opt->when, k->opt->when_cnt, func_table_count());
	s->keep = k;
	dump_socket_open(&k->socket);
}

void session_keep_release(struct session *s)
{
	struct session_keep *k = s->keep;

	if (!k)
		return;
	dump_socket_close(&k->socket);
	known_free(k->known);
	map_release(&k->alive);
	free(k->mark);
	free(k->file.path);
	free(k->file.why);
	free(k);
	s->keep = NULL;
}

void session_keep_record(struct session *s, const struct pov_hdr *rec)
{
	if (!s->keep)
		return;
	known_record(s->keep->known, rec);
	trigger_record(&s->keep->trigger, rec);
	if (s->keep->under)
		under_way_record(s->keep->under, rec);
}

/* ---- segments ---- */

/* Adds to the place that was chosen. */
static void put(void *ctx, const struct pov_hdr *rec)
{
	struct session *s = ctx;

	trace_writer_add(s->writer, TRACE_STREAM_TASKS, rec);
}

static void on_task(void *ctx, const void *item)
{
	const struct pov_task *task = item;
	struct session *s = ctx;
	unsigned int state;

	map_set(&s->keep->alive, task->tgid, s);
	if (s->opt->sched != POV_SCHED_OFF ||
	    !bpf_map_lookup_elem(s->kernel.targets_fd, &task->tgid, &state))
		put(s, &task->hdr);
}

static bool is_gone(void *ctx, uint32_t pid)
{
	const struct session *s = ctx;

	return !map_get(&s->keep->alive, pid);
}

static void mark_add(struct session *s, uint64_t begin_ns)
{
	struct session_keep *k = s->keep;
	struct trace_kept kept;
	struct keep_mark *m;
	size_t old = 0;

	trace_writer_kept(s->writer, false, &kept);
	while (old < k->mark_cnt && k->mark[old].begin_ns < kept.begin_ns)
		old++;
	k->mark_cnt -= old;
	if (old)
		memmove(k->mark, k->mark + old, k->mark_cnt * sizeof(*k->mark));
	k->mark = xrealloc(k->mark, (k->mark_cnt + 1) * sizeof(*k->mark));
	m = &k->mark[k->mark_cnt++];
	*m = (struct keep_mark){.begin_ns = begin_ns};
	if (begin_ns == s->start_ns)
		return;
	m->own_cpu_ns = session_own_cpu_ns(s);
	m->recursions = kernel_recursions(&s->kernel);
	drops_mark(&s->drops, &m->drops);
}

void session_keep_begin(struct session *s)
{
	if (!s->keep)
		return;
	s->keep->begun_ns = s->start_ns;
	trace_writer_segment(s->writer, s->start_ns, true);
	mark_add(s, s->start_ns);
}

/* What is in the rings is of before, nearly all of it. */
static void segment_begin(struct session *s)
{
	struct session_keep *k = s->keep;
	uint64_t begin_ns = kernel_now_ns();
	struct trace_kept kept;
	int err;

	session_preload_count(s, begin_ns);
	trace_writer_segment(s->writer, begin_ns, true);
	mark_add(s, begin_ns);
	session_take(s);
	k->begun_ns = begin_ns;
	trace_writer_place(s->writer, TRACE_PLACE_BEGIN);
	meta_write(s->writer, host_clocks_describe());
	map_release(&k->alive);
	err = kernel_snapshot(&s->kernel, on_task, s);
	known_tell(k->known, begin_ns, put, s);
	trace_writer_place(s->writer, TRACE_PLACE_FILE);
	if (err) /* not all that live are known */
		return;
	known_prune(k->known, is_gone, s);
	trace_writer_kept(s->writer, false, &kept);
	toll_prune(&s->toll, kept.begin_ns);
	trace_writer_gone(s->writer, is_gone, s, kernel_now_ns());
}

/* ---- files ---- */

/* run.pov → run.1.pov, the first that is not there. The caller frees. */
static char *path_next(struct session *s)
{
	const char *path = s->opt->path, *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
	struct person_act act;
	struct stat st;
	char *next = NULL;
	bool is_there;

	if (!dot || (slash && dot < slash) || strcmp(dot, ".pov"))
		dot = path + strlen(path);
	do {
		free(next);
		next = xasprintf("%.*s.%u%s", (int)(dot - path), path, ++s->keep->number, dot);
		if (person_act_begin(s->opt->owner, &act))
			break;
		is_there = !lstat(next, &st);
		person_act_end(&act);
	} while (is_there);
	return next;
}

/* That a file is a part of a longer recording. */
static json_t *kept_json(const struct session *s)
{
	const struct keep_options *o = s->keep->opt;
	json_t *kept = json_object();

	json_set_int(kept, "since_ns", s->start_ns);
	json_set_int(kept, o->span_ns ? "span_ns" : "bytes", o->span_ns ?: o->bytes);
	json_set_int(kept, "forgotten", known_forgotten(s->keep->known));
	return kept;
}

static json_t *trigger_json(const struct session *s, const struct trigger_call *c)
{
	return json_pack("{s:s,s:i,s:i,s:i,s:s,s:I,s:I}", "when", c->when->text, "rank",
			 images_rank_of(s->images, (pid_t)c->pid), "pid", (int)c->pid, "tid",
			 (int)c->tid, "function", func_table_get(c->func)->name, "begin_ns",
			 (json_int_t)c->begin_ns, "end_ns", (json_int_t)c->end_ns);
}

/* Beside the records: what goes to the file's beginning and end. */
static void metas_put(struct session *s, struct session_over *over, const struct trace_kept *kept)
{
	struct session_keep *k = s->keep;
	const struct keep_mark *m = &k->mark[0];
	json_t *more = over->more ?: json_object();

	for (size_t i = 1; i < k->mark_cnt && k->mark[i].begin_ns <= kept->begin_ns; i++)
		m = &k->mark[i];
	if (k->opt->when_cnt)
		json_object_set_new(more, "triggers",
				    json_pack("{s:I,s:I}", "matches",
					      (json_int_t)k->trigger.matches, "written",
					      (json_int_t)k->trigger.written));
	over->more = more;
	over->stored = &kept->tally;
	over->own_cpu_before_ns = m->own_cpu_ns;
	over->recursions_before = m->recursions;
	s->drops.base = m->drops;
	trace_writer_place(s->writer, TRACE_PLACE_HEAD);
	session_meta_recording(s, kept->begin_ns, kept_json(s));
	trace_writer_place(s->writer, TRACE_PLACE_TAIL);
	session_meta_over(s, over);
	trace_writer_place(s->writer, TRACE_PLACE_FILE);
	memset(&s->drops.base, 0, sizeof(s->drops.base));
}

static void on_under_way(void *ctx, const struct pov_hdr *rec)
{
	struct session *s = ctx;

	if (!session_is_calibration(rec))
		trace_writer_add(s->writer, 0, rec);
}

static void under_way_read(struct session *s, struct under_way *u)
{
	open_calls_read(&s->kernel, u->at_ns, under_way_open, u);
	if (s->preload)
		preload_open_calls(s->preload, u->at_ns, under_way_open, u);
}

/* Cuts the segment: all that is of before is in the rings now, or under way. The moment of the cut. */
static uint64_t cut(struct session *s, uint64_t *open_calls)
{
	uint64_t end_ns = kernel_now_ns();
	struct under_way under;

	trace_writer_segment(s->writer, end_ns, false);
	under_way_init(&under, end_ns);
	s->keep->under = &under;
	session_take(s);
	under_way_read(s, &under);
	under_way_again(&under);
	under_way_read(s, &under);
	session_take(s);
	s->keep->under = NULL;
	trace_writer_place(s->writer, TRACE_PLACE_TAIL);
	*open_calls = under_way_tell(&under, on_under_way, s);
	session_limit_tell(s, end_ns);
	trace_writer_place(s->writer, TRACE_PLACE_FILE);
	return end_ns;
}

/* Begins a file; takes over path and why. Whether it has begun (if not, that is printed). */
static bool file_begin(struct session *s, char *path, char *why, json_t *more)
{
	const struct trace_writer_options wo = {.as = s->opt->owner, .keep_old = true};
	struct session_over over = {.reason = why, .more = more};
	struct session_keep *k = s->keep;
	struct trace_kept kept;
	uint64_t open_calls;

	if (trace_writer_dump_open(s->writer, path, &wo)) {
		json_decref(more);
		free(path);
		free(why);
		return false;
	}
	session_preload_count(s, kernel_now_ns());
	over.ts_ns = cut(s, &open_calls);
	trace_writer_kept(s->writer, true, &kept);
	kept.tally.records += open_calls;
	kept.tally.calls += open_calls;
	metas_put(s, &over, &kept);
	trace_writer_dump(s->writer);
	k->file = (struct keep_file){
		.path = path, .why = why, .begin_ns = kept.begin_ns, .end_ns = over.ts_ns};
	return true;
}

static void file_said(const struct keep_file *f, uint64_t bytes)
{
	char span[HUMAN_BYTES], size[HUMAN_BYTES];

	log_info("%s: the last %s, %s (%s)", f->path,
		 human_ns(span, sizeof(span), f->end_ns - f->begin_ns),
		 human_bytes(size, sizeof(size), bytes), f->why);
}

/* A path as others see it who work elsewhere. */
static void path_absolute(const char *path, char *out, size_t room)
{
	char *cwd = *path == '/' ? NULL : realpath(".", NULL);

	snprintf(out, room, "%s%s%s", cwd ? cwd : "", cwd ? "/" : "", path);
	free(cwd);
}

static void file_end(struct session *s, int err, uint64_t bytes)
{
	struct dump_answer a = {.magic = DUMP_MAGIC, .status = err, .bytes = bytes};
	struct keep_file *f = &s->keep->file;

	if (!err)
		file_said(f, bytes);
	else if (f->triggered)
		s->keep->trigger.written--;
	a.begin_ns = f->begin_ns;
	a.end_ns = f->end_ns;
	path_absolute(f->path, a.path, sizeof(a.path));
	if (f->asked)
		dump_socket_answer(&s->keep->socket, &a);
	free(f->path);
	free(f->why);
	*f = (struct keep_file){0};
}

/* The recording's own file, whose place at its end is kept. */
static bool is_own(const struct session *s, const char *path)
{
	struct person_act act;
	struct stat own, it;
	bool same;

	if (person_act_begin(s->opt->owner, &act))
		return false;
	same = !stat(s->opt->path, &own) && !stat(path, &it) && own.st_dev == it.st_dev &&
	       own.st_ino == it.st_ino;
	person_act_end(&act);
	return same;
}

static void request_do(struct session *s, const struct dump_request *r)
{
	const struct dump_answer failed = {.magic = DUMP_MAGIC, .status = -EIO};
	char *path = r->path[0] ? xstrdup(r->path) : path_next(s);

	if (is_own(s, path)) {
		log_error("%s is written when the recording ends", path);
		free(path);
		dump_socket_answer(&s->keep->socket, &failed);
	} else if (file_begin(s, path, xstrdup("dump"), NULL))
		s->keep->file.asked = true;
	else
		dump_socket_answer(&s->keep->socket, &failed);
}

static void trigger_do(struct session *s)
{
	const struct trigger_call *c = &s->keep->trigger.by;
	json_t *more = json_object(), *by = trigger_json(s, c);
	struct trace_kept kept;
	char took[HUMAN_BYTES];

	human_ns(took, sizeof(took), c->end_ns - c->begin_ns);
	log_info("%s of rank %" PRId64 " (process %u) took %s", func_table_get(c->func)->name,
		 json_get_int(by, "rank"), c->pid, took);
	trace_writer_kept(s->writer, false, &kept);
	if (c->end_ns < kept.begin_ns) {
		log_warn("… but it is no longer kept: another file was being written meanwhile");
		json_decref(more);
		json_decref(by);
		trigger_rearm(&s->keep->trigger);
		return;
	}
	json_object_set_new(more, "trigger", by);
	s->keep->trigger.written++;
	s->keep->triggered_ns = kernel_now_ns(); /* not at every look, if none can be written */
	if (file_begin(s, path_next(s), xasprintf("trigger %s", c->when->text), more)) {
		s->keep->triggered_ns = s->keep->file.end_ns;
		s->keep->file.triggered = true;
	} else {
		s->keep->trigger.written--;
	}
}

/* Once what was written has left what is kept, or --last's time has passed, calls may ask again. */
static void trigger_look(struct session *s, uint64_t now_ns)
{
	struct session_keep *k = s->keep;
	struct trace_kept kept;

	if (!k->trigger.quiet)
		return;
	trace_writer_kept(s->writer, false, &kept);
	if (kept.begin_ns >= k->triggered_ns ||
	    (k->opt->span_ns && now_ns >= k->triggered_ns + k->opt->span_ns))
		trigger_rearm(&k->trigger);
}

/* Whoever asks while a file is written waits until it is. */
static void requests_look(struct session *s, uint64_t now_ns)
{
	struct session_keep *k = s->keep;
	struct dump_request request;
	uint64_t bytes = 0;
	int err;

	if (k->file.path) {
		err = trace_writer_dumped(s->writer, false, &bytes);
		if (err != -EAGAIN)
			file_end(s, err, bytes);
	} else if (dump_socket_asked(&k->socket, &request)) {
		request_do(s, &request);
	} else if (*k->opt->asked != k->signals) {
		k->signals = *k->opt->asked;
		file_begin(s, path_next(s), xstrdup("signal SIGUSR1"), NULL);
	} else if (trigger_due(&k->trigger, now_ns)) {
		trigger_do(s);
	}
}

bool session_keep_watches(const struct session *s, size_t func)
{
	const struct keep_options *o = s->opt->keep;

	for (size_t i = 0; o && i < o->when_cnt; i++)
		if (o->when[i].func[func])
			return true;
	return false;
}

void session_keep_work(struct session *s, uint64_t now_ns)
{
	struct session_keep *k = s->keep;

	if (!k)
		return;
	if (k->opt->span_ns ? now_ns - k->begun_ns >= k->opt->span_ns / SEGMENTS :
			      trace_writer_segment_full(s->writer))
		segment_begin(s);
	trigger_look(s, now_ns);
	requests_look(s, now_ns);
}

/* ---- the end ---- */

static void triggers_say(const struct session_keep *k)
{
	char matches[64], files[64];

	if (k->opt->when_cnt)
		log_info("--when: %s matched, %s written for them",
			 human_plural(matches, sizeof(matches), k->trigger.matches, "call",
				      "calls"),
			 human_plural(files, sizeof(files), k->trigger.written, "file was",
				      "files were"));
}

void session_keep_end(struct session *s)
{
	struct session_over over = {.ts_ns = s->end_ns, .reason = s->res->reason};
	struct session_keep *k = s->keep;
	char span[HUMAN_BYTES], all[HUMAN_BYTES];
	struct trace_kept kept;
	uint64_t bytes = 0;
	int err;

	if (k->file.path) {
		err = trace_writer_dumped(s->writer, true, &bytes);
		file_end(s, err, bytes);
	}
	trace_writer_kept(s->writer, false, &kept);
	if (!k->mark_cnt)
		return;
	metas_put(s, &over, &kept);
	s->res->wall_ns = s->end_ns - kept.begin_ns;
	triggers_say(k);
	if (kept.begin_ns > s->start_ns)
		log_info("%s: the last %s of %s", s->opt->path,
			 human_ns(span, sizeof(span), s->res->wall_ns),
			 human_ns(all, sizeof(all), s->end_ns - s->start_ns));
}
