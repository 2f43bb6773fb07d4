/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls and spins: split by what the thread did meanwhile, decoded by their layer, and told when their
 * outermost call has ended, parents first. A record arrives when its call ends, children before
 * parents, so nested ones are copied and wait until then.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "model/what.h"

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
	char *at; /* NULL: only measure */
	size_t bytes;
};

static void *pack(struct packer *p, const void *data, size_t bytes)
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
	return pack(p, s, s ? strlen(s) + 1 : 0);
}

static void pack_requests(struct packer *p, struct call_roles *to, const struct call_roles *from)
{
	struct call_request *copy = pack(p, from->requests,
					 from->nrequests * sizeof(*from->requests));

	for (uint32_t i = 0; i < from->nrequests; i++) {
		const struct call_operation *op = from->requests[i].op;
		const struct call_operation *packed = pack(p, op, sizeof(*op));

		if (copy)
			copy[i].op = packed;
	}
	to->requests = copy;
}

/* Copies what the view points to; `to` already is a flat copy of it. */
static void pack_view(struct packer *p, struct call_view *to, const struct call_view *from)
{
	const struct call_value *v;
	uint32_t i;

	for (i = 0; i < from->nvalues; i++) {
		v = &from->values[i];
		to->values[i].name = pack_text(p, v->name);
		if (v->kind == VALUE_TEXT)
			to->values[i].text = pack_text(p, v->text);
		else if (v->kind == VALUE_INTS || v->kind == VALUE_HEXES)
			to->values[i].ints = pack(p, v->ints, v->n * sizeof(*v->ints));
	}
	to->roles.comm_name = pack_text(p, from->roles.comm_name);
	pack_requests(p, &to->roles, &from->roles);
}

struct call_view *view_copy(const struct call_view *view, size_t *bytes)
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

/* ---- holding and telling ---- */

int pending_compare(const void *va, const void *vb)
{
	const struct pending_call *a = va, *b = vb;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns) /* the longer one is outside */
		return a->end_ns > b->end_ns ? -1 : 1;
	return (int)a->depth - (int)b->depth;
}

/* The layers of the calls around one, by name: by depth. */
struct enclosing {
	const char *layer[POV_CALL_DEPTH_MAX];
	bool unknown; /* the outermost one is not known */
};

/* Whether what is told now, at this depth, is within a call of its own layer; it encloses what comes next. */
static bool enclose(struct enclosing *e, const char *layer, uint8_t depth)
{
	bool nested = depth && e->unknown;

	if (depth >= POV_CALL_DEPTH_MAX)
		return true;
	for (uint8_t d = 0; d < depth; d++)
		nested |= e->layer[d] == layer;
	e->layer[depth] = layer;
	for (uint8_t d = depth + 1; d < POV_CALL_DEPTH_MAX; d++)
		e->layer[d] = NULL;
	return nested;
}

static void call_tell(struct model *m, const struct model_call *call)
{
	TELL(m, call, call);
	past_call(m, call);
	if (!call->nested && m->to.operation.cnt + m->to.message.cnt)
		operations_tell(m, call);
}

static void spin_tell(struct model *m, const struct model_spin *spin)
{
	TELL(m, spin, spin);
	past_spin(m, spin);
}

static void pending_tell(struct model *m, struct pending_call *h, struct enclosing *e)
{
	if (h->is_spin) {
		h->spin.nested = enclose(e, h->spin.func[0].func->layer_name, h->depth);
		spin_tell(m, &h->spin);
	} else {
		h->call.nested = enclose(e, h->call.func->layer_name, h->depth);
		call_tell(m, &h->call);
	}
}

