/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls and spins. A record arrives when its call ends, so children come before their parents.
 * Nested ones are copied and wait until their outermost call has ended; then all are reported,
 * parents first. Each is decoded by its layer, and its time is split by what the thread did
 * meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "model/what.h"
#include "trace/trace_read.h"

#define PENDING_MAX 16384 /* over all threads */
#define PENDING_BYTES_MAX (16u << 20)

static struct thread_calls *calls_of(struct mthread *t)
{
	if (!t->pub.calls)
		history_restart(t, t->pub.since_ns);
	return t->pub.calls;
}

/* ---- a copy of a decoded call ---- */

struct packer {
	char *at; /* NULL: measure only */
	size_t bytes;
};

static void *packer_add(struct packer *p, const void *data, size_t bytes)
{
	void *copy = p->at;

	bytes = data ? bytes : 0;
	if (p->at) {
		memcpy(p->at, data ? data : "", bytes);
		p->at += (bytes + 7) & ~(size_t)7;
	}
	p->bytes += (bytes + 7) & ~(size_t)7;
	return data ? copy : NULL;
}

static char *pack_text(struct packer *p, const char *s)
{
	return packer_add(p, s, s ? strlen(s) + 1 : 0);
}

static void pack_requests(struct packer *p, struct call_roles *to, const struct call_roles *from)
{
	struct call_request *copy = packer_add(p, from->requests,
					       from->nrequests * sizeof(*from->requests));

	for (uint32_t i = 0; i < from->nrequests; i++) {
		const struct call_operation *op = from->requests[i].op;
		const struct call_operation *packed = packer_add(p, op, sizeof(*op));

		if (copy)
			copy[i].op = packed;
	}
	to->requests = copy;
}

static void pack_window(struct packer *p, struct call_roles *to, const struct call_roles *from)
{
	const struct call_window *w = from->window;
	struct call_window *copy;
	const int32_t *group;

	if (!w)
		return;
	copy = packer_add(p, w, sizeof(*w));
	group = packer_add(p, w->group, w->ngroup * sizeof(*w->group));
	if (copy)
		copy->group = group;
	to->window = copy;
}

static void pack_posts(struct packer *p, struct call_view *to, const struct call_view *from)
{
	struct call_post *copy = packer_add(p, from->posts, from->nposts * sizeof(*from->posts));
	struct call_post scratch = {0};

	for (uint32_t i = 0; i < from->nposts; i++) {
		const struct call_post *post = &from->posts[i];
		struct call_post *packed = copy ? &copy[i] : &scratch;

		packed->op = pack_text(p, post->op);
		packed->transport = pack_text(p, post->transport);
		packed->device = pack_text(p, post->device);
		packed->dest = pack_text(p, post->dest);
		packed->local_end = pack_text(p, post->local_end);
		packed->remote_end = pack_text(p, post->remote_end);
	}
	to->posts = copy;
}

/* Copies what the view points to. `to` must already be a flat copy of it. */
static void pack_view(struct packer *p, struct call_view *to, const struct call_view *from)
{
	const struct call_value *v;

	for (uint32_t i = 0; i < from->nvalues; i++) {
		v = &from->values[i];
		to->values[i].name = pack_text(p, v->name);
		if (v->kind == VALUE_TEXT)
			to->values[i].text = pack_text(p, v->text);
		else if (v->kind == VALUE_INTS || v->kind == VALUE_HEXES)
			to->values[i].ints = packer_add(p, v->ints, v->n * sizeof(*v->ints));
	}
	pack_requests(p, &to->roles, &from->roles);
	pack_window(p, &to->roles, &from->roles);
	pack_posts(p, to, from);
}

/* Makes one allocation: the view, followed by everything it points to. */
static struct call_view *view_copy(const struct call_view *view, size_t *bytes)
{
	struct packer measure = {0}, copy = {0};
	struct call_view scratch = *view, *to;

	pack_view(&measure, &scratch, view);
	*bytes = sizeof(*to) + measure.bytes;
	to = xmalloc(*bytes);
	*to = *view;
	copy.at = (char *)(to + 1);
	pack_view(&copy, to, view);
	return to;
}

