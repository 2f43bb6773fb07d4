/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sends and receives matched, against a small MPI that knows the truth: it has the two queues that real ones have, of receives that
 * were posted and of messages that nobody expected, and ranks that do at random whatever is legal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/match.h"
#include "base/log.h"
#include "unit/model_fixture.h"

#define RANKS 5
#define COMMS 2
#define TAGS 3
#define OPEN_MAX 64 /* requests of a rank */
#define START_MAX 4 /* posted by one call */

static const struct func_info isend = {.name = "MPI_Isend", .layer_name = "mpi"};
static const struct func_info irecv = {.name = "MPI_Irecv", .layer_name = "mpi"};
static const struct func_info send = {.name = "MPI_Send", .layer_name = "mpi"};
static const struct func_info recv = {.name = "MPI_Recv", .layer_name = "mpi"};
static const struct func_info wait = {.name = "MPI_Wait", .layer_name = "mpi"};
static const struct func_info start = {.name = "MPI_Startall", .layer_name = "mpi"};
static const struct func_info request_free = {.name = "MPI_Request_free", .layer_name = "mpi"};
static const struct func_info cancel = {.name = "MPI_Cancel", .layer_name = "mpi"};

/* One end, in the truth. */
struct side {
	struct side *next;  /* in a queue */
	struct side *older; /* of all */
	uint64_t request;   /* 0: the call blocks */
	uint64_t begin_ns, posted_ns;
	uint32_t place;
	int rank, peer, comm,
		tag; /* peer and tag of a receive: or PEER_ANY, TAG_ANY; once it is over, those it got */
	bool sends, over;
	bool asked; /* for the status */
	bool freed; /* its request: nobody is told when it is over */
	bool found;
	struct side *other;
	struct call_roles roles; /* as it was posted */
};

struct rank {
	struct side *posted, *unexpected; /* in order */
	struct side *request[OPEN_MAX];
	uint32_t nrequests;
	struct side *blocked; /* in a receive */
};

struct world {
	struct mfix f;
	struct matches a;
	struct model_thread thread[RANKS];
	struct rank rank[RANKS];
	struct side *newest;
	struct map by_begin; /* begin, place → struct side */
	uint64_t now, request;
	uint64_t seed;
	bool ask_always, any;
	bool assumed;	      /* what is told, all of it */
	uint32_t told, truly; /* messages */
};

static uint32_t dice(struct world *w, uint32_t n)
{
	w->seed ^= w->seed << 13;
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return (uint32_t)((w->seed >> 11) % n);
}

/* ---- what the analysis says ---- */

static uint64_t side_key(uint64_t begin_ns, uint32_t place, bool sends)
{
	return begin_ns << 8 | place << 1 | sends;
}

/* The first one of a call in which several may have been posted, that is in this lane and has not been told yet. */
static struct side *side_find(struct world *w, const struct match *m, bool sends)
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
	struct world *w = ctx;
	struct side *s = side_find(w, m, true), *r = side_find(w, m, false);

	s->found = r->found = true;
	w->told++;
	assert_ptr_equal(s->other, r);
	assert_int_equal(m->bytes, 8);
	assert_int_equal(m->assumed, w->assumed);
}

/* ---- what the model tells ---- */

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

static void call_tell(struct world *w, int rank, const struct func_info *f, uint64_t begin_ns,
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

static void over_tell(struct world *w, const struct side *s, uint64_t completing_ns,
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

static void unite(struct world *w, struct side *s, struct side *r)
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
	call_tell(w, r->rank, &recv, r->begin_ns, &r->roles);
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

/* What is sent is buffered. */
static void deliver(struct world *w, struct side *s)
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

/* What somebody waits for, if there is such a one. */
static void send_choose(struct world *w, struct side *s)
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

static struct side *side_new(struct world *w, int rank, bool sends, uint32_t place)
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

/* ---- what ranks do ---- */

static void do_send(struct world *w, int rank)
{
	struct side *s = side_new(w, rank, true, 0);

	call_tell(w, rank, &send, s->begin_ns, &s->roles);
	s->posted_ns = w->now;
	over_tell(w, s, s->begin_ns, NULL);
	deliver(w, s);
}

/* Its message is there, or somebody who is not blocked can send it. */
static bool may_block(const struct world *w, const struct side *r)
{
	uint32_t free = 0;

	for (const struct side *s = w->rank[r->rank].unexpected; s; s = s->next)
		if (fits(r, s))
			return true;
	for (int i = 0; i < RANKS; i++)
		free += !w->rank[i].blocked && i != r->rank;
	return free && (r->peer == PEER_ANY || (r->peer != r->rank && !w->rank[r->peer].blocked));
}

static void do_recv(struct world *w, int rank)
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

/* As many as one call can start; one may be an Isend or Irecv as well. */
static void do_start(struct world *w, int rank)
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
		op[i].func = s[i]->sends ? &isend : &irecv;
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
	call_tell(w, rank, n > 1 ? &start : op[0].func, s[0]->begin_ns, &roles);
	for (uint32_t i = 0; i < n; i++) {
		s[i]->posted_ns = w->now;
		deliver(w, s[i]);
	}
}

/* A call about the request of one. */
static void request_tell(struct world *w, const struct side *s, const struct func_info *f,
			 enum request_event event)
{
	const struct call_operation op = {.func = s->sends ? &isend : &irecv,
					  .begin_ns = s->begin_ns,
					  .place = s->place,
					  .roles = s->roles};
	struct call_request q = {.handle = s->request, .event = event, .op = &op};
	const struct call_roles roles = {.requests = &q, .nrequests = 1};

	call_tell(w, s->rank, f, w->now, &roles);
}

/* Of those that are over any one; of those that are not, a receive may be cancelled. Or the request is freed. */
static void do_wait(struct world *w, int rank, uint32_t i)
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
	request_tell(w, s, &wait, REQUEST_COMPLETE);
	if (s->over) {
		over_tell(w, s, begin_ns, &done);
		return;
	}
	for (struct side **at = &k->posted; *at; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			break;
		}
	}
	w->a.sink.operation(&w->a, &(struct model_operation){.thread = &w->thread[rank],
							     .func = &irecv,
							     .roles = &s->roles,
							     .begin_ns = s->begin_ns,
							     .place = s->place,
							     .completion = &done});
}

