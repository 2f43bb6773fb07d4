/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Samples with stacks as Perfetto's PerfSample, in a packet sequence of their own, whose interned
 * data are stacks (InternedData: frames, callstacks, mappings). The packets name no
 * sampling event (PerfSampleDefaults.timebase). Perfetto then assumes the CPU's clock, correctly.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "analysis/samples.h"
#include "lib/log.h"
#include "lib/table.h"
#include "site/site_names.h"
#include "timeline/pb.h"
#include "timeline/perfetto_pb.h"

#define MODE_USER 2
#define UNWIND_ERROR_UNKNOWN 0

struct pb_samples {
	struct out *out;
	int64_t boot_ns;
	struct sites *sites;
	struct call_paths paths;
	struct intern *intern; /* texts, and modules by their path */
	struct map mapping;    /* by struct model_module: set if the reader knows it */
	/* by id of a struct call_path: what the reader knows */
	bool *frame_known, *stack_known;
	uint32_t room;
	uint64_t *taken; /* samples by CPU */
	uint32_t ncpus;
	struct pb packet, fresh, item;
};

struct pb_samples *pb_samples_new(struct out *out, int64_t boot_ns, struct sites *sites)
{
	struct pb_samples *ps = xcalloc(1, sizeof(*ps));

	ps->out = out;
	ps->boot_ns = boot_ns;
	ps->sites = sites;
	return ps;
}

void pb_samples_free(struct pb_samples *ps)
{
	call_paths_release(&ps->paths);
	if (ps->intern)
		intern_free(ps->intern);
	map_release(&ps->mapping);
	free(ps->frame_known);
	free(ps->stack_known);
	free(ps->taken);
	pb_release(&ps->packet);
	pb_release(&ps->fresh);
	pb_release(&ps->item);
	free(ps);
}

static void packet_begin(struct pb_samples *ps, uint32_t flags)
{
	pb_reset(&ps->packet);
	pb_u64(&ps->packet, FIELD(trusted_packet_sequence_id, 10), PB_SAMPLES_SEQUENCE_ID);
	pb_u64(&ps->packet, FIELD(sequence_flags, 13), flags);
}

/* Starts the sequence, or starts it anew: the reader then forgets all interned data. */
static void sequence_clear(struct pb_samples *ps)
{
	if (ps->intern)
		intern_reset(ps->intern);
	else
		ps->intern = intern_new();
	map_release(&ps->mapping);
	memset(ps->frame_known, 0, ps->room);
	memset(ps->stack_known, 0, ps->room);
	packet_begin(ps, PB_SEQ_CLEARED);
	pb_packet_write(ps->out, &ps->packet);
}

/* Makes room for all ids. */
static void known_grow(struct pb_samples *ps)
{
	uint32_t room = ps->paths.cnt + 1, old = ps->room;

	if (room <= old)
		return;
	room += room / 2 + 64;
	ps->frame_known = xrealloc(ps->frame_known, room);
	ps->stack_known = xrealloc(ps->stack_known, room);
	memset(ps->frame_known + old, 0, room - old);
	memset(ps->stack_known + old, 0, room - old);
	ps->room = room;
}

static uint64_t text_iid(struct pb_samples *ps, enum intern_kind kind, const char *text)
{
	return intern_add(ps->intern, kind, text, &ps->fresh);
}

/* In the format these are bytes, not hex digits. */
static void build_id_tell(struct pb_samples *ps, const char *hex, uint64_t iid)
{
	uint8_t bytes[64];
	size_t n = 0;

	for (; n < sizeof(bytes) && hex[0] && hex[1] && sscanf(hex, "%2hhx", &bytes[n]) == 1; n++)
		hex += 2;
	pb_reset(&ps->item);
	pb_u64(&ps->item, FIELD(iid, 1), iid);
	pb_bytes(&ps->item, FIELD(str, 2), bytes, n);
	pb_message(&ps->fresh, FIELD(build_ids, 16), &ps->item);
}

/*
 * The path's number serves as the mapping's and build id's, too: each file is shown once. The
 * reader drops stacks with a frame in no mapping, and puts a slash before each path.
 */
static uint64_t mapping_iid(struct pb_samples *ps, const struct model_module *module)
{
	const char *path = module ? module->path : "[no file]";
	uint64_t iid = text_iid(ps, INTERN_MAPPING_PATH, path + (*path == '/'));

	if (map_set(&ps->mapping, (uintptr_t)module, ps))
		return iid;
	build_id_tell(ps, module ? module->build_id : "", iid);
	pb_reset(&ps->item);
	pb_u64(&ps->item, FIELD(iid, 1), iid);
	pb_u64(&ps->item, FIELD(build_id, 2), iid);
	pb_u64(&ps->item, FIELD(path_string_ids, 7), iid);
	pb_message(&ps->fresh, FIELD(mappings, 19), &ps->item);
	return iid;
}

