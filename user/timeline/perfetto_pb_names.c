/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Processes, threads and tracks in Perfetto's native format. Names go into its process tree, which
 * also covers threads that only have scheduler events. Order and hierarchy go into track
 * descriptors.
 */
#include <stdlib.h>

#include "lib/log.h"
#include "lib/u64.h"
#include "timeline/meta.h"
#include "timeline/perfetto_pb.h"

/* Tracks: 0 is the root. Threads, the most frequent, get small numbers. */
#define UUID_GROUP 1 /* + enum track_kind */
#define UUID_PROCESS (1ull << 32)

#define CHILDREN_EXPLICIT 3
#define MERGE_NONE 2
#define UNIT_COUNT 2
#define UNIT_BYTES 3

void pb_track_root_write(struct pb_writer *w)
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

void pb_track_tell(struct pb_writer *w, struct track *t)
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

static int parent_compare(const void *a, const void *b)
{
	const struct model_process *const *p = a, *const *q = b;
	int order = u64_compare((*p)->pid, (*q)->pid);

	return order ?: ((*p)->start_ns > (*q)->start_ns) - ((*p)->start_ns < (*q)->start_ns);
}

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

void pb_process(void *ctx, const struct model_process *p, int32_t order)
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

void pb_thread(void *ctx, const struct sched_task *t, int32_t order, uint64_t ts_ns)
{
	struct pb_writer *w = ctx;

	(void)order;
	pb_reset(&w->item);
	pb_u64(&w->item, FIELD(tid, 1), t->tid);
	pb_text(&w->item, FIELD(name, 2), t->comm);
	pb_u64(&w->item, FIELD(tgid, 3), t->tgid);
	pb_reset(&w->body);
	pb_message(&w->body, FIELD(threads, 2), &w->item);
	pb_packet_send(w, ts_ns ? ts_ns : w->start_ns, FIELD(process_tree, 2));
}
