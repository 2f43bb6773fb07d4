/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Perfetto's native format: a stream of TracePackets, one TrackEvent each, with interned names. Times are
 * BOOTTIME. Packets need not be in order of time: the reader sorts, and keeps the order of the file
 * where times are equal. Scheduler events: perfetto_pb_sched.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "writer/meta.h"
#include "writer/pb_intern.h"
#include "writer/perfetto_pb.h"
#include "writer/text.h"

#define INTERN_ENTRIES 32768
#define INTERN_BYTES (4u << 20)
#define INTERN_TEXT_BYTES 96 /* longer texts are seldom seen twice */
#define FUNC_IDS 65536

/* What is known of a packet sequence so far: TracePacket.sequence_flags. */
#define SEQ_CLEARED 1
#define SEQ_NEEDED 2

enum event_type { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3, EVENT_COUNTER = 4 };
enum clock { CLOCK_REAL = 1, CLOCK_MONO = 3, CLOCK_BOOT = 6 };

/* Tracks: 0 is the root; small numbers are the most frequent, threads. */
#define UUID_GROUP 1 /* + enum track_kind */
#define UUID_FIRST 16
#define UUID_PROCESS (1ull << 32)

#define CHILDREN_EXPLICIT 3
#define MERGE_NONE 2
#define UNIT_COUNT 2
#define UNIT_BYTES 3

struct pb_func {
	uint32_t gen, name_iid, group_iid;
};

struct pb_writer {
	struct out *out;
	struct pb_sched *sched;
	struct intern *intern;
	int64_t boot_ns;
	uint64_t start_ns;
	uint32_t njobs;
	uint64_t uuid_next;
	bool group_told[TRACK_KIND_CNT];
	struct pb_func *func; /* by id; valid if gen is the current one */
	uint32_t gen;
	struct model *model;
	struct pb packet, event, item, fresh;
	size_t event_at; /* of the TrackEvent in packet */
};

void pb_text(struct pb *b, uint32_t field, const char *s)
{
	size_t n = strlen(s);
	char small[3 * 64], *clean = small;

	if (text_utf8_valid(s, n)) {
		pb_bytes(b, field, s, n);
		return;
	}
	if (TEXT_UTF8_BYTES(n) > sizeof(small))
		clean = xmalloc(TEXT_UTF8_BYTES(n));
	pb_bytes(b, field, clean, (size_t)(text_utf8(clean, s, n) - clean));
	if (clean != small)
		free(clean);
}

/* ---- packets ---- */

static void packet_begin(struct pb_writer *w, uint64_t ts_ns, uint32_t flags)
{
	pb_reset(&w->packet);
	if (ts_ns)
		pb_u64(&w->packet, 8, ts_ns + (uint64_t)w->boot_ns);
	pb_u64(&w->packet, 10, PB_SEQUENCE_ID);
	if (flags)
		pb_u64(&w->packet, 13, flags);
}

/* For what is not frequent; events are built in place. */
static void packet_end(struct pb_writer *w, uint32_t field, const struct pb *body)
{
	pb_message(&w->packet, field, body);
	pb_packet_write(w->out, &w->packet);
}

/* Starts the sequence's state: what was interned before means nothing from here on. */
static void sequence_clear(struct pb_writer *w)
{
	intern_reset(w->intern);
	w->gen++;
	packet_begin(w, 0, SEQ_CLEARED);
	pb_packet_write(w->out, &w->packet);
}

static void event_begin(struct pb_writer *w, enum event_type type, const struct track *t,
			uint64_t ts_ns)
{
	if (intern_full(w->intern))
		sequence_clear(w);
	pb_reset(&w->fresh);
	packet_begin(w, ts_ns, SEQ_NEEDED);
	w->event_at = pb_open(&w->packet, 11);
	pb_u64(&w->packet, 9, type);
	pb_u64(&w->packet, 11, t->uuid);
}

static void event_end(struct pb_writer *w)
{
	pb_close(&w->packet, w->event_at);
	if (pb_len(&w->fresh))
		pb_message(&w->packet, 12, &w->fresh);
	pb_packet_write(w->out, &w->packet);
}

/* ---- tracks ---- */

static void track_root_write(struct pb_writer *w)
{
	packet_begin(w, w->start_ns, 0);
	pb_reset(&w->event);
	pb_u64(&w->event, 1, 0);
	pb_u64(&w->event, 19, 1); /* processes and threads in the order of their ranks */
	pb_u64(&w->event, 20, 1);
	packet_end(w, 60, &w->event);
}

