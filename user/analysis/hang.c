/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the calls that threads are in, and keeps what hang_settle.c needs to find whom they wait
 * for.
 */
#include "analysis/hang.h"

#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/json_get.h"
#include "lib/table.h"
#include "lib/text.h"
#include "trace/trace_read.h"

/* polls that ended this shortly before the end of the recording count as ongoing */
#define POLLS_LATELY_NS 10000000

/* Processes that hold the lock of a window at a target. */
struct hang_lock {
	struct map holder; /* process idx → struct model_process */
};

static struct hang_process *process_of(struct hang *h, const struct model_process *p)
{
	return table_row(h->process, h->nprocess, p->idx);
}

bool hang_may_miss(const struct hang *h, const struct model_process *p)
{
	return h->lost || model_ran_before(h->model, p);
}

const struct model_process *hang_member(const struct hang *h, const struct model_process *self,
					struct call_member member)
{
	return model_peer(h->model, self, member.job, member.rank);
}

/* ---- calls that members of a communicator make together ---- */

static bool has_request(const struct call_roles *r, enum request_event event)
{
	return table_any(r->nrequests, i, r->requests[i].event == event);
}

/* True if all members of the communicator make this call in the same order. */
static bool is_collective(const struct func_info *f, const struct call_roles *r)
{
	static const char *const others[] = {"MPI_Comm_idup", "MPI_Win_create", "MPI_Win_allocate",
					     "MPI_File_open"};

	if (!r->has_comm)
		return false;
	if (f->group_bit & (GROUP_COLL | GROUP_NEIGH))
		return !has_request(r, REQUEST_INIT);
	if (f->group_bit & (GROUP_COMM | GROUP_TOPO))
		return (f->waits || text_begins(f->name, others[0])) &&
		       strcmp(f->name, "MPI_Comm_create_group") != 0;
	if (!(f->group_bit & (GROUP_RMA | GROUP_IO)))
		return false;
	for (size_t i = 1; i < sizeof(others) / sizeof(*others); i++)
		if (text_begins(f->name, others[i]))
			return true;
	return false;
}

static const struct call_window *window_of(const struct call_roles *r)
{
	return r->window ? r->window : r->open ? r->open->window : NULL;
}

/* Key of a communicator, or of an existing window. 0: neither, or it is unknown which one. */
static uint64_t joint_key(const struct func_info *f, const struct call_roles *r)
{
	const struct call_window *w = window_of(r);

	if (!r->comm_id)
		return 0;
	if (is_collective(f, r))
		return r->comm_id;
	if (w && w->event == WIN_TOGETHER && w->number)
		return map_pair(w->number, r->comm_id);
	return 0;
}

static void members_keep(struct hang_joint *j, const struct call_open *open)
{
	if (j->member || !open || !open->member)
		return;
	j->member = xmalloc(open->nmembers * sizeof(*j->member));
	memcpy(j->member, open->member, open->nmembers * sizeof(*j->member));
	j->size = (int32_t)open->nmembers;
}

/*
 * Counts a call that members make together. Returns its number in its process, from 1, or 0 if key
 * is 0.
 */
static uint64_t joint_count(struct hang *h, const struct model_call *c, uint64_t key)
{
	const struct call_roles *r = &c->view->roles;
	struct hang_joint *j;
	struct hang_part *part;

	if (!key)
		return 0;
	j = map_make(&h->joints, key, sizeof(*j));
	j->comm_id = r->comm_id;
	j->size = r->comm_size;
	j->world |= r->comm_world;
	j->is_file = key >> 32 && c->func->file_io;
	j->is_window = key >> 32 && !c->func->file_io;
	members_keep(j, r->open);
	part = map_make(&j->part, c->thread->proc->idx, sizeof(*part));
	part->number++;
	part->func = c->func;
	part->site = c->site;
	return part->number;
}

