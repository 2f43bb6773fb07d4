/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A sorted list of pairs. Addresses such as 127.0.0.1 exist on every machine: if an end has several
 * owners, the one on the same machine is taken.
 */
#include "analysis/ends.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/table.h"
#include "trace/trace_join.h"

void ends_own(struct ends *e, uint32_t end, uint32_t process)
{
	uint64_t key = (uint64_t)end << 32 | process;

	if (!end || map_get(&e->known, key))
		return;
	map_set(&e->known, key, e);
	*table_row(e->owner, e->cap, e->n) = (struct end_owner){end, process};
	e->n++;
}

static int owner_compare(const void *va, const void *vb)
{
	const struct end_owner *a = va, *b = vb;

	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

void ends_close(struct ends *e, const struct model *m, struct names *names)
{
	const struct model_process *p;
	char text[64];
	uint32_t host;

	for (uint32_t i = 0; i < model_process_count(m); i++) {
		p = model_process_get(m, i);
		if (!p->pid)
			continue;
		host = trace_host_of(p->pid);
		snprintf(text, sizeof(text), host ? "pid %u on host %u" : "pid %u", p->host_pid,
			 host);
		ends_own(e, names_id(names, text), i);
	}
	if (e->n)
		qsort(e->owner, e->n, sizeof(*e->owner), owner_compare);
}

static uint32_t first_of(const struct ends *e, uint32_t end)
{
	uint32_t low = 0, high = e->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (e->owner[middle].end < end)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int32_t ends_find(const struct ends *e, const struct model *m, uint32_t end,
		  const struct model_process *from, enum post_carrier carrier)
{
	bool same_machine = carrier == CARRIER_CMA || carrier == CARRIER_SHM;
	int32_t found = -1, here = -1;
	uint32_t i, cnt = 0, here_cnt = 0;

	for (i = first_of(e, end); end && i < e->n && e->owner[i].end == end; i++) {
		found = (int32_t)e->owner[i].process;
		cnt++;
		if (model_process_get(m, e->owner[i].process)->host_idx != from->host_idx)
			continue;
		here = found;
		here_cnt++;
	}
	if (here_cnt)
		return here_cnt == 1 ? here : -1;
	return cnt == 1 && !same_machine ? found : -1;
}

void ends_release(struct ends *e)
{
	map_release(&e->known);
	free(e->owner);
}
