/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The trace's function table, with stand-ins for functions that it does not list. */
#include <stdlib.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "model/who.h"
#include "trace/trace_read.h"

static const struct layer *layer_find(const char *name)
{
	for (size_t i = 0; layers[i]; i++) {
		if (!strcmp(layers[i]->name, name))
			return layers[i];
	}
	return NULL;
}

static void func_generic(struct func_info *f, const json_t *row, const char *layer_name)
{
	memset(f, 0, sizeof(*f));
	f->name = json_get_text(row, "name");
	f->group = json_get_text(row, "group");
	f->layer_name = layer_name;
	if (!*f->name)
		f->name = "?";
}

/*
 * Makes all functions of one layer share one string for its name, so that pointers can be compared.
 */
static const char *layer_name_of(const struct model *m, const struct layer *layer, const char *name)
{
	if (layer)
		return layer->name;
	for (uint32_t i = 0; i < m->nfuncs; i++)
		if (!strcmp(m->func[i].layer_name, name))
			return m->func[i].layer_name;
	return name;
}

static void func_read(struct model *m, const char *layer_name, const json_t *row)
{
	const struct layer *layer = layer_find(layer_name);
	json_int_t id = json_get_int(row, "id");
	struct func_info *f;

	if (!json_is_integer(json_object_get(row, "id")) || id < 0 || id > UINT16_MAX)
		return;
	layer_name = layer_name_of(m, layer, layer_name);
	f = table_append(m->func, m->nfuncs);
	func_generic(f, row, layer_name);
	if (layer && layer_func_parse(layer, row, f)) {
		log_warn(
			"model: cannot parse function %lld of the trace's table; its arguments are "
			"not shown",
			(long long)id);
		layer = NULL;
	}
	if (!layer)
		func_generic(f, row, layer_name);
	f->id = (uint16_t)id;
	f->group_bit = func_group_bit(f->group);
	f->layer = layer;
}

static void index_by_id(struct model *m)
{
	for (uint32_t i = 0; i < m->nfuncs; i++) {
		if (m->func[i].id >= m->func_ids)
			m->func_ids = m->func[i].id + 1u;
	}
	m->func_by_id = xcalloc(m->func_ids ? m->func_ids : 1, sizeof(*m->func_by_id));
	for (uint32_t i = 0; i < m->nfuncs; i++)
		m->func_by_id[m->func[i].id] = &m->func[i];
}

void func_table_read(struct model *m)
{
	const json_t *meta, *rows;

	for (size_t i = 0; i < trace_meta_count(m->trace); i++) {
		meta = trace_meta_get(m->trace, i);
		if (!json_is_type(meta, "functions"))
			continue;
		rows = json_object_get(meta, "rows");
		for (size_t k = 0; k < json_array_size(rows); k++)
			func_read(m, json_get_text(meta, "layer"), json_array_get(rows, k));
	}
	index_by_id(m);
}

static const struct func_info *func_stranger_get(struct model *m, uint16_t id)
{
	struct func_info *f = map_get(&m->strangers, id);

	if (f)
		return f;
	f = xcalloc(1, sizeof(*f));
	f->id = id;
	f->name = xasprintf("function %u", id);
	f->group = f->layer_name = "";
	map_set(&m->strangers, id, f);
	return f;
}

const struct func_info *func_find(struct model *m, uint16_t id)
{
	if (id < m->func_ids && m->func_by_id[id])
		return m->func_by_id[id];
	m->stats.unknown_functions++;
	return func_stranger_get(m, id);
}

static void stranger_free(void *stranger)
{
	free((char *)((struct func_info *)stranger)->name);
	free(stranger);
}

void func_table_release(struct model *m)
{
	for (uint32_t i = 0; i < m->nfuncs; i++)
		layer_func_release(&m->func[i]);
	free(m->func);
	free(m->func_by_id);
	map_free(&m->strangers, stranger_free);
}
