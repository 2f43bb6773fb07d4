/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Tracks processes and threads as the reader's model does (model/image.c, model/region.c), so that
 * both have the same result.
 */
#include "record/flight/flight_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/config.h"
#include "abi/event.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/table.h"

/* ---- calls that define communicators ---- */

/*
 * Calls of all living processes that define the members of communicators, groups and windows
 * (POV_LEARN_RECORDED). They are written in their order but with times close together, because
 * readers need only the order (layers/mpi/mpi_comm.h).
 */

struct pov_fn;
struct pov_hdr;

/* A kept call, or a record MORE, which arrives before its call. */
struct defining_call {
	uint32_t tgid; /* MORE: 0 until its call has arrived */
	uint64_t begin_ns, end_ns;
	struct pov_hdr *rec; /* owned */
};

struct defining_calls {
	const struct pov_fn *fns;
	uint32_t fn_cnt;
	struct defining_call *call; /* kept calls, cnt of them */
	struct defining_call *more; /* records MORE that wait for their call, more_cnt of them */
	uint32_t cnt;
	size_t more_cnt;
	uint64_t bytes;
	uint64_t forgotten;
};

/*
 * A program may make and free communicators for as long as it runs, so the memory is bounded. When
 * there is too much, all calls are dropped at once: a part of them would match calls of different
 * ranks that do not belong together.
 */

#define BYTES_MAX (16u << 20)
#define MORE_MAX 256 /* records MORE that wait for their call */

static void defining_calls_init(struct defining_calls *k, const struct pov_fn *fns, uint32_t fn_cnt)
{
	*k = (struct defining_calls){.fns = fns, .fn_cnt = fn_cnt};
	k->more = xcalloc(MORE_MAX, sizeof(*k->more));
}

static void all_forget(struct defining_calls *k)
{
	for (size_t i = 0; i < k->cnt; i++)
		free(k->call[i].rec);
	k->cnt = 0;
	k->bytes = 0;
}

static void more_forget(struct defining_calls *k)
{
	while (k->more_cnt)
		free(k->more[--k->more_cnt].rec);
}

static void defining_calls_release(struct defining_calls *k)
{
	all_forget(k);
	more_forget(k);
	free(k->call);
	free(k->more);
}

static void call_keep(struct defining_calls *k, const struct defining_call *c)
{
	*table_append(k->call, k->cnt) = *c;
	k->bytes += c->rec->size;
}

static struct pov_hdr *record_copy(const struct pov_hdr *rec)
{
	return memcpy(xmalloc(rec->size), rec, rec->size);
}

static void more_record(struct defining_calls *k, const struct pov_more *rec)
{
	if (k->more_cnt == MORE_MAX) /* their calls never arrived */
		more_forget(k);
	k->more[k->more_cnt++] = (struct defining_call){
		.begin_ns = rec->begin_ns,
		.end_ns = rec->hdr.ts_ns,
		.rec = record_copy(&rec->hdr),
	};
}

/*
 * Removes the waiting MORE records of a call's thread. Those of this call are kept if the call is.
 * Older ones are freed, because their calls will never arrive.
 */
static void more_take(struct defining_calls *k, const struct defining_call *c, uint32_t tid,
		      bool keep)
{
	size_t left = 0;

	for (size_t i = 0; i < k->more_cnt; i++) {
		struct defining_call *m = &k->more[i];

		if (m->rec->tid != tid || m->begin_ns > c->begin_ns) {
			k->more[left++] = *m;
		} else if (keep && m->begin_ns == c->begin_ns) {
			m->tgid = c->tgid;
			m->end_ns = c->end_ns;
			call_keep(k, m);
		} else {
			free(m->rec);
		}
	}
	k->more_cnt = left;
}

static bool call_teaches(const struct defining_calls *k, const struct pov_call *c)
{
	return c->func < k->fn_cnt && POV_LEARN_RECORDED(k->fns[c->func].learn);
}

