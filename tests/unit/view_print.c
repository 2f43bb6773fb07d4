/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "unit/view_print.h"

#include <inttypes.h>

static void text_print(FILE *out, const char *name, const char *text)
{
	if (text)
		fprintf(out, strchr(text, ' ') || !*text ? " %s=\"%s\"" : " %s=%s", name, text);
}

static void bytes_print(FILE *out, const char *name, int64_t bytes)
{
	if (bytes == BYTES_UNKNOWN)
		fprintf(out, " %s=?", name);
	else
		fprintf(out, " %s=%" PRId64, name, bytes);
}

static void value_print(const struct call_value *v, FILE *out)
{
	switch (v->kind) {
	case VALUE_INT:
		fprintf(out, " %s=%" PRId64, v->name, v->i);
		break;
	case VALUE_UINT:
	case VALUE_BOOL:
	case VALUE_US:
		fprintf(out, " %s=%" PRIu64 "%s", v->name, v->u,
			v->kind == VALUE_BOOL ? "b" :
			v->kind == VALUE_US   ? "ns" :
						"");
		break;
	case VALUE_HEX:
		fprintf(out, " %s=%#" PRIx64, v->name, v->u);
		break;
	case VALUE_TEXT:
		text_print(out, v->name, v->text);
		break;
	case VALUE_INTS:
	case VALUE_HEXES:
		fprintf(out, " %s=[", v->name);
		for (uint32_t i = 0; i < v->n; i++) {
			fprintf(out, v->kind == VALUE_INTS ? "%s%" PRId64 : "%s%#" PRIx64,
				i ? "," : "", v->ints[i]);
		}
		if (v->cnt != v->n)
			fprintf(out, " of %u", v->cnt);
		fputc(']', out);
	}
}

static void peer_print(FILE *out, const char *name, int32_t peer, int32_t world, int32_t job,
		       uint8_t why)
{
	static const char *const reasons[PEER_UNKNOWN_CNT] = {
		"", "comm", "members", "order", "other", "world", "any", "conflict"};
	static const char *const special[] = {"root", "null", "any"};

	if (peer < 0 && peer >= PEER_ROOT)
		fprintf(out, " %s=%s", name, special[peer - PEER_ROOT]);
	else
		fprintf(out, " %s=%d", name, peer);
	if (why)
		fprintf(out, "@?%s", reasons[why]);
	else if (world >= 0 && job)
		fprintf(out, "@%d.%d", job, world);
	else if (world >= 0)
		fprintf(out, "@%d", world);
}

static void roles_print(const struct call_roles *r, FILE *out)
{
	if (r->sends || r->send_bytes)
		bytes_print(out, r->sends ? "send" : "send_bytes", r->send_bytes);
	if (r->receives || r->recv_bytes)
		bytes_print(out, r->receives ? "recv" : "recv_bytes", r->recv_bytes);
	if (r->has_peer)
		peer_print(out, "peer", r->peer, r->peer_world, r->peer_job, r->peer_why);
	if (r->has_peer && r->sends && r->receives)
		peer_print(out, "recv_peer", r->recv_peer, r->recv_peer_world, r->recv_peer_job,
			   r->recv_peer_why);
	if (r->has_tag)
		fprintf(out, " tag=%d", r->tag);
	if (r->has_tag && r->sends && r->receives)
		fprintf(out, " recv_tag=%d", r->recv_tag);
	if (r->has_root)
		peer_print(out, "root", r->root, r->root_world, 0, r->root_why);
	if (r->has_comm)
		fprintf(out, " comm=%#" PRIx64, r->comm);
	if (r->comm_id)
		fprintf(out, " comm_id=%u comm_size=%d", r->comm_id, r->comm_size);
	if (r->matched_ns)
		fprintf(out, " matched=%" PRIu64, r->matched_ns);
	if (r->mark)
		fprintf(out, " mark=%s:%u", r->mark == MARK_BEGIN ? "begin" : "end", r->mark_level);
	if (r->mark == MARK_BEGIN)
		text_print(out, "name", r->mark_name);
	fprintf(out, "%s%s%s", r->any_source ? " any_source" : "", r->poll_found ? " found" : "",
		r->requests_forgotten ? " forgotten" : "");
	if (r->error)
		fprintf(out, " error=%d", r->error);
}

