/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A recording that keeps only its newest part (record --last). It begins a segment at regular
 * times, and writes at its beginning the state that a recording starting there would have found. It
 * writes what is kept on request: by a signal, by povtrace dump, or because a call took too long.
 * Such a file ends where a segment is cut; later records of earlier events still belong to it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/clock.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/person.h"
#include "lib/table.h"
#include "trace/trace_write.h"
#include "record/flight/dump_requests.h"
#include "record/host/host.h"
#include "record/flight/flight_state.h"
#include "record/open_calls.h"
#include "record/preload/preload.h"
#include "record/session_priv.h"
#include "layers/func_table.h"

#define SEGMENTS 4 /* segments per span of time */

/* Counters at the beginning of a segment. */
struct keep_mark {
	uint64_t begin_ns, own_cpu_ns, recursions;
	struct drops_mark drops;
};

/* The file that is being written. */
struct keep_file {
	char *path, *why; /* NULL: no file is being written */
	uint64_t begin_ns, end_ns;
	bool asked;	/* requested by povtrace dump */
	bool triggered; /* triggered by a call */
};

struct session_keep {
	const struct keep_options *opt;
	struct flight_state *state;
	struct trigger trigger;
	struct dump_socket socket;
	struct map alive; /* processes at the beginning of the last segment, by pid */
	struct keep_mark *mark;
	size_t mark_cnt;
	uint64_t begun_ns; /* begin of the last segment with which files may begin */
	struct calls_in_flight *in_flight; /* while open calls are being read, else NULL */
	struct keep_file file;
	uint64_t triggered_ns; /* end of the last triggered file */
	int signals;	       /* number of answered signals */
	unsigned int number;   /* number in the last file's name */
};

void session_keep_open(struct session *s)
{
	struct session_keep *k;

	if (!s->opt->keep)
		return;
	k = xcalloc(1, sizeof(*k));
	k->opt = s->opt->keep;
	k->state = flight_state_new(s->fns, (uint32_t)func_table_count());
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
	flight_state_free(k->state);
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
	flight_state_record(s->keep->state, rec);
	trigger_record(&s->keep->trigger, rec);
	if (s->keep->in_flight)
		calls_in_flight_record(s->keep->in_flight, rec);
}

/* ---- segments ---- */

/* Adds a record at the writer's current place. */
static void record_put(void *ctx, const struct pov_hdr *rec)
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
		record_put(s, &task->hdr);
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
	m = table_append(k->mark, k->mark_cnt);
	m->begin_ns = begin_ns;
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

/* Begins a segment. Nearly all records that are still in the rings are older. */
static void segment_begin(struct session *s)
{
	struct session_keep *k = s->keep;
	uint64_t begin_ns = clock_now_ns();
	struct trace_kept kept;
	int err;

	session_preload_count(s, begin_ns);
	trace_writer_segment(s->writer, begin_ns, true);
	mark_add(s, begin_ns);
	session_take(s);
	k->begun_ns = begin_ns;
	trace_writer_place(s->writer, TRACE_PLACE_BEGIN);
	trace_writer_meta(s->writer, host_clocks_describe());
	map_release(&k->alive);
	err = kernel_snapshot(&s->kernel, on_task, s);
	flight_state_write(k->state, begin_ns, record_put, s);
	trace_writer_place(s->writer, TRACE_PLACE_FILE);
	if (err) /* the list of living processes is incomplete */
		return;
	flight_state_prune(k->state, is_gone, s);
	trace_writer_kept(s->writer, false, &kept);
	overhead_prune(&s->overhead, kept.begin_ns);
	trace_writer_gone(s->writer, is_gone, s, clock_now_ns());
}

/* ---- files ---- */

/* Returns the first free name: run.pov → run.1.pov. The caller frees it. */
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

/* Describes a file as a part of a longer recording. */
static json_t *kept_json(const struct session *s)
{
	const struct keep_options *o = s->keep->opt;
	json_t *kept = json_object();

	json_set_int(kept, "since_ns", s->start_ns);
	json_set_int(kept, o->span_ns ? "span_ns" : "bytes", o->span_ns ?: o->bytes);
	json_set_int(kept, "forgotten", flight_state_forgotten(s->keep->state));
	return kept;
}

