/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Perfetto's native format: a stream of TracePackets, one TrackEvent each, with interned names.
 * Times are BOOTTIME. Packets need not be in time order: the reader sorts them and keeps the file's
 * order at equal times. Scheduler events: perfetto_pb_sched.c. Stacks: perfetto_pb_samples.c.
 */
#include "timeline/perfetto_pb.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"
#include "timeline/args.h"
#include "timeline/pb.h"
#include "trace/trace_totals.h"

/*
 * ---- processes, threads and tracks ----
 *
 * Names go into Perfetto's process tree, which also covers threads that only have scheduler events.
 * Order and hierarchy go into track descriptors.
 */

/* Tracks: 0 is the root. Threads, the most frequent, get small numbers. */
#define UUID_GROUP 1 /* + enum track_kind */
#define UUID_PROCESS (1ull << 32)

#define CHILDREN_EXPLICIT 3
#define MERGE_NONE 2
#define UNIT_COUNT 2
#define UNIT_BYTES 3

static void packet_begin(struct pb_writer *w, uint64_t ts_ns, uint32_t flags)
{
	pb_reset(&w->packet);
	if (ts_ns)
		pb_u64(&w->packet, FIELD(timestamp, 8), ts_ns + (uint64_t)w->boot_ns);
	pb_u64(&w->packet, FIELD(trusted_packet_sequence_id, 10), PB_SEQUENCE_ID);
	if (flags)
		pb_u64(&w->packet, FIELD(sequence_flags, 13), flags);
}

/*
 * Writes a packet with field w->body; ts_ns 0: without a time. For rare packets; events are built
 * in place.
 */
static void pb_packet_send(struct pb_writer *w, uint64_t ts_ns, uint32_t field)
{
	packet_begin(w, ts_ns, 0);
	pb_message(&w->packet, field, &w->body);
	pb_packet_write(w->out, &w->packet);
}

static void pb_track_root_write(struct pb_writer *w)
{
	pb_reset(&w->body);
	pb_u64(&w->body, FIELD(uuid, 1), 0);
	/* processes and threads in the order of their ranks */
	pb_u64(&w->body, FIELD(process_ordering, 19), 1);
	pb_u64(&w->body, FIELD(thread_ordering, 20), 1);
	pb_packet_send(w, w->start_ns, FIELD(track_descriptor, 60));
}

/* The track that contains all tracks of a kind. */
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
	pb_reset(&w->body);
	pb_u64(&w->body, FIELD(uuid, 1), uuid);
	pb_text(&w->body, FIELD(name, 2), name[kind]);
	pb_u64(&w->body, FIELD(child_ordering, 11), CHILDREN_EXPLICIT);
	pb_packet_send(w, w->start_ns, FIELD(track_descriptor, 60));
	return uuid;
}

static void track_fill(struct pb_writer *w, const struct track *t, uint64_t parent)
{
	struct pb *d = &w->body;

	pb_reset(d);
	pb_u64(d, FIELD(uuid, 1), t->uuid);
	pb_reset(&w->item);
	if (t->kind == TRACK_THREAD) {
		pb_u64(&w->item, FIELD(pid, 1), t->pid);
		pb_u64(&w->item, FIELD(tid, 2), t->tid);
		pb_message(d, FIELD(thread, 4), &w->item);
		pb_u64(d, FIELD(sibling_order_rank, 12), t->order);
		return;
	}
	pb_text(d, FIELD(name, 2), t->name);
	pb_u64(d, FIELD(parent_uuid, 5), parent);
	if (t->kind == TRACK_IN_FLIGHT || t->kind == TRACK_RUNNABLE) {
		pb_u64(&w->item, FIELD(unit, 3),
		       t->kind == TRACK_RUNNABLE ? UNIT_COUNT : UNIT_BYTES);
		pb_message(d, FIELD(counter, 8), &w->item);
	}
	pb_u64(d, FIELD(sibling_order_rank, 12), t->order);
	pb_u64(d, FIELD(sibling_merge_behavior, 15), MERGE_NONE);
}

/* Declares the track once and gives it its uuid. */
static void pb_track_tell(struct pb_writer *w, struct track *t)
{
	uint64_t parent = 0;

	if (t->uuid)
		return;
	t->uuid = w->uuid_next++;
	if (t->kind == TRACK_IN_FLIGHT || t->kind == TRACK_PHASE || t->kind == TRACK_DISTORTION ||
	    t->kind == TRACK_MESSAGE || t->kind == TRACK_POST || t->kind == TRACK_FINDING ||
	    t->kind == TRACK_COUNTED || t->kind == TRACK_TRACING)
		parent = UUID_PROCESS + t->pid;
	else if (t->kind != TRACK_THREAD)
		parent = track_group(w, t->kind);
	track_fill(w, t, parent);
	pb_packet_send(w, w->start_ns, FIELD(track_descriptor, 60));
}

