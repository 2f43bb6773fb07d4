/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Requests between start and completion, to count the bytes a rank has in flight. A request is known by
 * its process and its handle; handles are reused, so a start on a handle replaces what was there. The call
 * that completes a request may return after another thread was given its handle again: what was started
 * after a call began is not what the call means.
 * When there are too many, the oldest are forgotten, and counted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "model/model_internal.h"

#define REQUESTS_MAX (1u << 20)
#define REQUESTS_MIN \
	(1u << 16) /* that many however small the file is; then one for so many bytes of it */
#define REQUEST_BYTES 4
#define BUCKETS_FIRST 256
#define NONE UINT32_MAX

struct request {
	struct mprocess *proc;
	uint64_t handle;
	int64_t bytes;	   /* ≥ 0 */
	uint64_t since_ns; /* the call that made or started it had returned */
	bool active;	   /* started and not complete; else a persistent one at rest */
	bool persistent;   /* completing it leaves it at rest */
	uint32_t next;	   /* in its bucket, or in the free list */
	uint32_t older, newer;
};

struct requests {
	struct request *pool;
	uint32_t n, cap, free, cnt, max;
	uint32_t *bucket;
	uint32_t nbuckets; /* a power of two */
	uint32_t oldest, newest;
};

struct requests *requests_new(uint64_t file_bytes)
{
	struct requests *r = xcalloc(1, sizeof(*r));
	uint64_t max = REQUESTS_MIN + file_bytes / REQUEST_BYTES;

	r->free = r->oldest = r->newest = NONE;
	r->max = max < REQUESTS_MAX ? (uint32_t)max : REQUESTS_MAX;
	r->nbuckets = BUCKETS_FIRST;
	r->bucket = xmalloc(r->nbuckets * sizeof(*r->bucket));
	memset(r->bucket, 0xff, r->nbuckets * sizeof(*r->bucket));
	return r;
}

void requests_free(struct requests *r)
{
	if (!r)
		return;
	free(r->pool);
	free(r->bucket);
	free(r);
}

static uint32_t *bucket_of(struct requests *r, const struct mprocess *proc, uint64_t handle)
{
	uint64_t h = (handle ^ ((uint64_t)proc->pub.out_pid << 40)) * UINT64_C(0x9e3779b97f4a7c15);

	return &r->bucket[(h >> 32) & (r->nbuckets - 1)];
}

static struct request *request_find(struct requests *r, const struct mprocess *proc,
				    uint64_t handle)
{
	uint32_t i = *bucket_of(r, proc, handle);

	while (i != NONE && (r->pool[i].handle != handle || r->pool[i].proc != proc))
		i = r->pool[i].next;
	return i == NONE ? NULL : &r->pool[i];
}

static void rehash(struct requests *r)
{
	uint32_t i, *b;

	r->nbuckets *= 2;
	r->bucket = xrealloc(r->bucket, r->nbuckets * sizeof(*r->bucket));
	memset(r->bucket, 0xff, r->nbuckets * sizeof(*r->bucket));
	for (i = r->oldest; i != NONE; i = r->pool[i].newer) {
		b = bucket_of(r, r->pool[i].proc, r->pool[i].handle);
		r->pool[i].next = *b;
		*b = i;
	}
}

static void request_remove(struct requests *r, struct request *q)
{
	uint32_t idx = (uint32_t)(q - r->pool), *link = bucket_of(r, q->proc, q->handle);

	while (*link != idx)
		link = &r->pool[*link].next;
	*link = q->next;
	if (q->older != NONE)
		r->pool[q->older].newer = q->newer;
	else
		r->oldest = q->newer;
	if (q->newer != NONE)
		r->pool[q->newer].older = q->older;
	else
		r->newest = q->older;
	if (q->active)
		q->proc->inflight_bytes -= q->bytes;
	q->proc->ninflight--;
	q->next = r->free;
	r->free = idx;
	r->cnt--;
}

static struct request *request_add(struct model *m, struct mprocess *proc, uint64_t handle)
{
	struct requests *r = m->requests;
	struct request *q;
	uint32_t idx, *b;

	if (r->cnt == r->max) {
		m->stats.requests_dropped++;
		request_remove(r, &r->pool[r->oldest]);
	}
	if (r->cnt == r->nbuckets)
		rehash(r);
	idx = r->free;
	if (idx != NONE) {
		r->free = r->pool[idx].next;
	} else {
		if (r->n == r->cap) {
			r->cap = r->cap ? r->cap * 2 : BUCKETS_FIRST;
			r->pool = xrealloc(r->pool, r->cap * sizeof(*r->pool));
		}
		idx = r->n++;
	}
	q = &r->pool[idx];
	b = bucket_of(r, proc, handle);
	*q = (struct request){
		.proc = proc, .handle = handle, .next = *b, .older = r->newest, .newer = NONE};
	*b = idx;
	if (r->newest != NONE)
		r->pool[r->newest].newer = idx;
	else
		r->oldest = idx;
	r->newest = idx;
	r->cnt++;
	proc->ninflight++;
	return q;
}