/* The track that holds all tracks of a kind. */
static uint64_t track_group(struct pb_writer *w, enum track_kind kind)
{
	static const char *const name[TRACK_KIND_CNT] = {
		[TRACK_RECORDING] = "povtrace: recording",
		[TRACK_LOST] = "povtrace: lost events",
		[TRACK_IRQ] = "Interrupts",
		[TRACK_RUNNABLE] = "Runnable threads",
	};
	uint64_t uuid = UUID_GROUP + kind;

	if (w->group_told[kind])
		return uuid;
	w->group_told[kind] = true;
	packet_begin(w, w->start_ns, 0);
	pb_reset(&w->event);
	pb_u64(&w->event, 1, uuid);
	pb_text(&w->event, 2, name[kind]);
	pb_u64(&w->event, 11, CHILDREN_EXPLICIT);
	packet_end(w, 60, &w->event);
	return uuid;
}

static void track_fill(struct pb_writer *w, const struct track *t, uint64_t parent)
{
	struct pb *d = &w->event;

	pb_reset(d);
	pb_u64(d, 1, t->uuid);
	pb_reset(&w->item);
	if (t->kind == TRACK_THREAD) {
		pb_u64(&w->item, 1, t->pid);
		pb_u64(&w->item, 2, t->tid);
		pb_message(d, 4, &w->item);
		pb_u64(d, 12, t->order);
		return;
	}
	pb_text(d, 2, t->name);
	pb_u64(d, 5, parent);
	if (t->kind == TRACK_IN_FLIGHT || t->kind == TRACK_RUNNABLE) {
		pb_u64(&w->item, 3, t->kind == TRACK_RUNNABLE ? UNIT_COUNT : UNIT_BYTES);
		pb_message(d, 8, &w->item);
	}
	pb_u64(d, 12, t->order);
	pb_u64(d, 15, MERGE_NONE);
}

static void track_tell(struct pb_writer *w, struct track *t)
{
	uint64_t parent = 0;

	if (t->uuid)
		return;
	t->uuid = w->uuid_next++;
	if (t->kind == TRACK_IN_FLIGHT)
		parent = UUID_PROCESS + t->pid;
	else if (t->kind != TRACK_THREAD)
		parent = track_group(w, t->kind);
	packet_begin(w, w->start_ns, 0);
	track_fill(w, t, parent);
	packet_end(w, 60, &w->event);
}

static uint32_t parent_pid(const struct pb_writer *w, const struct model_process *p)
{
	for (uint32_t i = 0; p->ppid && i < model_process_count(w->model); i++) {
		const struct model_process *q = model_process_get(w->model, i);

		if (q->pid == p->ppid && q->start_ns <= p->start_ns)
			return q->out_pid;
	}
	return 0;
}

static void process_tree_write(struct pb_writer *w, const struct model_process *p, const char *name)
{
	pb_reset(&w->item);
	pb_u64(&w->item, 1, p->out_pid);
	if (w->model)
		pb_u64(&w->item, 2, parent_pid(w, p));
	/* The reader calls a process by the first word; alone, it would be cut at a blank. */
	pb_text(&w->item, 3, name);
	pb_text(&w->item, 3, p->cmdline ? p->cmdline : "");
	pb_reset(&w->event);
	pb_message(&w->event, 1, &w->item);
	packet_begin(w, p->start_ns ? p->start_ns : w->start_ns, 0);
	packet_end(w, 2, &w->event);
}

static void pb_process(void *ctx, const struct model_process *p, int32_t order)
{
	struct pb_writer *w = ctx;
	char *name = meta_process_name(p, w->njobs);

	process_tree_write(w, p, name);
	pb_reset(&w->item);
	pb_u64(&w->item, 1, p->out_pid);
	pb_text(&w->item, 6, name);
	pb_reset(&w->event);
	pb_u64(&w->event, 1, UUID_PROCESS + p->out_pid);
	pb_message(&w->event, 3, &w->item);
	pb_i64(&w->event, 12, order);
	packet_begin(w, w->start_ns, 0);
	packet_end(w, 60, &w->event);
	free(name);
}

static void pb_thread(void *ctx, const struct sched_task *t, int32_t order, uint64_t ts_ns)
{
	struct pb_writer *w = ctx;

	(void)order;
	pb_reset(&w->item);
	pb_u64(&w->item, 1, t->tid);
	pb_text(&w->item, 2, t->comm);
	pb_u64(&w->item, 3, t->tgid);
	pb_reset(&w->event);
	pb_message(&w->event, 2, &w->item);
	packet_begin(w, ts_ns ? ts_ns : w->start_ns, 0);
	packet_end(w, 2, &w->event);
}