void call_or_spin_copy(struct call_or_spin *to, const struct call_or_spin *from)
{
	*to = *from;
	if (!to->is_spin)
		to->call.view = to->storage = view_copy(from->call.view, &to->bytes);
}

/* ---- waiting and reporting ---- */

int call_or_spin_compare(const void *va, const void *vb)
{
	const struct call_or_spin *a = va, *b = vb;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns) /* the longer one is the outer one */
		return a->end_ns > b->end_ns ? -1 : 1;
	return (int)a->depth - (int)b->depth;
}

/* The calls around a call. */
struct enclosing {
	const char *layer[POV_CALL_DEPTH_MAX]; /* layer names of these calls, by depth */
	bool unknown;			       /* the outermost call is unknown */
	/* top is valid: the outermost call of the top layer */
	bool has_top;
	uint8_t top_depth; /* depth of top */
	struct model_within top;
};

static const struct func_info *func_of(const struct call_or_spin *c)
{
	return c->is_spin ? c->spin.func[0].func : c->call.func;
}

static uint64_t only_request(const struct call_or_spin *c)
{
	return !c->is_spin && c->call.view->roles.nrequests == 1 ?
		       c->call.view->roles.requests[0].handle :
		       0;
}

static void enclosing_top_set(struct enclosing *e, const struct call_or_spin *c)
{
	if (e->has_top && c->depth > e->top_depth)
		return;
	e->has_top = func_is_top(func_of(c));
	e->top_depth = c->depth;
	if (e->has_top)
		e->top = (struct model_within){.func = func_of(c),
					       .begin_ns = c->begin_ns,
					       .end_ns = c->end_ns,
					       .request = only_request(c)};
}

/* Adds the next call in order of begin. Returns whether it lies inside a call of its own layer. */
static bool enclosing_add(struct enclosing *e, const struct call_or_spin *c)
{
	const char *layer = func_of(c)->layer_name;
	bool nested = c->depth && e->unknown;

	enclosing_top_set(e, c);
	if (c->depth >= POV_CALL_DEPTH_MAX)
		return true;
	for (uint8_t d = 0; d < c->depth; d++)
		nested |= e->layer[d] == layer;
	e->layer[c->depth] = layer;
	for (uint8_t d = c->depth + 1; d < POV_CALL_DEPTH_MAX; d++)
		e->layer[d] = NULL;
	return nested;
}

static void posts_tell(struct model *m, const struct model_call *c, const struct enclosing *e)
{
	struct model_post post = {
		.call = c,
		.within = e->has_top ? &e->top : NULL,
		.within_unknown = !e->has_top && e->unknown,
	};

	for (uint32_t i = 0; i < c->view->nposts; i++) {
		post.post = &c->view->posts[i];
		TELL(m, post, &post);
	}
}

static void call_or_spin_tell(struct model *m, const struct call_or_spin *c,
			      const struct enclosing *e)
{
	if (c->is_spin)
		TELL(m, spin, &c->spin);
	else
		TELL(m, call, &c->call);
	call_order_told(m, c);
	if (c->is_spin)
		return;
	if (!c->call.nested && m->to.operation.cnt + m->to.message.cnt)
		operations_tell(m, &c->call);
	if (c->call.view->nposts)
		posts_tell(m, &c->call, e);
}

static void pending_tell(struct model *m, struct thread_calls *calls, uint64_t end_ns,
			 const struct call_or_spin *outermost)
{
	struct enclosing e = {.unknown = !outermost};
	uint32_t left = 0;
	bool nested;

	if (outermost)
		enclosing_add(&e, outermost);
	qsort(calls->pending, calls->npending, sizeof(*calls->pending), call_or_spin_compare);
	for (uint32_t i = 0; i < calls->npending; i++) {
		struct call_or_spin *c = &calls->pending[i];

		if (c->end_ns > end_ns) {
			calls->pending[left++] = *c;
			continue;
		}
		nested = enclosing_add(&e, c);
		if (c->is_spin)
			c->spin.nested = nested;
		else
			c->call.nested = nested;
		call_or_spin_tell(m, c, &e);
		free(c->storage);
		m->pending_bytes -= c->bytes;
	}
	m->npending -= calls->npending - left;
	calls->npending = left;
}

/*
 * Reports the pending calls that ended by end_ns in order of begin; the others stay. outermost: the
 * call around them; NULL if unknown.
 */