/* Tells those pending that ended until then, in order of begin; the others stay. outermost: NULL if it is not known. */
static void flush_until(struct model *m, struct mthread *t, uint64_t end_ns,
			const struct func_info *outermost)
{
	struct enclosing e = {.unknown = !outermost};
	struct thread_calls *calls = t->pub.calls;
	uint32_t i, left = 0;

	if (!calls || !calls->npending)
		return;
	if (outermost)
		e.layer[0] = outermost->layer_name;
	qsort(calls->pending, calls->npending, sizeof(*calls->pending), pending_compare);
	for (i = 0; i < calls->npending; i++) {
		struct pending_call *h = &calls->pending[i];

		if (h->end_ns > end_ns) {
			calls->pending[left++] = *h;
			continue;
		}
		pending_tell(m, h, &e);
		free(h->storage);
		m->pending_bytes -= h->bytes;
	}
	m->npending -= calls->npending - left;
	calls->npending = left;
}

void call_flush(struct model *m, struct mthread *t)
{
	flush_until(m, t, UINT64_MAX, NULL);
}

static struct pending_call *pending_add(struct model *m, struct mthread *t)
{
	struct thread_calls *calls = t->pub.calls;

	if (m->npending >= PENDING_MAX && calls->npending) {
		m->stats.pending_spilled += calls->npending;
		call_flush(m, t);
	}
	if (calls->npending == calls->pending_cap) {
		calls->pending_cap = calls->pending_cap ? calls->pending_cap * 2 : 8;
		calls->pending = xrealloc(calls->pending,
					  calls->pending_cap * sizeof(*calls->pending));
	}
	m->npending++;
	return memset(&calls->pending[calls->npending++], 0, sizeof(*calls->pending));
}

static void tell_call(struct model *m, struct mthread *t, const struct model_call *call)
{
	struct pending_call *h;

	if (call->depth) {
		h = pending_add(m, t);
		h->begin_ns = call->begin_ns;
		h->end_ns = call->end_ns;
		h->depth = call->depth;
		h->call = *call;
		h->call.view = h->storage = view_copy(call->view, &h->bytes);
		m->pending_bytes += h->bytes;
		if (m->pending_bytes >= PENDING_BYTES_MAX) {
			m->stats.pending_spilled += t->pub.calls->npending;
			call_flush(m, t);
		}
		return;
	}
	flush_until(m, t, call->begin_ns, NULL); /* children of a call whose record was lost */
	call_tell(m, call);
	flush_until(m, t, UINT64_MAX, call->func);
	memset(t->pub.calls->announced, 0, sizeof(t->pub.calls->announced));
	history_restart(t, call->end_ns);
}

static void tell_spin(struct model *m, struct mthread *t, const struct model_spin *spin)
{
	struct pending_call *h;

	if (spin->depth) {
		h = pending_add(m, t);
		h->begin_ns = spin->begin_ns;
		h->end_ns = spin->end_ns;
		h->depth = spin->depth;
		h->is_spin = true;
		h->spin = *spin;
		return;
	}
	flush_until(m, t, spin->begin_ns, NULL);
	spin_tell(m, spin);
	flush_until(m, t, UINT64_MAX, spin->nfuncs ? spin->func[0].func : NULL);
	history_restart(t, spin->end_ns);
}

