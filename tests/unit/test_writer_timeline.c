/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the timeline makes of what the model reports, as text (cases.h). The test makes the model's
 * objects itself, including impossible ones. Threads: 10 and 12 of rank 0 (process 10), 21 of rank
 * 1 (process 20), 90 of another process, 71 of a process whose records were lost, and idle, 0. SPAN
 * is BEGIN..END in ns of the recording.
 *
 *   T FUNCTION SPAN DEPTH [bytes=N|failed] a call of send or recv; without END it is open
 *   T polls FUNCTION SPAN DEPTH COUNT      polls that found nothing, merged, of 1 ns each
 *   T in_flight NS VALUE                   the counter of its process
 *   T FUNCTION SPAN POST [+ POST…]         posts of a call of post_send, poll_cq or am_bcopy. POST:
 *                                          KIND OP [NAME=VALUE…|failed]; OP "-" is unknown, and in
 *                                          texts "_" is a space. With an id it is of a NIC's queue
 *                                          7
 *   T counted FUNCTION SPAN CALLS          of send or recv, by their own thread
 *   T room SPAN                            it waits for room to record
 *   within NS|none                         when the call of MPI around posts began
 *   switch CPU PREV NEXT NS [STATE]        STATE: hexadecimal; without it a thread is preempted
 *   wake CPU WAKER TARGET NS [irq]
 *   lost SPAN RING CLASS
 *   T operates FUNCTION SPAN SPAN [by T|end_place=N|place=N|status=BYTES|blocks]
 *                                          start and completion
 *   T sends NS SPAN T NS SPAN [NAME=VALUE|assumed|incomplete]
 *                                          begin of the call that sends, of the one that waits; and
 *                                          of the receive
 *   T named NAME, T is of PROCESS, rank N  (rank 0's number, from now on)
 *   select SPAN | functions GLOB | ranks LIST;  sched off|ranks;  resolution NS
 *   show args|details|messages|nothing     with arguments of all slices, or of instants and
 *                                          messages; only messages; only totals
 *
 * The output has "TRACK: NAME@BEGIN..END", "!NS" for an instant, "ENDS@NS", ">N" and "<N" where
 * arrow N leaves and arrives.
 */
#include "unit/test.h"
#include "abi/event.h"
#include "analysis/match.h"
#include "lib/text.h"
#include "unit/cases.h"
#include "timeline/timeline.h"
#include "trace/record_kinds.h"

#define START 1000
#define THREADS 6
#define PROCESSES 4
#define POSTS_MAX 6

static const struct func_info funcs[] = {
	{.id = 1, .name = "send", .group = "p2p", .layer_name = ""},
	{.id = 2, .name = "recv", .group = "p2p", .layer_name = ""},
	{.id = 3, .name = "Isend", .layer_name = ""},
	{.id = 4, .name = "Irecv", .layer_name = ""},
	{.id = 5, .name = "post_send", .layer_name = "verbs"},
	{.id = 6, .name = "poll_cq", .layer_name = "verbs"},
	{.id = 7, .name = "am_bcopy", .layer_name = "uct"},
	{.id = 8, .name = "MPI_Send", .layer_name = "mpi"},
};

struct play {
	struct model_process process[PROCESSES];
	struct model_thread thread[THREADS];
	struct model_within within;
	bool in_no_call;
	struct timeline_options opt;
	struct writer_select select;
	const char *globs[1];
	struct writer_totals totals;
	struct timeline *tl; /* NULL until the first line that is not an option */
	const struct model_sink *sink;
	struct script texts; /* names in posts */
	bool args, details, messages;
	FILE *out;
};

/* ---- calls into the format ---- */

static unsigned int rel(uint64_t ns)
{
	return (unsigned int)(ns - START);
}

static void on_process(void *ctx, const struct model_process *m, int32_t order)
{
	struct play *p = ctx;

	if (p->tl)
		fprintf(p->out, "P%u %s #%d\n", m->out_pid, m->name, order);
}

static void on_thread(void *ctx, const struct sched_task *t, int32_t order, uint64_t ts_ns)
{
	struct play *p = ctx;

	if (p->tl)
		fprintf(p->out, "T%u/%u %s\n", t->tgid, t->tid, t->comm);
}

static void value_print(FILE *out, const struct call_value *v)
{
	char number[TEXT_NUMBER_BYTES];

	switch (v->kind) {
	case VALUE_TEXT:
		fprintf(out, " %s=%s", v->name, v->text);
		break;
	case VALUE_US:
		*text_us(number, v->u) = 0;
		fprintf(out, " %s=%s", v->name, number);
		break;
	case VALUE_HEX:
		fprintf(out, " %s=0x%llx", v->name, (unsigned long long)v->u);
		break;
	default:
		fprintf(out, " %s=%lld", v->name, (long long)v->i);
	}
}

static void track_print(FILE *out, const struct track *t)
{
	if (t->name)
		fprintf(out, "%u %s: ", t->pid, t->name);
	else
		fprintf(out, "%u: ", t->tid);
}

static void on_slice(void *ctx, struct track *t, const struct slice *s)
{
	struct play *p = ctx;
	const bool args = p->args || (p->details && (s->instant || t->kind == TRACK_MESSAGE));

	assert_true(!t->name || *s->category);
	if (p->messages && (t->kind != TRACK_MESSAGE || s->instant))
		return;
	track_print(p->out, t);
	fprintf(p->out, "%s%c%u", s->name, s->instant ? '!' : '@', rel(s->begin_ns));
	if (s->open && !s->instant)
		fputs("..", p->out);
	else if (!s->instant)
		fprintf(p->out, "..%u", rel(s->end_ns));
	if (s->flow_out)
		fprintf(p->out, " >%u", (unsigned int)s->flow_out);
	if (s->flow_in)
		fprintf(p->out, " <%u", (unsigned int)s->flow_in);
	for (uint32_t i = 0; i < s->args->n && args; i++)
		value_print(p->out, &s->args->arg[i]);
	fputc('\n', p->out);
}

static void on_slice_end(void *ctx, struct track *t, uint64_t ts_ns)
{
	struct play *p = ctx;

	if (t->kind == TRACK_POST || t->kind == TRACK_MESSAGE)
		return;
	track_print(p->out, t);
	fprintf(p->out, "ENDS@%u\n", rel(ts_ns));
}

/* "?" stands for unrecorded execution. */
static const char *task_name(char *buf, size_t n, const struct sched_task *t)
{
	bool unrecorded = t->tid >= TIMELINE_UNRECORDED_TID &&
			  t->tid < TIMELINE_UNRECORDED_TID + 1024;

	snprintf(buf, n, unrecorded ? "?" : "%u", t->tid);
	return buf;
}

static void on_counter(void *ctx, struct track *t, uint64_t ts_ns, int64_t value)
{
	struct play *p = ctx;

	track_print(p->out, t);
	fprintf(p->out, "%lld@%u\n", (long long)value, rel(ts_ns));
}

static void on_sched_switch(void *ctx, const struct sched_switch *s)
{
	struct play *p = ctx;
	char prev[16], next[16];

	fprintf(p->out, "S%u %s>%s@%u %x%s\n", s->cpu, task_name(prev, sizeof(prev), &s->prev),
		task_name(next, sizeof(next), &s->next), rel(s->ts_ns), s->prev_state,
		s->first ? " first" : "");
}

static void on_sched_waking(void *ctx, const struct sched_waking *w)
{
	struct play *p = ctx;

	fprintf(p->out, "W%u %u>%u@%u%s\n", w->cpu, w->waker.tid, w->target.tid, rel(w->ts_ns),
		w->waker_current ? "" : " stranger");
}

static void on_sched_lost(void *ctx, uint32_t cpu)
{
	struct play *p = ctx;

	fprintf(p->out, "L%u\n", cpu);
}

static const struct timeline_ops ops = {
	.process = on_process,
	.thread = on_thread,
	.slice = on_slice,
	.slice_end = on_slice_end,
	.counter = on_counter,
	.sched_switch = on_sched_switch,
	.sched_waking = on_sched_waking,
	.sched_lost = on_sched_lost,
};

static void totals_print(const struct writer_totals *t, FILE *out)
{
	assert_int_equal(t->slices, t->calls + t->spins - t->grouped + t->groups + t->counted +
					    t->markers + t->posts + t->completions + t->arrivals +
					    t->messages - t->misplaced);
	fputs("totals", out);
	cases_figures(out, {"calls", t->calls}, {"spins", t->spins}, {"grouped", t->grouped},
		      {"groups", t->groups}, {"counted", t->counted}, {"markers", t->markers},
		      {"posts", t->posts}, {"completions", t->completions},
		      {"arrivals", t->arrivals}, {"messages", t->messages},
		      {"hidden", t->messages_hidden}, {"misplaced", t->misplaced},
		      {"open", t->open}, {"instants", t->instants}, {"flows", t->flows},
		      {"pairs", t->pairs}, {"arrows", t->arrows}, {"operations", t->operations},
		      {"reversed", t->arrows_reversed}, {"unpaired", t->unpaired},
		      {"switches", t->switches}, {"wakings", t->wakings},
		      {"synthetic", t->synthetic}, {"undecided", t->undecided},
		      {"arrows_hidden", t->arrows_hidden}, {"counters_hidden", t->counters_hidden});
}

/* ---- lines ---- */

static struct model_thread *thread_find(struct play *p, const struct cases_line *l,
					const char *word)
{
	uint64_t tid = cases_number(l, word);

	for (int i = 0; i < THREADS; i++)
		if (p->thread[i].out_tid == tid)
			return &p->thread[i];
	fail_msg("no thread %s", word);
	return NULL;
}

static void span(const struct cases_line *l, const char *word, uint64_t *begin_ns, uint64_t *end_ns)
{
	cases_span(l, word, begin_ns, end_ns);
	*begin_ns += START;
	*end_ns += *end_ns ? START : 0;
}

/* Returns the value of NAME=VALUE if the name fits, else NULL. */
static const char *value_of(const char *word, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(word, name, len) && word[len] == '=' ? word + len + 1 : NULL;
}

/* Reads KIND OP [NAME=VALUE…|failed], up to "+" or the end. Returns where it stopped. */
static const char *const *post_read(struct play *p, const struct cases_line *l,
				    const char *const *word, struct call_post *post)
{
	*post = (struct call_post){.kind = cases_index(*word, POST_KIND_CNT, post_kind_name(i)),
				   .op = word_is(word[1], "-") ? NULL : word[1],
				   .bytes = 100};
	for (word += 2; *word && **word != '+'; word++) {
		const char *v;

		if ((v = value_of(*word, "id"))) {
			post->id = cases_number(l, v);
			post->has_id = true;
			post->carrier = CARRIER_NIC;
			post->transport = post->kind == POST_COMPLETION ? NULL : "rc";
			post->queue = 7;
		} else if ((v = value_of(*word, "step"))) {
			post->step = cases_index(v, STEP_CNT, post_step_name(i));
		} else if ((v = value_of(*word, "carrier"))) {
			post->carrier = cases_index(v, CARRIER_CNT, post_carrier_name(i));
			post->transport = NULL;
		} else if ((v = value_of(*word, "message"))) {
			post->message = cases_number(l, v);
		} else if ((v = value_of(*word, "queue"))) {
			post->queue = cases_number(l, v);
		} else if ((v = value_of(*word, "transport"))) {
			post->transport = cases_text_kept(&p->texts, v);
		} else if ((v = value_of(*word, "device"))) {
			post->device = cases_text_kept(&p->texts, v);
		} else if ((v = value_of(*word, "dest"))) {
			post->dest = cases_text_kept(&p->texts, v);
		} else if ((v = value_of(*word, "from"))) {
			post->local_end = cases_text_kept(&p->texts, v);
		} else if ((v = value_of(*word, "to"))) {
			post->remote_end = cases_text_kept(&p->texts, v);
		} else if (word_is(*word, "bytes=?")) {
			post->bytes = BYTES_UNKNOWN;
		} else if (word_is(*word, "failed")) {
			post->failed = true;
		} else {
			fail_msg("no %s", *word);
		}
	}
	return word;
}

static void plain_call_tell(struct play *p, const struct cases_line *l, struct model_call *c)
{
	struct call_view view = {0};
	const char *bytes = l->word[4] ? value_of(l->word[4], "bytes") : NULL;

	c->depth = (uint8_t)cases_number(l, l->word[3]);
	if (p->opt.resolution_ns)
		c->split.ns[THREAD_RUNNING] = c->open ? 0 : c->end_ns - c->begin_ns;
	if (bytes)
		view.values[view.nvalues++] = (struct call_value){
			.name = "bytes", .kind = VALUE_INT, .i = (int64_t)cases_number(l, bytes)};
	view.roles.error = word_is(l->word[4], "failed");
	c->view = l->word[4] ? &view : NULL;
	p->sink->call(p->sink->ctx, c);
}

static void polls_tell(struct play *p, const struct cases_line *l, struct model_thread *t)
{
	struct model_spin s = {.thread = t,
			       .nfuncs = 1,
			       .depth = (uint8_t)cases_number(l, l->word[4]),
			       .cnt = cases_number(l, l->word[5])};

	s.busy_ns = s.cnt;
	s.func[0] = (struct model_spin_func){
		.func = &funcs[cases_index(l->word[2], COUNT(funcs), funcs[i].name)],
		.cnt = s.cnt,
		.busy_ns = s.cnt};
	span(l, l->word[3], &s.begin_ns, &s.end_ns);
	s.split.ns[THREAD_RUNNING] = s.end_ns - s.begin_ns;
	p->sink->spin(p->sink->ctx, &s);
}

static void in_flight_tell(struct play *p, const struct cases_line *l, struct model_thread *t)
{
	const struct model_counter c = {.id = COUNTER_BYTES_IN_FLIGHT,
					.ts_ns = START + cases_time(l, l->word[2]),
					.proc = t->proc,
					.value = (int64_t)cases_number(l, l->word[3])};

	p->sink->counter(p->sink->ctx, &c);
}

/* Reports a call, or the posts in it. */
static void call_tell(struct play *p, const struct cases_line *l, struct model_thread *t)
{
	struct call_post post[POSTS_MAX];
	struct call_view view = {.posts = post};
	struct model_call c = {.func = &funcs[cases_index(l->word[1], COUNT(funcs), funcs[i].name)],
			       .thread = t};
	struct model_post m = {.call = &c, .within = p->in_no_call ? NULL : &p->within};

	span(l, l->word[2], &c.begin_ns, &c.end_ns);
	c.open = !c.end_ns;
	if (c.open)
		c.end_ns = START + 1000;
	if (!*c.func->layer_name) {
		plain_call_tell(p, l, &c);
		return;
	}
	c.view = &view;
	for (const char *const *word = l->word + 3; *word; word += *word != NULL)
		word = post_read(p, l, word, &post[view.nposts++]);
	for (uint32_t i = 0; i < view.nposts; i++) {
		m.post = &post[i];
		p->sink->post(p->sink->ctx, &m);
	}
}

static void counted_tell(struct play *p, const struct cases_line *l, struct model_thread *t)
{
	struct model_counted c = {
		.thread = t,
		.func = &funcs[cases_index(l->word[2], COUNT(funcs), funcs[i].name)],
		.calls = cases_number(l, l->word[4])};

	span(l, l->word[3], &c.begin_ns, &c.end_ns);
	c.busy_ns = c.calls;
	p->sink->counted(p->sink->ctx, &c);
}

static void room_tell(struct play *p, const struct cases_line *l, struct model_thread *t)
{
	struct model_room r = {.thread = t};

	span(l, l->word[2], &r.begin_ns, &r.end_ns);
	p->sink->room(p->sink->ctx, &r);
}

/* Reports an operation: FUNCTION SPAN SPAN, and words. */
static void operation_tell(struct play *p, const struct cases_line *l, struct model_thread *t)
{
	struct call_request done = {.bytes = BYTES_UNKNOWN};
	struct call_roles roles = {.send_bytes = 100, .recv_bytes = 200};
	struct model_operation o = {
		.thread = t, .starter = t, .roles = &roles, .completion = &done};
	const char *const *word = l->word + 2;

	o.func = &funcs[cases_index(word[0], COUNT(funcs), funcs[i].name)];
	roles.sends = word_is(word[0], "Isend");
	roles.receives = !roles.sends;
	span(l, word[1], &o.begin_ns, &o.posted_ns);
	span(l, word[2], &o.completing_ns, &o.end_ns);
	for (word += 3; *word; word++) {
		const char *v;

		if ((v = value_of(*word, "by"))) {
			o.starter = word_is(v, "nobody") ? NULL : thread_find(p, l, v);
		} else if ((v = value_of(*word, "place"))) {
			o.place = (uint32_t)cases_number(l, v);
		} else if ((v = value_of(*word, "end_place"))) {
			o.end_place = (uint32_t)cases_number(l, v);
		} else if ((v = value_of(*word, "status"))) {
			done.has_status = true;
			done.bytes = (int64_t)cases_number(l, v);
		} else if (word_is(*word, "blocks")) {
			o.completion = NULL;
		}
	}
	p->sink->operation(p->sink->ctx, &o);
}

static struct match_end end_of(const struct cases_line *l, const struct func_info *func,
			       struct model_thread *t, const char *const *word)
{
	struct match_end e = {.process = t->proc, .thread = t, .completer = t, .func = func};

	e.begin_ns = START + cases_time(l, word[0]);
	e.posted_ns = e.begin_ns + 5;
	span(l, word[1], &e.completing_ns, &e.end_ns);
	e.waiting_ns = e.completing_ns;
	return e;
}

/* Reports a message: NS SPAN T NS SPAN, and words. */
static void message_tell(struct play *p, const struct cases_line *l, struct model_thread *t)
{
	const char *const *word = l->word + 2;
	struct match m = {.send = end_of(l, &funcs[2], t, word),
			  .recv = end_of(l, &funcs[3], thread_find(p, l, word[2]), word + 3),
			  .tag = 3,
			  .bytes = 64};

	for (word += 5; *word; word++) {
		m.assumed |= word_is(*word, "assumed") ? ASSUMED_WHOLE : ASSUMED_NOTHING;
		if (word_is(*word, "incomplete"))
			m.recv.completer = NULL;
		if (value_of(*word, "place"))
			m.send.place = (uint32_t)cases_number(l, value_of(*word, "place"));
		if (value_of(*word, "end_place"))
			m.recv.end_place = (uint32_t)cases_number(l, value_of(*word, "end_place"));
	}
	tl_arrow_message(p->tl, &m);
}

static void switch_tell(struct play *p, const struct cases_line *l)
{
	const char *const *word = l->word + 1;
	struct model_switch s = {.cpu = (uint16_t)cases_number(l, word[0]),
				 .prev = thread_find(p, l, word[1]),
				 .next = thread_find(p, l, word[2]),
				 .ts_ns = START + cases_time(l, word[3]),
				 .prev_state = word[4] ? (uint32_t)cases_number(l, word[4]) : 0};

	s.preempted = !s.prev_state && !s.prev->idle;
	p->sink->on_switch(p->sink->ctx, &s);
}

static void wake_tell(struct play *p, const struct cases_line *l)
{
	const char *const *word = l->word + 1;
	const struct model_waking w = {.cpu = (uint16_t)cases_number(l, word[0]),
				       .waker = thread_find(p, l, word[1]),
				       .target = thread_find(p, l, word[2]),
				       .ts_ns = START + cases_time(l, word[3]),
				       .by_interrupt = word_is(word[4], "irq")};

	p->sink->waking(p->sink->ctx, &w);
}

static void lost_tell(struct play *p, const struct cases_line *l)
{
	struct model_lost lost = {.cnt = 5, .ring = (uint16_t)cases_number(l, l->word[2])};

	span(l, l->word[1], &lost.since_ns, &lost.ts_ns);
	lost.class = word_is(l->word[3], "unknown") ?
			     77 :
			     cases_index(l->word[3], POV_CLASS_CNT, record_class_names[i]);
	p->sink->lost(p->sink->ctx, &lost);
}

static void thread_tell(struct play *p, const struct cases_line *l)
{
	struct model_thread *t = thread_find(p, l, l->word[0]);

	if (word_is(l->word[1], "room")) {
		room_tell(p, l, t);
	} else if (word_is(l->word[1], "counted")) {
		counted_tell(p, l, t);
	} else if (word_is(l->word[1], "polls")) {
		polls_tell(p, l, t);
	} else if (word_is(l->word[1], "in_flight")) {
		in_flight_tell(p, l, t);
	} else if (word_is(l->word[1], "operates")) {
		operation_tell(p, l, t);
	} else if (word_is(l->word[1], "sends")) {
		message_tell(p, l, t);
	} else if (word_is(l->word[1], "named")) {
		strncpy(t->comm, l->word[2], sizeof(t->comm) - 1);
		p->sink->thread(p->sink->ctx, t, START + 1);
	} else if (word_is(l->word[1], "is")) {
		for (int i = 0; i < PROCESSES; i++)
			if (p->process[i].pid == cases_number(l, l->word[3]))
				t->proc = &p->process[i];
	} else {
		call_tell(p, l, t);
	}
}

/* ---- a case ---- */

static void world_make(struct play *p)
{
	static const struct model_process processes[PROCESSES] = {
		{.pid = 10, .is_target = true, .is_rank = true, .name = "app"},
		{.pid = 20, .is_target = true, .is_rank = true, .name = "app", .rank = 1},
		{.pid = 90, .rank = -1, .name = "other"},
		{.pid = 70, .rank = -1, .name = "late"},
	};
	static const struct {
		uint32_t tid, process;
		const char *name;
	} threads[THREADS] = {{10, 0, "a"}, {12, 0, "progress"}, {21, 1, "c"},
			      {90, 2, "x"}, {71, 2, "tid 71"},	 {0, 2, "swapper/0"}};

	for (uint32_t i = 0; i < PROCESSES; i++) {
		p->process[i] = processes[i];
		p->process[i].out_pid = p->process[i].pid;
		p->process[i].idx = i;
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		struct model_thread *t = &p->thread[i];

		t->tid = t->out_tid = threads[i].tid;
		t->idx = i;
		t->idle = !t->tid;
		t->proc = t->idle ? NULL : &p->process[threads[i].process];
		strcpy(t->comm, threads[i].name);
	}
}

static bool option_take(struct play *p, const struct cases_line *l)
{
	const char *const *word = l->word;

	if (word_is(word[0], "select"))
		cases_span(l, word[1], &p->select.from_ns, &p->select.to_ns);
	else if (word_is(word[0], "functions"))
		p->select.nfunctions = 1, p->globs[0] = cases_text_kept(&p->texts, word[1]);
	else if (word_is(word[0], "ranks"))
		assert_int_equal(rank_list_parse(word[1], &p->select.ranks), 0);
	else if (word_is(word[0], "resolution"))
		p->opt.resolution_ns = cases_number(l, word[1]);
	else if (word_is(word[0], "sched"))
		p->opt.sched_all = false, p->opt.sched = word_is(word[1], "ranks");
	else
		return false;
	return true;
}

static void timeline_make(struct play *p)
{
	struct timeline *tl = timeline_new(&p->opt, &ops, p, &p->totals);

	for (uint32_t i = 0; i < 2; i++)
		timeline_add_process(tl, &p->process[i]);
	for (uint32_t i = 0; i < 3; i++)
		timeline_add_thread(tl, &p->thread[i]);
	p->sink = timeline_get_sink(tl);
	p->tl = tl;
}

static void line_tell(void *ctx, const struct cases_line *l)
{
	struct play *p = ctx;

	if (option_take(p, l))
		return;
	if (!p->tl)
		timeline_make(p);
	if (word_is(l->word[0], "switch"))
		switch_tell(p, l);
	else if (word_is(l->word[0], "wake"))
		wake_tell(p, l);
	else if (word_is(l->word[0], "lost"))
		lost_tell(p, l);
	else if (word_is(l->word[0], "rank"))
		p->process[0].rank = (int32_t)cases_number(l, l->word[1]);
	else if (word_is(l->word[0], "within"))
		p->in_no_call = word_is(l->word[1], "none"),
		p->within.begin_ns = p->in_no_call ? 0 : START + cases_number(l, l->word[1]);
	else
		thread_tell(p, l);
}

static void timeline_play(const struct script *lines, FILE *out)
{
	struct play p = {
		.out = out,
		.args = cases_shows(lines, "args"),
		.details = cases_shows(lines, "details"),
		.messages = cases_shows(lines, "messages"),
		.opt = {.start_ns = START,
			.end_ns = START + 1000,
			.slices = true,
			.sched = true,
			.sched_recorded = true,
			.sched_all = true,
			.nr_cpus = 2,
			.rings = 1,
			.cpus_per_ring = 2},
		.within = {.func = &funcs[7],
			   .begin_ns = START + 5,
			   .end_ns = START + 900,
			   .request = 0x77},
	};

	p.opt.select = &p.select;
	p.select.functions = p.globs;
	if (cases_shows(lines, "nothing"))
		p.out = fopen("/dev/null", "w");
	world_make(&p);
	cases_each(lines, line_tell, &p);
	timeline_finish(p.tl);
	timeline_free(p.tl);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_null(p.thread[i].user);
	for (uint32_t i = 0; i < PROCESSES; i++)
		assert_null(p.process[i].user);
	totals_print(&p.totals, out);
	if (p.out != out)
		fclose(p.out);
	rank_list_release(&p.select.ranks);
	script_release(&p.texts);
}

TEST(timeline)
{
	cases_run("timeline", timeline_play);
}
