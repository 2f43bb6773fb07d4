/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The traffic's rows as JSON (the report's member "traffic"), and as CSV (RFC 4180) for
 * spreadsheets; and labels for its parts. Unknown parts have a label, too, so that no row is left
 * out. In CSV, unknown fields are empty.
 */
#include "report/section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/traffic.h"
#include "lib/log.h"

/* ---- labels ---- */

#define ROW struct traffic_flow

const struct figure flow_figures[] = {
	{FIGURE_COUNT, "posts", NULL, AT(posts)},
	{FIGURE_COUNT, "sent_messages", NULL, AT(sent)},
	{FIGURE_COUNT, "sent_bytes", NULL, AT(sent_bytes)},
	{FIGURE_COUNT, "sent_of_unknown_size", NULL, AT(sent_unknown)},
	{FIGURE_COUNT, "read_messages", NULL, AT(read)},
	{FIGURE_COUNT, "read_bytes", NULL, AT(read_bytes)},
	{FIGURE_COUNT, "read_of_unknown_size", NULL, AT(read_unknown)},
	{FIGURE_COUNT, "arrived_messages", NULL, AT(arrived)},
	{FIGURE_COUNT, "arrived_bytes", NULL, AT(arrived_bytes)},
	{FIGURE_COUNT, "arrived_of_unknown_size", NULL, AT(arrived_unknown)},
	{FIGURE_COUNT, "failed", NULL, AT(failed)},
	{0},
};

#undef ROW
#define ROW struct traffic_received

const struct figure received_figures[] = {
	{FIGURE_COUNT, "bytes", NULL, AT(total_bytes)},
	{FIGURE_COUNT, "read_bytes", NULL, AT(read_bytes)},
	{FIGURE_COUNT, "arrived_bytes", NULL, AT(arrived_bytes)},
	{FIGURE_COUNT, "sent_by_others_bytes", NULL, AT(sent_bytes)},
	{FIGURE_COUNT, "written_by_others_bytes", NULL, AT(written_bytes)},
	{FIGURE_COUNT, "of_unknown_size", NULL, AT(unknown)},
	{0},
};

const struct func_info *traffic_func(const struct report *r, uint32_t id)
{
	return r->traffic.func[id];
}

const char *traffic_text(const struct report *r, uint32_t id)
{
	return names_text(&r->traffic.names, id);
}

char *traffic_context(const struct report *r, const struct traffic_key *k)
{
	if (k->context == TRAFFIC_IN_CALL)
		return xstrdup(traffic_func(r, k->func)->name);
	if (k->context == TRAFFIC_UNCLEAR)
		return xstrdup("(not known)");
	return xasprintf("(none: thread %s)", traffic_text(r, k->thread));
}

char *traffic_destination(const struct report *r, const struct traffic_key *k)
{
	const char *dest = traffic_text(r, k->dest);
	const struct model_process *p;

	if (k->peer < 0)
		return xstrdup(dest ? dest : "?");
	p = model_process_get(r->model, (uint32_t)k->peer);
	if (p->is_rank)
		return xasprintf("rank %s", RANK_LABEL(r, p));
	return xasprintf("%s %u", p->name, p->host_pid);
}

char *traffic_transport(const struct report *r, const struct traffic_key *k)
{
	const char *transport = traffic_text(r, k->transport);

	return xstrdup(transport ? transport : post_carrier_name(k->carrier));
}

struct traffic_group *traffic_groups(const struct report *r, uint32_t by, uint32_t *n)
{
	return traffic_by(&r->traffic, r->chosen, r->nprocesses, by, n);
}

struct traffic_group *traffic_groups_moving(const struct report *r, uint32_t by, uint32_t *n)
{
	struct traffic_group *g = traffic_groups(r, by, n);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *n; i++)
		if (g[i].flow.posts || g[i].flow.arrived)
			g[kept++] = g[i];
	*n = kept;
	return g;
}

/* ---- JSON ---- */

