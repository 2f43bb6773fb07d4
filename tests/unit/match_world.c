/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See match_world.h. */
#include "unit/match_world.h"
#include "unit/test.h"

#define COMMS 2
#define TAGS 3
#define START_MAX 4 /* posted by one call */

const struct func_info match_world_isend = {.name = "MPI_Isend", .layer_name = "mpi"};
static const struct func_info irecv = {.name = "MPI_Irecv", .layer_name = "mpi"};
static const struct func_info send = {.name = "MPI_Send", .layer_name = "mpi"};
static const struct func_info recv = {.name = "MPI_Recv", .layer_name = "mpi"};
const struct func_info match_world_wait = {.name = "MPI_Wait", .layer_name = "mpi"};
static const struct func_info start = {.name = "MPI_Startall", .layer_name = "mpi"};
static const struct func_info request_free = {.name = "MPI_Request_free", .layer_name = "mpi"};
static const struct func_info cancel = {.name = "MPI_Cancel", .layer_name = "mpi"};

static uint32_t dice(struct match_world *w, uint32_t n)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return (uint32_t)((w->seed >> 11) % n);
}

/* ---- results of the analysis ---- */

static uint64_t side_key(uint64_t begin_ns, uint32_t place, bool sends)
{
	return begin_ns << 8 | place << 1 | sends;
}

/*
 * Finds the side of a match. A call may have posted several; the first one counts that has this
 * lane and is not found yet.
 */
static struct side *side_find(struct match_world *w, const struct match *m, bool sends)
{
	const struct match_end *e = sends ? &m->send : &m->recv;
	uint32_t from = m->send.process->idx, to = m->recv.process->idx;

	for (uint32_t place = 0; place < START_MAX; place++) {
		struct side *s = map_get(&w->by_begin, side_key(e->begin_ns, place, sends));

		if (s && s->other && !s->found && s->comm + 1 == (int)m->comm_id &&
		    s->tag == m->tag && s->rank == (int)(sends ? from : to) &&
		    s->peer == (int)(sends ? to : from))
			return s;
	}
	fail_msg("no %s at %llu", sends ? "send" : "receive", (unsigned long long)e->begin_ns);
	return NULL;
}

static void on_match(void *ctx, const struct match *m)
{
	struct match_world *w = ctx;
	struct side *s = side_find(w, m, true), *r = side_find(w, m, false);

	s->found = r->found = true;
	w->matched++;
	assert_ptr_equal(s->other, r);
	assert_int_equal(m->bytes, 8);
	assert_int_equal(m->assumed != ASSUMED_NOTHING, w->assumed);
}

/* ---- input of the analysis ---- */

static struct call_roles roles_of(const struct side *s)
{
	struct call_roles r = {
		.sends = s->sends,
		.receives = !s->sends,
		.has_peer = true,
		.has_tag = true,
		.peer = s->peer,
		.recv_peer = s->peer,
		.tag = s->tag,
		.recv_tag = s->tag,
		.peer_world = s->peer,
		.recv_peer_world = s->peer,
		.send_bytes = 8,
		.recv_bytes = 8,
		.comm_id = (uint32_t)s->comm + 1,
	};

	return r;
}

void match_world_call(struct match_world *w, int rank, const struct func_info *f, uint64_t begin_ns,
		      const struct call_roles *roles)
{
	struct call_view view = {.roles = *roles};
	struct model_call c = {.func = f,
			       .thread = &w->thread[rank],
			       .begin_ns = begin_ns,
			       .end_ns = ++w->now,
			       .view = &view};

	w->a.sink.call(&w->a, &c);
}