static void defining_calls_record(struct defining_calls *k, const struct pov_hdr *rec)
{
	const struct pov_call *call = (const struct pov_call *)rec;
	struct defining_call c;
	bool keep;

	if (rec->kind == POV_KIND_MORE) {
		more_record(k, (const struct pov_more *)rec);
		return;
	}
	keep = call_teaches(k, call);
	c = (struct defining_call){
		.tgid = call->tgid,
		.begin_ns = rec->ts_ns - call->dur_ns,
		.end_ns = rec->ts_ns,
	};
	if (keep && k->bytes >= BYTES_MAX) {
		k->forgotten += k->cnt;
		all_forget(k);
	}
	if (k->more_cnt)
		more_take(k, &c, rec->tid, keep);
	if (!keep)
		return;
	c.rec = record_copy(rec);
	call_keep(k, &c);
}

static void defining_calls_prune(struct defining_calls *k, bool (*is_gone)(void *ctx, uint32_t pid),
				 void *ctx)
{
	size_t left = 0;

	for (size_t i = 0; i < k->cnt; i++) {
		if (!is_gone(ctx, k->call[i].tgid)) {
			k->call[left++] = k->call[i];
			continue;
		}
		k->bytes -= k->call[i].rec->size;
		free(k->call[i].rec);
	}
	k->cnt = left;
}

static bool is_of(void *ctx, uint32_t pid)
{
	return *(const uint32_t *)ctx == pid;
}

static void defining_calls_forget(struct defining_calls *k, uint32_t pid)
{
	defining_calls_prune(k, is_of, &pid);
}

/* ---- writing the calls ---- */

TABLE_ORDER(time_compare, uint64_t, table_compare(*a, *b))

/* Returns all times at which calls begin or end, sorted, without duplicates. */
static uint64_t *times_sorted(const struct defining_calls *k, uint64_t begin_ns, size_t *out)
{
	uint64_t *time = xcalloc(2 * k->cnt + 1, sizeof(*time));
	size_t cnt = 0, left = 0;

	for (size_t i = 0; i < k->cnt; i++) {
		if (k->call[i].end_ns >= begin_ns)
			continue;
		time[cnt++] = k->call[i].begin_ns;
		time[cnt++] = k->call[i].end_ns;
	}
	qsort(time, cnt, sizeof(*time), time_compare);
	for (size_t i = 0; i < cnt; i++)
		if (!left || time[left - 1] != time[i])
			time[left++] = time[i];
	*out = left;
	return time;
}

static uint64_t place_of(const uint64_t *time, size_t cnt, uint64_t ts_ns)
{
	const uint64_t *found = bsearch(&ts_ns, time, cnt, sizeof(*time), time_compare);

	return (uint64_t)(found - time);
}

static void call_write(const struct defining_call *c, uint64_t begin_ns, uint64_t end_ns,
		       void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	struct pov_hdr *rec = record_copy(c->rec);

	rec->ts_ns = end_ns;
	if (rec->kind == POV_KIND_MORE) {
		((struct pov_more *)rec)->begin_ns = begin_ns;
	} else {
		((struct pov_call *)rec)->dur_ns = end_ns - begin_ns;
		rec->kind = POV_KIND_UNSHOWN;
		rec->flags |= POV_CALL_EARLIER;
	}
	fn(ctx, rec);
	free(rec);
}

static void defining_calls_write(const struct defining_calls *k, uint64_t begin_ns,
				 void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	size_t cnt;
	uint64_t *time = times_sorted(k, begin_ns, &cnt);

	for (size_t i = 0; i < k->cnt; i++)
		if (k->call[i].end_ns < begin_ns)
			call_write(&k->call[i],
				   begin_ns + 1 + place_of(time, cnt, k->call[i].begin_ns),
				   begin_ns + 1 + place_of(time, cnt, k->call[i].end_ns), fn, ctx);
	free(time);
}

#define IMAGES_MAX 4096 /* per process */
#define REGIONS_MAX 256 /* nested regions of one thread; inner ones beyond that are left out */

struct flight_thread {
	struct flight_process *proc;
	struct pov_affinity mask; /* size 0: unknown */
	struct pov_region *region;
	uint32_t region_cnt;
};

struct flight_process {
	uint32_t pid;
	uint64_t renamed_ns;
	struct pov_image *image; /* in time order */
	uint32_t image_cnt;
};

struct flight_state {
	struct map processes; /* by pid */
	struct map threads;   /* by tid */
	struct defining_calls calls;
};

struct flight_state *flight_state_new(const struct pov_fn *fns, uint32_t fn_cnt)
{
	struct flight_state *k = xcalloc(1, sizeof(*k));

	defining_calls_init(&k->calls, fns, fn_cnt);
	return k;
}

