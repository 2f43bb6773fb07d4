/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A program may make and free communicators for as long as it runs, so the memory is bounded. When
 * there is too much, all calls are dropped at once: a part of them would match calls of different
 * ranks that do not belong together.
 */
#include "record/flight/defining_calls.h"

#include <stdlib.h>
#include <string.h>

#include "abi/config.h"
#include "abi/event.h"
#include "lib/log.h"

#define BYTES_MAX (16u << 20)
#define MORE_MAX 256 /* records MORE that wait for their call */

void defining_calls_init(struct defining_calls *k, const struct pov_fn *fns, uint32_t fn_cnt)
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

void defining_calls_release(struct defining_calls *k)
{
	all_forget(k);
	more_forget(k);
	free(k->call);
	free(k->more);
}

static void call_keep(struct defining_calls *k, const struct defining_call *c)
{
	if (k->cnt == k->cap) {
		k->cap = k->cap ? 2 * k->cap : 64;
		k->call = xrealloc(k->call, k->cap * sizeof(*k->call));
	}
	k->call[k->cnt++] = *c;
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
 * Takes the waiting MORE records of a call's thread. The call's own are kept if the call is; the
 * calls of older ones will never arrive.
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

void defining_calls_record(struct defining_calls *k, const struct pov_hdr *rec)
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

static bool is_of(void *ctx, uint32_t pid)
{
	return *(const uint32_t *)ctx == pid;
}

void defining_calls_forget(struct defining_calls *k, uint32_t pid)
{
	defining_calls_prune(k, is_of, &pid);
}

void defining_calls_prune(struct defining_calls *k, bool (*is_gone)(void *ctx, uint32_t pid),
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

/* ---- writing the calls ---- */

static int time_compare(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

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

static void call_tell(const struct defining_call *c, uint64_t begin_ns, uint64_t end_ns,
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

void defining_calls_write(const struct defining_calls *k, uint64_t begin_ns,
			  void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	size_t cnt;
	uint64_t *time = times_sorted(k, begin_ns, &cnt);

	for (size_t i = 0; i < k->cnt; i++)
		if (k->call[i].end_ns < begin_ns)
			call_tell(&k->call[i],
				  begin_ns + 1 + place_of(time, cnt, k->call[i].begin_ns),
				  begin_ns + 1 + place_of(time, cnt, k->call[i].end_ns), fn, ctx);
	free(time);
}
