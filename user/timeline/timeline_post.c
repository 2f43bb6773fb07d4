/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Posts: data and requests that calls below MPI hand to the network, or learn from it
 * (layers/post.h). They have separate tracks in the process. Each thread has its own tracks,
 * because slices nest per thread: one per transport for posts, one for completions, one for
 * arrivals. A post lasts as long as its call. Several posts of one call share its time evenly, in
 * order, because their individual times are unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "timeline/timeline_priv.h"

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
