/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Perfetto's native format: a stream of TracePackets, one TrackEvent each, with interned names.
 * Times are BOOTTIME. Packets need not be in time order: the reader sorts them and keeps the file's
 * order at equal times. Identities: perfetto_pb_names.c. Scheduler events: perfetto_pb_sched.c.
 * Stacks: perfetto_pb_samples.c.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "trace/trace_totals.h"
#include "timeline/meta.h"
#include "timeline/pb.h"
#include "timeline/perfetto_pb.h"

#define INTERN_TEXT_BYTES 96 /* longer texts rarely appear twice */

enum event_type { EVENT_BEGIN = 1, EVENT_END = 2, EVENT_INSTANT = 3, EVENT_COUNTER = 4 };
enum clock { CLOCK_REAL = 1, CLOCK_MONO = 3, CLOCK_BOOT = 6 };

/* ---- packets ---- */

static void packet_begin(struct pb_writer *w, uint64_t ts_ns, uint32_t flags)
{
	pb_reset(&w->packet);
	if (ts_ns)
		pb_u64(&w->packet, FIELD(timestamp, 8), ts_ns + (uint64_t)w->boot_ns);
	pb_u64(&w->packet, FIELD(trusted_packet_sequence_id, 10), PB_SEQUENCE_ID);
	if (flags)
		pb_u64(&w->packet, FIELD(sequence_flags, 13), flags);
}

void pb_packet_send(struct pb_writer *w, uint64_t ts_ns, uint32_t field)
{
	packet_begin(w, ts_ns, 0);
	pb_message(&w->packet, field, &w->body);
	pb_packet_write(w->out, &w->packet);
}

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
 * CLOCK_BOOTTIME at the start. A suspension is not in it (meta.c gives its length).
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
