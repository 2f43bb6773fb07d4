/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "trace_mix.h"

#include <string.h>

enum {
	FUNC_IRECV = 40,
	FUNC_ISEND = 44,
	FUNC_WAITALL = 120,
	FUNC_ALLREDUCE = 140,
};

static uint64_t rnd(struct mix *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return m->random;
}

/* Around mean, skewed to the right as durations are: most within a quarter, a few several times longer. */
static uint64_t noisy(struct mix *m, uint64_t mean)
{
	uint64_t sum = 0;

	for (int i = 0; i < 4; i++)
		sum += rnd(m) % (mean / 4 + 1);
	sum = mean * 3 / 4 + sum / 2;
	return rnd(m) % 50 ? sum : sum * (2 + rnd(m) % 4);
}

static void *record(struct mix *m, uint8_t kind, uint32_t tid, uint64_t ts_ns, uint16_t size)
{
	struct pov_hdr *h = (struct pov_hdr *)m->batch[m->nbatch++];

	memset(h, 0, size);
	*h = (struct pov_hdr){ .size = size, .kind = kind, .tid = tid, .ts_ns = ts_ns };
	return h;
}

static struct pov_call *call(struct mix *m, struct mix_rank *r, uint16_t func, uint64_t mean_ns,
			     const uint64_t *args, uint8_t nargs)
{
	uint64_t dur = noisy(m, mean_ns);
	struct pov_call *c;

	r->now_ns += noisy(m, 70) + dur;
	c = record(m, POV_KIND_CALL, r->tid, r->now_ns, (uint16_t)(sizeof(*c) + 8 * nargs));
	c->dur_ns = dur;
	c->tgid = r->tid;
	c->func = func;
	c->nargs = nargs;
	c->site = 0x55d0c0de1000 + func * 0x40u;
	c->cpu = (uint16_t)(r->tid & 3);
	c->lib = 1;
	memcpy(c->args, args, nargs * 8u);
	r->now_ns += 30;
	m->calls++;
	return c;
}

static void *field(struct pov_call *c, uint8_t type, uint8_t arg, uint16_t size, uint32_t cnt)
{
	struct pov_field *f = (struct pov_field *)((char *)c + c->hdr.size);

	memset(f, 0, sizeof(*f) + size);
	*f = (struct pov_field){ .type = type, .arg = arg, .size = size, .cnt = cnt };
	c->hdr.size = (uint16_t)(c->hdr.size + sizeof(*f) + (size + 7u) / 8 * 8);
	return f + 1;
}

static void post(struct mix *m, struct mix_rank *r, bool send, int peer)
{
	uint64_t req = send ? r->send_req[peer] : r->recv_req[peer];
	uint64_t args[7] = {
		r->bufs + (uint64_t)(send * MIX_PEERS + peer) * 0x10000 + (r->iteration & 1) * 0x100000,
		r->iteration % 8 ? 1024 : 4096,
		0x7f12a4e01d40,
		(uint64_t)(peer + 1),
		(uint64_t)(100 + peer),
		0x7f12a4e02c80,
		0x7ffd00001000 + r->tid * 0x100000ull + (uint64_t)(send * MIX_PEERS + peer) * 8,
	};
	struct pov_call *c = call(m, r, send ? FUNC_ISEND : FUNC_IRECV, send ? 420 : 210, args, 7);
	uint64_t v = 8;

	memcpy(field(c, POV_FIELD_TYPE_SIZE, 2, 8, 1), &v, 8);
	memcpy(field(c, POV_FIELD_OUT, 6, 8, 1), &req, 8);
}

/* A free list hands out what was freed last; now and then two change places. */
static void shuffle(struct mix *m, uint64_t *req)
{
	unsigned int a = rnd(m) % MIX_PEERS, b = rnd(m) % MIX_PEERS;
	uint64_t x = req[a];

	if (rnd(m) % 4)
		return;
	req[a] = req[b];
	req[b] = x;
}

static void put_status(struct pov_more *more, int i, int peer, uint64_t bytes)
{
	int32_t head[4] = { peer + 1, 100 + peer, 0, 0 };

	memcpy(more->data + 24 * i, head, sizeof(head));
	memcpy(more->data + 24 * i + 16, &bytes, 8);
}

