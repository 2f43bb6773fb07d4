/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Posts: data and requests that calls below MPI hand to the network, or learn from it
 * (layers/post.h). They have separate tracks in the process. Each thread has its own tracks,
 * because slices nest per thread: one per transport for posts, one for completions, one for
 * arrivals. A post lasts as long as its call. Several posts of one call share its time evenly, in
 * order, because their individual times are unknown.
 */
#include "timeline/timeline_priv.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

/* ---- arrows ---- */

/*
 * Arrows from a post to its completion, where both have the same queue and id. They run between an
 * instant "posted" and an instant "completed", as for wake-ups (timeline_arrow.c), because a
 * thread may report a completion before another thread reports the post.
 * Ids recur, and a program may give all posts the same one. Within a queue, posts complete in
 * order, so everything before a post known to be completed is completed, too. Each receive has a
 * completion: it belongs to the first one waiting. Sends need not have one (unsignalled). No arrow
 * is drawn if several sends with the id are waiting, because it is unknown which one completed. The
 * same holds if the completion's side is unknown and posts of both sides are waiting. Where calls
 * were lost, everything is forgotten. Ends without a partner wait; if too many do, the oldest are
 * forgotten.
 */

#define BUCKETS 65536
#define QUEUES_MAX 65536 /* queues with known progress */
#define LOOKS_MAX 64	 /* waiting completions examined per post */

enum end_kind { END_POST, END_COMPLETION, END_KINDS };
TAILQ_HEAD(end_list, pair_end);

/* Time up to which posts of a queue are known to be completed, for sends and for receives. */
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
 * Finds the post that a completion belongs to. NULL if it was not seen, or if several fit
 * (*several). Prefers posts that are not known to be completed. Without any, takes the last of the
 * others, because a queue may complete out of order.
 */
static struct pair_end *post_find(struct tl_pairs *pairs, const struct pair_end *completion,
				  bool *several)
{
	struct end_list *bucket = bucket_of(pairs, completion, END_POST);
	struct pair_end *next, *passed = NULL, *first = NULL, *receive = NULL;

	for (struct pair_end *post = TAILQ_FIRST(bucket); post; post = next) {
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
			end_drop(pairs, first); /* one of both is completed: forget the older */
			*several = true;
			return NULL;
		} else {
			first = post;
		}
	}
	*several = receive && first;
	return *several ? NULL : receive ?: first ?: passed;
}

/* Finds a post's completion that another thread reported before: the oldest of the latest ones. */
static struct pair_end *completion_find(struct tl_pairs *pairs, const struct pair_end *post)
{
	struct end_list *bucket = bucket_of(pairs, post, END_COMPLETION);
	struct pair_end *found = NULL;
	uint32_t looks = 0;