uint64_t hang_number(const struct hang_joint *j, const struct model_process *p)
{
	const struct hang_part *part = map_get(&j->part, p->idx);

	return part ? part->number : 0;
}

static uint64_t request_key(const struct model_process *p, uint64_t handle)
{
	return handle ^ (uint64_t)(p->idx + 1) << 40;
}

/* ---- what an open call waits for ---- */

static struct hang_want *want_add(struct hang_thread *t, enum hang_kind kind,
				  const struct func_info *f, const struct call_roles *r)
{
	struct hang_want *w = table_append(t->want, t->nwant);

	*w = (struct hang_want){
		.kind = kind,
		.func = f,
		.comm_id = r ? r->comm_id : 0,
		.world = r && r->comm_world,
		.comm_size = r ? r->comm_size : -1,
		.peer = PEER_NULL,
		.tag = TAG_ANY,
	};
	return w;
}

static void message_want(struct hang *h, struct hang_thread *t, bool sends,
			 const struct func_info *f, const struct call_roles *r)
{
	int32_t peer = sends ? r->peer : r->recv_peer;
	int32_t world = sends ? r->peer_world : r->recv_peer_world;
	int32_t job = sends ? r->peer_job : r->recv_peer_job;
	struct hang_want *w;

	if (peer == PEER_NULL || peer == PEER_ROOT)
		return;
	w = want_add(t, sends ? HANG_SEND : HANG_RECV, f, r);
	w->peer = peer;
	w->tag = sends ? r->tag : r->recv_tag;
	if (world >= 0)
		w->process = model_peer(h->model, t->thread->proc, job, world);
}

/*
 * True if the send may complete only once its message is received. Buffered and ready sends do not
 * wait for that.
 */
static bool send_may_wait(const struct func_info *f)
{
	return strcmp(f->name, "MPI_Bsend") != 0 && strcmp(f->name, "MPI_Rsend") != 0 &&
	       strncmp(f->name, "MPI_Ibsend", 10) != 0;
}

static bool one_of(const char *name, const char *const *of)
{
	for (; *of; of++)
		if (!strncmp(name, *of, strlen(*of)) &&
		    (!name[strlen(*of)] || !strcmp(name + strlen(*of), "_c")))
			return true;
	return false;
}

/* True for calls that no member can leave before all have come, whatever the arguments. */
static bool waits_for_all(const char *name)
{
	static const char *const all[] = {"MPI_Barrier",
					  "MPI_Allreduce",
					  "MPI_Allgather",
					  "MPI_Alltoall",
					  "MPI_Ibarrier",
					  "MPI_Iallreduce",
					  "MPI_Iallgather",
					  "MPI_Ialltoall",
					  "MPI_Comm_dup",
					  "MPI_Comm_split",
					  "MPI_Comm_create",
					  "MPI_Cart_create",
					  "MPI_Win_create",
					  "MPI_Win_allocate",
					  "MPI_Win_free",
					  "MPI_Win_fence",
					  "MPI_Reduce_scatter_block",
					  NULL};

	return one_of(name, all);
}

static bool waits_for_root(const char *name)
{
	static const char *const root[] = {"MPI_Bcast", "MPI_Ibcast", "MPI_Scatter", "MPI_Iscatter",
					   NULL};

	return one_of(name, root);
}

static void together_want(const struct hang *h, struct hang_thread *t, const struct func_info *f,
			  const struct call_roles *r, uint64_t joint, uint64_t number)
{
	struct hang_want *w = want_add(t, HANG_TOGETHER, f, r);

	w->joint = joint;
	w->number = number;
	w->for_all = waits_for_all(f->name);
	if (r->has_root)
		w->root = model_peer(h->model, t->thread->proc, r->root_job, r->root_world);
	w->for_root = waits_for_root(f->name) && w->root && w->root != t->thread->proc;
}

