/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Joins the meta objects of several recordings. Objects that each recording has once ("recording",
 * "probe_cost", "end") are merged. Tables of functions become one table. Everything else is copied
 * with joined numbers.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "abi/config.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "trace/trace_file.h"
#include "trace/trace_totals.h"

#define FUNC_NONE 0xfffe /* stands for functions that no table lists */

/* ---- copies of single objects ---- */

static void meta_map_time(const struct join_part *p, json_t *o, const char *key)
{
	if (json_is_integer(json_object_get(o, key)))
		json_set_int(o, key, join_time(p, (uint64_t)json_get_int(o, key)));
}

static void meta_map_id(const struct join_part *p, json_t *o, const char *key)
{
	uint32_t id = join_id(p, (uint32_t)json_get_int(o, key));

	if (id)
		json_set_int(o, key, id);
}

static void meta_map_lib(const struct join_part *p, json_t *o, const char *key)
{
	if (json_is_integer(json_object_get(o, key)))
		json_set_int(o, key, p->lib_base + (uint64_t)json_get_int(o, key));
}

static json_t *meta_copy(const struct join_part *p, const json_t *meta)
{
	json_t *o = json_deep_copy(meta), *lib, *pid;
	size_t i;

	meta_map_time(p, o, "ts_ns");
	if (json_is_type(o, "process") || json_is_type(o, "target") || json_is_type(o, "late"))
		meta_map_id(p, o, "pid");
	if (json_is_type(o, "process")) {
		meta_map_id(p, o, "ppid");
		json_array_foreach(json_object_get(o, "libs"), i, lib) meta_map_lib(p, lib, "id");
	}
	if (json_is_type(o, "cpu_limit") || json_is_type(o, "memory_limit")) {
		meta_map_time(p, o, "to_ns");
		json_array_foreach(json_object_get(o, "pids"), i, pid)
			json_integer_set(pid, join_id(p, (uint32_t)json_integer_value(pid)));
	}
	if (json_is_type(o, "late") || json_is_type(o, "probes"))
		meta_map_lib(p, o, "library");
	if (json_is_type(o, "library"))
		meta_map_lib(p, o, "id");
	if (json_is_type(o, "adapters"))
		json_set_int(o, "host", p->host);
	if (json_is_type(o, "library") || json_is_type(o, "image"))
		json_set_int(o, "ino", join_ino(p, (uint64_t)json_get_int(o, "ino")));
	return o;
}

/* ---- tables of functions ---- */

/* The joined table of each layer. Rows with equal text are one function. */
struct tables {
	json_t *layers; /* meta objects "functions", one per layer */
	json_t *known;	/* layer and row as text → number */
	uint32_t next;	/* number of the next row */
};

static json_t *tables_rows_of(struct tables *t, const char *layer)
{
	json_t *o;
	size_t i;

	json_array_foreach(t->layers, i, o)
	{
		if (!strcmp(json_get_text(o, "layer"), layer))
			return json_object_get(o, "rows");
	}
	o = json_pack("{s:s,s:s,s:[]}", "type", "functions", "layer", layer, "rows");
	json_array_append_new(t->layers, o);
	return json_object_get(o, "rows");
}

static void function_take(struct tables *t, struct join_part *p, const char *layer,
			  const json_t *row)
{
	json_int_t own = json_get_int(row, "id"), id;
	json_t *copy;
	char *key;

	if (own < 0 || own >= JOIN_FUNCS || t->next >= FUNC_NONE)
		return;
	key = xasprintf("%s %s %s %s %s", layer, json_get_text(row, "name"),
			json_get_text(row, "group"), json_get_text(row, "attrs"),
			json_get_text(row, "sig"));
	if (json_object_get(t->known, key)) {
		id = json_get_int(t->known, key);
	} else {
		id = t->next++;
		json_set_int(t->known, key, (uint64_t)id);
		copy = json_deep_copy(row);
		json_set_int(copy, "id", (uint64_t)id);
		json_array_append_new(tables_rows_of(t, layer), copy);
	}
	p->func[own] = (uint16_t)id;
	free(key);
}

