/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows the ranks that did not end well (analysis/rank_ends.h). */
#include <signal.h>
#include <stdlib.h>

#include "abi/event.h"
#include "report/section.h"
#include "trace/trace_join.h"

#define ENDS_SHOWN 4 /* most lines on the first screen */

static bool only_ranks(const struct rank_ends *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (!e->end[i].process->is_rank)
			return false;
	return true;
}

void text_ends(const struct report *r, FILE *out)
{
	const struct rank_ends *e = &r->ends;
	uint32_t shown = 0, hidden = 0;
	char *text;

	if (!e->n)
		return;
	text_section(out, "%s that did not end well, the first one first",
		     only_ranks(e) ? "Ranks" : "Processes");
	for (uint32_t i = 0; i < e->n; i++) {
		text = rank_ends_text(e, i);
		if (!text)
			continue;
		if (r->opt->top && !r->opt->details && shown == ENDS_SHOWN) {
			hidden++;
		} else {
			text_note(out, "! %s.", text);
			shown++;
		}
		free(text);
	}
	if (hidden)
		text_note(out, "%u more; --top 0 shows all.", hidden);
}

static void call_json(struct json_out *j, const struct report *r, const struct rank_end *end)
{
	const struct last_call *c = &end->call;
	char *site;

	json_out_key(j, "call");
	if (!c->func) {
		json_out_null(j);
		return;
	}
	site = c->site.address ? sites_text(r->sites, &c->site) : NULL;
	json_out_object_begin(j);
	json_out_key_string(j, "function", c->func->name);
	json_out_key_string(j, "site", site);
	json_out_key_bool(j, "returned", !end->in_call);
	json_out_key_bool(j, "polls", c->polls);
	json_out_key_uint(j, "begin_ns", json_since_start(r, c->begin_ns));
	json_known_uint(j, "end_ns", !end->in_call, json_since_start(r, c->end_ns));
	json_out_object_end(j);
	free(site);
}

static void signal_json(struct json_out *j, const struct report *r, const struct model_process *p)
{
	static const char *const from[] = {[POV_SIGNAL_FROM_OTHER] = "other",
					   [POV_SIGNAL_FROM_PROCESS] = "process",
					   [POV_SIGNAL_FROM_KERNEL] = "kernel",
					   [POV_SIGNAL_FROM_FAULT] = "fault"};
	const struct model_signal *s = p->killed_by;
	bool has_address;
	char *place;

	json_out_key(j, "signal");
	if (!s) {
		json_out_null(j);
		return;
	}
	has_address = s->from == POV_SIGNAL_FROM_FAULT && s->code != SI_KERNEL &&
		      (s->signo == SIGSEGV || s->signo == SIGBUS);
	place = s->at.address ? rank_end_place(&r->ends, &s->at) : NULL;
	json_out_object_begin(j);
	json_out_key_int(j, "number", s->signo);
	json_out_key_int(j, "code", s->code);
	json_out_key_uint(j, "sent_ns", json_since_start(r, s->ts_ns));
	json_out_key_string(j, "from", s->from <= POV_SIGNAL_FROM_FAULT ? from[s->from] : NULL);
	json_known_uint(j, "sender_pid", s->sender_pid, s->sender_pid);
	json_out_key_string(j, "sender", s->sender_pid ? s->sender_name : NULL);
	json_out_key_string(j, "place", place);
	json_known_uint(j, "address", has_address, s->address);
	json_out_object_end(j);
	free(place);
}

static void end_json(struct json_out *j, const struct report *r, const struct rank_end *end)
{
	const struct model_process *p = end->process;
	char *text = rank_end_text(&r->ends, end);

	json_out_object_begin(j);
	json_out_key_string(j, "kind", rank_end_kinds[end->kind]);
	json_known_uint(j, "rank", p->rank >= 0, p->rank >= 0 ? (uint64_t)p->rank : 0);
	json_out_key_int(j, "job", p->job_idx);
	json_out_key_uint(j, "pid", p->host_pid);
	json_known_uint(j, "tid", end->thread, end->thread ? trace_host_id(end->thread->tid) : 0);
	json_out_key_uint(j, "at_ns", json_since_start(r, end->at_ns));
	json_out_key(j, "exit_status");
	if (p->ended_ns)
		json_out_int(j, p->exit_code);
	else
		json_out_null(j);
	json_out_key_bool(j, "by_launcher", end->by_launcher);
	json_out_key_bool(j, "out_of_memory", p->out_of_memory);
	signal_json(j, r, p);
	call_json(j, r, end);
	json_out_key_string(j, "text", text);
	json_out_object_end(j);
	free(text);
}

void json_ends(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "ends");
	for (uint32_t i = 0; i < r->ends.n; i++)
		end_json(j, r, &r->ends.end[i]);
	json_out_array_end(j);
}
