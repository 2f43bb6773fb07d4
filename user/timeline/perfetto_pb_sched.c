/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Scheduler events as Perfetto's compact_sched: per CPU, arrays of switches and wakings that are
 * flushed as one bundle when full. Two kinds of events do not fit into the compact form and are
 * written as plain events. The first switch of each CPU would have an unknown prev. A wake-up may
 * come from a thread other than the one that the chain of switches has on that CPU.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "timeline/perfetto_pb.h"

#define BUNDLE_EVENTS 2048
#define BUNDLE_COMMS 120 /* one byte each as an index */
#define COMM_SLOTS 256

#define FLAG_HARDIRQ 0x08 /* of an event's common flags */

/* Field numbers in CompactSched. */
enum {
	SWITCH_TS = 1,
	SWITCH_STATE,
	SWITCH_PID,
	SWITCH_PRIO,
	COMMS,
	SWITCH_COMM,
	WAKING_TS,
	WAKING_PID,
	WAKING_CPU,
	WAKING_PRIO,
	WAKING_COMM,
	WAKING_FLAGS,
	COMPACT_FIELDS
};

struct comm_slot {
	uint64_t word[2];
	uint16_t idx_plus1; /* 0: free */
};

struct cpu_bundle {
	struct pb field[COMPACT_FIELDS]; /* packed arrays by field number; COMMS is unused */
	struct pb plain;		 /* FtraceEvents as fields of the bundle */
	uint64_t switch_ns, waking_ns;	 /* time of the last of each in this bundle */
	uint32_t nswitches, nwakings, ncomms;
	bool lost;
	char comm[BUNDLE_COMMS][16];
	struct comm_slot slot[COMM_SLOTS];
};

struct pb_sched {
	struct out *out;
	int64_t boot_ns;
	bool preempt;
	struct cpu_bundle **cpu;
	uint32_t ncpus;
	struct pb packet, bundle, compact, event, body;
};

struct pb_sched *pb_sched_new(struct out *out, int64_t boot_ns, bool preempt)
{
	struct pb_sched *ps = xcalloc(1, sizeof(*ps));

	ps->out = out;
	ps->boot_ns = boot_ns;
	ps->preempt = preempt;
	return ps;
}

static struct cpu_bundle *bundle_of(struct pb_sched *ps, uint32_t cpu)
{
	if (!*table_row(ps->cpu, ps->ncpus, cpu))
		ps->cpu[cpu] = xcalloc(1, sizeof(struct cpu_bundle));
	return ps->cpu[cpu];
}

static void compact_fill(struct pb_sched *ps, struct cpu_bundle *b)
{
	pb_reset(&ps->compact);
	for (uint32_t f = SWITCH_TS; f < COMPACT_FIELDS; f++) {
		if (f == COMMS) {
			for (uint32_t i = 0; i < b->ncomms; i++)
				pb_text(&ps->compact, COMMS, b->comm[i]);
		} else if (pb_len(&b->field[f])) {
			pb_message(&ps->compact, f, &b->field[f]);
		}
		pb_reset(&b->field[f]);
	}
}

static void bundle_flush(struct pb_sched *ps, uint32_t cpu)
{
	struct cpu_bundle *b = ps->cpu[cpu];

	if (!b->nswitches && !b->nwakings && !pb_len(&b->plain) && !b->lost)
		return;
	pb_reset(&ps->bundle);
	pb_u64(&ps->bundle, FIELD(cpu, 1), cpu);
	pb_reserve(&ps->bundle, pb_len(&b->plain));
	if (pb_len(&b->plain))
		memcpy(ps->bundle.pos, b->plain.base, pb_len(&b->plain));
	ps->bundle.pos += pb_len(&b->plain);
	if (b->lost)
		pb_u64(&ps->bundle, FIELD(lost_events, 3), 1);
	if (b->nswitches || b->nwakings) {
		compact_fill(ps, b);
		pb_message(&ps->bundle, FIELD(compact_sched, 4), &ps->compact);
	}
	pb_reset(&ps->packet);
	pb_message(&ps->packet, FIELD(ftrace_events, 1), &ps->bundle);
	pb_u64(&ps->packet, FIELD(trusted_packet_sequence_id, 10), PB_SEQUENCE_ID);
	pb_packet_write(ps->out, &ps->packet);
	pb_reset(&b->plain);
	b->nswitches = b->nwakings = b->ncomms = 0;
	b->lost = false;
	memset(b->slot, 0, sizeof(b->slot));
}