static void functions_take(struct tables *t, struct join_part *p)
{
	const json_t *meta, *row;
	size_t k;

	p->func = p->func ?: xmalloc(JOIN_FUNCS * sizeof(*p->func));
	for (uint32_t i = 0; i < JOIN_FUNCS; i++)
		p->func[i] = FUNC_NONE;
	for (size_t i = 0; i < trace_meta_count(p->trace); i++) {
		meta = trace_meta_get(p->trace, i);
		if (json_is_type(meta, "functions"))
			json_array_foreach(json_object_get(meta, "rows"), k, row)
				function_take(t, p, json_get_text(meta, "layer"), row);
	}
}

/* ---- objects that each recording has once ---- */

static const json_t *config_of(const struct join_part *p)
{
	return json_object_get(trace_meta_find(p->trace, "recording"), "config");
}

/* Appends the regions of a part. Regions with the same name are one region. */
static void regions_take(struct join_part *p, json_t *all)
{
	const json_t *own = json_object_get(config_of(p), "regions");
	const char *name;
	size_t at;

	for (size_t i = 0; i < POV_REGIONS_MAX; i++) {
		name = json_string_value(json_array_get(own, i));
		p->region[i] = UINT16_MAX;
		if (!name)
			continue;
		for (at = 0; at < json_array_size(all); at++)
			if (!strcmp(json_string_value(json_array_get(all, at)), name))
				break;
		if (at == json_array_size(all))
			json_array_append_new(all, json_string(name));
		p->region[i] = (uint16_t)at;
	}
}

static uint64_t own_start_ns(const struct join_part *p)
{
	return (uint64_t)json_get_int(trace_meta_find(p->trace, "recording"), "start_ns");
}

/* Begin of its recording, in the joined trace's time. */
static uint64_t part_start_ns(const struct join_part *p)
{
	return join_time(p, own_start_ns(p));
}

/*
 * Takes the first recording's object, with the earliest begin. Each CPU gets its own ring
 * (trace_join.c).
 */
static json_t *recording_join(const struct trace_joined *j)
{
	json_t *o = json_deep_copy(trace_meta_find(j->part[0].trace, "recording")), *config;
	json_t *regions = json_array();
	uint64_t first_ns = UINT64_MAX, ns;
	bool all = true;

	for (size_t i = 0; i < j->cnt; i++) {
		struct join_part *p = &j->part[i];

		ns = part_start_ns(p);
		if (ns < first_ns)
			first_ns = ns;
		all &= json_is_true(json_object_get(config_of(p), "all"));
		regions_take(p, regions);
	}
	json_set_int(o, "start_ns", first_ns);
	config = json_object_get(o, "config");
	json_set_int(config, "rings", j->cpus);
	json_set_int(config, "cpus_per_ring", 1);
	json_object_set_new(config, "all", json_boolean(all));
	json_object_set_new(config, "regions", regions);
	return o;
}

/* Adds up numbers of the same name, recursively. */
static void numbers_add(json_t *to, const json_t *from)
{
	const char *key;
	json_t *v, *sum;

	json_object_foreach((json_t *)from, key, v)
	{
		sum = json_object_get(to, key);
		if (json_is_object(v) && json_is_object(sum))
			numbers_add(sum, v);
		else if (json_is_integer(v) && json_is_integer(sum))
			json_set_int(to, key,
				     (uint64_t)json_integer_value(sum) +
					     (uint64_t)json_integer_value(v));
		else if (!sum)
			json_object_set_new(to, key, json_deep_copy(v));
	}
}

/* Joins the objects "end". NULL, for no object, if any recording did not end normally. */
static json_t *end_join(const struct trace_joined *j)
{
	json_t *o = json_object(), *drops = json_array(), *end;
	const char *reason = NULL;
	uint64_t last_ns = 0, ns;

	for (size_t i = 0; i < j->cnt; i++) {
		end = trace_meta_find(j->part[i].trace, "end");
		if (!end) {
			json_decref(o);
			json_decref(drops);
			return NULL;
		}
		ns = join_time(&j->part[i], (uint64_t)json_get_int(end, "ts_ns"));
		if (ns > last_ns)
			last_ns = ns;
		reason = !reason || !strcmp(reason, json_get_text(end, "reason")) ?
				 json_get_text(end, "reason") :
				 "several reasons";
		json_array_extend(drops, json_object_get(end, "drops"));
		numbers_add(o, end);
	}
	json_object_del(o, "trigger"); /* belongs to one host */
	json_object_set_new(o, "type", json_string("end"));
	json_set_int(o, "ts_ns", last_ns);
	json_object_set_new(o, "reason", json_string(reason));
	json_object_set_new(o, "drops", drops);
	return o;
}