static void request_want(struct hang *h, struct hang_thread *t, const struct call_request *q)
{
	const struct call_roles *r = q->op ? &q->op->roles : NULL;

	if (!r) {
		want_add(t, HANG_OTHER, NULL, NULL);
	} else if (q->op->func->group_bit & GROUP_COLL) {
		const struct model_process *p = t->thread->proc;

		together_want(h, t, q->op->func, r, r->comm_id,
			      (uintptr_t)map_get(&h->numbers, request_key(p, q->handle)));
	} else if (r->has_peer && r->has_tag && (r->sends || r->receives)) {
		if (r->receives)
			message_want(h, t, false, q->op->func, r);
		if (r->sends && send_may_wait(q->op->func))
			message_want(h, t, true, q->op->func, r);
	} else {
		want_add(t, q->op->func->group_bit & GROUP_IO ? HANG_FILE : HANG_OTHER, q->op->func,
			 r);
	}
}

static void window_want(struct hang *h, struct hang_thread *t, const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	const struct call_window *w = r->open->window;
	struct hang_want *want = want_add(t, HANG_LOCK, c->func, r);
	const struct call_open *o = r->open;

	want->peer = w->target;
	want->joint = map_pair(w->number, r->comm_id);
	if (w->number && o->member && w->target >= 0 && (uint32_t)w->target < o->nmembers)
		want->process = hang_member(h, t->thread->proc, o->member[w->target]);
}

static void wants_find(struct hang *h, struct hang_thread *t, const struct model_call *c,
		       uint64_t joint, uint64_t number)
{
	const struct call_roles *r = &c->view->roles;
	const struct call_window *w = r->open ? r->open->window : NULL;
	bool gets = r->receives || !r->sends;

	if (joint) {
		together_want(h, t, c->func, r, joint, number);
	} else if (has_request(r, REQUEST_PENDING)) {
		for (uint32_t i = 0; i < r->nrequests; i++)
			request_want(h, t, &r->requests[i]);
	} else if (c->func->waits && r->has_peer && r->has_tag) {
		if (gets)
			message_want(h, t, false, c->func, r);
		if (r->sends && send_may_wait(c->func))
			message_want(h, t, true, c->func, r);
	} else if (w && w->event >= WIN_LOCK && w->event <= WIN_FLUSH) {
		window_want(h, t, c);
	} else {
		want_add(t, c->func->group_bit & GROUP_IO ? HANG_FILE : HANG_OTHER, c->func, r);
	}
	t->any_suffices = !strncmp(c->func->name, "MPI_Waitany", 11) ||
			  !strncmp(c->func->name, "MPI_Waitsome", 12);
}

/* ---- incoming records ---- */

static struct hang_thread *thread_of(struct hang *h, const struct model_thread *t)
{
	struct hang_thread *own = table_row(h->thread, h->nthread, t->idx);

	own->thread = t;
	process_of(h, t->proc)->called = true;
	return own;
}

static void locks_follow(struct hang *h, const struct model_call *c)
{
	const struct call_window *w = c->view->roles.window;
	const struct model_process *p = c->thread->proc;
	struct hang_lock *lock;
	uint64_t key;

	if (!w || !w->number || (w->event != WIN_LOCK && w->event != WIN_UNLOCK))
		return;
	key = hang_lock_key(c->view->roles.comm_id, w->number, w->target);
	lock = map_make(&h->locks, key, sizeof(*lock));
	if (w->event == WIN_LOCK)
		map_set(&lock->holder, p->idx, (void *)p);
	else
		map_remove(&lock->holder, p->idx);
}

static void numbers_keep(struct hang *h, const struct model_call *c, uint64_t number)
{
	const struct call_roles *r = &c->view->roles;

	for (uint32_t i = 0; number && i < r->nrequests; i++)
		if (r->requests[i].event == REQUEST_START)
			map_set(&h->numbers, request_key(c->thread->proc, r->requests[i].handle),
				(void *)(uintptr_t)number);
}

