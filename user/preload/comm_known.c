/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A table of fixed size with open addressing. If all places for a new entry are occupied, it
 * replaces the entry at the first of them. Threads may write at the same time: values are single
 * words, and a lost value is learned again.
 */
#include "comm_known.h"
#include "preload/in_process.h"

#define PLACES 4096 /* a power of two */
#define TRIES 8

static struct place {
	u64 handle; /* 0: free */
	struct comm_info info;
} places[PLACES];

static struct place *place_at(u64 handle, u32 attempt)
{
	u64 hash = (handle ^ handle >> 32) * 0x9e3779b97f4a7c15ull >> 32;

	return &places[(hash + attempt) % PLACES];
}

struct comm_info *comm_find(u64 handle)
{
	for (u32 i = 0; i < TRIES; i++)
		if (place_at(handle, i)->handle == handle)
			return &place_at(handle, i)->info;
	return NULL;
}

struct comm_info *comm_make(u64 handle)
{
	struct comm_info *known = comm_find(handle);
	struct place *p = place_at(handle, 0);

	if (known)
		return known;
	for (u32 i = 0; i < TRIES; i++)
		if (!place_at(handle, i)->handle) {
			p = place_at(handle, i);
			break;
		}
	p->info = (struct comm_info){-1, -1, -1, -1, -1};
	p->handle = handle;
	return &p->info;
}

int comm_drop(u64 handle)
{
	for (u32 i = 0; i < TRIES; i++)
		if (place_at(handle, i)->handle == handle)
			place_at(handle, i)->handle = 0;
	return 0;
}