/* The cost of a probe, averaged over the hosts. */
static json_t *cost_join(const struct trace_joined *j)
{
	static const char *const keys[] = {"call_ns", "spin_ns", "stepped_ns", "counted_ns"};
	enum { KEYS = sizeof(keys) / sizeof(*keys) };
	double sum[KEYS] = {0};
	json_t *cost, *o;
	size_t n = 0;

	for (size_t i = 0; i < j->cnt; i++) {
		cost = trace_meta_find(j->part[i].trace, "probe_cost");
		for (int k = 0; k < KEYS; k++)
			sum[k] += json_number_value(json_object_get(cost, keys[k]));
		n += cost != NULL;
	}
	if (!n)
		return NULL;
	o = json_deep_copy(trace_meta_find(j->part[0].trace, "probe_cost")) ?: json_object();
	json_object_set_new(o, "type", json_string("probe_cost"));
	for (int k = 0; k < KEYS; k++)
		json_object_set_new(o, keys[k], json_real(sum[k] / (double)n));
	return o;
}

/* Adds up what preloaded processes reported, and averages the cost of a call. */
static json_t *preload_join(const struct trace_joined *j)
{
	double call_ns = 0, counted_ns = 0;
	json_t *preload, *o = NULL;
	size_t n = 0;

	for (size_t i = 0; i < j->cnt; i++) {
		preload = trace_meta_find(j->part[i].trace, "preload");
		if (!preload)
			continue;
		if (!o)
			o = json_pack("{s:s}", "type", "preload");
		numbers_add(o, preload);
		call_ns += json_number_value(json_object_get(preload, "call_ns"));
		counted_ns += json_number_value(json_object_get(preload, "counted_ns"));
		n++;
	}
	if (!o)
		return NULL;
	json_object_set_new(o, "call_ns", json_real(call_ns / (double)n));
	json_object_set_new(o, "counted_ns", json_real(counted_ns / (double)n));
	return o;
}

/* Limits the value: a broken clock may be off by any amount. */
static json_int_t whole_ns(double ns)
{
	return ns < (double)(INT64_MAX / 2) ? (json_int_t)ceil(ns) : INT64_MAX / 2;
}

static json_t *hosts_join(const struct trace_joined *j)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < j->cnt; i++) {
		const struct join_part *p = &j->part[i];
		const json_t *host = trace_meta_find(p->trace, "host");

		json_array_append_new(
			rows,
			json_pack("{s:s,s:s,s:s,s:s,s:i,s:i,s:I,s:I,s:I,s:I,s:i,s:i,s:I,s:I,s:I}",
				  "path", p->path, "hostname", json_get_text(host, "hostname"),
				  "kernel", json_get_text(host, "kernel"), "machine",
				  json_get_text(host, "machine"), "cpus", (int)p->cpus, "cpu_base",
				  (int)p->cpu_base, "recorder", json_get_int(host, "recorder"),
				  "offset_ns", (json_int_t)(part_start_ns(p) - own_start_ns(p)),
				  "drift_ppb", (json_int_t)(p->clock.drift * 1e9), "start_ns",
				  (json_int_t)part_start_ns(p), "clock_by", (int)p->fit.by,
				  "clock_host", (int)p->fit.host, "clock_messages",
				  (json_int_t)p->fit.messages, "clock_uncertainty_ns",
				  whole_ns(p->fit.uncertainty_ns), "clock_violated_ns",
				  whole_ns(p->fit.violated_ns)));
	}
	return json_pack("{s:s,s:o}", "type", "hosts", "rows", rows);
}