TABLE_ORDER(parent_compare, struct model_process *, u64_compare((*a)->pid, (*b)->pid),
	    table_compare((*a)->start_ns, (*b)->start_ns))

/* All processes by number and age. There may be very many. */
static void parents_sort(struct pb_writer *w)
{
	w->nparents = model_process_count(w->model);
	w->parent = xcalloc(w->nparents + 1, sizeof(*w->parent));
	for (uint32_t i = 0; i < w->nparents; i++)
		w->parent[i] = model_process_get(w->model, i);
	qsort(w->parent, w->nparents, sizeof(*w->parent), parent_compare);
}

/* Among the processes with the parent's number, the latest one that is older than p. */
static uint32_t parent_pid(struct pb_writer *w, const struct model_process *p)
{
	uint32_t low = 0, high;

	if (!w->parent)
		parents_sort(w);
	high = w->nparents;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct model_process *q = w->parent[mid];

		if (q->pid < p->ppid || (q->pid == p->ppid && q->start_ns <= p->start_ns))
			low = mid + 1;
		else
			high = mid;
	}
	return p->ppid && low && w->parent[low - 1]->pid == p->ppid ? w->parent[low - 1]->out_pid :
								      0;
}

static void process_tree_write(struct pb_writer *w, const struct model_process *p, const char *name)
{
	pb_reset(&w->item);
	pb_u64(&w->item, FIELD(pid, 1), p->out_pid);
	pb_u64(&w->item, FIELD(ppid, 2), parent_pid(w, p));
	/* The reader names a process by the first word. A single text would be cut at a blank. */
	pb_text(&w->item, FIELD(cmdline, 3), name);
	pb_text(&w->item, FIELD(cmdline, 3), p->cmdline ? p->cmdline : "");
	pb_reset(&w->body);
	pb_message(&w->body, FIELD(processes, 1), &w->item);
	pb_packet_send(w, p->start_ns ? p->start_ns : w->start_ns, FIELD(process_tree, 2));
}

/* timeline_ops */
static void pb_process(void *ctx, const struct model_process *p, int32_t order)
{
	struct pb_writer *w = ctx;
	char *name = meta_process_name(p, w->njobs);

	process_tree_write(w, p, name);
	pb_reset(&w->item);
	pb_u64(&w->item, FIELD(pid, 1), p->out_pid);
	pb_text(&w->item, FIELD(process_name, 6), name);
	pb_reset(&w->body);
	pb_u64(&w->body, FIELD(uuid, 1), UUID_PROCESS + p->out_pid);
	pb_message(&w->body, FIELD(process, 3), &w->item);
	pb_i64(&w->body, FIELD(sibling_order_rank, 12), order);
	pb_packet_send(w, w->start_ns, FIELD(track_descriptor, 60));
	free(name);
}

static void pb_thread(void *ctx, const struct sched_task *t, int32_t order, uint64_t ts_ns)
{
	struct pb_writer *w = ctx;

	pb_reset(&w->item);
	pb_u64(&w->item, FIELD(tid, 1), t->tid);
	pb_text(&w->item, FIELD(name, 2), t->comm);
	pb_u64(&w->item, FIELD(tgid, 3), t->tgid);
	pb_reset(&w->body);
	pb_message(&w->body, FIELD(threads, 2), &w->item);
	pb_packet_send(w, ts_ns ? ts_ns : w->start_ns, FIELD(process_tree, 2));
}

#define INTERN_TEXT_BYTES 96 /* longer texts rarely appear twice */

enum event_type { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3, EVENT_COUNTER = 4 };
enum clock { CLOCK_REAL = 1, CLOCK_MONO = 3, CLOCK_BOOT = 6 };

/* ---- packets ---- */

/* Starts the sequence's state: earlier interned strings become invalid. */
static void sequence_clear(struct pb_writer *w)
{
	intern_reset(w->intern);
	w->gen++;
	packet_begin(w, 0, PB_SEQ_CLEARED);
	pb_packet_write(w->out, &w->packet);
}

static void event_begin(struct pb_writer *w, enum event_type type, const struct track *t,
			uint64_t ts_ns)
{
	if (intern_full(w->intern))
		sequence_clear(w);
	pb_reset(&w->fresh);
	packet_begin(w, ts_ns, PB_SEQ_NEEDED);
	w->event_at = pb_open(&w->packet, FIELD(track_event, 11));
	pb_u64(&w->packet, FIELD(type, 9), type);
	pb_u64(&w->packet, FIELD(track_uuid, 11), t->uuid);
}