void call_release(struct model *m, struct mthread *t)
{
	struct thread_calls *calls = t->pub.calls;
	uint32_t i;

	if (!calls)
		return;
	for (i = 0; i < calls->npending; i++) {
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

/* A call read out after its thread had died ended with it. */
static void clip(const struct mthread *t, uint64_t ts_ns, uint64_t dur_ns, uint64_t *begin,
		 uint64_t *end)
{
	*end = t->pub.state == THREAD_DEAD && t->pub.end_ns < ts_ns ? t->pub.end_ns : ts_ns;
	*begin = dur_ns < ts_ns ? ts_ns - dur_ns : 0;
	if (*begin > *end)
		*begin = *end;
}

void call_begin_record(struct mthread *t, const struct pov_call_begin *rec)
{
	struct announced_call *a;

	/* If its state is not known yet, the switch that follows tells more; then the history serves. */
	if (rec->depth >= POV_CALL_DEPTH_MAX || t->pub.state != THREAD_RUNNING)
		return;
	a = &calls_of(t)->announced[rec->depth];
	a->known = true;
	a->begin_ns = rec->begin_ns;
	history_at(t, rec->begin_ns, &a->at_begin);
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
	uint32_t i;

	m->view.nvalues = 0;
	memset(&m->view.roles, 0, sizeof(m->view.roles));
	for (i = 0; layer && i < m->nlayers; i++) {
		if (layers[i] == layer)
			layer->decode(m->decoder[i], func, rec, &m->view);
	}
}

void call_record(struct model *m, struct mthread *t, const struct pov_call *rec)
{
	struct mprocess *p = mprocess_of(t->pub.proc);
	struct model_call call = {
		.func = func_find(m, rec->func),
		.thread = &t->pub,
		.depth = rec->depth,
		.open = rec->hdr.flags & POV_CALL_OPEN,
		.unwound = rec->hdr.flags & POV_CALL_UNWOUND,
		.partial = rec->hdr.flags & POV_CALL_PARTIAL,
		.fault = rec->hdr.flags & POV_CALL_FAULT,
		.cpu = rec->cpu,
		.lib = rec->lib,
		.site = rec->site,
		.ret = rec->ret,
	};

	calls_of(t);
	clip(t, rec->hdr.ts_ns, rec->dur_ns, &call.begin_ns, &call.end_ns);
	call_split(t, rec, &call);
	call.site_module = image_find(p, rec->site, &call.site_offset);
	call_decode(m, call.func, rec);
	call.view = &m->view;
	if (m->opt.counters && (m->view.roles.nrequests || m->view.roles.requests_forgotten))
		in_flight_call(m, p, &m->view.roles, rec->hdr.ts_ns);
	tell_call(m, t, &call);
}

/* Its layer learns from it; what was called within it is told alone. */
void call_unshown_record(struct model *m, struct mthread *t, const struct pov_call *rec)
{
	const struct func_info *func = func_find(m, rec->func);
	uint64_t begin_ns, end_ns;

	call_decode(m, func, rec);
	if (m->opt.counters && m->view.roles.requests_forgotten)
		in_flight_call(m, mprocess_of(t->pub.proc), &m->view.roles, rec->hdr.ts_ns);
	if (rec->depth || rec->hdr.flags & POV_CALL_OPEN)
		return;
	clip(t, rec->hdr.ts_ns, rec->dur_ns, &begin_ns, &end_ns);
	flush_until(m, t, begin_ns, NULL);
	flush_until(m, t, UINT64_MAX, func);
}

void spin_record(struct model *m, struct mthread *t, const struct pov_spin *rec)
{
	struct model_spin spin = {
		.thread = &t->pub,
		.depth = rec->depth,
		.open = rec->hdr.flags & POV_SPIN_OPEN,
		.cpu = rec->cpu,
		.site = rec->site,
	};
	uint32_t i;

	calls_of(t);
	clip(t, rec->hdr.ts_ns, rec->dur_ns, &spin.begin_ns, &spin.end_ns);
	history_split(t, spin.begin_ns, spin.end_ns, &spin.split);
	spin.site_module = image_find(mprocess_of(t->pub.proc), rec->site, &spin.site_offset);
	for (i = 0; i < rec->nfuncs && i < POV_SPIN_FUNCS_MAX; i++) {
		spin.func[i].func = func_find(m, rec->func[i].func);
		spin.func[i].lib = rec->func[i].lib;
		spin.func[i].cnt = rec->func[i].cnt;
		spin.func[i].busy_ns = rec->func[i].busy_ns;
		spin.func[i].arg = rec->func[i].arg;
		spin.cnt += rec->func[i].cnt;
		spin.busy_ns += rec->func[i].busy_ns;
	}
	spin.nfuncs = i;
	tell_spin(m, t, &spin);
}
