/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where ranks computed, as folded stacks: "rank 0;app;main;work;app.c:17 42". flamegraph.pl,
 * inferno and speedscope read them. A count is a number of samples, each of which stands for
 * 1/POV_SAMPLES_HZ s on a CPU outside MPI. Frames are rank, thread, program, functions (a library
 * before the first of its own) and the innermost function's line. There are callers if they were
 * recorded (record --stacks).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "analysis/label.h"
#include "analysis/samples.h"
#include "lib/log.h"
#include "lib/text.h"
#include "site/site_names.h"
#include "timeline/writer.h"
#include "timeline/timeline.h"

#define FRAME_CHARS 200

struct stack {
	char *frames; /* owned */
	uint64_t samples;
};

struct folded {
	struct model_sink sink;
	const struct timeline_options *opt;
	struct windows windows;
	struct samples at;
	uint64_t samples;
	uint64_t unselected; /* samples of other ranks or other times */
};

/* ---- counting ---- */

static bool sample_selected(const struct folded *f, const struct model_sample *s)
{
	const struct writer_select *sel = f->opt->select;

	return select_process(sel, s->thread->proc) &&
	       s->ts_ns >= f->opt->start_ns + sel->from_ns &&
	       (!sel->to_ns || s->ts_ns <= f->opt->start_ns + sel->to_ns);
}

static void on_sample(void *ctx, const struct model_sample *s)
{
	struct folded *f = ctx;

	if (!sample_counts(s, &f->windows))
		return;
	if (!sample_selected(f, s)) {
		f->unselected++;
		return;
	}
	samples_add(&f->at, s);
	f->samples++;
}

static void on_call(void *ctx, const struct model_call *c)
{
	if (!c->nested && func_is_top(c->func))
		windows_call(&((struct folded *)ctx)->windows, c);
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	if (!s->nested && func_is_top(s->func[0].func))
		windows_spin(&((struct folded *)ctx)->windows, s);
}

/* ---- naming ---- */

/* Appends a frame. ';' would end it, so it becomes ':'. */
static void frame_add(FILE *stack, const char *text)
{
	char *clean = text_printable(text, FRAME_CHARS);

	for (char *c = clean; (c = strchr(c, ';'));)
		*c = ':';
	fprintf(stack, "%s%s", ftell(stack) ? ";" : "", clean);
	free(clean);
}

static void frame_add_made(FILE *stack, char *text)
{
	frame_add(stack, text);
	free(text);
}

static void function_add(FILE *stack, struct sites *sites, const struct call_path *p)
{
	const struct model_module *module = p->at.module;
	const struct site_name *name = call_path_name(sites, p);

	if (!p->id)
		frame_add(stack, "[callers unknown]");
	else if (!module)
		frame_add(stack, "[no file]");
	else if (!p->by || p->by->at.module != module)
		frame_add(stack, text_base_name(module->path));
	if (name)
		frame_add(stack, name->function);
	if (name && name->file && !p->calls)
		frame_add_made(stack, xasprintf("%s:%u", text_base_name(name->file), name->line));
}

/* Outermost first. */
static void functions_add(FILE *stack, struct sites *sites, const struct call_path *p)
{
	const struct call_path *path[POV_SAMPLE_CALLERS_MAX + 2];
	uint32_t n = 0;

	for (; p && n < POV_SAMPLE_CALLERS_MAX + 2; p = p->by)
		path[n++] = p;
	while (n)
		function_add(stack, sites, path[--n]);
}

static char *frames_make(const struct folded *f, const struct model *m, const struct samples_at *a)
{
	const struct model_thread *t = model_thread_get(m, a->thread);
	char label[RANK_LABEL_BYTES], *frames = NULL;
	size_t bytes;
	FILE *stack = open_memstream(&frames, &bytes);

	if (!stack)
		die("export: %s", strerror(errno));
	frame_add_made(stack, xasprintf("rank %s", rank_label(m, t->proc, label)));
	if (t->tid != t->proc->pid)
		frame_add_made(stack, xasprintf("thread %s", t->comm));
	functions_add(stack, f->opt->sites, a->path);
	if (fclose(stack))
		die("export: %s", strerror(errno));
	return frames;
}

/* ---- writing ---- */

static int by_frames(const void *va, const void *vb)
{
	return strcmp(((const struct stack *)va)->frames, ((const struct stack *)vb)->frames);
}

static struct stack *stacks_make(const struct folded *f, const struct model *m)
{
	struct stack *stack = xcalloc(f->at.at.cnt + 1, sizeof(*stack));
	const struct samples_at *a;
	size_t pos = 0;
	uint32_t n = 0;

	while ((a = samples_next(&f->at, &pos)))
		stack[n++] = (struct stack){frames_make(f, m, a), a->samples};
	qsort(stack, n, sizeof(*stack), by_frames);
	return stack;
}

/* Writes one line for each run of equal stacks. Returns the number of lines. */
static uint64_t stacks_write(struct stack *stack, uint32_t n, struct out *out)
{
	uint64_t lines = 0;
	char count[TEXT_NUMBER_BYTES + 2];

	for (uint32_t i = 0; i < n; i++) {
		if (i + 1 < n && !by_frames(&stack[i], &stack[i + 1])) {
			stack[i + 1].samples += stack[i].samples;
			continue;
		}
		snprintf(count, sizeof(count), " %llu\n", (unsigned long long)stack[i].samples);
		out_text(out, stack[i].frames);
		out_text(out, count);
		lines++;
	}
	return lines;
}

static int nothing_to_write(const struct folded *f, const struct model *m)
{
	if (f->unselected)
		log_error("export: no samples: the selected ranks did not compute in that time "
			  "(there are %llu others)",
			  (unsigned long long)f->unselected);
	else if (!model_get_info(m)->sched_recorded)
		log_error("export: no samples to make stacks of: they are recorded with the "
			  "scheduler, which was not recorded");
	else
		log_error("export: no samples to make stacks of: no rank computed for long outside "
			  "MPI, or the kernel refused the clocks that sample");
	return -ENOENT;
}

static int folded_write(struct model *m, struct out *out, struct timeline_options *opt,
			struct writer_totals *totals)
{
	struct folded f = {.opt = opt, .windows = {.model = m}};
	const struct model_sink *sinks[] = {&f.sink};
	struct stack *stack;
	int err;

	if (opt->select->nfunctions) {
		log_error("export: --function has no meaning for folded stacks: samples lie "
			  "outside MPI functions");
		return -EINVAL;
	}
	f.sink = (struct model_sink){
		.ctx = &f, .call = on_call, .spin = on_spin, .sample = on_sample};
	err = model_run(m, sinks, 1);
	if (!err && !f.samples)
		err = nothing_to_write(&f, m);
	if (!err) {
		stack = stacks_make(&f, m);
		totals->stacks = stacks_write(stack, (uint32_t)f.at.at.cnt, out);
		totals->samples = f.samples;
		for (uint32_t i = 0; i < f.at.at.cnt; i++)
			free(stack[i].frames);
		free(stack);
	}
	samples_release(&f.at);
	windows_release(&f.windows);
	return err;
}

static const char *const folded_endings[] = {".folded", NULL};

const struct writer writer_folded = {
	.name = "folded",
	.endings = folded_endings,
	.kind = WRITER_STACKS,
	.passes = 1,
	.write = folded_write,
};
