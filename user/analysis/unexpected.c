/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See unexpected.h. */
#include "analysis/unexpected.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"

/* Number of messages received after ts_ns. */
static uint32_t taken_since(const struct unexpected *u, uint64_t ts_ns)
{
	uint32_t low = 0, high = u->ntaken;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (u->taken[mid] > ts_ns)
			high = mid;
		else
			low = mid + 1;
	}
	return u->ntaken - low;
}

static void taken_add(struct unexpected *u, uint64_t ts_ns)
{
	uint64_t *at;

	/* drop half of them at once: moving all for each new one would be slow */
	if (u->ntaken == UNEXPECTED_KEPT) {
		u->ntaken /= 2;
		memmove(u->taken, u->taken + u->ntaken, u->ntaken * sizeof(u->taken[0]));
	}
	(void)table_row(u->taken, u->room, u->ntaken);
	for (at = &u->taken[u->ntaken++]; at > u->taken && at[-1] > ts_ns; at--)
		*at = at[-1];
	*at = ts_ns;
}

void unexpecteds_match(struct unexpecteds *a, const struct match *m)
{
	const struct match_end *s = &m->send, *r = &m->recv;
	struct unexpected *u;
	uint64_t behind;

	if (m->assumed || !s->completer || s->end_ns > r->begin_ns)
		return;
	u = map_make(&a->process, r->process->idx, sizeof(*u));
	if (!u->process) {
		u->process = r->process;
		u->func = r->func;
	}
	if (u->func != r->func)
		u->func = NULL;
	u->cnt++;
	u->bytes += m->bytes > 0 ? (uint64_t)m->bytes : 0;
	u->ns += r->posted_ns - r->begin_ns;
	behind = taken_since(u, s->end_ns);
	if (behind > u->behind) {
		u->behind = behind;
		u->behind_from_ns = s->end_ns;
		u->behind_to_ns = r->begin_ns;
	}
	taken_add(u, r->begin_ns);
}

void unexpecteds_init(struct unexpecteds *a)
{
	*a = (struct unexpecteds){0};
}

static void unexpected_free(void *value)
{
	struct unexpected *u = value;

	free(u->taken);
	free(u);
}

void unexpecteds_release(struct unexpecteds *a)
{
	map_free(&a->process, unexpected_free);
}
