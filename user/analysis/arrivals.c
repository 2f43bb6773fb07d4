/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See arrivals.h. */
#include "analysis/arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/find.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"
#include "lib/u64.h"

/* The n-th call of all members on a communicator or window. */
struct joint_call {
	struct joint_call *next;
	uint64_t number;
	uint32_t cnt, members;
	struct arrival_call call[];
};

struct arrival_comm {
	struct map made;	  /* process idx → number of calls it has made */
	struct joint_call *first; /* in order of number */
	uint32_t kept;
};

/* ---- joint calls ---- */

TABLE_ORDER(begin_compare, struct arrival_call, u64_compare(a->begin_ns, b->begin_ns),
	    u64_compare(a->thread->idx, b->thread->idx))

static void member_blame(struct arrivals *a, const struct joint_call *j, uint32_t who, uint64_t ns)
{
	const struct arrival_call *c = &j->call[who];
	struct arrival_row *r = table_row(a->process, a->nprocess, c->thread->proc->idx);

	r->calls++;
	r->last += who == j->cnt - 1;
	r->waited_ns += ns;
	if (who && ns >= r->worst.waited_ns)
		r->worst = (struct arrival){
			.func = c->func,
			.site = c->site,
			.begin_ns = c->begin_ns,
			.late_ns = c->begin_ns - j->call[0].begin_ns,
			.waited_ns = ns,
		};
}

/*
 * Adds to how long a process waited for the one that came last. Keeps only the processes that cost
 * most: for want of room, all entries lose the same time (Misra and Gries 1982, Finding repeated
 * elements).
 */
static void last_add(struct arrival_last *row, uint32_t process, uint64_t ns)
{
	struct arrival_last *least = row;
	uint64_t less_ns;

	for (uint32_t i = 0; i < ARRIVALS_LAST; i++) {
		if (row[i].ns && row[i].process == process) {
			row[i].ns += ns;
			return;
		}
		least = row[i].ns < least->ns ? &row[i] : least;
	}
	less_ns = u64_min(least->ns, ns);
	for (uint32_t i = 0; i < ARRIVALS_LAST; i++)
		row[i].ns -= less_ns;
	if (ns > less_ns)
		*least = (struct arrival_last){process, ns - less_ns};
}

/* Notes for each member how long it waited while the last one had not called. */
static void last_note(struct arrivals *a, const struct joint_call *j)
{
	const struct arrival_call *last = &j->call[j->cnt - 1];

	for (uint32_t i = 0; i < j->cnt - 1; i++) {
		const struct arrival_call *c = &j->call[i];
		uint64_t from_ns = arrival_wait_ns(c);
		uint64_t to_ns = u64_min(c->end_ns, last->begin_ns);
		struct arrival_row *r;

		if (!c->waits || from_ns >= to_ns)
			continue;
		r = table_row(a->process, a->nprocess, c->thread->proc->idx);
		last_add(r->waited_for, last->thread->proc->idx, to_ns - from_ns);
	}
}

/* Times, in order, at which the waiting members begin to wait or, if `leave` is set, leave. */
static uint64_t *waits_of(const struct arrival_call *call, uint32_t calls, bool leave, uint32_t *n)
{
	uint64_t *at_ns = xmalloc(calls * sizeof(*at_ns));

	*n = 0;
	for (uint32_t i = 0; i < calls; i++)
		if (call[i].waits)
			at_ns[(*n)++] = leave ? call[i].end_ns : arrival_wait_ns(&call[i]);
	qsort(at_ns, *n, sizeof(*at_ns), u64_order);
	return at_ns;
}

/*
 * A step ends when a member calls, begins to wait, or leaves. The missing members share the waiting
 * of a step equally.
 */
struct arrival_step *arrival_steps(struct arrival_call *call, uint32_t calls, uint32_t *nsteps)
{
	struct arrival_step *step = xmalloc(3 * calls * sizeof(*step));
	uint32_t n, left = 0, came = 0, began = 0;
	uint64_t *leave_ns = waits_of(call, calls, true, &n);
	uint64_t *wait_ns = waits_of(call, calls, false, &n);
	uint64_t now_ns = 0, next_ns;

	qsort(call, calls, sizeof(*call), begin_compare);
	*nsteps = 0;
	while (came < calls) {
		bool leaves = left < began && leave_ns[left] < call[came].begin_ns, begins;

		next_ns = leaves ? leave_ns[left] : call[came].begin_ns;
		begins = began < n && wait_ns[began] < next_ns;
		next_ns = begins ? wait_ns[began] : next_ns;
		if (began > left && next_ns > now_ns)
			step[(*nsteps)++] = (struct arrival_step){
				now_ns, next_ns,
				(began - left) * (next_ns - now_ns) / (calls - came)};
		if (begins)
			began++;
		else if (leaves)
			left++;
		else
			came++;
		now_ns = next_ns;
	}
	free(leave_ns);
	free(wait_ns);
	return step;
}

