/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Meta objects about the recording itself: at the start its configuration, machine and targets; at
 * the end the reason, and what is missing. images.c writes what is found in processes.
 */
#include <stdlib.h>
#include <sys/resource.h>

#include "lib/clock.h"
#include "target/proc.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "trace/trace_write.h"
#include "record/host/host.h"
#include "record/session_priv.h"
#include "layers/func_table.h"
#include "version.h"

static void meta_put(struct session *s, json_t *o)
{
	int err = trace_writer_meta(s->writer, o);

	if (err && !s->err)
		s->err = err;
}

static json_t *strings_json(char *const *v)
{
	json_t *a = json_array();

	for (; *v; v++)
		json_array_append_new(a, json_text(*v));
	return a;
}

static json_t *regions_json(const struct session_options *o)
{
	json_t *a = json_array();

	for (size_t i = 0; i < o->region_cnt; i++)
		json_array_append_new(a, json_text(o->region[i]));
	return a;
}

static json_t *config_members(const struct session *s)
{
	static const char *const modes[] = {"off", "ranks", "all"};
	const struct session_options *o = s->opt;

	return json_pack("{s:s,s:b,s:b,s:I,s:i,s:I,s:i,s:s,s:s,s:b,s:o,s:s}", "sched",
			 modes[o->sched], "irq", o->irq, "stacks", o->stacks, "spin_gap_ns",
			 (json_int_t)o->spin_gap_ns, "rings", (int)s->kernel.rings, "ring_bytes",
			 (json_int_t)s->kernel.ring_bytes, "cpus_per_ring",
			 (int)s->kernel.cpus_per_ring, "groups", o->groups ? o->groups : "default",
			 "layers", o->layers ? o->layers : "", "all", o->all, "regions",
			 regions_json(o), "capture",
			 s->preload && session_preload_records(s) ? "preload" : "probes");
}

/* Returns true if MPI functions that are recorded by default are left out. */
static bool leaves_out_mpi(const struct session *s)
{
	const struct func_choice usual = {0};
	bool *recorded = xcalloc(func_table_count(), sizeof(*recorded)), out = false;

	if (!func_table_select(&usual, recorded, NULL))
		for (size_t i = 0; i < func_table_count(); i++)
			out |= recorded[i] && !s->opt->recorded[i];
	free(recorded);
	return out;
}

static json_t *config_json(const struct session *s)
{
	json_t *o = config_members(s);

	if (leaves_out_mpi(s))
		json_object_set_new(o, "mpi_left_out", json_true());

	if (s->opt->max_overhead_pct > 0)
		json_object_set_new(o, "max_overhead_pct", json_real(s->opt->max_overhead_pct));
	if (s->opt->max_overhead_all)
		json_object_set_new(o, "max_overhead_all", json_true());
	return o;
}

bool session_records_layer(const struct session *s, const struct layer *layer)
{
	return table_any(func_table_count(), i,
			 s->opt->recorded[i] && func_table_layer(i) == layer);
}

static void adapters_write(struct session *s)
{
	json_t *adapters = NULL;

	for (size_t i = 0; layers[i] && !adapters; i++)
		if (layers[i]->uses_adapters && session_records_layer(s, layers[i]))
			adapters = adapters_describe("/sys/class/infiniband");
	if (adapters)
		meta_put(s, adapters);
}

void session_meta_recording(struct session *s, uint64_t begin_ns, json_t *kept)
{
	json_t *o = json_pack("{s:s,s:s,s:i,s:I}", "type", "recording", "povtrace", POV_VERSION,
			      "abi", 1, "start_ns", (json_int_t)begin_ns);

	json_object_set_new(o, "argv", strings_json(s->opt->argv));
	json_object_set_new(o, "config", config_json(s));
	if (kept)
		json_object_set_new(o, "kept", kept);
	meta_put(s, o);
}

void session_meta_begin(struct session *s)
{
	if (!s->keep)
		session_meta_recording(s, s->start_ns, NULL);
	meta_put(s, host_describe());
	trace_writer_place(s->writer, TRACE_PLACE_BEGIN);
	meta_put(s, host_clocks_describe());
	trace_writer_place(s->writer, TRACE_PLACE_FILE);
	for (size_t i = 0; layers[i]; i++)
		if (session_records_layer(s, layers[i]))
			meta_put(s, func_table_to_json(layers[i]));
	adapters_write(s);
	if (s->cost.samples)
		meta_put(s, json_pack("{s:s,s:f,s:f,s:f,s:f,s:i}", "type", "probe_cost", "call_ns",
				      s->cost.call_ns, "spin_ns", s->cost.spin_ns, "stepped_ns",
				      s->cost.stepped_ns, "counted_ns", s->cost.counted_ns,
				      "samples", (int)s->cost.samples));
}

void session_meta_kernel(struct session *s)
{
	if (s->kernel.functions.cnt)
		meta_put(s, kernel_functions_describe(&s->kernel.functions));
}

static void target_describe(struct session *s, pid_t pid, json_t *cmdline)
{
	meta_put(s, json_pack("{s:s,s:I,s:i,s:o}", "type", "target", "ts_ns",
			      (json_int_t)clock_now_ns(), "pid", pid, "cmdline", cmdline));
}