static void event_end(struct pb_writer *w)
{
	pb_close(&w->packet, w->event_at);
	if (pb_len(&w->fresh))
		pb_message(&w->packet, FIELD(interned_data, 12), &w->fresh);
	pb_packet_write(w->out, &w->packet);
}

/* ---- events ---- */

static void arg_array(struct pb *b, const struct call_value *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		size_t at = pb_open(b, FIELD(array_values, 12));

		if (a->kind == VALUE_HEXES)
			pb_u64(b, FIELD(pointer_value, 7), (uint64_t)a->ints[i]);
		else
			pb_i64(b, FIELD(int_value, 4), a->ints[i]);
		pb_close(b, at);
	}
}

static void arg_text(struct pb_writer *w, const char *text)
{
	if (strlen(text) <= INTERN_TEXT_BYTES)
		pb_u64(&w->packet, FIELD(string_value_iid, 17),
		       intern_add(w->intern, INTERN_TEXT, text, &w->fresh));
	else
		pb_text(&w->packet, FIELD(string_value, 6), text);
}

static void arg_write(struct pb_writer *w, const struct call_value *a)
{
	struct pb *b = &w->packet;
	size_t at = pb_open(b, FIELD(debug_annotations, 4));

	pb_u64(b, FIELD(name_iid, 1), intern_add(w->intern, INTERN_ARG_NAME, a->name, &w->fresh));
	switch (a->kind) {
	case VALUE_INT:
		pb_i64(b, FIELD(int_value, 4), a->i);
		break;
	case VALUE_UINT:
		pb_u64(b, FIELD(uint_value, 3), a->u);
		break;
	case VALUE_HEX:
		pb_u64(b, FIELD(pointer_value, 7), a->u);
		break;
	case VALUE_BOOL:
		pb_u64(b, FIELD(bool_value, 2), a->u);
		break;
	case VALUE_US:
		pb_double(b, FIELD(double_value, 5), (double)a->u / 1000.0);
		break;
	case VALUE_TEXT:
		arg_text(w, a->text ? a->text : "");
		break;
	case VALUE_INTS:
	case VALUE_HEXES:
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
		pb_u64(b, FIELD(category_iids, 3), f->group_iid);
		pb_u64(b, FIELD(name_iid, 10), f->name_iid);
	} else if (s->few_names) {
		pb_u64(b, FIELD(category_iids, 3),
		       intern_add(w->intern, INTERN_CATEGORY, s->category, &w->fresh));
		pb_u64(b, FIELD(name_iid, 10),
		       intern_add(w->intern, INTERN_EVENT_NAME, s->name, &w->fresh));
	} else {
		/* These names contain counts: few appear twice. */
		pb_u64(b, FIELD(category_iids, 3),
		       intern_add(w->intern, INTERN_CATEGORY, s->category, &w->fresh));
		pb_text(b, FIELD(name, 23), s->name);
	}
}

static void pb_slice(void *ctx, struct track *t, const struct slice *s)
{
	struct pb_writer *w = ctx;

	pb_track_tell(w, t);
	event_begin(w, s->instant ? EVENT_INSTANT : EVENT_BEGIN, t, s->begin_ns);
	slice_name(w, s);
	/* The reader gives slices with the same id one colour, others a colour by their name. */
	if (s->activity)
		pb_u64(&w->packet, FIELD(correlation_id_str_iid, 54),
		       intern_add(w->intern, INTERN_ACTIVITY, s->activity, &w->fresh));
	for (uint32_t i = 0; i < s->args->n; i++)
		arg_write(w, &s->args->arg[i]);
	if (s->flow_out)
		pb_fixed64(&w->packet, FIELD(flow_ids, 47), s->flow_out);
	if (s->flow_in)
		pb_fixed64(&w->packet, FIELD(terminating_flow_ids, 48), s->flow_in);
	event_end(w);
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

	pb_track_tell(w, t);
	event_begin(w, EVENT_COUNTER, t, ts_ns);
	pb_i64(&w->packet, FIELD(counter_value, 30), value);
	event_end(w);
}

static const struct timeline_ops pb_ops = {
	.process = pb_process,
	.thread = pb_thread,
	.slice = pb_slice,
	.slice_end = pb_slice_end,
	.counter = pb_counter,
	.sched_switch = pb_sched_switch,
	.sched_waking = pb_sched_waking,
	.sched_lost = pb_sched_lost,
	.sample = pb_sample,
};

/* ---- the whole file ---- */

static void clock_add(struct pb_writer *w, enum clock clock, uint64_t ns)
{
	pb_reset(&w->item);
	pb_u64(&w->item, FIELD(clock_id, 1), clock);
	pb_u64(&w->item, FIELD(timestamp, 2), ns);
	pb_message(&w->body, FIELD(clocks, 1), &w->item);
}