bool arrivals_make_comm(const struct func_info *f)
{
	static const char *const names[] = {"MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_create",
					    "MPI_Intercomm_merge", NULL};

	if (!f->waits || !(f->group_bit & (GROUP_COMM | GROUP_TOPO)))
		return false;
	return f->group_bit & GROUP_TOPO ||
	       (text_begins_any(f->name, names) && strcmp(f->name, "MPI_Comm_create_group") != 0);
}

/*
 * Decides which members waited. If a member leaves a file call or a call that makes a communicator
 * before the last member has called, it did not wait but worked. If one call completes several
 * operations, the same time must not count as waiting for each of them.
 */
static void waits_limit(struct arrivals *a, struct joint_call *j)
{
	uint64_t last_ns = 0, *settled_ns;

	for (uint32_t i = 0; i < j->cnt; i++)
		last_ns = u64_max(last_ns, j->call[i].begin_ns);
	for (uint32_t i = 0; i < j->cnt; i++) {
		struct arrival_call *c = &j->call[i];

		if (c->func->file_io || arrivals_make_comm(c->func))
			c->waits &= c->end_ns >= last_ns ||
				    last_ns - c->end_ns <= model_clocks_apart_ns(a->model);
		if (!c->wait_ns)
			continue;
		settled_ns = table_row(a->settled_ns, a->nsettled, c->thread->idx);
		c->wait_ns = u64_max(c->wait_ns, *settled_ns);
		c->waits &= c->wait_ns < c->end_ns;
		*settled_ns = u64_max(*settled_ns, u64_min(c->end_ns, last_ns));
	}
}

static void joint_settle(struct arrivals *a, struct joint_call *j)
{
	struct arrival_joint joint = {.call = j->call, .calls = j->cnt};
	struct arrival_step *step;
	uint64_t each_ns = 0;
	uint32_t s = 0;

	waits_limit(a, j);
	joint.step = step = arrival_steps(j->call, j->cnt, &joint.steps);
	for (uint32_t i = 0; i < j->cnt; i++) {
		for (; s < joint.steps && step[s].to_ns <= j->call[i].begin_ns; s++)
			each_ns += step[s].each_ns;
		member_blame(a, j, i, each_ns);
	}
	last_note(a, j);
	observers_notify(&a->joints, &joint);
	free(step);
}

/* ---- incoming calls ---- */

static void joint_free(struct arrival_comm *c, struct joint_call **link)
{
	struct joint_call *j = *link;

	*link = j->next;
	c->kept--;
	free(j);
}

static void joint_drop(struct arrivals *a, struct arrival_comm *c, struct joint_call **link)
{
	if ((*link)->cnt && (*link)->cnt == (*link)->members)
		joint_settle(a, *link);
	joint_free(c, link);
}