/* Bytes that the call hands over and can receive; unknown parts count 0 and are counted. */
static int64_t call_bytes(struct model *m, const struct call_roles *roles)
{
	int64_t bytes = 0;

	if ((roles->sends && roles->send_bytes == BYTES_UNKNOWN) ||
	    (roles->receives && roles->recv_bytes == BYTES_UNKNOWN))
		m->stats.requests_unknown++;
	if (roles->sends && roles->send_bytes > 0)
		bytes += roles->send_bytes;
	if (roles->receives && roles->recv_bytes > 0 && bytes <= INT64_MAX / 2 &&
	    roles->recv_bytes <= INT64_MAX / 2)
		bytes += roles->recv_bytes;
	return bytes;
}

static void request_activate(struct request *q, bool active)
{
	if (q->active == active)
		return;
	q->active = active;
	q->proc->inflight_bytes += active ? q->bytes : -q->bytes;
}

static void request_start(struct model *m, struct mprocess *p, uint64_t handle, int64_t bytes,
			  bool active, uint64_t ts_ns)
{
	struct request *q = request_find(m->requests, p, handle);

	if (q)
		request_activate(q, false);
	else
		q = request_add(m, p, handle);
	q->bytes = bytes;
	q->persistent = !active;
	q->since_ns = ts_ns;
	request_activate(q, active);
}

static void request_event(struct model *m, struct mprocess *p, const struct call_request *cr,
			  int64_t bytes, uint64_t begin_ns, uint64_t ts_ns)
{
	struct request *q = request_find(m->requests, p, cr->handle);
	bool meant = q && q->since_ns <= begin_ns;

	if (cr->bytes >= 0 && (cr->event == REQUEST_START || cr->event == REQUEST_INIT))
		bytes = cr->bytes;
	switch (cr->event) {
	case REQUEST_NONE:
		break;
	case REQUEST_START:
		request_start(m, p, cr->handle, bytes, true, ts_ns);
		break;
	case REQUEST_INIT:
		request_start(m, p, cr->handle, bytes, false, ts_ns);
		break;
	case REQUEST_RESTART:
		if (!q) {
			m->stats.requests_unknown++;
			break;
		}
		request_activate(q, true);
		q->since_ns = ts_ns;
		break;
	case REQUEST_COMPLETE:
		if (meant && q->persistent)
			request_activate(q, false);
		else if (meant)
			request_remove(m->requests, q);
		break;
	case REQUEST_FREE:
		if (meant)
			request_remove(m->requests, q);
		break;
	}
}

static void inflight_tell(struct model *m, struct mprocess *p, int64_t before, uint64_t ts_ns)
{
	struct model_counter told = {
		.id = COUNTER_BYTES_IN_FLIGHT,
		.ts_ns = ts_ns,
		.proc = &p->pub,
		.value = p->inflight_bytes,
	};

	if (p->inflight_bytes != before)
		TELL(m, counter, &told);
}

void requests_call(struct model *m, struct mprocess *p, const struct call_roles *roles,
		   uint64_t begin_ns, uint64_t ts_ns)
{
	int64_t before = p->inflight_bytes, bytes = 0;
	uint32_t i;

	for (i = 0; i < roles->nrequests; i++) {
		enum request_event e = roles->requests[i].event;

		if (e == REQUEST_START || e == REQUEST_INIT) {
			bytes = roles->requests[i].bytes < 0 ? call_bytes(m, roles) : 0;
			break;
		}
	}
	for (i = 0; i < roles->nrequests; i++)
		request_event(m, p, &roles->requests[i], bytes, begin_ns, ts_ns);
	inflight_tell(m, p, before, ts_ns);
}

void requests_drop_process(struct model *m, struct mprocess *p, uint64_t ts_ns)
{
	int64_t before = p->inflight_bytes;
	struct requests *r = m->requests;
	uint32_t i, newer;

	for (i = r->oldest; i != NONE && p->ninflight; i = newer) {
		newer = r->pool[i].newer;
		if (r->pool[i].proc == p)
			request_remove(r, &r->pool[i]);
	}
	inflight_tell(m, p, before, ts_ns);
}