	for (struct pair_end *c = TAILQ_LAST(bucket, end_list); c && looks < LOOKS_MAX; looks++) {
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

/* ---- timeline_post.c. s: slice of the post or completion, placed on t ---- */
static void tl_pair_add(struct timeline *tl, struct track *t, const struct slice *s,
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

/* ---- posts ---- */

#define TRANSPORTS_MAX 24 /* tracks of a thread with a transport of their own */

enum post_role { ROLE_POST, ROLE_COMPLETION, ROLE_ARRIVAL, ROLE_CNT };

struct tl_post_track {
	struct tl_post_track *next;
	struct track *track;
	enum post_role role;
	const char *layer; /* all functions of a layer share one string */
	char *transport;   /* "": not distinguished; owned */
};

static const char *const role_name[ROLE_CNT] = {
	[ROLE_POST] = "posts",
	[ROLE_COMPLETION] = "completions",
	[ROLE_ARRIVAL] = "arrivals",
};

static enum post_role role_of(const struct call_post *p)
{
	return p->kind == POST_COMPLETION ? ROLE_COMPLETION :
	       p->kind == POST_ARRIVAL	  ? ROLE_ARRIVAL :
					    ROLE_POST;
}

static const char *carrier_name(const struct call_post *p)
{
	return p->carrier == CARRIER_UNKNOWN ? NULL : post_carrier_name(p->carrier);
}

/* The transport that selects a post's track. */
static const char *transport_of(const struct call_post *p)
{
	if (role_of(p) != ROLE_POST)
		return "";
	return p->transport ?: carrier_name(p) ?: "";
}

static bool track_is_same(const struct call_post *a, const struct call_post *b)
{
	return role_of(a) == role_of(b) && !strcmp(transport_of(a), transport_of(b));
}

/* ---- tracks ---- */

/* "posts: rc (verbs)", with the thread's number unless it is the first one. */
static char *post_track_name(const struct tl_post_track *pt, const struct model_thread *t)
{
	const char *sep = *pt->transport ? ": " : "";

	if (t->proc && t->tid == t->proc->pid)
		return xasprintf("%s%s%s (%s)", role_name[pt->role], sep, pt->transport, pt->layer);
	return xasprintf("%s%s%s (%s) of %u", role_name[pt->role], sep, pt->transport, pt->layer,
			 t->tid);
}

static struct track *post_track(struct timeline *tl, struct tl_thread *th, const char *layer,
				const struct call_post *p)
{
	const char *transport = transport_of(p);
	struct tl_post_track *pt, **last = &th->post_tracks;
	enum post_role role = role_of(p);
	uint32_t cnt = 0;

	for (; (pt = *last); last = &pt->next, cnt++) {
		if (cnt == TRANSPORTS_MAX)
			transport = "";
		if (pt->role == role && pt->layer == layer && !strcmp(pt->transport, transport))
			return pt->track;
	}
	pt = *last = xcalloc(1, sizeof(*pt));
	pt->role = role;
	pt->layer = layer;
	pt->transport = xstrdup(transport);
	pt->track = tl_track_new(tl, TRACK_POST, th->track.pid,
				 (th->track.order * ROLE_CNT + role) * 64 + cnt,
				 post_track_name(pt, th->model));
	return pt->track;
}

void tl_post_tracks_free(struct tl_thread *th)
{
	struct tl_post_track *pt;

	while ((pt = th->post_tracks)) {
		th->post_tracks = pt->next;
		free(pt->transport);
		free(pt);
	}
}

/* ---- names and args ---- */

/* "am_bcopy RTS": the operation and, for a protocol, its step. */
static void post_name(const struct call_post *p, char name[TL_POST_NAME_BYTES])
{
	const char *op = p->op ?: post_kind_name(p->kind), *step = post_step_name(p->step);

	if (step && !strcmp(op, step))
		step = NULL;
	snprintf(name, TL_POST_NAME_BYTES, "%s%s%s", op, step ? " " : "", step ?: "");
}

const char *tl_post_mpi_call(const struct model_post *p)
{
	if (p->within)
		return p->within->func->name;
	return p->within_unknown ? "not known" : "in no MPI call";
}

static void args_add_known_text(struct writer_args *a, const char *name, const char *text)
{
	if (text)
		args_add_text(a, name, text);
}

static void args_add_known_hex(struct writer_args *a, const char *name, uint64_t v)
{
	if (v)
		args_add_hex(a, name, v);
}

static void post_args(struct writer_args *a, const struct call_post *p)
{
	if (p->bytes != BYTES_UNKNOWN)
		args_add_int(a, "bytes", p->bytes);
	args_add_known_text(a, "dest", p->dest);
	args_add_known_text(a, "transport", p->transport);
	args_add_known_text(a, "carrier", carrier_name(p));
	args_add_known_text(a, "device", p->device);
	args_add_known_text(a, "local_end", p->local_end);
	args_add_known_text(a, "remote_end", p->remote_end);
	args_add_known_text(a, "step", post_step_name(p->step));
	args_add_known_hex(a, "queue", p->queue);
	if (p->has_id)
		args_add_hex(a, "id", p->id);
	args_add_known_hex(a, "message", p->message);
	if (p->failed)
		args_add_bool(a, "failed", true);
}

static void around_args(struct timeline *tl, const struct tl_thread *th, const struct model_post *p)
{
	struct writer_args *a = &tl->args;

	args_add_text(a, "function", p->call->func->name);
	args_add_uint(a, "thread", th->track.tid);
	args_add_text(a, "mpi_call", tl_post_mpi_call(p));
	if (p->within) {
		args_add_us(a, "mpi_call_us",
			    p->within->begin_ns > tl->opt.start_ns ?
				    p->within->begin_ns - tl->opt.start_ns :
				    0);
		args_add_known_hex(a, "mpi_request", p->within->request);
	} else {
		args_add_text(a, "thread_name", th->model->comm);
	}
	if (p->call->open)
		args_add_bool(a, "open", true);
}

/* ---- slices ---- */

/*
 * Gives a post its part of the call's time. Posts of the call on the same track follow one another.
 */
static void post_share_time(const struct model_post *p, struct slice *s, struct writer_args *a)
{
	const struct call_view *view = p->call->view;
	uint64_t step_ns;
	uint32_t before = 0, cnt = 0;

	for (uint32_t i = 0; i < view->nposts; i++) {
		if (!track_is_same(&view->posts[i], p->post))
			continue;
		before += &view->posts[i] < p->post;
		cnt++;
	}
	if (cnt < 2)
		return;
	args_add_text(a, "of_call", args_keep(a, "%u of %u", before + 1, cnt));
	if (s->open || s->end_ns < s->begin_ns)
		return;
	step_ns = (s->end_ns - s->begin_ns) / cnt;
	s->begin_ns += before * step_ns;
	if (before + 1 < cnt)
		s->end_ns = s->begin_ns + step_ns;
}

static void post_count(struct writer_totals *totals, enum post_role role)
{
	totals->posts += role == ROLE_POST;
	totals->completions += role == ROLE_COMPLETION;
	totals->arrivals += role == ROLE_ARRIVAL;
}

/*
 * A slice without length, or cut down to nothing at the recording's start, cannot hold an arrow's
 * end.
 */
static bool post_may_be_paired(const struct timeline *tl, const struct call_post *p,
			       const struct slice *s)
{
	return p->has_id && p->kind != POST_ARRIVAL && s->end_ns > s->begin_ns &&
	       s->end_ns > tl->opt.start_ns;
}

void tl_post(struct timeline *tl, struct tl_thread *th, const struct model_post *p)
{
	struct track *t = post_track(tl, th, p->call->func->layer_name, p->post);
	struct slice s = {.begin_ns = p->call->begin_ns,
			  .end_ns = p->call->end_ns,
			  .open = p->call->open,
			  .category = post_kind_name(p->post->kind),
			  .few_names = true,
			  .args = &tl->args};
	char name[TL_POST_NAME_BYTES];
	bool placed;

	post_name(p->post, name);
	s.name = name;
	args_reset(&tl->args);
	post_args(&tl->args, p->post);
	post_share_time(p, &s, &tl->args);
	around_args(tl, th, p);
	placed = tl_track_add(tl, t, &s, p->call->depth, false);
	post_count(tl->totals, role_of(p->post));
	if (placed && !s.open && post_may_be_paired(tl, p->post, &s))
		tl_pair_add(tl, t, &s, p);
	if (p->post->message)
		tl_message_add(tl, th, &s, p);
}