static struct joint_call **joint_of(struct arrivals *a, struct arrival_comm *c, uint64_t number,
				    uint32_t members)
{
	struct joint_call **link = &c->first, *j;

	while (*link && (*link)->number < number)
		link = &(*link)->next;
	if (*link && (*link)->number == number)
		return link;
	if (c->kept >= ARRIVALS_KEPT_MAX) {
		if (link == &c->first->next)
			link = &c->first;
		joint_drop(a, c, &c->first);
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
	return table_any(r->nrequests, i, r->requests[i].event == REQUEST_START);
}

/*
 * True if all members make this call together, in the same order. *of: the object that the order
 * applies to (communicator, window or file).
 */
static bool is_together(const struct func_info *f, const struct call_roles *r, uint64_t *of)
{
	*of = r->comm_id;
	if (!func_is_top(f) || !r->comm_id || r->comm_all < 2)
		return false;
	if (r->window && r->window->event == WIN_TOGETHER) {
		*of |= (uint64_t)r->window->number << 32;
		return r->window->number;
	}
	return arrivals_make_comm(f) || ((f->group_bit & GROUP_COLL) &&
					 !(r->nrequests && r->requests[0].event == REQUEST_INIT));
}

/* True for a collective call on a communicator that was made before the recording began. */
static bool is_of_unknown(const struct func_info *f, const struct call_roles *r)
{
	if (!func_is_top(f) || !r->has_comm || r->comm_id)
		return false;
	return arrivals_make_comm(f) || (f->group_bit & GROUP_COLL && (f->waits || goes_on(r)));
}

/* True if all members have called, and completed what they started. */
static bool joint_is_over(const struct joint_call *j)
{
	return !table_any(j->cnt, i, j->call[i].pending) && j->cnt == j->members;
}

static void on_call(void *ctx, const struct model_call *k)
{
	const struct call_roles *r = &k->view->roles;
	struct arrivals *a = ctx;
	struct arrival_comm *c;
	struct joint_call **link, *j;
	uintptr_t number;
	uint64_t of;

	if (k->nested || !is_together(k->func, r, &of)) {
		a->uncertain += !k->nested && is_of_unknown(k->func, r) &&
				model_ran_before(a->model, k->thread->proc);
		return;
	}
	if (a->lost || model_ran_before(a->model, k->thread->proc)) {
		a->uncertain++;
		return;
	}
	c = map_make(&a->comms, of, sizeof(*c));
	number = (uintptr_t)map_get(&c->made, k->thread->proc->idx) + 1;
	map_set(&c->made, k->thread->proc->idx, (void *)number);
	link = joint_of(a, c, number, (uint32_t)r->comm_all);
	j = *link;
	/* a process in the root's group of an intercommunicator that is not the root */
	if (r->has_root && r->root == PEER_NULL)
		j->members -= j->members > 1;
	else if (j->cnt < j->members)
		j->call[j->cnt++] = (struct arrival_call){
			.thread = k->thread,
			.func = k->func,
			.site = k->site,
			.begin_ns = k->begin_ns,
			.end_ns = k->end_ns,
			.send_bytes = r->sends ? r->send_bytes : 0,
			.recv_bytes = r->receives ? r->recv_bytes : 0,
			.waits = !goes_on(r),
			.pending = goes_on(r),
			.root = r->has_root && r->root_world >= 0 &&
				r->root_world == k->thread->proc->rank,
		};
	if (joint_is_over(j))
		joint_drop(a, c, link);
}

/* Finds the nonblocking call in `j` that this operation completed, or NULL. */
static struct arrival_call *call_completed(struct joint_call *j, const struct model_operation *o)
{
	return table_where(j->call, j->cnt, i,
			   j->call[i].pending && j->call[i].begin_ns == o->begin_ns &&
				   j->call[i].thread->proc == o->thread->proc);
}

static void on_operation(void *ctx, const struct model_operation *o)
{
	struct arrivals *a = ctx;
	struct arrival_call *call = NULL;
	struct joint_call **link;
	struct arrival_comm *c;

	if (!o->completion || !(o->func->group_bit & GROUP_COLL))
		return;
	c = map_get(&a->comms, o->roles->comm_id);
	if (!c)
		return;
	for (link = &c->first; *link; link = &(*link)->next) {
		call = call_completed(*link, o);
		if (call)
			break;
	}
	if (!call)
		return;
	call->pending = false;
	call->waits = true;
	call->thread = o->thread;
	call->wait_ns = o->waiting_ns;
	call->end_ns = o->end_ns;
	if (joint_is_over(*link))
		joint_drop(a, c, link);
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	((struct arrivals *)ctx)->lost |= model_lost_calls(l,
							   "coll neigh comm topo rma io p2p part");
}

static void on_finish(void *ctx, const struct model *m)
{
	struct arrivals *a = ctx;
	struct arrival_comm *c;

	for (size_t at = 0; (c = map_next(&a->comms, &at, NULL));)
		while (c->first)
			joint_drop(a, c, &c->first);
	(void)table_row(a->process, a->nprocess, model_process_count(m));
}

void arrivals_init(struct arrivals *a)
{
	*a = (struct arrivals){
		.sink = {.ctx = a,
			 .model = &a->model,
			 .call = on_call,
			 .operation = on_operation,
			 .lost = on_lost,
			 .finish = on_finish},
	};
}

void arrivals_release(struct arrivals *a)
{
	struct arrival_comm *c;

	for (size_t at = 0; (c = map_next(&a->comms, &at, NULL));) {
		while (c->first)
			joint_free(c, &c->first);
		map_release(&c->made);
	}
	map_free(&a->comms, free);
	free(a->process);
	free(a->settled_ns);
}

/* ---- the finding ---- */

static char *arrival_text(const struct findings *f, const struct model_process *p,
			  const struct arrival_row *a)
{
	char *text = xasprintf(
		"%s was late to collective calls; others waited %s for it, most for %s",
		phrase_process(f, p).text, phrase_ns(a->waited_ns).text, a->worst.func->name);

	text = words(words_site(f, text, &a->worst.site),
		     "%s: %s, as it came %s after the first rank (last to %llu of %llu)",
		     phrase_when(f, a->worst.begin_ns).text, phrase_ns(a->worst.waited_ns).text,
		     phrase_ns(a->worst.late_ns).text, (unsigned long long)a->last,
		     (unsigned long long)a->calls);
	return words_causes(f, text, CAUSE_COLLECTIVE, p->idx, a->waited_ns);
}

void find_collectives(struct findings *f)
{
	for (uint32_t i = 0; i < f->arrivals.nprocess && i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);
		const struct arrival_row *a = &f->arrivals.process[i];

		if (!a->waited_ns || !finding_counts(f, p))
			continue;
		finding_add(f, &(struct finding){
				       .kind = "late_in_collective",
				       .cost_ns = a->waited_ns,
				       .text = arrival_text(f, p, a),
				       .process = i,
				       .from_ns = a->worst.begin_ns - a->worst.late_ns,
				       .to_ns = a->worst.begin_ns,
			       });
	}
}
