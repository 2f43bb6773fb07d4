/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "layers/func_table.h"
#include "trace/trace_format.h"
#include "unit/model_fixture.h"
#include "unit/test.h"
#include "unit/trace_help.h"

#define U(n) ((unsigned long long)(n))

static const char state_letter[] = "URQBD";

/* ---- the sink ---- */

static void split_print(FILE *out, const struct state_times *t)
{
	fprintf(out, " R%llu Q%llu B%llu U%llu", U(t->ns[THREAD_RUNNING]),
		U(t->ns[THREAD_RUNNABLE]), U(t->ns[THREAD_BLOCKED]), U(t->ns[THREAD_UNKNOWN]));
}

static void on_thread(void *ctx, const struct model_thread *t, uint64_t ts)
{
	struct mfix *f = ctx;

	if (!t->idle)
		fprintf(f->out, "thread %u/%u %s @%llu\n", t->out_tid, t->proc->out_pid, t->comm,
			U(ts));
}

static void on_exit_of(void *ctx, const struct model_thread *t, uint64_t ts)
{
	struct mfix *f = ctx;

	fprintf(f->out, "exit %u @%llu\n", t->out_tid, U(ts));
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	struct mfix *f = ctx;

	fprintf(f->out, "switch cpu%u %u>%u @%llu\n", s->cpu, s->prev->out_tid, s->next->out_tid,
		U(s->ts_ns));
}

static void on_waking(void *ctx, const struct model_waking *w)
{
	struct mfix *f = ctx;

	fprintf(f->out, "waking %u by %u @%llu\n", w->target->out_tid, w->waker->out_tid,
		U(w->ts_ns));
}

static void on_migrate(void *ctx, const struct model_migrate *g)
{
	struct mfix *f = ctx;

	fprintf(f->out, "migrate %u cpu%u>cpu%u\n", g->thread->out_tid, g->orig_cpu, g->dest_cpu);
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct mfix *f = ctx;

	fprintf(f->out, "call %s %u d%u %llu..%llu%s", c->func->name, c->thread->out_tid, c->depth,
		U(c->begin_ns), U(c->end_ns), c->open ? " open" : "");
	split_print(f->out, &c->split);
	if (c->site.module)
		fprintf(f->out, " %s+%llu", c->site.module->path, U(c->site.offset));
	if (c->site.module && *c->site.module->build_id)
		fprintf(f->out, " is %s", c->site.module->build_id);
	fputc('\n', f->out);
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	struct mfix *f = ctx;

	fprintf(f->out, "spin %s %u d%u %llu..%llu n%llu busy%llu", s->func[0].func->name,
		s->thread->out_tid, s->depth, U(s->begin_ns), U(s->end_ns), U(s->cnt),
		U(s->busy_ns));
	split_print(f->out, &s->split);
	fputc('\n', f->out);
}

static void on_region(void *ctx, const struct model_region *r)
{
	static const char *const how[] = {"begins", "returned", "unwound", "open"};
	struct mfix *f = ctx;

	fprintf(f->out, "region %s %u d%u%s %s %llu", r->name, r->thread->out_tid, r->depth,
		r->recursive ? " again" : "", how[r->ended], U(r->begin_ns));
	if (r->ended != REGION_UNDER_WAY) {
		fprintf(f->out, "..%llu", U(r->end_ns));
		split_print(f->out, &r->split);
	}
	fputc('\n', f->out);
}

static void on_counted(void *ctx, const struct model_counted *c)
{
	struct mfix *f = ctx;

	fprintf(f->out, "counted %s %u %d..%d %dx B%d of %dx\n", c->func->name, c->thread->tid,
		(int)c->begin_ns, (int)c->end_ns, (int)c->calls, (int)c->bytes, (int)c->sized);
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	struct mfix *f = ctx;

	fprintf(f->out, "lost %llu..%llu class%u ring%u n%llu\n", U(l->since_ns), U(l->ts_ns),
		l->class, l->ring, U(l->cnt));
}

static void on_counter(void *ctx, const struct model_counter *c)
{
	struct mfix *f = ctx;

	if (c->id == COUNTER_RUNNABLE)
		fprintf(f->out, "runnable cpu%u %lld @%llu\n", c->cpu, (long long)c->value,
			U(c->ts_ns));
	else
		fprintf(f->out, "inflight %u %lld @%llu\n", c->proc->out_pid, (long long)c->value,
			U(c->ts_ns));
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from, uint64_t to,
		     enum thread_state s, uint16_t cpu)
{
	struct mfix *f = ctx;

	fprintf(f->out, "state %u %c %llu..%llu cpu%u\n", t->out_tid, state_letter[s], U(from),
		U(to), cpu);
}

/* ---- life ---- */

