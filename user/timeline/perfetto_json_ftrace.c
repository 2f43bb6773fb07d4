/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The scheduler's events as the kernel's ftrace would print them, one line each, within a JSON string:
 * from these Perfetto makes CPU tracks and thread states with wakers, which JSON events cannot give it.
 */
#include "lib/text.h"
#include "timeline/perfetto_json.h"

static const char *state_text(uint32_t state)
{
	static const char *const bit[] = {"S", "D", "T", "t", "X", "Z", "P", "I"};

	if (state == SCHED_PREEMPTED)
		return "R+";
	return state && state <= 0x80 ? bit[__builtin_ctz(state)] : "R";
}

/* The reader takes tid 0 for one thread, which would be idle on several CPUs at once: one for each CPU. */
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
 * "task-17 (-----) [003] ..... 1.2345678905: ". The reader multiplies by 1e9 in a double and cuts: the last
 * digit, half a nanosecond, keeps that from falling to the one before.
 */
static char *put_ftrace_head(struct json_writer *w, char *p, const struct sched_task *t,
			     uint32_t cpu, uint64_t ts_ns)
{
	uint64_t ns = json_time(w, ts_ns);
	char frac[TEXT_NUMBER_BYTES];

	p = put_tid(json_put(put_comm(p, t, cpu), "-"), t, cpu);
	/* Which process a thread belongs to is said once: by the events, or else here. */
	if (!t->tid)
		p = text_u64(json_put(p, " ("), TIMELINE_IDLE_TID);
	else if (t->untold)
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

/* Names a thread that no event of the first part could: a line of an event that nobody knows. */
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
	(void)order;
	if (t->untold)
		thread_line(ctx, t, 0, ts_ns);
}

const struct timeline_ops json_ftrace_ops = {
	.thread = json_sched_thread,
	.sched_switch = json_switch,
	.sched_waking = json_waking,
};
