/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Writes the JSON's member "traffic". */
#include <stdlib.h>

#include "analysis/traffic.h"
#include "report/traffic_label.h"

/* key: names of the members for rank, job and pid. */
static void process_print(struct json_out *j, const struct report *r, int32_t idx,
			  const char *const key[3])
{
	const struct model_process *p = idx >= 0 ? model_process_get(r->model, (uint32_t)idx) :
						   NULL;

	json_known_uint(j, key[0], p && p->is_rank && p->rank >= 0, p ? (uint64_t)p->rank : 0);
	json_known_uint(j, key[1], p && p->is_rank && p->job_idx >= 0,
			p ? (uint64_t)p->job_idx : 0);
	json_known_uint(j, key[2], p, p ? p->host_pid : 0);
}

static const char *const own[] = {"rank", "job", "pid"};
static const char *const peer[] = {"peer_rank", "peer_job", "peer_pid"};

static void context_print(struct json_out *j, const struct report *r, uint32_t context,
			  uint32_t func, uint32_t thread)
{
	static const char *const names[] = {
		[TRAFFIC_IN_CALL] = "call",
		[TRAFFIC_BACKGROUND] = "background",
		[TRAFFIC_UNCLEAR] = NULL,
	};
	const struct func_info *f = context == TRAFFIC_IN_CALL ? traffic_func(r, func) : NULL;

	json_out_key_string(j, "context", names[context]);
	json_out_key_string(j, "function", f ? f->name : NULL);
	json_out_key_string(j, "group", f ? f->group : NULL);
	json_out_key_string(j, "thread", traffic_text(r, thread));
}

static void phase_print(struct json_out *j, const struct report *r, const struct traffic_key *k)
{
	json_out_key_string(j, "phase", traffic_text(r, k->phase));
	json_out_key_string(j, "region", traffic_text(r, k->region));
}

static void rows_print(struct json_out *j, const struct report *r)
{
	uint32_t n;
	struct traffic_group *g = traffic_groups(r, UINT32_MAX, &n);

	json_out_key_array(j, "rows");
	for (uint32_t i = 0; i < n; i++) {
		const struct traffic_key *k = &g[i].key;

		json_out_object_begin(j);
		process_print(j, r, (int32_t)k->process, own);
		json_out_key_string(j, "layer", traffic_text(r, k->layer));
		json_out_key_string(j, "carrier", post_carrier_name(k->carrier));
		json_out_key_string(j, "transport", traffic_text(r, k->transport));
		json_out_key_string(j, "device", traffic_text(r, k->device));
		json_out_key_string(j, "destination", traffic_text(r, k->dest));
		json_out_key_string(j, "step", post_step_name(k->step));
		process_print(j, r, k->peer, peer);
		context_print(j, r, k->context, k->func, k->thread);
		phase_print(j, r, k);
		figures_json(j, flow_figures, &g[i].flow, r->facts);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	free(g);
}

static void contexts_print(struct json_out *j, const struct report *r)
{
	uint32_t n;
	struct traffic_group *g = traffic_groups(r, TRAFFIC_BY_CONTEXT | TRAFFIC_BY_PHASE, &n);

	json_out_key_array(j, "contexts");
	for (uint32_t i = 0; i < n; i++) {
		json_out_object_begin(j);
		context_print(j, r, g[i].key.context, g[i].key.func, g[i].key.thread);
		phase_print(j, r, &g[i].key);
		figures_json(j, flow_figures, &g[i].flow, r->facts);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	free(g);
}

/* Writes the posts of each layer, including layers that do not count in the sums. */
static void layers_print(struct json_out *j, const struct report *r)
{
	static const char *const kinds[POST_KIND_CNT] = {
		[POST_SEND] = "sends",	     [POST_RECV] = "rooms",
		[POST_WRITE] = "writes",     [POST_READ] = "reads",
		[POST_ATOMIC] = "atomics",   [POST_OTHER] = "others",
		[POST_ARRIVAL] = "arrivals", [POST_COMPLETION] = "completions",
	};

	json_out_key_array(j, "layers");
	for (uint32_t i = 0; i < r->traffic.nlayer; i++) {
		const struct traffic_layer *l = &r->traffic.layer[i];

		if (!r->chosen[l->process])
			continue;
		json_out_object_begin(j);
		process_print(j, r, (int32_t)l->process, own);
		json_out_key_string(j, "layer", traffic_text(r, l->layer));
		json_out_key_string(j, "carrier", post_carrier_name(l->carrier));
		json_out_key_bool(j, "counts", l->counts);
		json_out_key_bool(j, "arrivals_count", l->arrivals_count);
		for (int k = 0; k < POST_KIND_CNT; k++)
			json_out_key_uint(j, kinds[k], l->posts.cnt[k]);
		json_out_key_uint(j, "failed", l->posts.failed);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void received_print(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "received");
	for (uint32_t i = 0; i < r->nrows; i++) {
		json_out_object_begin(j);
		process_print(j, r, (int32_t)r->row[i], own);
		figures_json(j, received_figures, &r->traffic.received[r->row[i]], r->facts);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void pairs_print(struct json_out *j, const struct report *r)
{
	static const char *const from[] = {"from_rank", "from_job", "from_pid"};
	static const char *const to[] = {"to_rank", "to_job", "to_pid"};
	uint32_t n;
	struct pair *p = pairs_find(&r->traffic, r->chosen, r->nprocesses, true, &n);

	json_out_key_array(j, "pairs");
	for (uint32_t i = 0; i < n; i++) {
		json_out_object_begin(j);
		process_print(j, r, (int32_t)p[i].from, from);
		process_print(j, r, (int32_t)p[i].to, to);
		context_print(j, r, p[i].context, p[i].func, 0);
		json_out_key_uint(j, "messages", p[i].messages);
		json_out_key_uint(j, "bytes", p[i].bytes);
		json_out_key_uint(j, "of_unknown_size", p[i].unknown);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	free(p);
}

void json_traffic(struct json_out *j, const struct report *r)
{
	if (!r->traffic.posts)
		return;
	json_out_key_object(j, "traffic");
	json_incomplete(j, r->lost_shown & LOSS_OF_POSTS);
	layers_print(j, r);
	received_print(j, r);
	contexts_print(j, r);
	pairs_print(j, r);
	rows_print(j, r);
	json_transfers(j, r);
	json_out_object_end(j);
}