static void flush_until(struct model *m, struct mthread *t, uint64_t end_ns,
			const struct call_or_spin *outermost)
{
	if (t->pub.calls && t->pub.calls->npending) /* most calls have none */
		pending_tell(m, t->pub.calls, end_ns, outermost);
}

void call_flush(struct model *m, struct mthread *t)
{
	flush_until(m, t, UINT64_MAX, NULL);
}

/* Reports all pending calls early because there are too many. */
static void pending_spill(struct model *m, struct mthread *t)
{
	m->stats.pending_spilled += t->pub.calls->npending;
	call_flush(m, t);
}

static void pending_add(struct model *m, struct mthread *t, const struct call_or_spin *c)
{
	struct thread_calls *calls = t->pub.calls;
	struct call_or_spin *copy;

	if (m->npending >= PENDING_MAX)
		pending_spill(m, t);
	copy = table_add(calls->pending, calls->npending, calls->pending_cap);
	call_or_spin_copy(copy, c);
	m->npending++;
	m->pending_bytes += copy->bytes;
	if (m->pending_bytes >= PENDING_BYTES_MAX)
		pending_spill(m, t);
}

/* Keeps polls that found nothing, outside other calls, until the next call. */
static void polls_keep(struct polls *p, const struct call_or_spin *c)
{
	p->cnt = 0;
	if (!c->is_spin || c->spin.computes)
		return;
	p->begin_ns = c->begin_ns;
	p->end_ns = c->end_ns;
	for (; p->cnt < c->spin.nfuncs; p->cnt++)
		p->func[p->cnt] = c->spin.func[p->cnt].func;
}

/*
 * When the thread began to poll in vain for what this call found; the call's own begin if it did
 * not. It may have computed between those polls and the call, but not longer than it had polled.
 */
static uint64_t polled_since(const struct thread_calls *calls, const struct model_call *c)
{
	const struct polls *p = &calls->polls;

	for (uint32_t i = 0; i < p->cnt && !c->depth; i++)
		if (p->func[i] == c->func && c->begin_ns >= p->end_ns &&
		    c->begin_ns - p->end_ns <= p->end_ns - p->begin_ns)
			return p->begin_ns;
	return c->begin_ns;
}

static void call_ended(struct model *m, struct mthread *t, const struct call_or_spin *c)
{
	static const struct enclosing nothing;

	if (c->depth) {
		pending_add(m, t, c);
		return;
	}
	polls_keep(&t->pub.calls->polls, c);
	flush_until(m, t, c->begin_ns, NULL); /* children of a call whose record was lost */
	call_or_spin_tell(m, c, &nothing);
	flush_until(m, t, UINT64_MAX, c);
	if (!c->is_spin && t->pub.calls->any_announced) {
		memset(t->pub.calls->announced, 0, sizeof(t->pub.calls->announced));
		t->pub.calls->any_announced = false;
	}
	t->pub.calls->away_ns = 0;
	history_restart(t, c->end_ns);
}

void call_release(struct model *m, struct mthread *t)
{
	struct thread_calls *calls = t->pub.calls;

	if (!calls)
		return;
	for (uint32_t i = 0; i < calls->npending; i++) {
		free(calls->pending[i].storage);
		m->pending_bytes -= calls->pending[i].bytes;
	}
	m->npending -= calls->npending;
	free(calls->pending);
	free(calls->history.entry);
	free(calls);
	t->pub.calls = NULL;
}

/* ---- records ---- */

/*
 * Computes begin and end of a call or of merged polls. If the thread died first, they end with it.
 * A begin before the recording, which may be the newest part of a longer one, moves to its start.
 */
static void span_clip(const struct model *m, const struct mthread *t, uint64_t ts_ns,
		      uint64_t dur_ns, uint64_t *begin, uint64_t *end)
{
	*end = t->pub.state == THREAD_DEAD && t->pub.end_ns < ts_ns ? t->pub.end_ns : ts_ns;
	*begin = dur_ns < ts_ns ? ts_ns - dur_ns : 0;
	if (*begin < m->info.start_ns)
		*begin = m->info.start_ns;
	if (*begin > *end)
		*begin = *end;
}

