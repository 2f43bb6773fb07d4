/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Prints a load as tables for people. */
#include "fabric/load.h"

#include "lib/human.h"
#include "lib/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARS 28

struct page {
	const struct fabric_load *l;
	const struct fabric_shown *how;
	FILE *out;
};

static bool shown(const struct page *p, uint32_t context)
{
	return p->how->only == FABRIC_NONE || p->how->only == context;
}

static void more_rows_print(const struct page *p, uint32_t n)
{
	if (p->how->top && n > p->how->top)
		fprintf(p->out, "  … and %u more (--top)\n", n - p->how->top);
}

static uint32_t rows_of(const struct page *p, uint32_t n)
{
	return p->how->top && n > p->how->top ? p->how->top : n;
}

/* "leaf2 port 3 → spine0 port 1" */
static void hop_print(const struct page *p, uint32_t port)
{
	const struct fabric *f = p->l->fabric;
	char *from = text_printable(fabric_port_node(f, port)->name, NAME_CHARS),
	     *to = text_printable(fabric_port_node(f, f->port[port].far)->name, NAME_CHARS);

	fprintf(p->out, "%s port %u → %s port %u", from, f->port[port].number, to,
		f->port[f->port[port].far].number);
	free(from);
	free(to);
}

static void head_print(const struct page *p)
{
	const struct fabric *f = p->l->fabric;
	uint32_t switches = 0, tables = 0;
	char bytes[HUMAN_BYTES];

	for (uint32_t i = 0; i < f->nnode; i++) {
		switches += f->node[i].kind == FABRIC_SWITCH;
		tables += f->node[i].lft != NULL;
	}
	fprintf(p->out,
		"Fabric: %u adapters, %u switches (%u with a forwarding table), %u links, %u "
		"subnet%s\n",
		f->nnode - switches, switches, tables, f->nlink, f->nsubnet,
		f->nsubnet == 1 ? "" : "s");
	if (p->l->local.flows)
		fprintf(p->out, "Within an adapter, on no link: %s\n",
			human_bytes(bytes, sizeof(bytes), p->l->local.bytes));
	if (p->l->outside.flows)
		fprintf(p->out,
			"Outside this fabric (other carriers, destinations without a LID in it): "
			"%s in %u rows\n",
			human_bytes(bytes, sizeof(bytes), p->l->outside.bytes),
			p->l->outside.flows);
	if (p->l->unknown_messages)
		fprintf(p->out, "Messages whose size is not known, on no link: %llu\n",
			(unsigned long long)p->l->unknown_messages);
	if (p->l->unrouted.flows)
		fprintf(p->out,
			"Missing on the links: %u flows of %s that have no path by the "
			"forwarding tables (see --route)\n",
			p->l->unrouted.flows,
			human_bytes(bytes, sizeof(bytes), p->l->unrouted.bytes));
}

static void hottest_print(const struct page *p, uint32_t context)
{
	uint32_t n;
	struct fabric_hot *hot = fabric_hottest(p->l, context, false, &n);
	const struct fabric *f = p->l->fabric;
	char bytes[HUMAN_BYTES];

	fprintf(p->out, "\n  Hottest links, each direction by itself\n  %12s %8s  link\n", "bytes",
		"flows");
	for (uint32_t i = 0; i < rows_of(p, n); i++) {
		fprintf(p->out, "  %12s %8u  ", human_bytes(bytes, sizeof(bytes), hot[i].sum.bytes),
			hot[i].sum.flows);
		hop_print(p, f->link[hot[i].link].port[hot[i].direction]);
		fputc('\n', p->out);
	}
	more_rows_print(p, n);
	free(hot);
}

static void level_name(char *buf, size_t bytes, int level)
{
	if (level == 0)
		snprintf(buf, bytes, "adapters");
	else if (level == FABRIC_LEVEL_NONE)
		snprintf(buf, bytes, "apart");
	else
		snprintf(buf, bytes, "level %d", level);
}

static void levels_print(const struct page *p, uint32_t context)
{
	uint32_t n;
	struct fabric_level *row = fabric_levels(p->l, context, &n);

	fprintf(p->out, "\n  Imbalance by level\n  %-8s %-20s %6s %6s %12s %12s %12s %9s\n",
		"subnet", "from → to", "links", "used", "mean", "most", "least", "most/mean");
	for (uint32_t i = 0; i < n; i++) {
		const struct fabric_level *r = &row[i];
		char from[16], to[16], way[48], b[3][HUMAN_BYTES];

		level_name(from, sizeof(from), r->from);
		level_name(to, sizeof(to), r->to);
		snprintf(way, sizeof(way), "%s → %s", from, to);
		/* the arrow has three bytes, but is one character wide */
		fprintf(p->out, "  %-8u %-22s %6u %6u %12s %12s %12s", r->subnet + 1, way, r->links,
			r->used, human_bytes(b[0], HUMAN_BYTES, r->bytes / r->links),
			human_bytes(b[1], HUMAN_BYTES, r->max_bytes),
			human_bytes(b[2], HUMAN_BYTES, r->min_bytes));
		if (r->bytes)
			fprintf(p->out, " %9.2f\n",
				(double)r->max_bytes * r->links / (double)r->bytes);
		else
			fprintf(p->out, " %9s\n", "-");
	}
	free(row);
}

static void conflicts_print(const struct page *p, uint32_t context)
{
	const struct fabric_conflicts c = fabric_conflicts_of(p->l, context);
	uint32_t n;
	struct fabric_hot *hot = fabric_hottest(p->l, context, true, &n);
	const struct fabric *f = p->l->fabric;

	fprintf(p->out,
		"\n  Conflicts: %u of %u used link directions between switches carry more than one "
		"flow (at most %u)\n",
		c.shared, c.used, c.most);
	n = c.shared;
	for (uint32_t i = 0; i < rows_of(p, n); i++) {
		fprintf(p->out, "  %8u flows  ", hot[i].sum.flows);
		hop_print(p, f->link[hot[i].link].port[hot[i].direction]);
		fputc('\n', p->out);
	}
	more_rows_print(p, n);
	free(hot);
}

int fabric_print_text(const struct fabric_load *l, const struct fabric_shown *how, FILE *out)
{
	const struct page p = {l, how, out};

	head_print(&p);
	for (uint32_t i = 0; i < l->ncontext; i++) {
		/* with a single context, "all" would repeat it */
		if (!shown(&p, i) || (i == 1 && l->ncontext == 2 && how->only == FABRIC_NONE))
			continue;
		char bytes[HUMAN_BYTES], *name = text_printable(l->context[i], 60);
		uint32_t flows;
		uint64_t sum = fabric_flows_sum(l, i, &flows);

		fprintf(out, "\nContext %s: %u flows, %s\n", name, flows,
			human_bytes(bytes, sizeof(bytes), sum));
		free(name);
		hottest_print(&p, i);
		levels_print(&p, i);
		conflicts_print(&p, i);
	}
	return ferror(out) ? -EIO : 0;
}
