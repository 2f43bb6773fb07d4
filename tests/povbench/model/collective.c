/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Collective operations built from the model's own messages, in a separate context, so that their
 * time follows from the pattern. A broadcast uses the set algorithm (binomial, a chain in either
 * direction, or flat). A reduction goes up a binomial tree. A barrier is by dissemination (⌈log2 n⌉
 * rounds). The others send directly between all.
 */
#include "model/sim.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

static struct sim *sim_of(const struct collective *coll)
{
	return coll->mc.rank->sim;
}

static void put(struct collective *coll, const void *buf, size_t bytes, int peer)
{
	struct comm_msg m = {(void *)(uintptr_t)buf, bytes, COMM_CONTIGUOUS};
	struct request r = {0};

	request_send_begin(&coll->mc, &r, &m, peer, 0, false);
	request_wait(sim_of(coll), &r);
}

static void take(struct collective *coll, void *buf, size_t bytes, int peer)
{
	struct comm_msg m = {buf, bytes, COMM_CONTIGUOUS};
	struct request r = {0};

	request_recv_begin(&coll->mc, &r, &m, peer, 0);
	request_wait(sim_of(coll), &r);
}

/* Sends and receives at once, with different peers. */
static void swap(struct collective *coll, const void *out, int to, void *in, int from, size_t bytes)
{
	struct comm_msg mo = {(void *)(uintptr_t)out, bytes, COMM_CONTIGUOUS};
	struct comm_msg mi = {in, bytes, COMM_CONTIGUOUS};
	struct request ro = {0}, ri = {0};

	request_recv_begin(&coll->mc, &ri, &mi, from, 0);
	request_send_begin(&coll->mc, &ro, &mo, to, 0, false);
	request_wait(sim_of(coll), &ro);
	request_wait(sim_of(coll), &ri);
}

static void run_barrier(struct collective *coll)
{
	int n = coll->mc.comm.size, rank = coll->mc.comm.rank, step;

	for (step = 1; step < n; step *= 2)
		swap(coll, NULL, (rank + step) % n, NULL, (rank - step + n) % n, 0);
}

static void bcast_binomial(struct collective *coll, void *buf, size_t bytes, int root)
{
	int n = coll->mc.comm.size, v = (coll->mc.comm.rank - root + n) % n, bit = 1;

	while (bit < n && !(v & bit))
		bit *= 2;
	if (v)
		take(coll, buf, bytes, (v - bit + root) % n);
	for (bit /= 2; bit; bit /= 2) {
		if (v + bit < n)
			put(coll, buf, bytes, (v + bit + root) % n);
	}
}

static void bcast_chain(struct collective *coll, void *buf, size_t bytes, int root, int step)
{
	int n = coll->mc.comm.size, rank = coll->mc.comm.rank;
	int next = (rank + step + n) % n;

	if (rank != root)
		take(coll, buf, bytes, (rank - step + n) % n);
	if (next != root)
		put(coll, buf, bytes, next);
}

static void bcast_flat(struct collective *coll, void *buf, size_t bytes, int root)
{
	int n = coll->mc.comm.size, rank = coll->mc.comm.rank, i;

	if (rank != root) {
		take(coll, buf, bytes, root);
		return;
	}
	for (i = 1; i < n; i++)
		put(coll, buf, bytes, (root + i) % n);
}

static void run_bcast(struct collective *coll, void *buf, size_t bytes, int root)
{
	switch (sim_of(coll)->set.bcast) {
	case MODEL_BCAST_BINOMIAL:
		bcast_binomial(coll, buf, bytes, root);
		break;
	case MODEL_BCAST_LINEAR:
		bcast_chain(coll, buf, bytes, root, 1);
		break;
	case MODEL_BCAST_BACKWARD:
		bcast_chain(coll, buf, bytes, root, -1);
		break;
	case MODEL_BCAST_FLAT:
		bcast_flat(coll, buf, bytes, root);
		break;
	}
}

