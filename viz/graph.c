/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Files come from anywhere. Invalid numbers count as 0, but a link to a missing node makes the
 * file unusable.
 */
#include "graph.h"

#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUBNETS_MAX 26 /* letters of the alphabet */
#define LEVEL_MAX 64   /* greatest number of links in a path */

static uint64_t uint_of(const json_t *o, const char *key, uint64_t max)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v < 0 ? 0 : (uint64_t)v > max ? max : (uint64_t)v;
}

bool graph_is(const json_t *root)
{
	return !strcmp(json_get_text(root, "format"), "povtrace fabric");
}

static int graph_refuse(const struct data_file *f, const char *what)
{
	log_error("%s: %s; wanted is what `povtrace fabric --json` writes", f->path, what);
	return -EINVAL;
}

static void nodes_read(struct graph *g, const json_t *nodes)
{
	const json_t *o;
	size_t i;

	g->nnode = (uint32_t)json_array_size(nodes);
	g->node = xcalloc((size_t)g->nnode + 1, sizeof(*g->node));
	json_array_foreach(nodes, i, o)
	{
		const json_t *level = json_object_get(o, "level");

		g->node[i] = (struct graph_node){
			.name = json_get_text(o, "name"),
			.guid = strtoull(json_get_text(o, "guid"), NULL, 16),
			.is_switch = !strcmp(json_get_text(o, "kind"), "switch"),
			.level = level ? (int)uint_of(o, "level", LEVEL_MAX) : GRAPH_LEVEL_NONE,
			.subnet = (uint32_t)uint_of(o, "subnet", g->nsubnet - 1),
		};
	}
}

static bool link_read(const struct graph *g, const json_t *o, struct graph_link *l)
{
	double rate = json_number_value(json_object_get(o, "gbit_per_s"));

	*l = (struct graph_link){
		.subnet = (uint32_t)uint_of(o, "subnet", g->nsubnet - 1),
		.speed = json_get_text(o, "speed"),
		.gbit_per_s = rate > 0 && rate < 1e9 ? rate : 0,
	};
	for (size_t end = 0; end < 2; end++) {
		const json_t *e = json_array_get(json_object_get(o, "ends"), end);

		if (!json_is_integer(json_object_get(e, "node")))
			return false;
		l->node[end] = (uint32_t)uint_of(e, "node", UINT32_MAX);
		l->port[end] = (uint32_t)uint_of(e, "port", UINT16_MAX);
		if (l->node[end] >= g->nnode)
			return false;
	}
	return true;
}

int graph_read(struct graph *g, const struct data_file *f)
{
	const json_t *links = json_object_get(f->root, "links"), *o;
	size_t i;

	*g = (struct graph){
		.nsubnet = (uint32_t)json_array_size(json_object_get(f->root, "subnets"))};
	if (!g->nsubnet || g->nsubnet > SUBNETS_MAX)
		return graph_refuse(f, "no subnets, or more than 26");
	nodes_read(g, json_object_get(f->root, "nodes"));
	g->nlink = (uint32_t)json_array_size(links);
	g->link = xcalloc((size_t)g->nlink + 1, sizeof(*g->link));
	json_array_foreach(links, i, o)
	{
		if (link_read(g, o, &g->link[i]))
			continue;
		graph_release(g);
		return graph_refuse(f, "a link to a node that is not there");
	}
	if (!g->nlink) {
		graph_release(g);
		return graph_refuse(f, "no links");
	}
	layout_make(g);
	return 0;
}

void graph_release(struct graph *g)
{
	free(g->node);
	free(g->link);
	*g = (struct graph){0};
}

static double number_of(const json_t *o, const char *key)
{
	double v = json_number_value(json_object_get(o, key));

	return v > 0 && v < 1e30 ? v : 0;
}

struct graph_half *graph_halves(const struct graph *g, const json_t *context)
{
	struct graph_half *half = xcalloc(2 * (size_t)g->nlink + 1, sizeof(*half));
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(context, "halves"), i, o)
	{
		uint64_t link = uint_of(o, "link", UINT32_MAX), from = uint_of(o, "from", 2);

		if (link < g->nlink && from < 2)
			half[2 * link + from] = (struct graph_half){number_of(o, "bytes"),
								    number_of(o, "flows")};
	}
	return half;
}

char *graph_row_name(const struct graph *g, int row)
{
	for (uint32_t i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[i];
		char subnet[2] = {g->nsubnet > 1 ? (char)('a' + n->subnet) : 0, 0};

		if (n->row != row || !n->is_switch)
			continue;
		return n->level == GRAPH_LEVEL_NONE ?
			       xasprintf("apart%s%s", *subnet ? " " : "", subnet) :
			       xasprintf("level %d%s", n->level, subnet);
	}
	return xstrdup("adapters");
}

char *graph_left_out(const struct data_file *f)
{
	static const char *const words[][2] = {{"unrouted", "of flows without a path"},
					       {"outside", "not of this fabric"},
					       {"local", "within an adapter"}};
	uint64_t unknown = uint_of(f->root, "unknown_size", INT64_MAX);
	char *text = NULL, bytes[HUMAN_BYTES];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const json_t *o = json_object_get(f->root, words[i][0]);

		if (!uint_of(o, "flows", INT64_MAX))
			continue;
		human_bytes(bytes, sizeof(bytes), uint_of(o, "bytes", INT64_MAX));
		text = text_joined(text, ", ", xasprintf("%s %s", bytes, words[i][1]));
	}
	if (unknown)
		text = text_joined(text, ", ",
				   xasprintf("%llu messages whose size is not known",
					     (unsigned long long)unknown));
	return text ? text_joined(xstrdup("not on the links"), ": ", text) : xstrdup("");
}