static void request_print(const struct call_request *r, FILE *out)
{
	static const char *const events[] = {"none",	 "start", "init",   "restart",
					     "complete", "free",  "cancel", "pending"};

	fprintf(out, "request %s %#" PRIx64, events[r->event], r->handle);
	if (r->event == REQUEST_START || r->event == REQUEST_INIT || r->event == REQUEST_COMPLETE)
		bytes_print(out, "bytes", r->bytes);
	if (r->in_flight_bytes)
		bytes_print(out, "in_flight", r->in_flight_bytes);
	if (r->has_status)
		fprintf(out, " status=%d,%d", r->source, r->tag);
	if (r->error)
		fprintf(out, " error=%d", r->error);
	if (r->op && r->event >= REQUEST_RESTART) {
		fprintf(out, " op=%s", r->op->func->name);
		roles_print(&r->op->roles, out);
	}
	fputc('\n', out);
}

static void window_print(const struct call_window *w, FILE *out)
{
	static const char *const events[] = {"none",	 "together",	"post",	 "start",
					     "complete", "wait",	"lock",	 "unlock",
					     "flush",	 "flush_local", "access"};

	fprintf(out, "window %s number=%u", events[w->event], w->number);
	if (w->event == WIN_POST || w->event == WIN_START || w->event == WIN_LOCK)
		fprintf(out, " rank=%d", w->rank);
	if (w->event >= WIN_LOCK)
		peer_print(out, "target", w->target, -1, 0, 0);
	if (w->event == WIN_LOCK && w->exclusive)
		fputs(" exclusive", out);
	if ((w->event == WIN_POST || w->event == WIN_START) && w->group) {
		fputs(" group=", out);
		for (uint32_t i = 0; i < w->ngroup; i++)
			fprintf(out, "%s%d", i ? "," : "", w->group[i]);
	}
	fputc('\n', out);
}

static void post_print(const struct call_post *p, FILE *out)
{
	fprintf(out, "post %s", post_kind_name(p->kind));
	if (p->step)
		fprintf(out, " %s", post_step_name(p->step));
	if (p->carrier)
		fprintf(out, " %s", post_carrier_name(p->carrier));
	text_print(out, "op", p->op);
	text_print(out, "transport", p->transport);
	text_print(out, "device", p->device);
	text_print(out, "dest", p->dest);
	text_print(out, "local", p->local_end);
	text_print(out, "remote", p->remote_end);
	bytes_print(out, "bytes", p->bytes);
	if (p->queue)
		fprintf(out, " queue=%#" PRIx64, p->queue);
	if (p->has_id)
		fprintf(out, " id=%#" PRIx64, p->id);
	if (p->message)
		fprintf(out, " message=%#" PRIx64, p->message);
	if (p->has_envelope)
		fprintf(out, " envelope=%d,%d", p->source, p->tag);
	fputs(p->failed ? " failed\n" : "\n", out);
}

void view_print(const struct layer *layer, const struct call_view *v, FILE *out)
{
	fputs("values", out);
	for (uint32_t i = 0; i < v->nvalues; i++)
		value_print(&v->values[i], out);
	fputs("\nroles", out);
	roles_print(&v->roles, out);
	fputc('\n', out);
	for (uint32_t i = 0; i < v->roles.nrequests; i++)
		request_print(&v->roles.requests[i], out);
	if (v->roles.window)
		window_print(v->roles.window, out);
	for (uint32_t i = 0; layer->nearness && i < v->nposts; i++)
		post_print(&v->posts[i], out);
}
