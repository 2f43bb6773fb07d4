/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by the files of Perfetto's native format: perfetto_pb.c (identities, tracks, slices,
 * counters), perfetto_pb_sched.c (scheduler events) and perfetto_pb_samples.c (stacks). Field
 * numbers: tests/data/perfetto_subset.proto.
 */
#ifndef POV_TIMELINE_PERFETTO_PB_H
#define POV_TIMELINE_PERFETTO_PB_H

#include "timeline/writer.h"
#include "timeline/pb.h"
#include "timeline/timeline.h"

#define PB_SEQUENCE_ID 1
#define PB_SAMPLES_SEQUENCE_ID 2
/* TracePacket.sequence_flags: the reader's knowledge of a packet sequence. */
#define PB_SEQ_CLEARED 1
#define PB_SEQ_NEEDED 2
/* lower numbers are groups; threads, the most frequent, get small numbers */
#define PB_UUID_FIRST 16

struct intern;
struct pb_samples;
struct pb_sched;
struct sites;

struct pb_func {
	uint32_t gen, name_iid, group_iid;
};

struct pb_writer {
	struct out *out;
	struct pb_sched *sched;
	struct pb_samples *samples;
	struct intern *intern;
	int64_t boot_ns;
	uint64_t start_ns;
	uint32_t njobs;
	uint64_t uuid_next;
	bool group_told[TRACK_KIND_CNT];
	struct pb_func *func; /* by id; valid if its gen is the current one */
	uint32_t gen;
	struct model *model;
	const struct model_process **parent; /* all processes by pid; NULL until needed */
	uint32_t nparents;
	struct pb packet;
	size_t event_at;      /* of the TrackEvent in packet */
	struct pb body, item; /* content of other packets, and a message inside it */
	struct pb fresh;      /* InternedData of the event */
};

/* boot_ns: offset from the model's times to BOOTTIME. preempt: the reader knows the state R+. */
struct pb_sched *pb_sched_new(struct out *out, int64_t boot_ns, bool preempt);
void pb_sched_switch(void *ctx, const struct sched_switch *s); /* timeline_ops */
void pb_sched_waking(void *ctx, const struct sched_waking *w);
void pb_sched_lost(void *ctx, uint32_t cpu);
/* Writes what is pending and frees. */
void pb_sched_finish(struct pb_sched *ps);

/* Appends one TracePacket to the Trace. */
static inline void pb_packet_write(struct out *out, const struct pb *packet)
{
	uint8_t head[1 + PB_VARINT_BYTES];
	uint8_t *end;

	head[0] = FIELD(packet, 1) << 3 | PB_BYTES;
	end = pb_put_varint(head + 1, pb_len(packet));
	out_write(out, head, (size_t)(end - head));
	out_write(out, packet->base, pb_len(packet));
}

/* ---- perfetto_pb_samples.c ---- */
struct pb_samples *pb_samples_new(struct out *out, int64_t boot_ns, struct sites *sites);
void pb_samples_free(struct pb_samples *ps);
void pb_sample(void *ctx, const struct model_sample *s); /* timeline_ops */

#endif
