/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See collective_calls.h. Each member of a call reports what it sends and receives. The function's
 * size rule derives the message size from that.
 */
#include "advise/collective_calls.h"

#include <stdlib.h>
#include <string.h>

#include "lib/table.h"
#include "lib/u64.h"

enum size_rule {
	SIZE_LARGEST, /* the most that a member sends or receives */
	/*
	 * A member's own block as sent. If all members pass MPI_IN_PLACE, their receive size
	 * divided by their number.
	 */
	SIZE_SENT,
	SIZE_GOT,  /* the same with send and receive exchanged */
	SIZE_PART, /* one block per member */
	SIZE_NONE, /* no data, or their sizes are not compared */
};

/* The functions that povbench measures. */
static const struct function {
	const char *name, *collective;
	enum size_rule rule;
} functions[] = {
	{"MPI_Bcast", "bcast", SIZE_LARGEST},	      {"MPI_Reduce", "reduce", SIZE_LARGEST},
	{"MPI_Allreduce", "allreduce", SIZE_LARGEST}, {"MPI_Allgather", "allgather", SIZE_SENT},
	{"MPI_Gather", "gather", SIZE_SENT},	      {"MPI_Scatter", "scatter", SIZE_GOT},
	{"MPI_Alltoall", "alltoall", SIZE_PART},      {"MPI_Alltoallv", "alltoallv", SIZE_PART},
};

/*
 * Finds the size rule of a blocking function. All functions that povbench does not measure share
 * one. The name comes from the table of functions. on_joint() drops other functions than blocking
 * collectives.
 */
static struct function function_of(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		size_t n = strlen(functions[i].name);

		/* MPI_Bcast_c has larger counts. */
		if (!strncmp(name, functions[i].name, n) && (!name[n] || !strcmp(name + n, "_c")))
			return functions[i];
	}
	return (struct function){name, NULL, SIZE_NONE};
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Returns BYTES_UNKNOWN, which is below 0, if no member's size is known. */
static int64_t bytes_of(const struct arrival_joint *j, enum size_rule rule)
{
	int64_t sent = BYTES_UNKNOWN, got = BYTES_UNKNOWN, n = j->calls;

	for (uint32_t i = 0; i < j->calls; i++) {
		sent = larger(sent, j->call[i].send_bytes);
		got = larger(got, j->call[i].recv_bytes);
	}
	switch (rule) {
	case SIZE_LARGEST:
		return larger(sent, got);
	case SIZE_SENT:
		return sent > 0 ? sent : got > 0 ? got / n : larger(sent, got);
	case SIZE_GOT:
		return got > 0 ? got : sent > 0 ? sent / n : larger(sent, got);
	case SIZE_PART:
		sent = larger(sent, got);
		return sent > 0 ? sent / n : sent;
	default:
		return 0;
	}
}

static uint32_t bits_of(uint64_t bytes)
{
	return bytes ? 64 - (uint32_t)__builtin_clzll(bytes) : 0;
}

static struct collective_cell *cell_of(struct collective_calls *c, const struct arrival_joint *j,
				       const struct function *f, uint64_t bytes, bool hosts)
{
	uint64_t key = (uint64_t)j->call[0].func->id << 40 | (uint64_t)bits_of(bytes) << 33 |
		       (uint64_t)hosts << 32 | j->calls;
	uintptr_t idx = (uintptr_t)map_get(&c->by_key, key);

	if (!idx) {
		*table_append(c->cell, c->ncell) = (struct collective_cell){
			.function = f->name,
			.collective = f->collective,
			.ranks = j->calls,
			.several_hosts = hosts,
			.bytes_min = bytes,
			.bytes_max = bytes,
		};
		idx = c->ncell;
		map_set(&c->by_key, key, (void *)idx);
	}
	return &c->cell[idx - 1];
}

static void member_add(struct collective_calls *c, const struct arrival_call *call, uint32_t cell)
{
	*table_append(c->member, c->nmember) = (struct collective_member){call->begin_ns,
									  call->thread->idx, cell};
}

/* Calls are sorted by begin. */
static uint64_t own_ns_of(const struct arrival_joint *j, uint32_t i)
{
	uint64_t ready_ns = j->call[i].begin_ns;

	for (uint32_t k = i + 1; k < j->calls && j->call[k].begin_ns <= j->call[i].end_ns; k++)
		ready_ns = j->call[k].begin_ns;
	return j->call[i].end_ns - ready_ns;
}

static void on_joint(void *ctx, const void *event)
{
	const struct arrival_joint *j = event;
	struct collective_calls *c = ctx;
	struct function f = function_of(j->call[0].func->name);
	int64_t bytes = bytes_of(j, f.rule);
	struct collective_cell *cell;
	bool hosts = false, waits = false;

	for (uint32_t i = 0; i < j->calls; i++) {
		hosts |= j->call[i].thread->proc->host_idx != j->call[0].thread->proc->host_idx;
		waits |= j->call[i].waits && !j->call[i].wait_ns;
	}
	if (!waits || !(j->call[0].func->group_bit & GROUP_COLL))
		return;
	if (bytes < 0) {
		c->unsized = true;
		return;
	}
	cell = cell_of(c, j, &f, (uint64_t)bytes, hosts);
	cell->calls++;
	cell->bytes_sum += (double)bytes;
	cell->bytes_min = (uint64_t)bytes < cell->bytes_min ? (uint64_t)bytes : cell->bytes_min;
	cell->bytes_max = (uint64_t)bytes > cell->bytes_max ? (uint64_t)bytes : cell->bytes_max;
	for (uint32_t i = 0; i < j->calls; i++) {
		cell->own_ns += own_ns_of(j, i);
		member_add(c, &j->call[i], (uint32_t)(cell - c->cell));
	}
}

TABLE_ORDER(member_compare, struct collective_member,
	    u64_compare(a->thread, b->thread) ?: u64_compare(a->begin_ns, b->begin_ns))

void collective_calls_settle(struct collective_calls *c)
{
	table_sort(c->member, c->nmember, member_compare);
}

const struct collective_cell *collective_calls_of(const struct collective_calls *c, uint32_t thread,
						  uint64_t begin_ns)
{
	const struct collective_member key = {begin_ns, thread, 0}, *m;

	if (!c->nmember)
		return NULL;
	m = bsearch(&key, c->member, c->nmember, sizeof(*c->member), member_compare);
	return m ? &c->cell[m->cell] : NULL;
}

void collective_calls_init(struct collective_calls *c)
{
	*c = (struct collective_calls){0};
	arrivals_init(&c->arrivals);
	observers_add(&c->arrivals.joints, on_joint, c);
}

void collective_calls_release(struct collective_calls *c)
{
	arrivals_release(&c->arrivals);
	map_release(&c->by_key);
	free(c->cell);
	free(c->member);
}