static void over_tell(struct match_world *w, const struct side *s, uint64_t completing_ns,
		      const struct call_request *completion)
{
	const struct model_operation o = {
		.thread = &w->thread[s->rank],
		.func = s->sends ? &send : &recv,
		.roles = &s->roles,
		.begin_ns = s->begin_ns,
		.posted_ns = s->posted_ns,
		.place = s->place,
		.completing_ns = completing_ns,
		.waiting_ns = completing_ns,
		.end_ns = w->now,
		.completion = completion,
	};
	bool asked = s->sends || s->asked;
	const struct model_message msg = {
		.operation = &o,
		.sends = s->sends,
		.peer = asked ? s->peer : s->roles.recv_peer,
		.tag = asked ? s->tag : s->roles.recv_tag,
		.peer_world = asked ? s->peer : s->roles.recv_peer,
		.why = !asked && s->roles.recv_peer == PEER_ANY ? PEER_UNKNOWN_ANY : PEER_KNOWN,
		.comm_id = s->roles.comm_id,
		.bytes = 8,
	};

	w->a.sink.operation(&w->a, &o);
	w->a.sink.message(&w->a, &msg);
}

/* ---- a small MPI ---- */

static bool fits(const struct side *r, const struct side *s)
{
	return r->comm == s->comm && (r->peer == PEER_ANY || r->peer == s->rank) &&
	       (r->tag == TAG_ANY || r->tag == s->tag);
}

static void unite(struct match_world *w, struct side *s, struct side *r)
{
	struct rank *k = &w->rank[r->rank];

	w->truly++;
	s->other = r;
	r->other = s;
	r->over = true;
	r->peer = s->rank;
	r->tag = s->tag;
	if (k->blocked != r)
		return;
	k->blocked = NULL;
	w->now++;
	r->posted_ns = w->now;
	match_world_call(w, r->rank, &recv, r->begin_ns, &r->roles);
	over_tell(w, r, r->begin_ns, NULL);
}

static void append(struct side **list, struct side *s)
{
	while (*list)
		list = &(*list)->next;
	s->next = NULL;
	*list = s;
}

static struct side *take(struct side **list, const struct side *for_it)
{
	struct side *at;

	for (; (at = *list); list = &at->next) {
		if (!(for_it->sends ? fits(at, for_it) : fits(for_it, at)))
			continue;
		*list = at->next;
		return at;
	}
	return NULL;
}

/* All sends are buffered. */
static void deliver(struct match_world *w, struct side *s)
{
	struct rank *to = &w->rank[s->sends ? s->peer : s->rank];
	struct side *other;

	map_set(&w->by_begin, side_key(s->begin_ns, s->place, s->sends), s);
	other = take(s->sends ? &to->posted : &to->unexpected, s);
	if (!other)
		append(s->sends ? &to->unexpected : &to->posted, s);
	else
		unite(w, s->sends ? s : other, s->sends ? other : s);
}

/* Aims a send at a receive that waits, if there is one. */
static void send_choose(struct match_world *w, struct side *s)
{
	uint32_t first = dice(w, RANKS);

	for (uint32_t i = 0; dice(w, 4) && i < RANKS; i++) {
		int peer = (int)((first + i) % RANKS);
		const struct side *r = w->rank[peer].blocked ? w->rank[peer].blocked :
							       w->rank[peer].posted;

		if (!r || (r->peer != PEER_ANY && r->peer != s->rank))
			continue;
		s->peer = peer;
		s->comm = r->comm;
		s->tag = r->tag == TAG_ANY ? s->tag : r->tag;
		return;
	}
}

static struct side *side_new(struct match_world *w, int rank, bool sends, uint32_t place)
{
	struct side *s = xcalloc(1, sizeof(*s));

	s->older = w->newest;
	w->newest = s;
	s->begin_ns = w->now;
	s->place = place;
	s->rank = rank;
	s->sends = s->over = sends;
	s->comm = (int)dice(w, COMMS);
	s->peer = !sends && w->any && !dice(w, 3) ? PEER_ANY : (int)dice(w, RANKS);
	s->tag = !sends && w->any && !dice(w, 3) ? TAG_ANY : (int)dice(w, TAGS);
	if (sends)
		send_choose(w, s);
	s->asked = w->ask_always || dice(w, 8);
	s->roles = roles_of(s);
	return s;
}

