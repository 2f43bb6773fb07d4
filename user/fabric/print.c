/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints a load: tables for people; for programs JSON, or CSV with one row per half link that
 * carries something.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/load.h"
#include "lib/human.h"
#include "lib/json_out.h"
#include "lib/text.h"

#define NAME_CHARS 28

static bool shown(const struct fabric_shown *how, uint32_t context)
{
	return how->only == FABRIC_NONE || how->only == context;
}

/* ---- tables for people ---- */

struct page {
	const struct fabric_load *l;
	const struct fabric_shown *how;
	FILE *out;
};

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
		if (!shown(how, i) || (i == 1 && l->ncontext == 2 && how->only == FABRIC_NONE))
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

/* ---- JSON ---- */

static void left_out_json(struct json_out *j, const char *name, const struct fabric_left_out *o)
{
	json_out_key_object(j, name);
	json_out_key_uint(j, "bytes", o->bytes);
	json_out_key_uint(j, "flows", o->flows);
	json_out_object_end(j);
}

static const char *kind_name(enum fabric_kind kind)
{
	return kind == FABRIC_SWITCH ? "switch" : "adapter";
}

static void nodes_json(struct json_out *j, const struct fabric *f)
{
	json_out_key_array(j, "nodes");
	for (uint32_t i = 0; i < f->nnode; i++) {
		const struct fabric_node *n = &f->node[i];

		json_out_object_begin(j);
		json_out_key_string(j, "kind", kind_name(n->kind));
		json_out_key_string(j, "name", n->name);
		json_out_key(j, "guid");
		json_out_hex(j, n->guid);
		if (n->level != FABRIC_LEVEL_NONE)
			json_out_key_int(j, "level", n->level);
		/* an adapter may be in several: its links give the subnet */
		if (n->kind == FABRIC_SWITCH)
			json_out_key_uint(j, "subnet", n->subnet);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void links_json(struct json_out *j, const struct fabric *f)
{
	json_out_key_array(j, "links");
	for (uint32_t i = 0; i < f->nlink; i++) {
		const struct fabric_link *l = &f->link[i];

		json_out_object_begin(j);
		json_out_key_array(j, "ends");
		for (int end = 0; end < 2; end++) {
			json_out_object_begin(j);
			json_out_key_uint(j, "node", f->port[l->port[end]].node);
			json_out_key_uint(j, "port", f->port[l->port[end]].number);
			json_out_object_end(j);
		}
		json_out_array_end(j);
		json_out_key_uint(j, "subnet", f->port[l->port[0]].subnet);
		json_out_key_string(j, "speed", l->speed);
		if (l->gbit_per_s > 0)
			json_out_key_double(j, "gbit_per_s", l->gbit_per_s);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

/* The load of a link from its end "from" to the other end. */
static void halves_json(struct json_out *j, const struct fabric_load *l, uint32_t context)
{
	uint32_t n;
	struct fabric_hot *hot = fabric_hottest(l, context, false, &n);

	json_out_key_array(j, "halves");
	for (uint32_t i = 0; i < n; i++) {
		json_out_object_begin(j);
		json_out_key_uint(j, "link", hot[i].link);
		json_out_key_int(j, "from", hot[i].direction);
		json_out_key_uint(j, "bytes", hot[i].sum.bytes);
		json_out_key_uint(j, "flows", hot[i].sum.flows);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	free(hot);
}

static void levels_json(struct json_out *j, const struct fabric_load *l, uint32_t context)
{
	uint32_t n;
	struct fabric_level *r = fabric_levels(l, context, &n);

	json_out_key_array(j, "levels");
	for (uint32_t i = 0; i < n; i++) {
		json_out_object_begin(j);
		json_out_key_uint(j, "subnet", r[i].subnet);
		json_out_key_int(j, "from", r[i].from);
		json_out_key_int(j, "to", r[i].to);
		json_out_key_uint(j, "links", r[i].links);
		json_out_key_uint(j, "used", r[i].used);
		json_out_key_uint(j, "bytes", r[i].bytes);
		json_out_key_uint(j, "max_bytes", r[i].max_bytes);
		json_out_key_uint(j, "min_bytes", r[i].min_bytes);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	free(r);
}

static void context_json(struct json_out *j, const struct fabric_load *l, uint32_t context)
{
	const struct fabric_conflicts c = fabric_conflicts_of(l, context);
	uint32_t flows;
	uint64_t bytes = fabric_flows_sum(l, context, &flows);

	json_out_object_begin(j);
	json_out_key_string(j, "context", l->context[context]);
	json_out_key_uint(j, "bytes", bytes);
	json_out_key_uint(j, "flows", flows);
	json_out_key_object(j, "conflicts");
	json_out_key_uint(j, "used", c.used);
	json_out_key_uint(j, "shared", c.shared);
	json_out_key_uint(j, "most_flows", c.most);
	json_out_object_end(j);
	levels_json(j, l, context);
	halves_json(j, l, context);
	json_out_object_end(j);
}

int fabric_print_json(const struct fabric_load *l, const struct fabric_shown *how, FILE *out)
{
	struct json_out *j = json_out_new(out, JSON_OUT_LINES);
	const struct fabric *f = l->fabric;

	json_out_object_begin(j);
	json_out_key_string(j, "format", "povtrace fabric");
	json_out_key_int(j, "version", 1);
	json_out_key_array(j, "subnets");
	for (uint32_t i = 0; i < f->nsubnet; i++)
		json_out_string(j, f->subnet[i]);
	json_out_array_end(j);
	nodes_json(j, f);
	links_json(j, f);
	left_out_json(j, "local", &l->local);
	left_out_json(j, "outside", &l->outside);
	left_out_json(j, "unrouted", &l->unrouted);
	json_out_key_uint(j, "unknown_size", l->unknown_messages);
	json_out_key_array(j, "contexts");
	for (uint32_t i = 0; i < l->ncontext; i++) {
		if (shown(how, i))
			context_json(j, l, i);
	}
	json_out_array_end(j);
	json_out_object_end(j);
	return json_out_finish(j);
}

/* ---- CSV ---- */

/* RFC 4180: always quoted. */
static void name_csv(const char *name, FILE *out)
{
	fputc('"', out);
	for (; *name; name++) {
		if (*name == '"')
			fputc('"', out);
		fputc(*name, out);
	}
	fputc('"', out);
}

static void half_csv(const struct fabric_load *l, uint32_t context, const struct fabric_hot *h,
		     FILE *out)
{
	const struct fabric *f = l->fabric;
	const struct fabric_link *link = &f->link[h->link];

	name_csv(l->context[context], out);
	for (int end = 0; end < 2; end++) {
		uint32_t port = link->port[end ? !h->direction : h->direction];
		const struct fabric_node *n = fabric_port_node(f, port);

		fprintf(out, ",0x%016llx,", (unsigned long long)n->guid);
		name_csv(n->name, out);
		fprintf(out, ",%u,%d", f->port[port].number, n->level);
	}
	fprintf(out, ",%u,%llu,%u\r\n", f->port[link->port[0]].subnet + 1,
		(unsigned long long)h->sum.bytes, h->sum.flows);
}

int fabric_print_csv(const struct fabric_load *l, const struct fabric_shown *how, FILE *out)
{
	fputs("context,from_guid,from,from_port,from_level,to_guid,to,to_port,to_level,"
	      "subnet,bytes,flows\r\n",
	      out);
	for (uint32_t i = 0; i < l->ncontext; i++) {
		struct fabric_hot *hot;
		uint32_t n;

		if (!shown(how, i))
			continue;
		hot = fabric_hottest(l, i, false, &n);
		for (uint32_t k = 0; k < n; k++)
			half_csv(l, i, &hot[k], out);
		free(hot);
	}
	return ferror(out) ? -EIO : 0;
}