static void step(struct world *w)
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

/* Everybody gets what it is blocked for, and then waits for all that is over. */
static void drain(struct world *w)
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

/* ---- */

static void world_open(struct world *w, uint64_t seed, bool any, bool ask_always)
{
	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->any = any;
	w->ask_always = ask_always;
	w->now = 5000;
	mfix_begin(&w->f, "\"sched\":\"off\",\"rings\":1");
	for (uint32_t i = 0; i < RANKS; i++) {
		mfix_rank(&w->f, 1000, 100 + i, (int)i, "app");
		put_task(&w->f, 1000, 100 + i, 100 + i, 0, 1, 0, "app");
	}
	mfix_end(&w->f, 2000);
	mfix_open(&w->f, false);
	for (uint32_t i = 0; i < RANKS; i++) {
		struct model_process *p = model_process_get(w->f.model, i);

		assert_int_equal(p->rank, (int)i);
		p->start_ns = 1001; /* its first message is in the trace */
		w->thread[i].proc = p;
	}
	matches_init(&w->a, on_match, w);
	w->a.sink.start(&w->a, w->f.model);
}

static void world_close(struct world *w)
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

/* Every end is counted once. */
static void counts_check(const struct world *w, uint64_t by[MATCH_WHY_CNT])
{
	uint64_t sends = 0, recvs = 0;

	memset(by, 0, MATCH_WHY_CNT * sizeof(*by));
	for (uint32_t i = 0; i < RANKS; i++) {
		const struct match_row *r = matches_of(&w->a, i);

		for (int why = 0; why < MATCH_WHY_CNT; why++) {
			by[why] += r->sends[why] + r->recvs[why];
			sends += r->sends[why];
			recvs += r->recvs[why];
		}
	}
	for (const struct side *s = w->newest; s; s = s->older) {
		bool cancelled = !s->sends && !s->over && s->request && !s->freed;

		for (uint32_t i = 0; cancelled && i < w->rank[s->rank].nrequests; i++)
			cancelled &= w->rank[s->rank].request[i] != s;
		sends -= s->sends;
		recvs -= !s->sends && !cancelled && w->rank[s->rank].blocked != s;
	}
	assert_int_equal(sends, 0);
	assert_int_equal(recvs, 0);
	assert_int_equal(by[MATCHED], 2 * w->told);
}

static void run(uint64_t seed, bool any, bool ask_always, uint64_t by[MATCH_WHY_CNT],
		uint32_t *truly)
{
	struct world w;

	world_open(&w, seed, any, ask_always);
	for (int i = 0; i < 20000; i++)
		step(&w);
	drain(&w);
	assert_int_equal(w.a.sink.finish(&w.a, w.f.model), 0);
	counts_check(&w, by);
	*truly = w.truly;
	world_close(&w);
}

/* All that were received are found, and none is wrong. */
static void all_found(bool any)
{
	uint64_t by[MATCH_WHY_CNT];
	uint32_t truly;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		run(seed * 7919, any, true, by, &truly);
		assert_true(truly > 1000);
		assert_int_equal(by[MATCHED], 2 * truly);
	}
}

static void test_all_known(void **state)
{
	(void)state;
	all_found(false);
}

static void test_wildcards(void **state)
{
	(void)state;
	all_found(true);
}

/* Of some receives from any source, or with any tag, nobody asks for the status: none is wrong, and what cannot be told is said. */
static void test_statuses_ignored(void **state)
{
	uint64_t by[MATCH_WHY_CNT];
	uint32_t truly;

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		run(seed * 7919, true, false, by, &truly);
		assert_true(by[MATCHED] > 0);
		assert_true(by[MATCH_STATUS] > 0);
		assert_int_equal(by[MATCH_CONFLICT], 0);
	}
}

/* ---- one by one ---- */

