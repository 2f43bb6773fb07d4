/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arrows from a post to its completion, where both have the same queue and id. They run between an
 * instant "posted" and an instant "completed", as for wake-ups (timeline_arrow_wake.c), because a
 * thread may report a completion before another thread reports the post.
 * Ids recur, and a program may give all posts the same one. Within a queue, posts complete in
 * order, so everything before a post known to be completed is completed, too. Each receive has a
 * completion: it belongs to the first one waiting. Sends need not have one (unsignalled). No arrow
 * is drawn if several sends with the id are waiting, because it is unknown which one completed. The
 * same holds if the completion's side is unknown and posts of both sides are waiting. Where calls
 * were lost, everything is forgotten. Ends without a partner wait; if too many do, the oldest are
 * forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "timeline/timeline_priv.h"

#define BUCKETS 65536
#define QUEUES_MAX 65536 /* queues with known progress */
#define LOOKS_MAX 64	 /* waiting completions examined per post */

enum end_kind { END_POST, END_COMPLETION, END_KINDS };
TAILQ_HEAD(end_list, pair_end);

/*
 * Time up to which posts of a queue are known to be completed. Sends and receives are queues of
 * their own.
 */
struct pair_queue {
	uint64_t passed_ns[2];
};

struct pair_end {
	TAILQ_ENTRY(pair_end) of_all, of_bucket;
	struct end_list *bucket;
	struct track *track;
	const char *layer;
	uint64_t queue, id, ts_ns;
	enum end_kind kind;
	/* side_unknown: it failed, or its operation was not reported */
	bool receives, side_unknown;
};

struct tl_pairs {
	struct end_list all; /* oldest first, like the buckets */
	uint32_t cnt;
	struct end_list bucket[END_KINDS][BUCKETS];
	struct map queues;
};

/* ---- keys ---- */

static uint64_t queue_key(const struct pair_end *e)
{
	return tl_mix(tl_mix((uintptr_t)e->layer, e->track->pid), e->queue);
}

static struct end_list *bucket_of(struct tl_pairs *pairs, const struct pair_end *e,
				  enum end_kind kind)
{
	return &pairs->bucket[kind][tl_mix(queue_key(e), e->id) % BUCKETS];
}

static bool key_is_same(const struct pair_end *a, const struct pair_end *b)
{
	return a->id == b->id && a->queue == b->queue && a->layer == b->layer &&
	       a->track->pid == b->track->pid;
}

static uint64_t passed_ns(const struct tl_pairs *pairs, const struct pair_end *post)
{
	const struct pair_queue *q = map_get(&pairs->queues, queue_key(post));

	return q ? q->passed_ns[post->receives] : 0;
}

static void queue_pass(struct tl_pairs *pairs, const struct pair_end *post)
{
	struct pair_queue *q;

	if (pairs->queues.cnt >= QUEUES_MAX)
		map_free(&pairs->queues, free);
	q = map_make(&pairs->queues, queue_key(post), sizeof(*q));
	if (post->ts_ns > q->passed_ns[post->receives])
		q->passed_ns[post->receives] = post->ts_ns;
}

/* ---- waiting ends ---- */

static void end_drop(struct tl_pairs *pairs, struct pair_end *e)
{
	TAILQ_REMOVE(&pairs->all, e, of_all);
	TAILQ_REMOVE(e->bucket, e, of_bucket);
	pairs->cnt--;
	free(e);
}

static void end_forget(struct timeline *tl, struct pair_end *e)
{
	tl->totals->unpaired += e->kind == END_COMPLETION;
	end_drop(tl->pairs, e);
}

static void end_keep(struct timeline *tl, const struct pair_end *e)
{
	struct tl_pairs *pairs = tl->pairs;
	struct pair_end *kept;

	if (pairs->cnt >= TIMELINE_PAIRS_MAX)
		end_forget(tl, TAILQ_FIRST(&pairs->all));
	kept = xmalloc(sizeof(*kept));
	*kept = *e;
	kept->bucket = bucket_of(pairs, e, e->kind);
	TAILQ_INSERT_TAIL(&pairs->all, kept, of_all);
	TAILQ_INSERT_TAIL(kept->bucket, kept, of_bucket);
	pairs->cnt++;
}

static bool completion_may_match(const struct pair_end *completion, const struct pair_end *post)
{
	return key_is_same(post, completion) && post->ts_ns < completion->ts_ns &&
	       (completion->side_unknown || completion->receives == post->receives);
}

/*
 * The post that a completion belongs to; NULL if it was not seen or is one of several. Among passed
 * posts only the last one is considered, for queues that complete in another order.
 */
