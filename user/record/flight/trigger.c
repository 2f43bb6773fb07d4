/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/flight/trigger.h"

#include "abi/event.h"

/*
 * From the end of the call that matched until the file is written: calls of other ranks that were under way then end about as it
 * does. Less than a quarter of the shortest span, so that what led to it is there.
 */
#define DELAY_NS 200000000ull

void trigger_init(struct trigger *t, const struct trigger_when *when, size_t cnt, size_t func_cnt)
{
	*t = (struct trigger){.when = when, .when_cnt = cnt, .func_cnt = func_cnt};
}

static const struct trigger_when *match(const struct trigger *t, const struct pov_call *c)
{
	for (size_t i = 0; i < t->when_cnt && c->func < t->func_cnt; i++)
		if (t->when[i].func[c->func] && c->dur_ns > t->when[i].over_ns)
			return &t->when[i];
	return NULL;
}

void trigger_record(struct trigger *t, const struct pov_hdr *rec)
{
	const struct pov_call *c = (const struct pov_call *)rec;
	const struct trigger_when *when;

	if (!t->when_cnt || rec->kind != POV_KIND_CALL || rec->flags & POV_CALL_END_ONLY)
		return;
	when = match(t, c);
	if (!when)
		return;
	t->matches++;
	if (t->pending || t->quiet)
		return;
	t->pending = true;
	t->due_ns = rec->ts_ns + DELAY_NS;
	t->by = (struct trigger_call){
		.when = when,
		.pid = c->tgid,
		.tid = rec->tid,
		.func = c->func,
		.begin_ns = rec->ts_ns - c->dur_ns,
		.end_ns = rec->ts_ns,
	};
}

bool trigger_due(struct trigger *t, uint64_t now_ns)
{
	if (!t->pending || now_ns < t->due_ns)
		return false;
	t->pending = false;
	t->quiet = true;
	return true;
}

void trigger_rearm(struct trigger *t)
{
	t->quiet = false;
}