/* ---- actions of ranks ---- */

static void do_send(struct match_world *w, int rank)
{
	struct side *s = side_new(w, rank, true, 0);

	match_world_call(w, rank, &send, s->begin_ns, &s->roles);
	s->posted_ns = w->now;
	over_tell(w, s, s->begin_ns, NULL);
	deliver(w, s);
}

/* Whether a receive may block: its message is there, or a rank that is not blocked can send it. */
static bool may_block(const struct match_world *w, const struct side *r)
{
	uint32_t free = 0;

	for (const struct side *s = w->rank[r->rank].unexpected; s; s = s->next)
		if (fits(r, s))
			return true;
	for (int i = 0; i < RANKS; i++)
		free += !w->rank[i].blocked && i != r->rank;
	return free && (r->peer == PEER_ANY || (r->peer != r->rank && !w->rank[r->peer].blocked));
}

static void do_recv(struct match_world *w, int rank)
{
	struct side *s = side_new(w, rank, false, 0);

	if (may_block(w, s)) {
		w->rank[rank].blocked = s;
		deliver(w, s);
		return;
	}
	w->newest = s->older;
	free(s);
}

/* Starts up to START_MAX requests by one call. A single one may be an Isend or Irecv as well. */
static void do_start(struct match_world *w, int rank)
{
	uint32_t n = 1 + dice(w, START_MAX);
	struct rank *k = &w->rank[rank];
	struct call_operation op[START_MAX] = {0};
	struct call_request request[START_MAX];
	struct side *s[START_MAX];
	struct call_roles roles = {0};

	if (k->nrequests + n > OPEN_MAX)
		return;
	for (uint32_t i = 0; i < n; i++) {
		s[i] = side_new(w, rank, dice(w, 2), i);
		s[i]->request = ++w->request;
		op[i].func = s[i]->sends ? &match_world_isend : &irecv;
		op[i].roles = s[i]->roles;
		op[i].place = i;
		request[i] = (struct call_request){.handle = s[i]->request,
						   .event = n > 1 ? REQUEST_RESTART : REQUEST_START,
						   .op = n > 1 ? &op[i] : NULL};
		k->request[k->nrequests++] = s[i];
	}
	if (n == 1)
		roles = s[0]->roles;
	roles.requests = request;
	roles.nrequests = n;
	match_world_call(w, rank, n > 1 ? &start : op[0].func, s[0]->begin_ns, &roles);
	for (uint32_t i = 0; i < n; i++) {
		s[i]->posted_ns = w->now;
		deliver(w, s[i]);
	}
}

/* Passes a call about one request. */
static void request_tell(struct match_world *w, const struct side *s, const struct func_info *f,
			 enum request_event event)
{
	const struct call_operation op = {.func = s->sends ? &match_world_isend : &irecv,
					  .begin_ns = s->begin_ns,
					  .place = s->place,
					  .roles = s->roles};
	struct call_request q = {.handle = s->request, .event = event, .op = &op};
	const struct call_roles roles = {.requests = &q, .nrequests = 1};

	match_world_call(w, s->rank, f, w->now, &roles);
}

/* Removes a receive from the posted ones. */
static void withdraw(struct match_world *w, const struct side *s)
{
	struct side **at = &w->rank[s->rank].posted;

	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
}

/*
 * Completes a request that is over, or frees it. Now and then it cancels a receive that is not
 * over, or frees the request of one.
 */