static void thread_free(void *value)
{
	struct flight_thread *t = value;

	free(t->region);
	free(t);
}

static void process_free(void *value)
{
	struct flight_process *p = value;

	free(p->image);
	free(p);
}

void flight_state_free(struct flight_state *k)
{
	if (!k)
		return;
	map_free(&k->threads, thread_free);
	map_free(&k->processes, process_free);
	defining_calls_release(&k->calls);
	free(k);
}

static struct flight_process *process_make(struct flight_state *k, uint32_t pid)
{
	struct flight_process *p = map_make(&k->processes, pid, sizeof(*p));

	p->pid = pid;
	return p;
}

static struct flight_thread *thread_make(struct flight_state *k, uint32_t tid, uint32_t pid)
{
	struct flight_thread *t = map_make(&k->threads, tid, sizeof(*t));

	t->proc = process_make(k, pid);
	return t;
}

static void thread_forget(struct flight_state *k, uint32_t tid)
{
	struct flight_thread *t = map_remove(&k->threads, tid);

	if (t)
		thread_free(t);
}

/* Finds a thread of a process. False if it has none. */
static bool thread_next(const struct flight_state *k, const struct flight_process *p, uint32_t *tid)
{
	const struct flight_thread *t;
	size_t at = 0;
	uint64_t key;

	while ((t = map_next(&k->threads, &at, &key)))
		if (t->proc == p) {
			*tid = (uint32_t)key;
			return true;
		}
	return false;
}

static void threads_forget(struct flight_state *k, const struct flight_process *p)
{
	uint32_t tid;

	while (thread_next(k, p, &tid))
		thread_forget(k, tid);
}

static void process_forget(struct flight_state *k, uint32_t pid)
{
	struct flight_process *p = map_get(&k->processes, pid);

	defining_calls_forget(&k->calls, pid);
	if (!p)
		return;
	threads_forget(k, p);
	map_remove(&k->processes, pid);
	process_free(p);
}

/* ---- mappings ---- */

static void image_add(struct flight_state *k, const struct pov_image *rec)
{
	struct flight_process *p = process_make(k, rec->tgid);
	uint32_t kept = 0, skip = p->image_cnt >= IMAGES_MAX ? IMAGES_MAX / 2 : 0;

	for (uint32_t i = skip; i < p->image_cnt; i++)
		/* the new mapping replaces an old one at this address */
		if (p->image[i].start != rec->start)
			p->image[kept++] = p->image[i];
	p->image = xrealloc(p->image, (kept + 1) * sizeof(*p->image));
	p->image[kept++] = *rec;
	p->image_cnt = kept;
}

/* A new process has its parent's mappings. */
static void fork_record(struct flight_state *k, const struct pov_fork *rec)
{
	struct flight_process *parent, *p;

	thread_forget(k, rec->child_tid);
	if (rec->child_tid != rec->child_tgid)
		return;
	process_forget(k, rec->child_tgid);
	parent = map_get(&k->processes, rec->parent_tgid);
	if (!parent)
		return;
	p = process_make(k, rec->child_tgid);
	p->image = xcalloc(parent->image_cnt + 1, sizeof(*p->image));
	for (uint32_t i = 0; i < parent->image_cnt; i++) {
		p->image[i] = parent->image[i];
		p->image[i].hdr.tid = p->image[i].tgid = rec->child_tgid;
	}
	p->image_cnt = parent->image_cnt;
}

static void rename_record(struct flight_state *k, const struct pov_task *rec)
{
	struct flight_process *p = map_get(&k->processes, rec->tgid);

	if (p && rec->hdr.tid == rec->tgid)
		p->renamed_ns = rec->hdr.ts_ns;
}

/*
 * Keeps only mappings made since the last rename: an exec renames the process, maps the new
 * program, and then writes its EXEC record.
 */
static void exec_record(struct flight_state *k, const struct pov_task *rec)
{
	struct flight_process *p = map_get(&k->processes, rec->tgid);
	uint32_t kept = 0;

	defining_calls_forget(&k->calls, rec->tgid);
	if (!p)
		return;
	threads_forget(k, p);
	for (uint32_t i = 0; i < p->image_cnt; i++)
		if (p->image[i].hdr.ts_ns >= p->renamed_ns)
			p->image[kept++] = p->image[i];
	p->image_cnt = kept;
}