/* key: names of the members for rank, job and pid. */
static void process_print(struct json_out *j, const struct report *r, int32_t idx,
			  const char *const key[3])
{
	const struct model_process *p = idx >= 0 ? model_process_get(r->model, (uint32_t)idx) :
						   NULL;

	json_out_known_uint(j, key[0], p && p->is_rank && p->rank >= 0, p ? (uint64_t)p->rank : 0);
	json_out_known_uint(j, key[1], p && p->is_rank && p->job_idx >= 0,
			    p ? (uint64_t)p->job_idx : 0);
	json_out_known_uint(j, key[2], p, p ? p->host_pid : 0);
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

/* ---- CSV ---- */

static void csv_field(FILE *out, const char *text)
{
	char *clean = text ? text_printable(text, UINT32_MAX) : NULL;

	fputc(',', out);
	if (clean && !strpbrk(clean, ",\""))
		fputs(clean, out);
	else if (clean) {
		fputc('"', out);
		for (const char *p = clean; *p; p++)
			fprintf(out, *p == '"' ? "\"\"" : "%c", *p);
		fputc('"', out);
	}
	free(clean);
}

static void csv_process(FILE *out, const struct report *r, int32_t idx)
{
	const struct model_process *p = idx >= 0 ? model_process_get(r->model, (uint32_t)idx) :
						   NULL;

	if (p && p->is_rank && p->rank >= 0)
		fprintf(out, "%d", p->rank);
	fputc(',', out);
	if (p && p->is_rank && p->job_idx >= 0)
		fprintf(out, "%d", p->job_idx);
	fputc(',', out);
	if (p)
		fprintf(out, "%u", p->host_pid);
}

static void csv_row_print(FILE *out, const struct report *r, const struct traffic_group *g)
{
	static const char *const contexts[] = {[TRAFFIC_IN_CALL] = "call",
					       [TRAFFIC_BACKGROUND] = "background",
					       [TRAFFIC_UNCLEAR] = NULL};
	const struct traffic_key *k = &g->key;
	const struct traffic_flow *f = &g->flow;
	const struct func_info *func = k->context == TRAFFIC_IN_CALL ? traffic_func(r, k->func) :
								       NULL;
	const uint64_t numbers[] = {f->sent,	f->sent_bytes,	  f->sent_unknown,
				    f->read,	f->read_bytes,	  f->read_unknown,
				    f->arrived, f->arrived_bytes, f->arrived_unknown,
				    f->failed};

	csv_process(out, r, (int32_t)k->process);
	csv_field(out, traffic_text(r, k->device));
	csv_field(out, traffic_text(r, k->dest));
	fputc(',', out);
	csv_process(out, r, k->peer);
	csv_field(out, post_carrier_name(k->carrier));
	csv_field(out, traffic_text(r, k->transport));
	csv_field(out, traffic_text(r, k->layer));
	csv_field(out, contexts[k->context]);
	csv_field(out, func ? func->name : NULL);
	csv_field(out, func ? func->group : NULL);
	csv_field(out, traffic_text(r, k->thread));
	csv_field(out, traffic_text(r, k->phase));
	csv_field(out, traffic_text(r, k->region));
	csv_field(out, post_step_name(k->step));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		fprintf(out, ",%llu", (unsigned long long)numbers[i]);
	fputs("\r\n", out);
}

int report_traffic_csv(const struct report *r, FILE *out)
{
	uint32_t n;
	struct traffic_group *g = traffic_groups(r, UINT32_MAX, &n);

	fputs("rank,job,pid,device,destination,peer_rank,peer_job,peer_pid,carrier,transport,"
	      "layer,context,function,group,thread,phase,region,step,"
	      "sent_messages,sent_bytes,sent_of_unknown_size,"
	      "read_messages,read_bytes,read_of_unknown_size,"
	      "arrived_messages,arrived_bytes,arrived_of_unknown_size,failed\r\n",
	      out);
	for (uint32_t i = 0; i < n; i++)
		csv_row_print(out, r, &g[i]);
	free(g);
	return ferror(out) ? -EIO : 0;
}