static json_t *trigger_json(const struct session *s, const struct trigger_call *c)
{
	return json_pack("{s:s,s:i,s:i,s:i,s:s,s:I,s:I}", "when", c->when->text, "rank",
			 images_rank_of(s->images, (pid_t)c->pid), "pid", (int)c->pid, "tid",
			 (int)c->tid, "function", func_table_get(c->func)->name, "begin_ns",
			 (json_int_t)c->begin_ns, "end_ns", (json_int_t)c->end_ns);
}

/* Writes the meta objects for the file's beginning and end. */
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

static void on_call_in_flight(void *ctx, const struct pov_hdr *rec)
{
	struct session *s = ctx;

	if (!session_is_calibration(rec))
		trace_writer_add(s->writer, 0, rec);
}

static void calls_in_flight_read(struct session *s, struct calls_in_flight *u)
{
	open_calls_read(&s->kernel, u->at_ns, calls_in_flight_open, u);
	if (s->preload)
		preload_open_calls(s->preload, u->at_ns, calls_in_flight_open, u);
}

/*
 * Cuts the segment: all earlier records are in the rings now, or their calls are open. Returns the
 * time of the cut.
 */
static uint64_t segment_cut(struct session *s, uint64_t *open_calls)
{
	uint64_t end_ns = clock_now_ns();
	struct calls_in_flight in_flight;

	trace_writer_segment(s->writer, end_ns, false);
	calls_in_flight_init(&in_flight, end_ns);
	s->keep->in_flight = &in_flight;
	session_take(s);
	calls_in_flight_read(s, &in_flight);
	calls_in_flight_read_again(&in_flight);
	calls_in_flight_read(s, &in_flight);
	session_take(s);
	s->keep->in_flight = NULL;
	trace_writer_place(s->writer, TRACE_PLACE_TAIL);
	*open_calls = calls_in_flight_write(&in_flight, on_call_in_flight, s);
	session_throttle_write(s, end_ns);
	trace_writer_place(s->writer, TRACE_PLACE_FILE);
	return end_ns;
}

/* Begins a file. Takes over path, why and more. False if this failed (printed). */
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
	session_preload_count(s, clock_now_ns());
	over.ts_ns = segment_cut(s, &open_calls);
	trace_writer_kept(s->writer, true, &kept);
	kept.tally.records += open_calls;
	kept.tally.calls += open_calls;
	metas_put(s, &over, &kept);
	trace_writer_dump(s->writer);
	k->file = (struct keep_file){
		.path = path, .why = why, .begin_ns = kept.begin_ns, .end_ns = over.ts_ns};
	return true;
}

static void file_print(const struct keep_file *f, uint64_t bytes)
{
	char span[HUMAN_BYTES], size[HUMAN_BYTES];

	log_info("%s: the last %s, %s (%s)", f->path,
		 human_ns(span, sizeof(span), f->end_ns - f->begin_ns),
		 human_bytes(size, sizeof(size), bytes), f->why);
}

/* Makes the path absolute, because clients have other working directories. */
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
		file_print(f, bytes);
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

/* Returns true for the recording's own file, which is written only at its end. */
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
		log_error("%s is this recording's own file, which is written when it ends", path);
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
		log_warn("… but its records are no longer in memory: another file was being "
			 "written");
		json_decref(more);
		json_decref(by);
		trigger_rearm(&s->keep->trigger);
		return;
	}
	json_object_set_new(more, "trigger", by);
	s->keep->trigger.written++;
	/* if no file can be written, do not try again at once */
	s->keep->triggered_ns = clock_now_ns();
	if (file_begin(s, path_next(s), xasprintf("trigger %s", c->when->text), more)) {
		s->keep->triggered_ns = s->keep->file.end_ns;
		s->keep->file.triggered = true;
	} else {
		s->keep->trigger.written--;
	}
}

/*
 * Lets calls trigger again once the last file's data is no longer kept, or --last's time has
 * passed.
 */
static void trigger_check(struct session *s, uint64_t now_ns)
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

/* Handles the next request. A request that arrives while a file is being written waits. */
static void requests_check(struct session *s, uint64_t now_ns)
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
	trigger_check(s, now_ns);
	requests_check(s, now_ns);
}

/* ---- the end ---- */

static void triggers_print(const struct session_keep *k)
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
	triggers_print(k);
	if (kept.begin_ns > s->start_ns)
		log_info("%s: the last %s of %s", s->opt->path,
			 human_ns(span, sizeof(span), s->res->wall_ns),
			 human_ns(all, sizeof(all), s->end_ns - s->start_ns));
}