void call_begin_record(const struct model *m, struct mthread *t, const struct pov_call_begin *rec)
{
	uint64_t begin_ns = rec->begin_ns < m->info.start_ns ? m->info.start_ns : rec->begin_ns;
	struct announced_call *a;
	struct thread_calls *calls;

	/* without a known state, the split is made when the call ends, and more is known */
	if (rec->depth >= POV_CALL_DEPTH_MAX || t->pub.state != THREAD_RUNNING)
		return;
	calls = calls_of(t);
	calls->any_announced = true;
	calls->left_ns = rec->hdr.ts_ns;
	a = &calls->announced[rec->depth];
	a->known = true;
	a->begin_ns = begin_ns;
	history_at(t, begin_ns, &a->at_begin);
}

static void call_split(struct mthread *t, const struct pov_call *rec, struct model_call *call)
{
	struct announced_call *a;

	if (rec->depth < POV_CALL_DEPTH_MAX) {
		a = &t->pub.calls->announced[rec->depth];
		if (a->known && a->begin_ns == call->begin_ns) {
			a->known = false;
			history_split_from(t, &a->at_begin, call->begin_ns, call->end_ns,
					   &call->split);
			return;
		}
	}
	history_split(t, call->begin_ns, call->end_ns, &call->split);
}

static void call_decode(struct model *m, const struct func_info *func, const struct pov_call *rec)
{
	const struct layer *layer = func->layer;
	uint32_t i = 0;

	m->view.nvalues = m->view.nposts = 0;
	m->view.posts = NULL;
	m->view.roles_only = m->opt.roles_only;
	while (layer && i < m->nlayers && layers[i] != layer)
		i++;
	if (layer && i < m->nlayers)
		layer_decode(layer, m->decoder[i], func, rec, &m->view);
	else
		memset(&m->view.roles, 0, sizeof(m->view.roles));
}

void call_record(struct model *m, struct mthread *t, const struct pov_call *rec)
{
	struct mprocess *p = mprocess_of(t->pub.proc);
	struct call_or_spin c = {
		.depth = rec->depth,
		.call =
			{
				.func = func_find(m, rec->func),
				.thread = &t->pub,
				.depth = rec->depth,
				.open = rec->hdr.flags & POV_CALL_OPEN,
				.unwound = rec->hdr.flags & POV_CALL_UNWOUND,
				.partial = rec->hdr.flags & POV_CALL_PARTIAL,
				.end_only = rec->hdr.flags & POV_CALL_END_ONLY,
				.fault = rec->hdr.flags & POV_CALL_FAULT,
				.preloaded = rec->hdr.flags & POV_CALL_PRELOADED,
				.cpu = rec->cpu,
				.lib = rec->lib,
				.ret = rec->ret,
				.view = &m->view,
			},
	};
	struct model_call *call = &c.call;

	calls_of(t);
	span_clip(m, t, rec->hdr.ts_ns, rec->dur_ns, &c.begin_ns, &c.end_ns);
	call->begin_ns = c.begin_ns;
	call->end_ns = c.end_ns;
	call->polled_since_ns = polled_since(t->pub.calls, call);
	call_split(t, rec, call);
	image_find(p, rec->site, &call->site);
	call_decode(m, call->func, rec);
	if (m->opt.counters && (m->view.roles.nrequests || m->view.roles.requests_forgotten))
		in_flight_call(m, p, &m->view.roles, rec->hdr.ts_ns);
	call_ended(m, t, &c);
}

/*
 * A call that only its layer's decoder needs to see. It is not reported, but the calls made inside
 * it are.
 */
void call_unshown_record(struct model *m, struct mthread *t, const struct pov_call *rec)
{
	struct call_or_spin c = {
		.depth = rec->depth,
		.call = {.func = func_find(m, rec->func), .view = &m->view},
	};

	call_decode(m, c.call.func, rec);
	if (m->opt.counters && m->view.roles.requests_forgotten)
		in_flight_call(m, mprocess_of(t->pub.proc), &m->view.roles, rec->hdr.ts_ns);
	if (rec->depth || rec->hdr.flags & (POV_CALL_OPEN | POV_CALL_EARLIER))
		return;
	span_clip(m, t, rec->hdr.ts_ns, rec->dur_ns, &c.begin_ns, &c.end_ns);
	flush_until(m, t, c.begin_ns, NULL);
	flush_until(m, t, UINT64_MAX, &c);
}