/* One end, from or to peer; with a request if started. Of a receive nobody asks for the status. */
static struct side *one_end(struct world *w, int rank, bool sends, int peer, bool started)
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
		call_tell(w, rank, sends ? &isend : &irecv, s->begin_ns, &roles);
	else
		w->rank[rank].blocked = s;
	s->posted_ns = ++w->now;
	if (sends && !started)
		over_tell(w, s, s->begin_ns, NULL);
	deliver(w, s);
	w->now++;
	return s;
}

static void complete(struct world *w, const struct side *s)
{
	const struct call_request done = {.handle = s->request, .event = REQUEST_COMPLETE};
	uint64_t begin_ns = w->now;

	request_tell(w, s, &wait, REQUEST_COMPLETE);
	over_tell(w, s, begin_ns, &done);
	w->now++;
}

static uint64_t ends_of(const struct world *w, uint32_t rank, bool sends, enum match_why why)
{
	const struct match_row *r = matches_of(&w->a, rank);

	return (sends ? r->sends : r->recvs)[why];
}

/* Two receives have taken two messages, nobody knows which; the sends are still under way when that is looked at. */
static void test_sends_under_way(void **state)
{
	struct world w;
	struct side *s[2];

	(void)state;
	world_open(&w, 1, true, false);
	s[0] = one_end(&w, 0, true, 1, true);
	s[1] = one_end(&w, 2, true, 1, true);
	(void)one_end(&w, 1, false, PEER_ANY, false);
	(void)one_end(&w, 1, false, PEER_ANY, false);
	for (int i = 0; i < 3000; i++)
		call_tell(&w, 3, &wait, w.now, &(struct call_roles){0});
	complete(&w, s[1]);
	complete(&w, s[0]);
	assert_int_equal(w.a.sink.finish(&w.a, w.f.model), 0);
	assert_int_equal(w.told, 0);
	assert_int_equal(ends_of(&w, 1, false, MATCH_STATUS), 2);
	assert_int_equal(ends_of(&w, 0, true, MATCH_BEHIND), 1);
	assert_int_equal(ends_of(&w, 2, true, MATCH_BEHIND), 1);
	world_close(&w);
}

/* A receive was to be cancelled, and nobody asked whether it was: the message goes to the next one, which may be wrong. */
static void test_cancelled(void **state)
{
	struct world w;
	struct side *r;

	(void)state;
	world_open(&w, 1, false, false);
	w.assumed = true;
	r = one_end(&w, 1, false, 0, true);
	request_tell(&w, r, &cancel, REQUEST_CANCEL);
	(void)take(&w.rank[1].posted, &(struct side){.sends = true, .tag = 0});
	complete(&w, r);
	(void)one_end(&w, 0, true, 1, false);
	(void)one_end(&w, 1, false, 0, false);
	assert_int_equal(w.a.sink.finish(&w.a, w.f.model), 0);
	assert_int_equal(w.told, 1);
	assert_int_equal(ends_of(&w, 1, false, MATCHED), 1);
	world_close(&w);
}

/* The same, and a third one sends before anybody looks: that is clear again, though it came into the same inbox. */
static void test_clear_again(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 1, true, false);
	(void)one_end(&w, 0, true, 1, false);
	(void)one_end(&w, 2, true, 1, false);
	(void)one_end(&w, 1, false, PEER_ANY, false);
	(void)one_end(&w, 1, false, PEER_ANY, false);
	(void)one_end(&w, 3, true, 1, false);
	(void)one_end(&w, 1, false, PEER_ANY, false);
	assert_int_equal(w.a.sink.finish(&w.a, w.f.model), 0);
	assert_int_equal(w.told, 1);
	assert_int_equal(ends_of(&w, 1, false, MATCH_STATUS), 2);
	assert_int_equal(ends_of(&w, 3, true, MATCHED), 1);
	world_close(&w);
}

/* Somebody has sent in the same communicator to nobody knows whom: it may have been this one. */
static void test_sent_to_unknown(void **state)
{
	struct call_roles roles = {.sends = true,
				   .has_peer = true,
				   .has_tag = true,
				   .peer = 1,
				   .peer_world = -1,
				   .peer_why = PEER_UNKNOWN_ORDER,
				   .comm_id = 1};
	struct call_request q = {.event = REQUEST_START, .handle = 1000};
	struct world w;

	(void)state;
	world_open(&w, 1, true, false);
	roles.requests = &q;
	roles.nrequests = 1;
	call_tell(&w, 2, &isend, w.now, &roles);
	(void)one_end(&w, 0, true, 1, false);
	(void)one_end(&w, 1, false, PEER_ANY, false);
	assert_int_equal(w.a.sink.finish(&w.a, w.f.model), 0);
	assert_int_equal(w.told, 0);
	assert_int_equal(ends_of(&w, 2, true, MATCH_PEER_UNKNOWN), 1);
	assert_int_equal(ends_of(&w, 1, false, MATCH_STATUS), 1);
	assert_int_equal(ends_of(&w, 0, true, MATCH_BEHIND), 1);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sends_under_way),	 cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_all_known),	 cmocka_unit_test(test_wildcards),
		cmocka_unit_test(test_statuses_ignored), cmocka_unit_test(test_clear_again),
		cmocka_unit_test(test_sent_to_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
