/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See arrivals.h. */
#include "analysis/arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "analysis/table.h"

struct member_call {
	const struct model_thread *thread;
	const struct func_info *func;
	uint64_t begin_ns, end_ns;
	bool waits; /* the call itself, not a later one */
};

/* The n-th call on a communicator. */
struct joint_call {
	struct joint_call *next;
	uint64_t number;
	uint32_t cnt, members;
	struct member_call call[];
};

struct arrival_comm {
	struct map made;	  /* process idx → how many calls it has made, + 1 */
	struct joint_call *first; /* by number */
	uint32_t kept;
};

/* ---- together ---- */

static int begin_compare(const void *va, const void *vb)
{
	const struct member_call *a = va, *b = vb;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->thread->idx < b->thread->idx ? -1 : a->thread->idx > b->thread->idx;
}

/* How long a member that is there waited in a stretch of time. */
static uint64_t waited_ns(const struct member_call *c, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t until_ns = c->end_ns < to_ns ? c->end_ns : to_ns;

	return c->waits && until_ns > from_ns ? until_ns - from_ns : 0;
}

static void blame(struct arrivals *a, const struct joint_call *j, uint32_t who, uint64_t ns)
{
	const struct member_call *c = &j->call[who];
	struct arrival_row *r = table_row(a->process, a->nprocess, c->thread->proc->idx);

	r->calls++;
	r->last += who == j->cnt - 1;
	r->waited_ns += ns;
	if (who && ns >= r->worst.waited_ns)
		r->worst = (struct arrival){
			.func = c->func,
			.begin_ns = c->begin_ns,
			.late_ns = c->begin_ns - j->call[0].begin_ns,
			.waited_ns = ns,
		};
}

/* Between two arrivals, those who are there wait for those who are not, for all of these alike. */
static void joint_settle(struct arrivals *a, struct joint_call *j)
{
	uint64_t each_ns = 0, sum_ns;

	qsort(j->call, j->cnt, sizeof(j->call[0]), begin_compare);
	for (uint32_t i = 0; i < j->cnt; i++) {
		blame(a, j, i, each_ns);
		sum_ns = 0;
		for (uint32_t k = 0; i + 1 < j->cnt && k <= i; k++)
			sum_ns += waited_ns(&j->call[k], j->call[i].begin_ns,
					    j->call[i + 1].begin_ns);
		each_ns += i + 1 < j->cnt ? sum_ns / (j->cnt - 1 - i) : 0;
	}
}

/* ---- as they come ---- */

static void joint_drop(struct arrival_comm *c, struct joint_call **link)
{
	struct joint_call *j = *link;

	*link = j->next;
	c->kept--;
	free(j);
}

static struct joint_call **joint_of(struct arrival_comm *c, uint64_t number, uint32_t members)
{
	struct joint_call **link = &c->first, *j;

	while (*link && (*link)->number < number)
		link = &(*link)->next;
	if (*link && (*link)->number == number)
		return link;
	if (c->kept >= ARRIVALS_KEPT_MAX) {
		if (link == &c->first->next)
			link = &c->first;
		joint_drop(c, &c->first);
	}
	j = xcalloc(1, sizeof(*j) + members * sizeof(j->call[0]));
	j->number = number;
	j->members = members;
	j->next = *link;
	*link = j;
	c->kept++;
	return link;
}

static bool goes_on(const struct call_roles *r)
{
	for (uint32_t i = 0; i < r->nrequests; i++)
		if (r->requests[i].event == REQUEST_START)
			return true;
	return false;
}

static void on_call(void *ctx, const struct model_call *k)
{
	const struct call_roles *r = &k->view->roles;
	struct arrivals *a = ctx;
	struct arrival_comm *c;
	struct joint_call **link, *j;
	uintptr_t number;

	if (k->nested || strcmp(k->func->group, "coll") || !func_is_top(k->func) || !r->comm_id ||
	    r->comm_size < 2 || (r->nrequests && r->requests[0].event == REQUEST_INIT))
		return;
	if (a->lost || model_ran_before(a->model, k->thread->proc)) {
		a->uncertain++;
		return;
	}
	c = map_make(&a->comms, r->comm_id, sizeof(*c));
	number = (uintptr_t)map_get(&c->made, k->thread->proc->idx) + 1;
	map_set(&c->made, k->thread->proc->idx, (void *)number);
	link = joint_of(c, number, (uint32_t)r->comm_size);
	j = *link;
	if (j->cnt < j->members)
		j->call[j->cnt++] = (struct member_call){
			.thread = k->thread,
			.func = k->func,
			.begin_ns = k->begin_ns,
			.end_ns = k->end_ns,
			.waits = !goes_on(r),
		};
	if (j->cnt < j->members)
		return;
	joint_settle(a, j);
	joint_drop(c, link);
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	((struct arrivals *)ctx)->lost |= l->class == POV_CLASS_CALL;
}

static void on_start(void *ctx, const struct model *m)
{
	((struct arrivals *)ctx)->model = m;
}

static int on_finish(void *ctx, const struct model *m)
{
	struct arrivals *a = ctx;

	(void)table_row(a->process, a->nprocess, model_process_count(m));
	return 0;
}

void arrivals_init(struct arrivals *a)
{
	*a = (struct arrivals){
		.sink = {.ctx = a,
			 .start = on_start,
			 .call = on_call,
			 .lost = on_lost,
			 .finish = on_finish},
	};
}

void arrivals_release(struct arrivals *a)
{
	struct arrival_comm *c;

	for (size_t at = 0; (c = map_next(&a->comms, &at, NULL));) {
		while (c->first)
			joint_drop(c, &c->first);
		map_release(&c->made);
	}
	map_free(&a->comms, free);
	free(a->process);
}