static uint64_t path_iid(const struct call_path *p)
{
	return p->id + 1u;
}

static void frame_tell(struct pb_samples *ps, const struct call_path *p)
{
	const struct site_name *name = call_path_name(ps->sites, p);
	uint64_t mapping = mapping_iid(ps, p->at.module), function, file = 0;
	char *text = !p->id	   ? xstrdup("[callers unknown]") :
		     !p->at.module ? xstrdup("[no file]") :
		     name	   ? xstrdup(name->function) :
				     sites_text(NULL, &p->at);

	function = text_iid(ps, INTERN_FUNCTION, text);
	if (name && name->file)
		file = text_iid(ps, INTERN_SOURCE_PATH, name->file);
	pb_reset(&ps->item);
	pb_u64(&ps->item, FIELD(iid, 1), path_iid(p));
	pb_u64(&ps->item, FIELD(function_name_id, 2), function);
	pb_u64(&ps->item, FIELD(mapping_id, 3), mapping);
	pb_u64(&ps->item, FIELD(rel_pc, 4), p->at.module ? p->at.offset : 0);
	if (file) {
		pb_u64(&ps->item, FIELD(source_path_iid, 5), file);
		pb_u64(&ps->item, FIELD(line_number, 6), name->line);
	}
	pb_message(&ps->fresh, FIELD(frames, 6), &ps->item);
	free(text);
}

static void stack_tell(struct pb_samples *ps, const struct call_path *leaf)
{
	const struct call_path *path[POV_SAMPLE_CALLERS_MAX + 2];
	uint32_t n = 0;

	if (ps->stack_known[leaf->id])
		return;
	ps->stack_known[leaf->id] = true;
	for (const struct call_path *p = leaf; p && n < POV_SAMPLE_CALLERS_MAX + 2; p = p->by) {
		path[n++] = p;
		if (!ps->frame_known[p->id])
			frame_tell(ps, p);
		ps->frame_known[p->id] = true;
	}
	pb_reset(&ps->item);
	pb_u64(&ps->item, FIELD(iid, 1), path_iid(leaf));
	while (n) /* outermost first */
		pb_u64(&ps->item, FIELD(frame_ids, 2), path_iid(path[--n]));
	pb_message(&ps->fresh, FIELD(callstacks, 7), &ps->item);
}

static uint64_t samples_of_cpu(struct pb_samples *ps, uint32_t cpu)
{
	return ++*table_row(ps->taken, ps->ncpus, cpu);
}

void pb_sample(void *ctx, const struct model_sample *s)
{
	struct pb_samples *ps = ((struct pb_writer *)ctx)->samples;
	const struct call_path *leaf = call_path_of(&ps->paths, s);
	size_t at;

	known_grow(ps);
	if (!ps->intern || intern_full(ps->intern))
		sequence_clear(ps);
	pb_reset(&ps->fresh);
	stack_tell(ps, leaf);
	packet_begin(ps, PB_SEQ_NEEDED);
	pb_u64(&ps->packet, FIELD(timestamp, 8), s->ts_ns + (uint64_t)ps->boot_ns);
	if (pb_len(&ps->fresh))
		pb_message(&ps->packet, FIELD(interned_data, 12), &ps->fresh);
	at = pb_open(&ps->packet, FIELD(perf_sample, 66));
	pb_u64(&ps->packet, FIELD(cpu, 1), s->thread->cpu);
	pb_u64(&ps->packet, FIELD(pid, 2), s->thread->proc->out_pid);
	pb_u64(&ps->packet, FIELD(tid, 3), s->thread->out_tid);
	pb_u64(&ps->packet, FIELD(callstack_iid, 4), path_iid(leaf));
	pb_u64(&ps->packet, FIELD(cpu_mode, 5), MODE_USER);
	pb_u64(&ps->packet, FIELD(timebase_count, 6), samples_of_cpu(ps, s->thread->cpu));
	if (s->cut)
		pb_u64(&ps->packet, FIELD(unwind_error, 16), UNWIND_ERROR_UNKNOWN);
	pb_close(&ps->packet, at);
	pb_packet_write(ps->out, &ps->packet);
}
