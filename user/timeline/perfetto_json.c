/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Chrome's JSON trace events as Perfetto reads them, with the scheduler events as ftrace text in
 * the string "systemTraceEvents". Each of the two parts takes one pass of
 * the model, so nothing needs to be stored. Times are microseconds (ftrace text: seconds) since the
 * recording's start, exact to the nanosecond.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/text.h"
#include "timeline/args.h"
#include "timeline/writer.h"
#include "timeline/timeline.h"
#include "trace/trace_read.h"

#define JSON_IDLE_CPUS 1024

struct json_writer {
	struct out *out;
	uint64_t base_ns; /* time 0 of the file */
	uint32_t njobs;
	bool second;				 /* an event has been written: a comma is due */
	uint64_t idle_told[JSON_IDLE_CPUS / 64]; /* CPUs whose idle thread has been named */
	struct writer_totals *totals;
};

/* Appends text at p, which must have space. Returns the end. */
static char *json_put(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

static uint64_t json_time(const struct json_writer *w, uint64_t ns)
{
	return ns > w->base_ns ? ns - w->base_ns : 0;
}

/* ---- scheduler events ---- */

/*
 * Scheduler events in the kernel's ftrace format, one line each, inside a JSON string. Perfetto
 * makes CPU tracks and thread states with wakers from these, which JSON events cannot provide.
 */

static const char *state_text(uint32_t state)
{
	static const char *const bit[] = {"S", "D", "T", "t", "X", "Z", "P", "I"};

	if (state == SCHED_PREEMPTED)
		return "R+";
	return state && state <= 0x80 ? bit[__builtin_ctz(state)] : "R";
}

/*
 * The reader takes tid 0 for a single thread, which would be idle on several CPUs at once. So each
 * CPU gets its own idle thread.
 */
static char *put_comm(char *p, const struct sched_task *t, uint32_t cpu)
{
	if (t->tid)
		return text_ftrace_comm(p, t->comm, strlen(t->comm));
	return text_u64(json_put(p, "swapper/"), cpu);
}

static char *put_tid(char *p, const struct sched_task *t, uint32_t cpu)
{
	return text_u64(p, t->tid ? t->tid : TIMELINE_IDLE_TID + cpu);
}

static char *put_cpu(char *p, uint32_t cpu)
{
	return text_u64(json_put(p, cpu < 10 ? "00" : cpu < 100 ? "0" : ""), cpu);
}

/*
 * "task-17 (-----) [003] ..... 1.2345678905: ". The reader multiplies by 1e9 in a double and
 * truncates. The last digit, half a nanosecond, keeps the time from dropping by one.
 */
static char *put_ftrace_head(struct json_writer *w, char *p, const struct sched_task *t,
			     uint32_t cpu, uint64_t ts_ns)
{
	uint64_t ns = json_time(w, ts_ns);
	char frac[TEXT_NUMBER_BYTES];

	p = put_tid(json_put(put_comm(p, t, cpu), "-"), t, cpu);
	/* ftrace text names the process only of threads that no event has introduced */
	if (!t->tid)
		p = text_u64(json_put(p, " ("), TIMELINE_IDLE_TID);
	else if (t->unannounced)
		p = text_u64(json_put(p, " ("), t->tgid);
	else
		p = json_put(p, " (-----");
	p = json_put(p, ") [");
	p = json_put(put_cpu(p, cpu), "] ..... ");
	p = json_put(text_u64(p, ns / 1000000000), ".");
	text_u64(frac, 1000000000 + ns % 1000000000);
	memcpy(p, frac + 1, 9);
	return json_put(p + 9, "5: ");
}

static char *put_task(char *p, const char *side, const struct sched_task *t, uint32_t cpu,
		      uint16_t prio)
{
	p = put_comm(json_put(json_put(p, side), "_comm="), t, cpu);
	p = put_tid(json_put(json_put(json_put(p, " "), side), "_pid="), t, cpu);
	return text_u64(json_put(json_put(json_put(p, " "), side), "_prio="), prio);
}

/* Names a thread that no event of the first part named, by a line of an unknown event. */
static void thread_line(struct json_writer *w, const struct sched_task *t, uint32_t cpu,
			uint64_t ts_ns)
{
	char *p = put_ftrace_head(w, out_room(w->out), t, cpu, ts_ns);

	out_advance(w->out, json_put(p, "povtrace_thread: new\\n"));
}

static void json_switch(void *ctx, const struct sched_switch *s)
{
	struct json_writer *w = ctx;
	char *p;

	if (!s->next.tid && s->cpu < JSON_IDLE_CPUS &&
	    !(w->idle_told[s->cpu / 64] >> s->cpu % 64 & 1)) {
		w->idle_told[s->cpu / 64] |= 1ull << s->cpu % 64;
		thread_line(w, &s->next, s->cpu, s->ts_ns);
	}
	p = out_room(w->out);
	p = put_ftrace_head(w, p, &s->prev, s->cpu, s->ts_ns);
	p = put_task(json_put(p, "sched_switch: "), "prev", &s->prev, s->cpu, s->prev_prio);
	p = json_put(json_put(p, " prev_state="), s->prev.tid ? state_text(s->prev_state) : "I");
	p = json_put(p, " ==> ");
	p = put_task(p, "next", &s->next, s->cpu, s->next_prio);
	out_advance(w->out, json_put(p, "\\n"));
}

static void json_waking(void *ctx, const struct sched_waking *s)
{
	struct json_writer *w = ctx;
	char *p = out_room(w->out);

	p = put_ftrace_head(w, p, &s->waker, s->cpu, s->ts_ns);
	p = json_put(p, "sched_waking: comm=");
	p = text_ftrace_comm(p, s->target.comm, strlen(s->target.comm));
	p = text_u64(json_put(p, " pid="), s->target.tid);
	p = text_u64(json_put(p, " prio="), s->prio);
	p = put_cpu(json_put(p, " target_cpu="), s->target_cpu);
	out_advance(w->out, json_put(p, "\\n"));
}

static void json_sched_thread(void *ctx, const struct sched_task *t, int32_t order, uint64_t ts_ns)
{
	if (t->unannounced)
		thread_line(ctx, t, 0, ts_ns);
}

/* ctx: struct json_writer */
static const struct timeline_ops json_ftrace_ops = {
	.thread = json_sched_thread,
	.sched_switch = json_switch,
	.sched_waking = json_waking,
};

/* ---- trace events ---- */

/* ---- pieces: each writes to p, which has space, and returns the end ---- */

/* A long string goes through the buffer by itself. p is the result of out_room(). */
static char *json_put_string(struct json_writer *w, char *p, const char *s)
{
	size_t n = strlen(s);
	char *tmp;

	out_advance(w->out, p);
	if (TEXT_JSON_BYTES(n) > OUT_ROOM_BYTES / 2) {
		tmp = xmalloc(TEXT_JSON_BYTES(n));
		out_write(w->out, tmp, (size_t)(text_json(tmp, s, n) - tmp));
		free(tmp);
		return out_room(w->out);
	}
	p = text_json(out_room(w->out), s, n);
	out_advance(w->out, p);
	return out_room(w->out);
}

static char *json_put_key(struct json_writer *w, char *p, const char *key)
{
	p = json_put_string(w, p, key);
	*p++ = ':';
	return p;
}

/* Integers that other readers would round become text. */
static char *put_u64(char *p, uint64_t v)
{
	bool big = v > INT64_MAX;

	if (big)
		*p++ = '"';
	p = text_u64(p, v);
	if (big)
		*p++ = '"';
	return p;
}

static char *put_hex(char *p, uint64_t v)
{
	*p++ = '"';
	p = text_hex(p, v);
	*p++ = '"';
	return p;
}

static char *json_put_array(struct json_writer *w, char *p, const struct call_value *a)
{
	*p++ = '[';
	for (uint32_t i = 0; i < a->n; i++) {
		if (i)
			*p++ = ',';
		p = a->kind == VALUE_HEXES ? put_hex(p, (uint64_t)a->ints[i]) :
					     text_i64(p, a->ints[i]);
		if (i % 64 == 63) {
			out_advance(w->out, p);
			p = out_room(w->out);
		}
	}
	*p++ = ']';
	return p;
}

static char *json_put_value(struct json_writer *w, char *p, const struct call_value *a)
{
	switch (a->kind) {
	case VALUE_INT:
		return text_i64(p, a->i);
	case VALUE_UINT:
		return put_u64(p, a->u);
	case VALUE_HEX:
		return put_hex(p, a->u);
	case VALUE_BOOL:
		return json_put(p, a->u ? "true" : "false");
	case VALUE_US:
		return text_us(p, a->u);
	case VALUE_TEXT:
		return json_put_string(w, p, a->text ? a->text : "");
	case VALUE_INTS:
	case VALUE_HEXES:
		return json_put_array(w, p, a);
	}
	return json_put(p, "null");
}

static char *json_put_args(struct json_writer *w, char *p, const struct writer_args *args)
{
	*p++ = '{';
	for (uint32_t i = 0; i < args->n; i++) {
		if (i)
			*p++ = ',';
		p = json_put_key(w, p, args->arg[i].name);
		p = json_put_value(w, p, &args->arg[i]);
	}
	*p++ = '}';
	return p;
}

static char *event_begin(struct json_writer *w, const char *phase)
{
	char *p = out_room(w->out);

	if (w->second)
		*p++ = ',';
	*p++ = '\n';
	w->second = true;
	p = json_put(p, "{\"ph\":\"");
	p = json_put(p, phase);
	return json_put(p, "\",\"name\":");
}

static char *json_put_ids(char *p, uint32_t pid, uint32_t tid)
{
	p = text_u64(json_put(p, ",\"pid\":"), pid);
	return text_u64(json_put(p, ",\"tid\":"), tid);
}

static void event_end(struct json_writer *w, char *p)
{
	*p++ = '}';
	out_advance(w->out, p);
}

/* ---- identities ---- */

static void metadata_event(struct json_writer *w, const char *what, uint32_t pid, uint32_t tid,
			   const char *name, int32_t order)
{
	char *p = json_put_string(w, event_begin(w, "M"), what);

	p = json_put(json_put_ids(p, pid, tid), ",\"args\":{");
	if (name)
		p = json_put_string(w, json_put(p, "\"name\":"), name);
	else
		p = text_i64(json_put(p, "\"sort_index\":"), order);
	*p++ = '}';
	event_end(w, p);
}

static void json_process(void *ctx, const struct model_process *p, int32_t order)
{
	struct json_writer *w = ctx;
	char *name = meta_process_name(p, w->njobs);

	metadata_event(w, "process_name", p->out_pid, p->out_pid, name, 0);
	metadata_event(w, "process_sort_index", p->out_pid, p->out_pid, NULL, order);
	free(name);
}

static void json_thread(void *ctx, const struct sched_task *t, int32_t order, uint64_t ts_ns)
{
	metadata_event(ctx, "thread_name", t->tgid, t->tid, *t->comm ? t->comm : "?", 0);
	metadata_event(ctx, "thread_sort_index", t->tgid, t->tid, NULL, order);
}

/* povtrace's own tracks are threads of its own process. */
static void track_declare(struct json_writer *w, struct track *t)
{
	struct sched_task task = {.tid = t->tid, .tgid = t->pid, .comm = t->name};

	if (t->uuid || t->kind == TRACK_THREAD || t->kind == TRACK_IN_FLIGHT ||
	    t->kind == TRACK_RUNNABLE)
		return;
	t->uuid = 1;
	json_thread(w, &task, (int32_t)(t->kind * 65536 + t->order), 0);
}

/* ---- events ---- */

static char *slice_put(struct json_writer *w, const char *phase, const struct track *t,
		       const struct slice *s, uint64_t ts_ns)
{
	char *p = json_put_string(w, event_begin(w, phase), s->name);

	p = json_put_string(w, json_put(p, ",\"cat\":"), s->category);
	return text_us(json_put(json_put_ids(p, t->pid, t->tid), ",\"ts\":"), ts_ns);
}

static void json_slice(void *ctx, struct track *t, const struct slice *s)
{
	struct json_writer *w = ctx;
	uint64_t end_ns = s->instant ? s->begin_ns : s->end_ns;
	uint64_t begin = json_time(w, s->begin_ns);
	char *p;

	/*
	 * Among events of one time, the reader takes X events first, longest first, then B events.
	 * A slice that begins together with an open one must not be an X.
	 */
	bool complete = s->instant || !(s->open || (s->with_open && end_ns > s->begin_ns));

	track_declare(w, t);
	p = slice_put(w, complete ? "X" : "B", t, s, begin);
	if (complete)
		p = text_us(json_put(p, ",\"dur\":"), json_time(w, end_ns) - begin);
	if (s->flow_out || s->flow_in) {
		p = text_u64(json_put(p, ",\"bind_id\":"), s->flow_out | s->flow_in);
		p = json_put(p, s->flow_out ? ",\"flow_out\":true" : ",\"flow_in\":true");
	}
	p = json_put(p, ",\"args\":");
	event_end(w, json_put_args(w, p, s->args));
	if (!complete && !s->open)
		event_end(w, slice_put(w, "E", t, s, json_time(w, end_ns)));
	if (s->begin_ns < w->base_ns)
		w->totals->early++;
}

/* Counters belong to processes. The reader joins the name and the value's key with a blank. */
static void json_counter(void *ctx, struct track *t, uint64_t ts_ns, int64_t value)
{
	struct json_writer *w = ctx;
	const char *blank = strrchr(t->name, ' ');
	char key[64] = "", name[64] = "";
	char *p;

	if (blank && (size_t)(blank - t->name) < sizeof(name) && strlen(blank) < sizeof(key)) {
		memcpy(name, t->name, (size_t)(blank - t->name));
		strcpy(key, blank + 1);
	}
	p = json_put_string(w, event_begin(w, "C"), name);
	p = json_put_ids(p, t->pid, t->pid);
	p = text_us(json_put(p, ",\"ts\":"), json_time(w, ts_ns));
	p = json_put_key(w, json_put(p, ",\"args\":{"), key);
	p = text_i64(p, value);
	*p++ = '}';
	event_end(w, p);
}

static const struct timeline_ops json_event_ops = {
	.process = json_process,
	.thread = json_thread,
	.slice = json_slice,
	.counter = json_counter,
};

/* ---- writing all parts ---- */

static int json_events_run(struct json_writer *w, struct model *m, struct timeline_options *opt)
{
	struct model_process idle = {.out_pid = TIMELINE_IDLE_TID, .name = "idle"};
	int err;

	out_text(w->out, "{\"metadata\":");
	out_advance(w->out, json_put_args(w, out_room(w->out), opt->recording));
	out_text(w->out, ",\n\"traceEvents\":[");
	if (opt->sched_recorded)
		json_process(w, &idle, INT32_MAX);
	opt->slices = true;
	opt->sched = false;
	err = timeline_run(m, opt, &json_event_ops, w, w->totals);
	out_text(w->out, "\n]");
	return err;
}

static int json_sched_run(struct json_writer *w, struct model *m, struct timeline_options *opt)
{
	int err;

	if (!opt->sched_recorded)
		return 0;
	out_text(w->out, ",\n\"systemTraceEvents\":\"# tracer: nop\\n");
	opt->slices = false;
	opt->sched = true;
	err = timeline_run(m, opt, &json_ftrace_ops, w, w->totals);
	out_text(w->out, "\"");
	return err;
}

static int json_write(struct model *m, struct out *out, struct timeline_options *opt,
		      struct writer_totals *totals)
{
	const struct model_info *info = model_get_info(m);
	const struct trace_summary *sum = trace_get_summary(model_get_trace(m));
	struct json_writer w = {
		.out = out, .njobs = info->njobs, .totals = totals, .base_ns = info->start_ns};
	int err;

	if (sum && sum->records && sum->first_ns < w.base_ns)
		w.base_ns = sum->first_ns;
	opt->floor_ns = w.base_ns;
	err = json_events_run(&w, m, opt);
	if (!err && !out_error(out))
		err = json_sched_run(&w, m, opt);
	out_text(out, "}\n");
	return err;
}

static const char *const json_endings[] = {".json", NULL};

const struct writer writer_json = {
	.name = "json",
	.endings = json_endings,
	.passes = 2,
	.write = json_write,
};