static void clock_snapshot_write(struct pb_writer *w, uint64_t mono_ns, uint64_t real_ns)
{
	pb_reset(&w->body);
	clock_add(w, CLOCK_BOOT, mono_ns + (uint64_t)w->boot_ns);
	clock_add(w, CLOCK_MONO, mono_ns);
	clock_add(w, CLOCK_REAL, real_ns);
	pb_u64(&w->body, FIELD(primary_trace_clock, 2), CLOCK_BOOT);
	pb_packet_send(w, 0, FIELD(clock_snapshot, 6));
}

/*
 * Written at the recording's start and end, so that dates in between are correct even if the
 * system's clock was set meanwhile. The timeline runs by CLOCK_MONOTONIC, starting from
 * CLOCK_BOOTTIME at the start. A suspension is not in it (args.c gives its length).
 */
static void clocks_write(struct pb_writer *w, const struct model_info *info)
{
	struct trace_clocks clocks;

	clock_snapshot_write(w, info->start_ns,
			     info->start_ns + (uint64_t)info->realtime_offset_ns);
	if (!trace_clocks(model_get_trace(w->model), &clocks) && clocks.has_end &&
	    clocks.end.monotonic_ns > info->start_ns)
		clock_snapshot_write(w, clocks.end.monotonic_ns, clocks.end.realtime_ns);
}

static void system_write(struct pb_writer *w, const struct model_info *info)
{
	const struct model_host *host = model_host_get(w->model, 0);

	pb_reset(&w->item);
	pb_text(&w->item, FIELD(sysname, 1), "Linux");
	pb_text(&w->item, FIELD(version, 2), meta_kernel_version(w->model));
	pb_text(&w->item, FIELD(release, 3), host->kernel);
	pb_text(&w->item, FIELD(machine, 4), host->machine);
	pb_reset(&w->body);
	pb_message(&w->body, FIELD(utsname, 1), &w->item);
	pb_u64(&w->body, FIELD(num_cpus, 8), info->nr_cpus);
	pb_packet_send(w, 0, FIELD(system_info, 45));
}

/*
 * The same values as on the recording's slice. The reader shows them as facts about the whole
 * trace.
 */
static void attributes_write(struct pb_writer *w, const struct writer_args *meta)
{
	pb_reset(&w->body);
	for (uint32_t i = 0; i < meta->n; i++) {
		const struct call_value *a = &meta->arg[i];

		pb_reset(&w->item);
		pb_text(&w->item, FIELD(key, 1), a->name);
		if (a->kind == VALUE_TEXT)
			pb_text(&w->item, FIELD(string_value, 3), a->text);
		else if (a->kind == VALUE_US)
			pb_i64(&w->item, FIELD(long_value, 2), (int64_t)(a->u / 1000));
		else
			pb_i64(&w->item, FIELD(long_value, 2), a->i);
		pb_message(&w->body, FIELD(attribute, 1), &w->item);
	}
	pb_packet_send(w, 0, FIELD(trace_attributes, 126));
}

static void writer_release(struct pb_writer *w)
{
	intern_free(w->intern);
	free(w->func);
	free(w->parent);
	pb_release(&w->packet);
	pb_release(&w->body);
	pb_release(&w->item);
	pb_release(&w->fresh);
}

static int pb_write(struct model *m, struct out *out, struct timeline_options *opt,
		    struct writer_totals *totals)
{
	const struct model_info *info = model_get_info(m);
	struct pb_writer w = {.out = out,
			      .model = m,
			      .boot_ns = info->boottime_offset_ns,
			      .start_ns = info->start_ns,
			      .njobs = info->njobs,
			      .uuid_next = PB_UUID_FIRST};
	int err;

	w.sched = pb_sched_new(out, w.boot_ns, *model_host_get(m, 0)->kernel);
	w.samples = pb_samples_new(out, w.boot_ns, opt->sites);
	w.intern = intern_new();
	w.func = xcalloc(FUNC_IDS, sizeof(*w.func));
	sequence_clear(&w);
	clocks_write(&w, info);
	system_write(&w, info);
	attributes_write(&w, opt->recording);
	pb_track_root_write(&w);
	opt->slices = opt->sched = true;
	err = timeline_run(m, opt, &pb_ops, &w, totals);
	pb_sched_finish(w.sched);
	pb_samples_free(w.samples);
	writer_release(&w);
	return err;
}

static const char *const pb_endings[] = {".pftrace", ".perfetto-trace", NULL};

const struct writer writer_pftrace = {
	.name = "pftrace",
	.endings = pb_endings,
	.passes = 1,
	.write = pb_write,
};