static void waitall(struct mix *m, struct mix_rank *r)
{
	uint64_t args[3] = { 2 * MIX_PEERS, 0x7ffd00001000 + r->tid * 0x100000ull,
			     0x7ffd00002000 + r->tid * 0x100000ull };
	uint64_t reqs[2 * MIX_PEERS];
	struct pov_more *more;
	struct pov_call *c;

	more = record(m, POV_KIND_MORE, r->tid, 0, sizeof(*more) + 2 * MIX_PEERS * 24);
	c = call(m, r, FUNC_WAITALL, 9000, args, 3);
	more->hdr.ts_ns = c->hdr.ts_ns;
	more->begin_ns = c->hdr.ts_ns - c->dur_ns;
	more->size = 2 * MIX_PEERS * 24;
	more->type = POV_FIELD_OUT;
	more->arg = 2;
	for (int i = 0; i < 2 * MIX_PEERS; i++)
		put_status(more, i, i % MIX_PEERS, (r->iteration % 8 ? 1024 : 4096) * 8);
	c->hdr.flags = POV_CALL_MORE;
	memcpy(reqs, r->recv_req, sizeof(r->recv_req));
	memcpy(reqs + MIX_PEERS, r->send_req, sizeof(r->send_req));
	memcpy(field(c, POV_FIELD_IN, 1, sizeof(reqs), 2 * MIX_PEERS), reqs, sizeof(reqs));
	shuffle(m, r->send_req);
	shuffle(m, r->recv_req);
}

static void switch_away(struct mix *m, struct mix_rank *r)
{
	uint32_t other = 900 + (uint32_t)(rnd(m) % 6);
	uint16_t cpu = (uint16_t)(r->tid & 3);
	struct pov_waking *w;
	struct pov_switch *s;

	w = record(m, POV_KIND_WAKING, r->tid, r->now_ns, sizeof(*w));
	w->target_tid = other;
	w->cpu = w->target_cpu = cpu;
	w->prio = 120;
	for (int back = 0; back < 2; back++) {
		r->now_ns += noisy(m, back ? 6000 : 1500);
		s = record(m, POV_KIND_SWITCH, back ? other : r->tid, r->now_ns, sizeof(*s));
		s->next_tid = back ? r->tid : other;
		s->hdr.flags = back ? 0 : POV_SWITCH_PREEMPTED;
		s->prev_state = back ? 1 : 0;
		s->cpu = cpu;
		s->prev_prio = s->next_prio = 120;
	}
}

static void allreduce(struct mix *m, struct mix_rank *r)
{
	uint64_t args[6] = { r->bufs, r->bufs + 64, 1, 0x7f12a4e01d40, 0x7f12a4e03000, 0x7f12a4e02c80 };
	struct pov_call *c = call(m, r, FUNC_ALLREDUCE, 14000, args, 6);
	uint64_t v = 8;

	memcpy(field(c, POV_FIELD_TYPE_SIZE, 3, 8, 1), &v, 8);
}

void mix_init(struct mix *m, uint64_t seed)
{
	memset(m, 0, sizeof(*m));
	m->random = seed * 0x9e3779b97f4a7c15ull | 1;
	for (int i = 0; i < MIX_RANKS; i++) {
		struct mix_rank *r = &m->rank[i];

		r->tid = 41200 + (uint32_t)i;
		r->now_ns = 86400000000000ull + (uint64_t)i * 977;
		r->bufs = 0x7f1200000000 + (uint64_t)i * 0x4000000;
		for (int p = 0; p < MIX_PEERS; p++) {
			r->send_req[p] = 0x55d0d0000000 + (uint64_t)p * 0x3c0 + (uint64_t)i * 0x20000;
			r->recv_req[p] = 0x55d0e0000000 + (uint64_t)p * 0x380 + (uint64_t)i * 0x20000;
		}
	}
}

void mix_next(struct mix *m)
{
	struct mix_rank *r = &m->rank[0];

	for (int i = 1; i < MIX_RANKS; i++)
		if (m->rank[i].now_ns < r->now_ns)
			r = &m->rank[i];
	m->nbatch = 0;
	m->stream = (r->tid & 3) / 2;
	if (r->step < 2 * MIX_PEERS) {
		post(m, r, r->step >= MIX_PEERS, (int)(r->step % MIX_PEERS));
		r->step++;
		return;
	}
	waitall(m, r);
	r->now_ns += noisy(m, 40000);
	if (rnd(m) % 3 == 0)
		switch_away(m, r);
	if (r->iteration % 10 == 9)
		allreduce(m, r);
	r->iteration++;
	r->step = 0;
}