/* The first host's object, with the CPUs of all hosts. */
static json_t *host_join(const struct trace_joined *j)
{
	json_t *o = json_deep_copy(trace_meta_find(j->part[0].trace, "host"));

	json_set_int(o, "cpus", j->cpus);
	json_object_del(o, "topology");
	return o;
}

/* ---- numbering ---- */

static uint32_t clamp_u32(json_int_t v, uint32_t least, uint32_t most)
{
	return v < (json_int_t)least ? least : v > (json_int_t)most ? most : (uint32_t)v;
}

static void parts_number(struct trace_joined *j)
{
	uint32_t libs = 0;

	j->cpus = 0;
	for (size_t i = 0; i < j->cnt; i++) {
		struct join_part *p = &j->part[i];

		p->cpus = clamp_u32(json_get_int(trace_meta_find(p->trace, "host"), "cpus"), 1,
				    UINT16_MAX);
		p->cpu_base = j->cpus;
		j->cpus += p->cpus;
		p->rings = clamp_u32(json_get_int(config_of(p), "rings"), 1, POV_RINGS_MAX);
		p->cpus_per_ring = clamp_u32(json_get_int(config_of(p), "cpus_per_ring"), 1,
					     UINT16_MAX);
		p->lib_base = libs;
		libs += POV_LIB_NUMBERS;
	}
}

static int parts_check(const struct trace_joined *j)
{
	for (size_t i = 0; i < j->cnt; i++) {
		const struct join_part *p = &j->part[i];

		if (!config_of(p) || !trace_meta_find(p->trace, "host")) {
			log_error("trace: %s does not say how and where it was recorded; it cannot "
				  "be read together with others",
				  p->path);
			return -EINVAL;
		}
		if (strcmp(json_get_text(config_of(p), "sched"),
			   json_get_text(config_of(&j->part[0]), "sched"))) {
			log_error("trace: %s and %s were recorded with different --sched; record "
				  "them alike, or read them one by one",
				  j->part[0].path, p->path);
			return -EINVAL;
		}
	}
	if (j->cpus > UINT16_MAX / 8) {
		log_error("trace: %u CPUs in all are too many", j->cpus);
		return -EINVAL;
	}
	return 0;
}

static bool is_joined(const json_t *meta)
{
	static const char *const once[] = {"recording",	 "host",   "functions", "end",
					   "probe_cost", "clocks", "preload"};

	return table_any(sizeof(once) / sizeof(*once), i, json_is_type(meta, once[i]));
}

/*
 * Adds all objects that are neither merged nor tables. Of all clocks, only the first recording's
 * are used: its times are those of the joined trace.
 */
static void other_metas_add(json_t *all, const struct join_part *p, bool is_first)
{
	for (size_t i = 0; i < trace_meta_count(p->trace); i++) {
		const json_t *meta = trace_meta_get(p->trace, i);

		if (!is_joined(meta))
			json_array_append_new(all, meta_copy(p, meta));
		else if (is_first && json_is_type(meta, "clocks"))
			json_array_append_new(all, json_deep_copy(meta));
	}
}

int join_metas(struct trace_joined *j, json_t ***out, size_t *cnt)
{
	struct tables tables = {.layers = json_array(), .known = json_object()};
	json_t *all = json_array();
	int err;

	parts_number(j);
	err = parts_check(j);
	if (err)
		goto out;
	json_array_append_new(all, recording_join(j));
	json_array_append_new(all, host_join(j));
	json_array_append_new(all, hosts_join(j));
	for (size_t i = 0; i < j->cnt; i++)
		functions_take(&tables, &j->part[i]);
	json_array_extend(all, tables.layers);
	/* objects that do not exist are not appended */
	json_array_append_new(all, cost_join(j));
	json_array_append_new(all, preload_join(j));
	for (size_t i = 0; i < j->cnt; i++)
		other_metas_add(all, &j->part[i], !i);
	json_array_append_new(all, end_join(j));
	*cnt = json_array_size(all);
	*out = xcalloc(*cnt, sizeof(**out));
	for (size_t i = 0; i < *cnt; i++)
		(*out)[i] = json_incref(json_array_get(all, i));
out:
	json_decref(all);
	json_decref(tables.layers);
	json_decref(tables.known);
	return err;
}
