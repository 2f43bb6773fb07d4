/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What calls below MPI hand to the network or learn from it (layers/post.h), on tracks of their own in the process: of each thread,
 * for that is what slices nest in; posts by transport, completions and arrivals each on one. A post lasts as long as its call; several
 * of one call share its time evenly, in their order, since when each was made is not known.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "timeline/timeline_priv.h"

#define TRANSPORTS_MAX 24 /* of a thread, with tracks of their own */

enum post_role { ROLE_POST, ROLE_COMPLETION, ROLE_ARRIVAL, ROLE_CNT };

struct tl_post_track {
	struct tl_post_track *next;
	struct track *track;
	enum post_role role;
	const char *layer; /* one text for all of its functions */
	char *transport;   /* "": not told apart; owned */
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

/* What posts have tracks by. */
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

/* "posts: rc (verbs)"; of threads other than the first one with their number. */
static char *track_name(const struct tl_post_track *pt, const struct model_thread *t)
{
	const char *sep = *pt->transport ? ": " : "";

	if (t->proc && t->tid == t->proc->pid)
		return xasprintf("%s%s%s (%s)", role_name[pt->role], sep, pt->transport, pt->layer);
	return xasprintf("%s%s%s (%s) of %u", role_name[pt->role], sep, pt->transport, pt->layer,
			 t->tid);
}

static struct track *track_of(struct timeline *tl, struct tl_thread *th, const char *layer,
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
				 track_name(pt, th->model));
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

/* ---- words ---- */

/* "am_bcopy RTS": what it did and, of a protocol, by which step. */
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

static void text_add(struct writer_args *a, const char *name, const char *text)
{
	if (text)
		args_add_text(a, name, text);
}

static void hex_add(struct writer_args *a, const char *name, uint64_t v)
{
	if (v)
		args_add_hex(a, name, v);
}

static void post_args(struct writer_args *a, const struct call_post *p)
{
	if (p->bytes != BYTES_UNKNOWN)
		args_add_int(a, "bytes", p->bytes);
	text_add(a, "dest", p->dest);
	text_add(a, "transport", p->transport);
	text_add(a, "carrier", carrier_name(p));
	text_add(a, "device", p->device);
	text_add(a, "local_end", p->local_end);
	text_add(a, "remote_end", p->remote_end);
	text_add(a, "step", post_step_name(p->step));
	hex_add(a, "queue", p->queue);
	if (p->has_id)
		args_add_hex(a, "id", p->id);
	hex_add(a, "message", p->message);
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
		hex_add(a, "mpi_request", p->within->request);
	} else {
		args_add_text(a, "thread_name", th->model->comm);
	}
	if (p->call->open)
		args_add_bool(a, "open", true);
}

/* ---- slices ---- */

/* A post's part of its call's time: those that share the track follow one another. */
static void share_time(const struct model_post *p, struct slice *s, struct writer_args *a)
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

/* What is cut down to nothing at the recording's start, or has no length, does not hold an end of an arrow. */
static bool may_be_paired(const struct timeline *tl, const struct call_post *p,
			  const struct slice *s)
{
	return p->has_id && p->kind != POST_ARRIVAL && s->end_ns > s->begin_ns &&
	       s->end_ns > tl->opt.start_ns;
}

void tl_post(struct timeline *tl, struct tl_thread *th, const struct model_post *p)
{
	struct track *t = track_of(tl, th, p->call->func->layer_name, p->post);
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
	share_time(p, &s, &tl->args);
	around_args(tl, th, p);
	placed = tl_track_add(tl, t, &s, p->call->depth, false);
	post_count(tl->totals, role_of(p->post));
	if (placed && !s.open && may_be_paired(tl, p->post, &s))
		tl_pair_add(tl, t, &s, p);
	if (p->post->message)
		tl_message_add(tl, th, &s, p);
}