void session_meta_target(struct session *s, pid_t pid)
{
	json_t *d = proc_describe(pid);

	target_describe(s, pid, json_incref(json_object_get(d, "cmdline")));
	json_decref(d);
}

void session_meta_command(struct session *s)
{
	target_describe(s, s->launch.pid, strings_json(s->opt->launch->argv));
}

uint64_t session_own_cpu_ns(const struct session *s)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000ull +
	       (r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000ull +
	       (s->images ? images_helper_cpu_ns(s->images) : 0);
}

void session_stored_count(struct session *s)
{
	struct trace_tally *t = &s->res->stored;
	struct trace_writer_stats st;
	struct trace_kept kept;

	trace_writer_get_stats(s->writer, &st);
	s->res->unstored = s->refused + st.lost.records;
	if (s->keep) {
		trace_writer_kept(s->writer, false, &kept);
		*t = kept.tally;
		return;
	}
	t->records = st.accepted.records - st.lost.records;
	t->calls = st.accepted.calls - st.lost.calls;
	t->spins = st.accepted.spins - st.lost.spins;
	t->polls = st.accepted.polls - st.lost.polls;
	t->counted = st.accepted.counted - st.lost.counted;
	t->switches = st.accepted.switches - st.lost.switches;
}

/*
 * Adds the recorder's own CPU time since the file's contents begin, and its parts for starting and
 * stopping.
 */
static void own_cpu_add(struct session *s, uint64_t before_ns, json_t *end)
{
	uint64_t total = session_own_cpu_ns(s), begun = s->cpu_begun_ns ?: s->cpu_over_ns;

	s->res->own_cpu_ns = total;
	json_set_int(end, "own_cpu_ns", total - before_ns);
	json_set_int(end, "own_cpu_start_ns", begun > before_ns ? begun - before_ns : 0);
	json_set_int(end, "own_cpu_stop_ns", s->cpu_over_ns ? total - s->cpu_over_ns : 0);
}

/* Writes the counts of threads that recorded their own calls. */
static void preload_counts_write(struct session *s)
{
	meta_put(s, json_pack("{s:s,s:f,s:f,s:i,s:i,s:I,s:I,s:i}", "type", "preload", "call_ns",
			      s->cost.preload_ns, "counted_ns", s->cost.preload_counted_ns,
			      "threads", (int)preload_thread_cnt(s->preload), "damaged",
			      (int)preload_damaged_cnt(s->preload), "wait_ns",
			      (json_int_t)s->drops.preloaded.waits_ns, "no_area",
			      (json_int_t)s->drops.preloaded.no_area, "missed",
			      (int)preload_missed_cnt(s->preload)));
}

/* True if an MPI library was examined that could be recorded. */
static bool mpi_was_found(const struct session *s)
{
	for (uint32_t i = 0; i < images_library_count(s->images); i++) {
		const json_t *meta = images_library_meta(s->images, i);

		if (json_has_text(json_object_get(meta, "layers"), "mpi") &&
		    (json_get_u64(meta, "attached") || json_get_u64(meta, "preloaded")))
			return true;
	}
	return false;
}

void session_meta_over(struct session *s, const struct session_over *over)
{
	const struct trace_tally *t = over->stored;
	json_t *o, *misses;

	meta_put(s, host_clocks_describe());
	images_limits_write(s->images);
	if (s->preload && session_preload_records(s))
		preload_counts_write(s);
	o = json_pack("{s:s,s:I,s:s}", "type", "end", "ts_ns", (json_int_t)over->ts_ns, "reason",
		      over->reason);
	own_cpu_add(s, over->own_cpu_before_ns, o);
	json_object_set_new(o, "drops", drops_json(&s->drops));
	misses = drops_misses_json(&s->drops);
	json_set_int(misses, "recursion", kernel_recursions(&s->kernel) - over->recursions_before);
	s->res->unprobed = images_unprobed(s->images);
	s->res->found_mpi = mpi_was_found(s);
	json_set_int(misses, "unprobed", (int64_t)s->res->unprobed);
	json_object_set_new(o, "misses", misses);
	json_object_set_new(
		o, "stats",
		json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "calls",
			  (json_int_t)t->calls, "polls", (json_int_t)t->polls, "spins",
			  (json_int_t)t->spins, "switches", (json_int_t)t->switches, "rescued",
			  (json_int_t)drops_stat(&s->drops, POV_STAT_RESCUED), "folded",
			  (json_int_t)drops_stat(&s->drops, POV_STAT_FOLDED), "questions",
			  (json_int_t)drops_stat(&s->drops, POV_STAT_QUESTIONS), "wait_ns",
			  (json_int_t)drops_stat(&s->drops, POV_STAT_WAIT_NS), "switches_timed",
			  (json_int_t)drops_stat(&s->drops, POV_STAT_SWITCHES_TIMED), "switch_ns",
			  (json_int_t)drops_stat(&s->drops, POV_STAT_SWITCH_NS)));
	if (over->more) {
		json_object_update(o, over->more);
		json_decref(over->more);
	}
	meta_put(s, o);
}

void session_meta_end(struct session *s)
{
	const struct session_over over = {
		.ts_ns = s->end_ns,
		.reason = s->res->reason,
		.stored = &s->res->stored,
	};

	session_stored_count(s);
	if (s->keep)
		session_keep_end(s);
	else
		session_meta_over(s, &over);
}