static struct pair_end *post_find(struct tl_pairs *pairs, const struct pair_end *completion,
				  bool *several)
{
	struct end_list *bucket = bucket_of(pairs, completion, END_POST);
	struct pair_end *post, *next, *passed = NULL, *first = NULL, *receive = NULL;

	for (post = TAILQ_FIRST(bucket); post; post = next) {
		next = TAILQ_NEXT(post, of_bucket);
		if (!completion_may_match(completion, post))
			continue;
		if (post->ts_ns <= passed_ns(pairs, post)) {
			if (passed)
				end_drop(pairs, passed);
			passed = post;
		} else if (post->receives) {
			receive = receive ?: post;
			if (!completion->side_unknown)
				break;
		} else if (first) {
			end_drop(pairs, first); /* completed, whichever post this belongs to */
			*several = true;
			return NULL;
		} else {
			first = post;
		}
	}
	*several = receive && first;
	return *several ? NULL : receive ?: first ?: passed;
}

/*
 * The completion of a post that another thread reported: the first one after it, among the latest.
 */
static struct pair_end *completion_find(struct tl_pairs *pairs, const struct pair_end *post)
{
	struct end_list *bucket = bucket_of(pairs, post, END_COMPLETION);
	struct pair_end *c, *found = NULL;
	uint32_t looks = 0;

	for (c = TAILQ_LAST(bucket, end_list); c && looks < LOOKS_MAX; looks++) {
		if (completion_may_match(c, post))
			found = c;
		c = TAILQ_PREV(c, end_list, of_bucket);
	}
	return found;
}

/* ---- arrows ---- */

static void pair_end_write(struct timeline *tl, const struct pair_end *e, struct slice *s)
{
	s->category = "completion";
	s->begin_ns = e->ts_ns;
	tl_instant_write(tl, e->track, s);
}

static void pair_write(struct timeline *tl, const struct pair_end *post,
		       const struct pair_end *completion)
{
	uint64_t flow_id = ++tl->flow_id;

	args_reset(&tl->args);
	pair_end_write(tl, post, &(struct slice){.name = "posted", .flow_out = flow_id});
	args_add_us(&tl->args, "latency_us", completion->ts_ns - post->ts_ns);
	pair_end_write(tl, completion, &(struct slice){.name = "completed", .flow_in = flow_id});
	tl->totals->flows++;
	tl->totals->pairs++;
}

static void pairs_init(struct timeline *tl)
{
	tl->pairs = xcalloc(1, sizeof(*tl->pairs));
	TAILQ_INIT(&tl->pairs->all);
	for (int kind = 0; kind < END_KINDS; kind++) {
		for (uint32_t i = 0; i < BUCKETS; i++)
			TAILQ_INIT(&tl->pairs->bucket[kind][i]);
	}
}

/* A completion is learned when its call returns, so its instant is at the end of its slice. */
static struct pair_end pair_end_from_post(struct track *t, const struct slice *s,
					  const struct model_post *p)
{
	const struct call_post *cp = p->post;
	bool completes = cp->kind == POST_COMPLETION;

	return (struct pair_end){
		.track = t,
		.layer = p->call->func->layer_name,
		.queue = cp->queue,
		.id = cp->id,
		.ts_ns = completes ? s->end_ns - 1 : s->begin_ns,
		.kind = completes ? END_COMPLETION : END_POST,
		.receives = completes ? cp->op && strcasestr(cp->op, "recv") :
					cp->kind == POST_RECV,
		.side_unknown = completes && (cp->failed || !cp->op),
	};
}

void tl_pair_add(struct timeline *tl, struct track *t, const struct slice *s,
		 const struct model_post *p)
{
	const struct pair_end e = pair_end_from_post(t, s, p);
	const struct pair_end *post = &e, *completion = &e;
	struct pair_end *partner;
	bool several = false;

	if (e.kind == END_POST && p->post->failed)
		return;
	if (e.ts_ns < tl->pairs_since_ns) {
		tl->totals->unpaired += e.kind == END_COMPLETION;
		return;
	}
	if (!tl->pairs)
		pairs_init(tl);
	if (e.kind == END_COMPLETION)
		post = partner = post_find(tl->pairs, &e, &several);
	else
		completion = partner = completion_find(tl->pairs, &e);
	tl->totals->unpaired += several;
	if (!partner && !several)
		end_keep(tl, &e);
	if (!partner)
		return;
	pair_write(tl, post, completion);
	queue_pass(tl->pairs, post);
	end_drop(tl->pairs, partner);
}

void tl_pairs_forget(struct timeline *tl, uint64_t until_ns)
{
	struct pair_end *e;

	if (until_ns > tl->pairs_since_ns)
		tl->pairs_since_ns = until_ns;
	if (!tl->pairs)
		return;
	while ((e = TAILQ_FIRST(&tl->pairs->all)))
		end_forget(tl, e);
	map_free(&tl->pairs->queues, free);
}

void tl_pairs_free(struct timeline *tl)
{
	if (tl->pairs)
		tl_pairs_forget(tl, 0);
	free(tl->pairs);
}