/* ---- events ---- */

static void arg_array(struct pb *b, const struct writer_arg *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		size_t at = pb_open(b, 12);

		if (a->kind == ARG_HEXES)
			pb_u64(b, 7, (uint64_t)a->ints[i]);
		else
			pb_i64(b, 4, a->ints[i]);
		pb_close(b, at);
	}
}

static void arg_text(struct pb_writer *w, const char *text)
{
	if (strlen(text) <= INTERN_TEXT_BYTES)
		pb_u64(&w->packet, 17, intern_add(w->intern, INTERN_TEXT, text, &w->fresh));
	else
		pb_text(&w->packet, 6, text);
}

static void arg_write(struct pb_writer *w, const struct writer_arg *a)
{
	struct pb *b = &w->packet;
	size_t at = pb_open(b, 4);

	pb_u64(b, 1, intern_add(w->intern, INTERN_ARG_NAME, a->name, &w->fresh));
	switch (a->kind) {
	case ARG_INT:
		pb_i64(b, 4, a->i);
		break;
	case ARG_UINT:
		pb_u64(b, 3, a->u);
		break;
	case ARG_HEX:
		pb_u64(b, 7, a->u);
		break;
	case ARG_BOOL:
		pb_u64(b, 2, a->u);
		break;
	case ARG_US:
		pb_double(b, 5, (double)a->u / 1000.0);
		break;
	case ARG_TEXT:
		arg_text(w, a->text ? a->text : "");
		break;
	case ARG_INTS:
	case ARG_HEXES:
		arg_array(b, a);
		break;
	}
	pb_close(b, at);
}

static void slice_name(struct pb_writer *w, const struct slice *s)
{
	struct pb_func *f = s->func ? &w->func[s->func->id] : NULL;
	struct pb *b = &w->packet;

	if (f && f->gen != w->gen) {
		f->name_iid = (uint32_t)intern_add(w->intern, INTERN_EVENT_NAME, s->name,
						   &w->fresh);
		f->group_iid = (uint32_t)intern_add(w->intern, INTERN_CATEGORY, s->category,
						    &w->fresh);
		f->gen = w->gen;
	}
	if (f) {
		pb_u64(b, 3, f->group_iid);
		pb_u64(b, 10, f->name_iid);
	} else {
		/* Counts are part of these names: few are seen twice. */
		pb_u64(b, 3, intern_add(w->intern, INTERN_CATEGORY, s->category, &w->fresh));
		pb_text(b, 23, s->name);
	}
}

static void slice_write(struct pb_writer *w, enum event_type type, struct track *t,
			const struct slice *s)
{
	track_tell(w, t);
	event_begin(w, type, t, s->begin_ns);
	slice_name(w, s);
	for (uint32_t i = 0; i < s->args->n; i++)
		arg_write(w, &s->args->arg[i]);
	if (s->flow_out)
		pb_fixed64(&w->packet, 47, s->flow_out);
	if (s->flow_in)
		pb_fixed64(&w->packet, 48, s->flow_in);
	event_end(w);
}

static void pb_slice(void *ctx, struct track *t, const struct slice *s)
{
	slice_write(ctx, EVENT_BEGIN, t, s);
}

static void pb_instant(void *ctx, struct track *t, const struct slice *s)
{
	slice_write(ctx, EVENT_INSTANT, t, s);
}

static void pb_slice_end(void *ctx, struct track *t, uint64_t ts_ns)
{
	struct pb_writer *w = ctx;

	event_begin(w, EVENT_END, t, ts_ns);
	event_end(w);
}

static void pb_counter(void *ctx, struct track *t, uint64_t ts_ns, int64_t value)
{
	struct pb_writer *w = ctx;

	track_tell(w, t);
	event_begin(w, EVENT_COUNTER, t, ts_ns);
	pb_i64(&w->packet, 30, value);
	event_end(w);
}

static void pb_switch(void *ctx, const struct sched_switch *s)
{
	pb_sched_switch(((struct pb_writer *)ctx)->sched, s);
}

static void pb_waking(void *ctx, const struct sched_waking *s)
{
	pb_sched_waking(((struct pb_writer *)ctx)->sched, s);
}

static void pb_lost(void *ctx, uint32_t cpu)
{
	pb_sched_lost(((struct pb_writer *)ctx)->sched, cpu);
}

