/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by the two files that make Perfetto's native format: perfetto_pb.c (tracks, slices, counters) and
 * perfetto_pb_sched.c (scheduler events). Field numbers: tests/data/perfetto_subset.proto.
 */
#ifndef POV_WRITER_PERFETTO_PB_H
#define POV_WRITER_PERFETTO_PB_H

#include "writer/out.h"
#include "writer/pb.h"
#include "writer/timeline.h"

#define PB_SEQUENCE_ID 1

struct pb_sched;

/* boot_ns: what turns the model's times into BOOTTIME. preempt: the reader will know the state R+. */
struct pb_sched *pb_sched_new(struct out *out, int64_t boot_ns, bool preempt);
void pb_sched_switch(struct pb_sched *ps, const struct sched_switch *s);
void pb_sched_waking(struct pb_sched *ps, const struct sched_waking *w);
void pb_sched_lost(struct pb_sched *ps, uint32_t cpu);
/* Writes what is pending and frees. */
void pb_sched_finish(struct pb_sched *ps);

/* Appends one TracePacket to the Trace. */
static inline void pb_packet_write(struct out *out, const struct pb *packet)
{
	uint8_t head[1 + PB_VARINT_BYTES];
	uint8_t *end;

	head[0] = 1 << 3 | PB_BYTES;
	end = pb_put_varint(head + 1, pb_len(packet));
	out_write(out, head, (size_t)(end - head));
	out_write(out, packet->base, pb_len(packet));
}

/* A string field of any bytes. */
void pb_text(struct pb *b, uint32_t field, const char *s);

#endif
