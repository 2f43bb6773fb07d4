/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The page's head, the data as JSON, its tail. What the data says is text of anybody's: "<" does not appear in it, so that nothing in it
 * can end the element that holds it, and the script never makes markup of it.
 */
#include "fabric_page.h"

#include "graph.h"
#include "replace.h"

#include "lib/json_out.h"
#include "lib/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Made by make from viz/fabric/: what is before the data, and behind it. */
extern const char fabric_page_head[], fabric_page_tail[];

struct page {
	const struct data_result *result;
	const char *title;
	struct graph g;
};

static const struct data_result *the_result(const struct data *d, const struct choice *c)
{
	const struct data_result *found = NULL;

	for (size_t i = 0; i < d->result_cnt; i++) {
		if (!choose_wants(c, &d->result[i]))
			continue;
		if (found || strcmp(d->result[i].kind, "fabric"))
			return NULL;
		found = &d->result[i];
	}
	return found;
}

bool fabric_page_fits(const struct data *d, const struct choice *c)
{
	return the_result(d, c);
}

/* ---- data ---- */

static void rows_put(struct json_out *j, const struct graph *g)
{
	json_out_key_array(j, "rows");
	for (int r = g->row_low; r <= g->row_high; r++) {
		char *name = graph_row_name(g, r);

		json_out_object_begin(j);
		json_out_key_int(j, "row", r);
		json_out_key_string(j, "name", name);
		json_out_object_end(j);
		free(name);
	}
	json_out_array_end(j);
}

static void nodes_put(struct json_out *j, const struct graph *g)
{
	json_out_key_array(j, "nodes");
	for (uint32_t i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[i];

		json_out_object_begin(j);
		json_out_key_string(j, "name", n->name);
		json_out_key(j, "guid");
		json_out_hex(j, n->guid);
		json_out_key_bool(j, "isSwitch", n->is_switch);
		json_out_key_int(j, "row", n->row);
		json_out_key_double(j, "x", n->x);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void links_put(struct json_out *j, const struct graph *g)
{
	json_out_key_array(j, "links");
	for (uint32_t i = 0; i < g->nlink; i++) {
		const struct graph_link *l = &g->link[i];

		json_out_object_begin(j);
		for (int end = 0; end < 2; end++) {
			json_out_key_uint(j, end ? "b" : "a", l->node[end]);
			json_out_key_uint(j, end ? "bPort" : "aPort", l->port[end]);
		}
		json_out_key_uint(j, "subnet", l->subnet);
		json_out_key_string(j, "speed", l->speed);
		json_out_key_double(j, "gbitPerS", l->gbit_per_s);
		json_out_key_double(j, "lane", l->lane);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

/* Of each half with traffic: link, end, bytes, flows. */
static void context_put(struct json_out *j, const struct graph *g, const json_t *context)
{
	struct graph_half *half = graph_halves(g, context);
	const char *name = data_param_text(context, "context");

	json_out_object_begin(j);
	json_out_key_string(j, "name", name ? name : "?");
	json_out_key_double(j, "bytes", data_param(context, "bytes"));
	json_out_key_double(j, "flows", data_param(context, "flows"));
	json_out_key_array(j, "halves");
	for (uint32_t i = 0; i < 2 * g->nlink; i++) {
		if (!(half[i].bytes > 0))
			continue;
		json_out_uint(j, i / 2);
		json_out_uint(j, i & 1);
		json_out_double(j, half[i].bytes);
		json_out_double(j, half[i].flows);
	}
	json_out_array_end(j);
	json_out_object_end(j);
	free(half);
}

static void data_put(const struct page *p, struct json_out *j)
{
	const json_t *subnets = json_object_get(p->result->file->root, "subnets"), *o;
	char *left_out = graph_left_out(p->result->file);
	size_t i;

	json_out_object_begin(j);
	json_out_key_string(j, "title", p->title ? p->title : p->result->file->path);
	json_out_key_string(j, "leftOut", left_out);
	json_out_key_array(j, "subnets");
	json_array_foreach(subnets, i, o) json_out_string(j, json_string_value(o));
	json_out_array_end(j);
	rows_put(j, &p->g);
	nodes_put(j, &p->g);
	links_put(j, &p->g);
	json_out_key_array(j, "contexts");
	for (i = 0; i < p->result->point_cnt; i++)
		context_put(j, &p->g, p->result->point[i]);
	json_out_array_end(j);
	json_out_object_end(j);
	free(left_out);
}

/* ---- the file ---- */

static void page_put(const struct page *p, FILE *out)
{
	char *text = NULL;
	size_t bytes;
	FILE *json = open_memstream(&text, &bytes);
	struct json_out *j;

	if (!json)
		die("out of memory (a page)");
	j = json_out_new(json, JSON_OUT_LINES);
	data_put(p, j);
	if (json_out_finish(j) || fclose(json))
		die("out of memory (a page)");
	fputs(fabric_page_head, out);
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '<')
			fputs("\\u003c", out);
		else
			fputc(text[i], out);
	}
	fputs(fabric_page_tail, out);
	free(text);
}

static int file_write(void *ctx, const char *path)
{
	FILE *out = fopen(path, "we");
	bool failed = !out;

	if (out) {
		page_put(ctx, out);
		failed = ferror(out);
		failed = fclose(out) || failed;
	}
	if (failed)
		log_error("%s: %s", path, log_unwritten(errno));
	return failed ? -EIO : 0;
}

int fabric_page_write(const struct data *d, const struct choice *c, const char *title,
		      const char *path)
{
	struct page p = {.result = the_result(d, c), .title = title};
	int err;

	if (!p.result->point_cnt)
		return data_refuse_empty(p.result);
	err = graph_read(&p.g, p.result->file);
	if (err)
		return err;
	err = replace_file(path, file_write, &p);
	graph_release(&p.g);
	return err;
}