/* ---- regions ---- */

static void regions_leave(struct flight_thread *t, uint64_t sp, bool with_equal)
{
	while (t->region_cnt && (t->region[t->region_cnt - 1].sp < sp ||
				 (with_equal && t->region[t->region_cnt - 1].sp == sp)))
		t->region_cnt--;
}

static void region_record(struct flight_state *k, const struct pov_region *rec)
{
	struct flight_thread *t = thread_make(k, rec->hdr.tid, rec->tgid);
	bool ends = rec->hdr.flags & POV_REGION_END;
	uint32_t i = t->region_cnt;

	regions_leave(t, rec->sp, !ends && !(rec->hdr.flags & POV_REGION_CHAINED));
	if (ends) {
		for (i = t->region_cnt; i && t->region[i - 1].sp == rec->sp; i--)
			if (t->region[i - 1].region == rec->region) {
				t->region_cnt = i - 1;
				return;
			}
		return;
	}
	if (t->region_cnt == REGIONS_MAX)
		return;
	if (!t->region)
		t->region = xcalloc(REGIONS_MAX, sizeof(*t->region));
	t->region[t->region_cnt++] = *rec;
}

/* ---- records in and out ---- */

void flight_state_record(struct flight_state *k, const struct pov_hdr *rec)
{
	switch (rec->kind) {
	case POV_KIND_CALL:
	case POV_KIND_UNSHOWN:
	case POV_KIND_MORE:
		defining_calls_record(&k->calls, rec);
		break;
	case POV_KIND_REGION:
		region_record(k, (const struct pov_region *)rec);
		break;
	case POV_KIND_FORK:
		fork_record(k, (const struct pov_fork *)rec);
		break;
	case POV_KIND_RENAME:
		rename_record(k, (const struct pov_task *)rec);
		break;
	case POV_KIND_EXEC:
		exec_record(k, (const struct pov_task *)rec);
		break;
	case POV_KIND_EXIT:
		thread_forget(k, rec->tid);
		break;
	case POV_KIND_IMAGE:
		image_add(k, (const struct pov_image *)rec);
		break;
	case POV_KIND_AFFINITY:
		thread_make(k, rec->tid, ((const struct pov_affinity *)rec)->tgid)->mask = *(
			const struct pov_affinity *)rec;
		break;
	}
}

void flight_state_prune(struct flight_state *k, bool (*is_gone)(void *ctx, uint32_t pid), void *ctx)
{
	uint64_t pid;
	size_t at = 0;

	while (map_next(&k->processes, &at, &pid))
		if (is_gone(ctx, (uint32_t)pid)) {
			process_forget(k, (uint32_t)pid);
			at = 0; /* start again, because the map has changed */
		}
	defining_calls_prune(&k->calls, is_gone, ctx);
}

static void thread_write(const struct flight_thread *t, uint64_t begin_ns,
			 void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	struct pov_affinity mask = t->mask;
	struct pov_region region;

	if (mask.hdr.size && mask.hdr.ts_ns < begin_ns) {
		mask.hdr.ts_ns = begin_ns;
		fn(ctx, &mask.hdr);
	}
	for (uint32_t i = 0; i < t->region_cnt && t->region[i].hdr.ts_ns < begin_ns; i++) {
		region = t->region[i];
		region.hdr.flags |= POV_REGION_EARLIER;
		region.hdr.ts_ns = begin_ns;
		fn(ctx, &region.hdr);
	}
}

void flight_state_write(struct flight_state *k, uint64_t begin_ns,
			void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	const struct flight_process *p;
	const struct flight_thread *t;
	struct pov_image image;

	for (size_t at = 0; (p = map_next(&k->processes, &at, NULL));)
		for (uint32_t i = 0; i < p->image_cnt; i++) {
			if (p->image[i].hdr.ts_ns >= begin_ns)
				continue;
			image = p->image[i];
			image.hdr.flags = 0;
			image.hdr.ts_ns = begin_ns;
			fn(ctx, &image.hdr);
		}
	for (size_t at = 0; (t = map_next(&k->threads, &at, NULL));)
		thread_write(t, begin_ns, fn, ctx);
	defining_calls_write(&k->calls, begin_ns, fn, ctx);
}

uint64_t flight_state_forgotten(const struct flight_state *k)
{
	return k->calls.forgotten;
}
