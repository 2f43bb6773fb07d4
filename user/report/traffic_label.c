/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Labels for the traffic. Unknown parts have a label, too, so that no row is left out. */
#include "report/traffic_label.h"

#include <stdlib.h>

#include "lib/log.h"

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
	char label[RANK_LABEL_BYTES];

	if (k->peer < 0)
		return xstrdup(dest ? dest : "?");
	p = model_process_get(r->model, (uint32_t)k->peer);
	if (p->is_rank)
		return xasprintf("rank %s", rank_label(r->model, p, label));
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