/*
 * Time on the CPU inside the polls. Time off the CPU counts as time between them unless it is known
 * to lie inside them (away_ns), which it is for outermost polls only.
 */
static uint64_t polls_running(const struct mthread *t, const struct model_spin *s)
{
	uint64_t away_ns = s->depth ? 0 : t->pub.calls->away_ns;
	uint64_t running_ns = s->split.ns[THREAD_RUNNING];
	uint64_t inside_ns = s->busy_ns > away_ns ? s->busy_ns - away_ns : 0;

	return inside_ns < running_ns ? inside_ns : running_ns;
}

static double cost_of(const struct trace *t, const char *type, const char *key)
{
	double ns = json_number_value(json_object_get(trace_meta_find(t, type), key));

	return ns > 0 ? ns : 0;
}

struct poll_cost poll_cost_read(const struct trace *t)
{
	return (struct poll_cost){
		.probe_ns = cost_of(t, "probe_cost", "spin_ns"),
		.preload_ns = cost_of(t, "preload", "call_ns"),
	};
}

double poll_cost_ns(const struct poll_cost *c, const struct model_spin *s)
{
	return s->preloaded ? c->preload_ns : c->probe_ns;
}

/*
 * True if the thread computed between its polls. Time off the CPU counts for neither, except where
 * states are unknown: there all time between the polls counts.
 */
static bool polls_lie_in_computation(const struct model *m, const struct model_spin *s)
{
	uint64_t unknown_ns = s->split.ns[THREAD_UNKNOWN];
	uint64_t own_ns = s->split.ns[THREAD_RUNNING] + unknown_ns;
	uint64_t inside_ns = unknown_ns ? s->busy_ns : s->running_ns;
	double poll_ns = MODEL_POLL_PAUSE_NS + poll_cost_ns(&m->poll_cost, s);

	return own_ns > inside_ns && (double)(own_ns - inside_ns) > (double)s->cnt * poll_ns;
}

/* If polls began before the recording, limits their time to the part inside it. */
static void spin_clip(struct model_spin *s)
{
	uint64_t span_ns = s->end_ns - s->begin_ns, more;

	for (uint32_t i = 0; i < s->nfuncs && s->busy_ns > span_ns; i++) {
		more = s->busy_ns - span_ns;
		if (more > s->func[i].busy_ns)
			more = s->func[i].busy_ns;
		s->func[i].busy_ns -= more;
		s->busy_ns -= more;
	}
}

void spin_record(struct model *m, struct mthread *t, const struct pov_spin *rec)
{
	struct call_or_spin c = {
		.depth = rec->depth,
		.is_spin = true,
		.spin =
			{
				.thread = &t->pub,
				.depth = rec->depth,
				.open = rec->hdr.flags & POV_SPIN_OPEN,
				.preloaded = rec->hdr.flags & POV_SPIN_PRELOADED,
				.cpu = rec->cpu,
			},
	};
	struct model_spin *spin = &c.spin;
	uint32_t i;

	calls_of(t);
	span_clip(m, t, rec->hdr.ts_ns, rec->dur_ns, &c.begin_ns, &c.end_ns);
	spin->begin_ns = c.begin_ns;
	spin->end_ns = c.end_ns;
	history_split(t, c.begin_ns, c.end_ns, &spin->split);
	image_find(mprocess_of(t->pub.proc), rec->site, &spin->site);
	for (i = 0; i < rec->nfuncs && i < POV_SPIN_FUNCS_MAX; i++) {
		spin->func[i].func = func_find(m, rec->func[i].func);
		spin->func[i].lib = rec->func[i].lib;
		spin->func[i].cnt = rec->func[i].cnt;
		spin->func[i].busy_ns = rec->func[i].busy_ns;
		spin->func[i].arg = rec->func[i].arg;
		spin->cnt += rec->func[i].cnt;
		spin->busy_ns += rec->func[i].busy_ns;
	}
	spin->nfuncs = i;
	spin_clip(spin);
	spin->running_ns = polls_running(t, spin);
	spin->computes = polls_lie_in_computation(m, spin);
	call_ended(m, t, &c);
}