static uint32_t comm_index(struct cpu_bundle *b, const char *comm)
{
	uint64_t word[2] = {0, 0};
	struct comm_slot *s;
	uint64_t h;

	memcpy(word, comm, strnlen(comm, sizeof(word) - 1));
	h = (word[0] ^ word[1] * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
	for (h >>= 40;; h++) {
		s = &b->slot[h % COMM_SLOTS];
		if (!s->idx_plus1)
			break;
		if (s->word[0] == word[0] && s->word[1] == word[1])
			return s->idx_plus1 - 1u;
	}
	memcpy(s->word, word, sizeof(word));
	memcpy(b->comm[b->ncomms], word, sizeof(word));
	s->idx_plus1 = (uint16_t)++b->ncomms;
	return b->ncomms - 1;
}

/* Adds an FtraceEvent. Its specific part is in ps->body and gets that field number. */
static void plain_add(struct pb_sched *ps, struct cpu_bundle *b, uint64_t ts_ns, uint32_t tid,
		      uint32_t flags, uint32_t field)
{
	pb_reset(&ps->event);
	pb_u64(&ps->event, FIELD(timestamp, 1), ts_ns);
	pb_u64(&ps->event, FIELD(pid, 2), tid);
	if (flags)
		pb_u64(&ps->event, FIELD(common_flags, 5), flags);
	pb_message(&ps->event, field, &ps->body);
	pb_message(&b->plain, FIELD(event, 2), &ps->event);
}

static void plain_switch(struct pb_sched *ps, struct cpu_bundle *b, const struct sched_switch *s,
			 uint64_t ts_ns, uint32_t state)
{
	pb_reset(&ps->body);
	pb_text(&ps->body, FIELD(prev_comm, 1), s->prev.comm);
	pb_u64(&ps->body, FIELD(prev_pid, 2), s->prev.tid);
	pb_u64(&ps->body, FIELD(prev_prio, 3), s->prev_prio);
	pb_u64(&ps->body, FIELD(prev_state, 4), state);
	pb_text(&ps->body, FIELD(next_comm, 5), s->next.comm);
	pb_u64(&ps->body, FIELD(next_pid, 6), s->next.tid);
	pb_u64(&ps->body, FIELD(next_prio, 7), s->next_prio);
	plain_add(ps, b, ts_ns, s->prev.tid, 0, FIELD(sched_switch, 4));
}

static void bundle_check(struct pb_sched *ps, uint32_t cpu)
{
	struct cpu_bundle *b = ps->cpu[cpu];

	if (b->nswitches >= BUNDLE_EVENTS || b->nwakings >= BUNDLE_EVENTS ||
	    b->ncomms >= BUNDLE_COMMS || pb_len(&b->plain) >= 64 * BUNDLE_EVENTS)
		bundle_flush(ps, cpu);
}

void pb_sched_switch(void *ctx, const struct sched_switch *s)
{
	struct pb_sched *ps = ((struct pb_writer *)ctx)->sched;
	struct cpu_bundle *b = bundle_of(ps, s->cpu);
	uint64_t ts_ns = s->ts_ns + (uint64_t)ps->boot_ns;
	uint32_t state = s->prev_state == SCHED_PREEMPTED && !ps->preempt ? 0 : s->prev_state;

	if (s->first) {
		plain_switch(ps, b, s, ts_ns, state);
		/*
		 * A plain switch needs its own bundle: compact events of a bundle are read first.
		 */
		bundle_flush(ps, s->cpu);
		return;
	}
	/*
	 * The reader takes a bundle's switches before its wakings, so a waking at the same time
	 * must come in an earlier bundle.
	 */
	if (b->nwakings && b->waking_ns == ts_ns)
		bundle_flush(ps, s->cpu);
	pb_varint(&b->field[SWITCH_TS], b->nswitches ? ts_ns - b->switch_ns : ts_ns);
	pb_varint(&b->field[SWITCH_STATE], state);
	pb_varint(&b->field[SWITCH_PID], s->next.tid);
	pb_varint(&b->field[SWITCH_PRIO], s->next_prio);
	pb_varint(&b->field[SWITCH_COMM], comm_index(b, s->next.comm));
	b->switch_ns = ts_ns;
	b->nswitches++;
	bundle_check(ps, s->cpu);
}

void pb_sched_waking(void *ctx, const struct sched_waking *w)
{
	struct pb_sched *ps = ((struct pb_writer *)ctx)->sched;
	struct cpu_bundle *b = bundle_of(ps, w->cpu);
	uint64_t ts_ns = w->ts_ns + (uint64_t)ps->boot_ns;
	uint32_t flags = w->by_interrupt ? FLAG_HARDIRQ : 0;

	if (w->waker_current) {
		pb_varint(&b->field[WAKING_TS], b->nwakings ? ts_ns - b->waking_ns : ts_ns);
		pb_varint(&b->field[WAKING_PID], w->target.tid);
		pb_varint(&b->field[WAKING_CPU], w->target_cpu);
		pb_varint(&b->field[WAKING_PRIO], w->prio);
		pb_varint(&b->field[WAKING_COMM], comm_index(b, w->target.comm));
		pb_varint(&b->field[WAKING_FLAGS], flags);
		b->waking_ns = ts_ns;
		b->nwakings++;
	} else {
		pb_reset(&ps->body);
		pb_text(&ps->body, FIELD(comm, 1), w->target.comm);
		pb_u64(&ps->body, FIELD(pid, 2), w->target.tid);
		pb_u64(&ps->body, FIELD(prio, 3), w->prio);
		pb_u64(&ps->body, FIELD(success, 4), 1);
		pb_u64(&ps->body, FIELD(target_cpu, 5), w->target_cpu);
		plain_add(ps, b, ts_ns, w->waker.tid, flags, FIELD(sched_waking, 20));
	}
	bundle_check(ps, w->cpu);
}

void pb_sched_lost(void *ctx, uint32_t cpu)
{
	struct pb_sched *ps = ((struct pb_writer *)ctx)->sched;

	bundle_of(ps, cpu)->lost = true;
	bundle_flush(ps, cpu);
}

void pb_sched_finish(struct pb_sched *ps)
{
	for (uint32_t cpu = 0; cpu < ps->ncpus; cpu++) {
		struct cpu_bundle *b = ps->cpu[cpu];

		if (!b)
			continue;
		bundle_flush(ps, cpu);
		for (uint32_t f = 0; f < COMPACT_FIELDS; f++)
			pb_release(&b->field[f]);
		pb_release(&b->plain);
		free(b);
	}
	free(ps->cpu);
	pb_release(&ps->packet);
	pb_release(&ps->bundle);
	pb_release(&ps->compact);
	pb_release(&ps->event);
	pb_release(&ps->body);
	free(ps);
}
