/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints the traffic's rows as CSV (RFC 4180) for spreadsheets. The rows are those of the JSON's
 * traffic.rows. Unknown fields are empty.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/traffic_label.h"

static void field(FILE *out, const char *text)
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

static void process_fields(FILE *out, const struct report *r, int32_t idx)
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

static void row_print(FILE *out, const struct report *r, const struct traffic_group *g)
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

	process_fields(out, r, (int32_t)k->process);
	field(out, traffic_text(r, k->device));
	field(out, traffic_text(r, k->dest));
	fputc(',', out);
	process_fields(out, r, k->peer);
	field(out, post_carrier_name(k->carrier));
	field(out, traffic_text(r, k->transport));
	field(out, traffic_text(r, k->layer));
	field(out, contexts[k->context]);
	field(out, func ? func->name : NULL);
	field(out, func ? func->group : NULL);
	field(out, traffic_text(r, k->thread));
	field(out, traffic_text(r, k->phase));
	field(out, traffic_text(r, k->region));
	field(out, post_step_name(k->step));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		fprintf(out, ",%llu", (unsigned long long)numbers[i]);
	fputs("\r\n", out);
}

int report_traffic_csv(const struct report *r, FILE *out)
{
	uint32_t n;
	struct traffic_group *g = traffic_groups(r, UINT32_MAX, &n);

	fputs("rank,job,pid,device,destination,peer_rank,peer_job,peer_pid,carrier,transport,layer,context,"
	      "function,group,thread,phase,region,step,sent_messages,sent_bytes,sent_of_unknown_size,read_messages,"
	      "read_bytes,read_of_unknown_size,arrived_messages,arrived_bytes,arrived_of_unknown_size,"
	      "failed\r\n",
	      out);
	for (uint32_t i = 0; i < n; i++)
		row_print(out, r, &g[i]);
	free(g);
	return ferror(out) ? -EIO : 0;
}