static void do_wait(struct match_world *w, int rank, uint32_t i)
{
	struct rank *k = &w->rank[rank];
	struct side *s = i < k->nrequests ? k->request[i] : NULL;
	struct call_request done = {.event = REQUEST_COMPLETE};
	uint64_t begin_ns = w->now;

	if (!s || (!s->over && dice(w, 20)))
		return;
	done.handle = s->request;
	k->request[i] = k->request[--k->nrequests];
	if (!w->ask_always && !dice(w, 16)) {
		s->freed = true;
		request_tell(w, s, &request_free, REQUEST_FREE);
		return;
	}
	request_tell(w, s, &match_world_wait, REQUEST_COMPLETE);
	if (s->over) {
		over_tell(w, s, begin_ns, &done);
		return;
	}
	withdraw(w, s);
	w->a.sink.operation(&w->a, &(struct model_operation){.thread = &w->thread[rank],
							     .func = &irecv,
							     .roles = &s->roles,
							     .begin_ns = s->begin_ns,
							     .place = s->place,
							     .completion = &done});
}

void match_world_step(struct match_world *w)
{
	int rank = (int)dice(w, RANKS);

	w->now += 1 + dice(w, 3);
	if (w->rank[rank].blocked)
		return;
	switch (dice(w, 8)) {
	case 0:
		do_send(w, rank);
		break;
	case 1:
		do_recv(w, rank);
		break;
	case 2:
	case 3:
		do_start(w, rank);
		break;
	default:
		do_wait(w, rank, dice(w, OPEN_MAX));
	}
}

void match_world_drain(struct match_world *w)
{
	for (int left = RANKS; left;) {
		int rank = (int)dice(w, RANKS);

		w->now++;
		if (!w->rank[rank].blocked)
			do_send(w, rank);
		left = 0;
		for (int i = 0; i < RANKS; i++)
			left += w->rank[i].blocked != NULL;
	}
	for (int rank = 0; rank < RANKS; rank++) {
		for (uint32_t i = OPEN_MAX; i--;) {
			if (i < w->rank[rank].nrequests && w->rank[rank].request[i]->over)
				do_wait(w, rank, i);
		}
	}
}

/* ---- life ---- */

void match_world_open(struct match_world *w, uint64_t seed, bool any, bool ask_always)
{
	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->any = any;
	w->ask_always = ask_always;
	w->now = 5000;
	mfix_ranks(&w->f, "\"sched\":\"off\",\"rings\":1", RANKS, w->thread);
	matches_init(&w->a, on_match, w);
	mfix_sink_start(&w->a.sink, w->f.model);
}

void match_world_close(struct match_world *w)
{
	while (w->newest) {
		struct side *s = w->newest;

		w->newest = s->older;
		free(s);
	}
	map_release(&w->by_begin);
	matches_release(&w->a);
	mfix_release(&w->f);
}

/* ---- one by one ---- */

struct side *match_world_post(struct match_world *w, int rank, bool sends, int peer, bool started)
{
	struct side *s = side_new(w, rank, sends, 0);
	struct call_request q = {.event = REQUEST_START};
	struct call_roles roles;

	s->comm = s->tag = 0;
	s->peer = peer;
	s->asked = sends;
	s->roles = roles_of(s);
	roles = s->roles;
	if (started) {
		q.handle = s->request = ++w->request;
		roles.requests = &q;
		roles.nrequests = 1;
	}
	if (started || sends)
		match_world_call(w, rank, sends ? &match_world_isend : &irecv, s->begin_ns, &roles);
	else
		w->rank[rank].blocked = s;
	s->posted_ns = ++w->now;
	if (sends && !started)
		over_tell(w, s, s->begin_ns, NULL);
	deliver(w, s);
	w->now++;
	return s;
}

void match_world_complete(struct match_world *w, const struct side *s)
{
	const struct call_request done = {.handle = s->request, .event = REQUEST_COMPLETE};
	uint64_t begin_ns = w->now;

	request_tell(w, s, &match_world_wait, REQUEST_COMPLETE);
	over_tell(w, s, begin_ns, &done);
	w->now++;
}

void match_world_cancel(struct match_world *w, struct side *r)
{
	request_tell(w, r, &cancel, REQUEST_CANCEL);
	withdraw(w, r);
}