static const struct timeline_ops pb_ops = {
	.process = pb_process,
	.thread = pb_thread,
	.slice = pb_slice,
	.slice_end = pb_slice_end,
	.instant = pb_instant,
	.counter = pb_counter,
	.sched_switch = pb_switch,
	.sched_waking = pb_waking,
	.sched_lost = pb_lost,
};

/* ---- the whole ---- */

static void clock_add(struct pb_writer *w, enum clock clock, uint64_t ns)
{
	pb_reset(&w->item);
	pb_u64(&w->item, 1, clock);
	pb_u64(&w->item, 2, ns);
	pb_message(&w->event, 1, &w->item);
}

static void clocks_write(struct pb_writer *w, const struct model_info *info)
{
	packet_begin(w, 0, 0);
	pb_reset(&w->event);
	clock_add(w, CLOCK_BOOT, info->start_ns + (uint64_t)info->boottime_offset_ns);
	clock_add(w, CLOCK_MONO, info->start_ns);
	clock_add(w, CLOCK_REAL, info->start_ns + (uint64_t)info->realtime_offset_ns);
	pb_u64(&w->event, 2, CLOCK_BOOT);
	packet_end(w, 6, &w->event);
}

static void system_write(struct pb_writer *w, const struct model_info *info)
{
	pb_reset(&w->item);
	pb_text(&w->item, 1, "Linux");
	pb_text(&w->item, 2, meta_kernel_version(w->model));
	if (info->kernel)
		pb_text(&w->item, 3, info->kernel);
	if (info->machine)
		pb_text(&w->item, 4, info->machine);
	pb_reset(&w->event);
	pb_message(&w->event, 1, &w->item);
	pb_u64(&w->event, 8, info->nr_cpus);
	packet_begin(w, 0, 0);
	packet_end(w, 45, &w->event);
}

/* The same values as on the recording's slice, where the reader shows facts about a whole trace. */
static void attributes_write(struct pb_writer *w, const struct writer_args *meta)
{
	pb_reset(&w->event);
	for (uint32_t i = 0; i < meta->n; i++) {
		const struct writer_arg *a = &meta->arg[i];

		pb_reset(&w->item);
		pb_text(&w->item, 1, a->name);
		if (a->kind == ARG_TEXT)
			pb_text(&w->item, 3, a->text);
		else if (a->kind == ARG_US)
			pb_i64(&w->item, 2, (int64_t)(a->u / 1000));
		else
			pb_i64(&w->item, 2, a->i);
		pb_message(&w->event, 1, &w->item);
	}
	packet_begin(w, 0, 0);
	packet_end(w, 126, &w->event);
}

static void writer_release(struct pb_writer *w)
{
	intern_free(w->intern);
	free(w->func);
	pb_release(&w->packet);
	pb_release(&w->event);
	pb_release(&w->item);
	pb_release(&w->fresh);
}

static int pb_write(struct model *m, const struct writer_select *sel, FILE *file, bool gzip,
		    struct writer_totals *totals)
{
	const struct model_info *info = model_get_info(m);
	struct pb_writer w = {.model = m,
			      .boot_ns = info->boottime_offset_ns,
			      .start_ns = info->start_ns,
			      .njobs = info->njobs,
			      .uuid_next = UUID_FIRST};
	struct writer_args *meta = xmalloc(sizeof(*meta));
	struct timeline_options opt;
	int err, write_err;

	memset(totals, 0, sizeof(*totals));
	timeline_options_fill(&opt, m, sel);
	opt.slices = opt.sched = true;
	w.out = out_new(file, gzip);
	w.sched = pb_sched_new(w.out, w.boot_ns, info->kernel && *info->kernel);
	w.intern = intern_new(INTERN_ENTRIES, INTERN_BYTES);
	w.func = xcalloc(FUNC_IDS, sizeof(*w.func));
	sequence_clear(&w);
	clocks_write(&w, info);
	system_write(&w, info);
	meta_fill(meta, m, sel);
	attributes_write(&w, meta);
	track_root_write(&w);
	err = timeline_run(m, &opt, &pb_ops, &w, meta, totals);
	pb_sched_finish(w.sched);
	write_err = out_finish(w.out, &totals->bytes);
	if (write_err)
		log_error("export: cannot write: %s", strerror(-write_err));
	writer_release(&w);
	free(meta);
	return err ? err : write_err;
}

static const char *const pb_endings[] = {".pftrace", ".perfetto-trace", NULL};

const struct writer writer_pftrace = {
	.name = "pftrace",
	.endings = pb_endings,
	.write = pb_write,
};