static void setup_follow(struct hang_process *p, const struct model_call *c)
{
	if (c->func->setup == FUNC_BEGINS && !c->open)
		p->multiple = strcmp(c->func->name, "MPI_Init") != 0 &&
			      (strcmp(c->func->name, "MPI_Init_thread") != 0 ||
			       c->view->roles.threads_multiple);
	else if (c->func->setup == FUNC_ENDS && !c->open && !c->unwound)
		p->finalized = true;
}

static void call_opened(struct hang *h, struct hang_thread *t, const struct model_call *c,
			uint64_t joint, uint64_t number)
{
	t->func = c->func;
	t->polls = false;
	t->site = c->site;
	t->since_ns = c->begin_ns;
	t->began_before = model_ran_before(h->model, c->thread->proc) &&
			  c->begin_ns <= model_get_info(h->model)->start_ns;
	t->times = c->split;
	wants_find(h, t, c, joint, number);
	h->open++;
	if (c->func->waits && c->end_ns - c->begin_ns > h->longest_ns)
		h->longest_ns = c->end_ns - c->begin_ns;
}

/* True also while a thread's last records are reported, when it or the recording ends. */
static bool thread_lives(const struct model_thread *t)
{
	return t->state != THREAD_DEAD;
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct hang *h = ctx;
	struct hang_thread *t;
	uint64_t joint, number;

	if (c->nested || !func_is_top(c->func))
		return;
	joint = joint_key(c->func, &c->view->roles);
	number = joint_count(h, c, joint);
	numbers_keep(h, c, number);
	locks_follow(h, c);
	t = thread_of(h, c->thread);
	setup_follow(process_of(h, c->thread->proc), c);
	if (c->open && thread_lives(c->thread)) {
		call_opened(h, t, c, joint, number);
		return;
	}
	t->func = NULL;
	t->last = c->func;
	t->last_site = c->site;
	t->since_ns = c->end_ns;
	memset(&t->times, 0, sizeof(t->times));
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	struct hang_thread *t;

	if (s->nested || !s->nfuncs || !func_is_top(s->func[0].func))
		return;
	t = thread_of(ctx, s->thread);
	if (t->func && !t->polls)
		return;
	t->func = s->func[0].func;
	t->polls = true;
	t->polled = s->cnt;
	t->site = t->last_site = s->site;
	t->last = t->func;
	t->since_ns = s->begin_ns;
	t->times = s->split;
}

static void on_sample(void *ctx, const struct model_sample *s)
{
	struct hang *h = ctx;

	if (s->by_stack)
		table_row(h->thread, h->nthread, s->thread->idx)->at = s->at;
}

/* Adds up what threads outside MPI did since their last call. */
static void on_state(void *ctx, const struct model_thread *mt, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct hang *h = ctx;
	struct hang_thread *t = mt->idx < h->nthread ? &h->thread[mt->idx] : NULL;

	if (!t || !t->thread || t->func || to_ns <= t->since_ns)
		return;
	t->times.ns[s] += to_ns - u64_max(from_ns, t->since_ns);
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	((struct hang *)ctx)->lost |=
		model_lost_calls(l, "p2p req part coll neigh comm topo rma io init") ||
		l->class == POV_CLASS_MORE;
}

/*
 * If the last polls ended more than POLLS_LATELY_NS ago, the thread has been outside MPI since
 * then.
 */
static void polls_end(struct hang_thread *t, uint64_t end_ns)
{
	uint64_t polled_until_ns = t->since_ns + t->times.ns[THREAD_UNKNOWN] +
				   t->times.ns[THREAD_RUNNING] + t->times.ns[THREAD_RUNNABLE] +
				   t->times.ns[THREAD_BLOCKED];

	if (!t->polls || end_ns - polled_until_ns <= POLLS_LATELY_NS)
		return;
	t->func = NULL;
	t->polls = false;
	t->since_ns = polled_until_ns;
	memset(&t->times, 0, sizeof(t->times));
}