/* Buffers need not be aligned. */
static void sum(void *to, const void *from, size_t bytes)
{
	double a, b;
	size_t i;

	for (i = 0; i + sizeof(a) <= bytes; i += sizeof(a)) {
		memcpy(&a, (char *)to + i, sizeof(a));
		memcpy(&b, (const char *)from + i, sizeof(b));
		a += b;
		memcpy((char *)to + i, &a, sizeof(a));
	}
}

static void run_reduce(struct collective *coll, int root, void *out)
{
	int n = coll->mc.comm.size, v = (coll->mc.comm.rank - root + n) % n, bit;
	char *mine = xmalloc(2 * coll->bytes + 1), *other = mine + coll->bytes;

	if (coll->bytes)
		memcpy(mine, coll->in, coll->bytes);
	for (bit = 1; bit < n; bit *= 2) {
		if (v & bit) {
			put(coll, mine, coll->bytes, (v - bit + root) % n);
			break;
		}
		if (v + bit >= n)
			continue;
		take(coll, other, coll->bytes, (v + bit + root) % n);
		sum(mine, other, coll->bytes);
	}
	if (!v && coll->bytes)
		memcpy(out, mine, coll->bytes);
	free(mine);
}

static char *block(const void *buf, size_t bytes, int i)
{
	return (char *)(uintptr_t)buf + bytes * (size_t)i;
}

/* Sends rank i's block of `in` (or all of it) to rank i. Rank i's data become block i of `out`. */
static void run_all(struct collective *coll, bool blocks)
{
	int n = coll->mc.comm.size, rank = coll->mc.comm.rank, i, to, from;

	if (coll->bytes)
		memmove(block(coll->out, coll->bytes, rank),
			block(coll->in, coll->bytes, blocks ? rank : 0), coll->bytes);
	for (i = 1; i < n; i++) {
		to = (rank + i) % n;
		from = (rank - i + n) % n;
		swap(coll, block(coll->in, coll->bytes, blocks ? to : 0), to,
		     block(coll->out, coll->bytes, from), from, coll->bytes);
	}
}

/* The root receives or sends the blocks one after the other. */
static void run_rooted(struct collective *coll, bool gather)
{
	int n = coll->mc.comm.size, rank = coll->mc.comm.rank, i;
	char *mine;

	if (rank != coll->root && gather)
		put(coll, coll->in, coll->bytes, coll->root);
	else if (rank != coll->root)
		take(coll, coll->out, coll->bytes, coll->root);
	for (i = 0; rank == coll->root && i < n; i++) {
		mine = block(gather ? coll->out : coll->in, coll->bytes, i);
		if (i != rank && gather)
			take(coll, mine, coll->bytes, i);
		else if (i != rank)
			put(coll, mine, coll->bytes, i);
		else if (coll->bytes)
			memmove(gather ? mine : coll->out, gather ? coll->in : mine, coll->bytes);
	}
}

/* An MPI broadcast has one buffer, which callers may pass as `in` or `out`. */
static void *bcast_buffer(const struct collective *coll)
{
	return coll->out ? coll->out : (void *)(uintptr_t)coll->in;
}

void collective_run(struct collective *coll)
{
	switch (coll->op) {
	case COMM_BARRIER:
		run_barrier(coll);
		break;
	case COMM_BCAST:
		run_bcast(coll, bcast_buffer(coll), coll->bytes, coll->root);
		break;
	case COMM_REDUCE:
		run_reduce(coll, coll->root, coll->out);
		break;
	case COMM_GATHER:
		run_rooted(coll, true);
		break;
	case COMM_SCATTER:
		run_rooted(coll, false);
		break;
	case COMM_ALLREDUCE:
		run_reduce(coll, 0, coll->out);
		run_bcast(coll, coll->out, coll->bytes, 0);
		break;
	case COMM_ALLTOALL:
	case COMM_ALLTOALLV:
		run_all(coll, true);
		break;
	case COMM_ALLGATHER:
		run_all(coll, false);
		break;
	case COMM_COLL_CNT:
		break;
	}
}