void mfix_begin(struct mfix *f, const char *config)
{
	memset(f, 0, sizeof(*f));
	snprintf(f->path, sizeof(f->path), "%s", temp_path("model.pov"));
	f->writer = writer_begin(f->path);
	mfix_put(f, "meta {\"type\":\"recording\",\"abi\":1,\"start_ns\":1000,\"config\":{%s}}",
		 config);
	mfix_put(f, "meta {\"type\":\"host\",\"hostname\":\"h\",\"kernel\":\"6\",\"machine\":\"m\","
		    "\"cpus\":2,\"recorder\":850}");
}

void mfix_meta(struct mfix *f, const char *json)
{
	assert_int_equal(trace_writer_meta_text(f->writer, json, 0), 0);
}

void mfix_functions(struct mfix *f)
{
	for (size_t i = 0; layers[i]; i++) {
		json_t *table = func_table_to_json(layers[i]);
		char *text = json_dumps(table, JSON_COMPACT);

		mfix_meta(f, text);
		free(text);
		json_decref(table);
	}
}

void mfix_rank(struct mfix *f, uint64_t ts_ns, uint32_t pid, int rank, const char *name)
{
	mfix_put(f,
		 "meta {\"type\":\"process\",\"ts_ns\":%llu,\"pid\":%u,\"exe\":\"/bin/%s\","
		 "\"cmdline\":[\"%s\",\"x\"],\"rank\":%d,\"size\":2,\"job\":\"j\"}",
		 U(ts_ns), pid, name, name, rank);
}

void mfix_end(struct mfix *f, uint64_t ts_ns)
{
	mfix_put(f, "end ts=%llu reason=test", U(ts_ns));
}

void mfix_ranks(struct mfix *f, const char *config, uint32_t n, struct model_thread *thread)
{
	mfix_begin(f, config);
	for (uint32_t i = 0; i < n; i++) {
		mfix_rank(f, 1000, 100 + i, (int)i, "app");
		mfix_put(f, "task ts=1000 tid=%u on_cpu=1 comm=app", 100 + i);
	}
	mfix_end(f, 9000);
	mfix_open(f, false);
	for (uint32_t i = 0; i < n; i++) {
		thread[i].proc = model_process_get(f->model, i);
		thread[i].proc->start_ns = 1001;
		thread[i].idx = i;
	}
}

/* Changes a byte in the payload of one block of scheduler and call records. */
static void spoil(const char *path, uint64_t seed)
{
	struct trace_block_header h;
	long at[1024], pos = sizeof(struct trace_file_header);
	uint32_t len[1024], n = 0;
	FILE *file = fopen(path, "r+b");

	assert_non_null(file);
	while (n < 1024 && !fseek(file, pos, SEEK_SET) && fread(&h, sizeof(h), 1, file) == 1) {
		if (h.type == TRACE_BLOCK_EVENTS && h.stream != TRACE_STREAM_TASKS) {
			at[n] = pos + (long)sizeof(h);
			len[n++] = h.stored_len;
		}
		pos += (long)(sizeof(h) + h.stored_len);
	}
	assert_true(n > 0);
	pos = at[seed % n] + (long)(seed / n % len[seed % n]);
	fseek(file, pos, SEEK_SET);
	n = (uint32_t)fgetc(file) ^ 0x10;
	fseek(file, pos, SEEK_SET);
	fputc((int)n, file);
	fclose(file);
}

void mfix_open(struct mfix *f, bool counters)
{
	const struct model_options opt = {.counters = counters};

	writer_end(f->writer);
	f->writer = NULL;
	if (f->spoil)
		spoil(f->path, f->spoil);
	if (f->cut)
		file_damage(f->path, f->cut - 1, true);
	assert_int_equal(trace_open(f->path, &f->trace), 0);
	assert_int_equal(model_open(f->trace, &opt, &f->model), 0);
	f->sink = (struct model_sink){
		.ctx = f,
		.thread = on_thread,
		.thread_exit = on_exit_of,
		.on_switch = on_switch,
		.waking = on_waking,
		.migrate = on_migrate,
		.call = on_call,
		.spin = on_spin,
		.counted = on_counted,
		.region = on_region,
		.lost = on_lost,
		.counter = on_counter,
		.state = on_state,
	};
}

void mfix_run(struct mfix *f)
{
	const struct model_sink *sinks[] = {&f->sink};

	free(f->text);
	f->text = NULL;
	f->out = open_memstream(&f->text, &f->text_bytes);
	assert_non_null(f->out);
	assert_int_equal(model_run(f->model, sinks, 1), 0);
	fclose(f->out);
	f->out = NULL;
}

void mfix_sink_start(const struct model_sink *s, const struct model *m)
{
	if (s->model)
		*s->model = m;
	if (s->start)
		s->start(s->ctx, m);
}

void mfix_sink_finish(const struct model_sink *s, const struct model *m)
{
	if (s->finish)
		s->finish(s->ctx, m);
}

void mfix_release(struct mfix *f)
{
	model_close(f->model);
	trace_close(f->trace);
	free(f->text);
}