/* Adds the main thread of a rank without recorded calls as outside MPI. */
static void silent_add(struct hang *h, const struct model_thread *t)
{
	const struct model_process *p = t->proc;
	struct hang_thread *own;

	if (!p->is_rank || p->exited || t->tid != p->pid || process_of(h, p)->called ||
	    !thread_lives(t))
		return;
	own = table_row(h->thread, h->nthread, t->idx);
	own->thread = t;
	own->began_before = true;
	own->times = t->times;
}

/* Finds calls that never made a record, and anything else that could make a conclusion wrong. */
static void doubts_find(struct hang *h, const struct model *m)
{
	static const char *const missed[] = {"depth", "threads", "wait", "handlers", "unprobed"};
	struct trace *t = model_get_trace(m);
	const json_t *misses = json_object_get(trace_meta_find(t, "end"), "misses");
	const json_t *config = json_object_get(trace_meta_find(t, "recording"), "config");

	for (size_t i = 0; i < sizeof(missed) / sizeof(*missed); i++)
		h->lost |= json_get_u64(misses, missed[i]) > 0;
	h->lost |= trace_meta_find(t, "late") || trace_get_summary(t)->bad_blocks;
	h->partial = json_is_true(json_object_get(config, "mpi_left_out"));
	h->cut = !model_get_info(m)->complete;
}

/* Threads that have ended are in no call. */
static void on_finish(void *ctx, const struct model *m)
{
	struct hang *h = ctx;

	doubts_find(h, m);
	for (uint32_t i = 0; i < model_process_count(m); i++) {
		const struct model_process *p = model_process_get(m, i);
		struct hang_process *own = process_of(h, p);

		own->ends = p->exited;
		own->multiple |= model_ran_before(m, p);
	}
	for (uint32_t i = 0; i < model_thread_count(m); i++)
		silent_add(h, model_thread_get(m, i));
	for (uint32_t i = 0; i < h->nthread; i++) {
		struct hang_thread *t = &h->thread[i];

		if (!t->thread)
			continue;
		polls_end(t, model_get_info(m)->end_ns);
		if (h->cut || t->thread->proc->exited || !thread_lives(t->thread))
			t->thread = NULL;
		else if (t->func)
			process_of(h, t->thread->proc)->in_calls++;
	}
	hang_settle(h);
}

const struct model_process *hang_lock_holder(const struct hang *h, const struct hang_want *w,
					     const struct model_process *self)
{
	struct hang_lock *lock =
		map_get(&h->locks, hang_lock_key(w->comm_id, (uint32_t)(w->joint >> 32), w->peer));
	struct model_process *p = NULL;

	for (size_t at = 0; lock && (p = map_next(&lock->holder, &at, NULL));)
		if (p != self)
			break;
	return p;
}

void hang_init(struct hang *h, struct matches *matches)
{
	*h = (struct hang){
		.sink = {.ctx = h,
			 .model = &h->model,
			 .call = on_call,
			 .spin = on_spin,
			 .sample = on_sample,
			 .state = on_state,
			 .lost = on_lost,
			 .finish = on_finish},
	};
	matches->left = hang_ends_left;
	matches->left_ctx = h;
}

static void joint_free(void *value)
{
	struct hang_joint *j = value;

	map_free(&j->part, free);
	free(j->member);
	free(j);
}

static void lock_free(void *value)
{
	map_release(&((struct hang_lock *)value)->holder);
	free(value);
}

void hang_release(struct hang *h)
{
	for (uint32_t i = 0; i < h->nthread; i++) {
		free(h->thread[i].want);
		free(h->thread[i].waits_for);
	}
	free(h->thread);
	free(h->process);
	map_free(&h->joints, joint_free);
	map_release(&h->numbers);
	map_free(&h->locks, lock_free);
	hang_ends_release(h);
}
