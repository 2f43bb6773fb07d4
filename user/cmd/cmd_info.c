/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace info prints what is in a trace file: where, when and how it was recorded, how many
 * records of each kind, its size, and whether it is complete. It reads every block, so it finds
 * damage. It prints how ranks ended; the report prints what they did.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/event.h"
#include "analysis/label.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/option.h"
#include "lib/progress.h"
#include "model/model.h"
#include "trace/trace_limit.h"
#include "trace/trace_join.h"
#include "trace/trace_read.h"
#include "trace/record_kinds.h"
#include "trace/trace_totals.h"

#define NS_PER_S 1000000000

struct info_options {
	bool json, meta, dump;
	uint64_t first;
};

/* ---- dumping ---- */

static void print_metas(const struct trace *t, const char *before)
{
	for (size_t i = 0; i < trace_meta_count(t); i++) {
		fputs(before, stdout);
		json_dumpf(trace_meta_get(t, i), stdout, JSON_COMPACT);
		fputc('\n', stdout);
	}
}

static int records_dump(struct trace *t, uint64_t first)
{
	const struct pov_hdr *rec;
	struct trace_merge *m;
	uint64_t n = 0;
	int err = trace_merge_open(t, NULL, &m);

	if (err)
		return err;
	print_metas(t, "meta ");
	while ((!first || n++ < first) && (err = trace_merge_next(m, &rec)) > 0) {
		trace_record_print(rec, stdout);
		fputc('\n', stdout);
	}
	trace_merge_close(m);
	return err < 0 ? err : 0;
}

/* ---- JSON ---- */

/*
 * A process is described again (meta object "process") when it maps a library and when it
 * initialises MPI. Returns an array by index of the meta object: true if a later description of the
 * same program in that process replaces it. The caller frees it.
 */
static bool *processes_replaced(const struct trace *t)
{
	bool *replaced = xcalloc(trace_meta_count(t) + 1, sizeof(*replaced));
	struct map last = {0};

	for (size_t i = trace_meta_count(t); i-- > 0;) {
		json_t *meta = trace_meta_get(t, i), *later;

		if (!json_is_type(meta, "process"))
			continue;
		later = map_set(&last, json_get_u64(meta, "pid"), meta);
		replaced[i] = later &&
			      !strcmp(json_get_text(later, "exe"), json_get_text(meta, "exe")) &&
			      json_equal(json_object_get(later, "cmdline"),
					 json_object_get(meta, "cmdline"));
	}
	map_release(&last);
	return replaced;
}

/* Returns all meta objects of a type, without members that are of no use to people. */
static json_t *metas_of(const struct trace *t, const char *type)
{
	static const char *const left_out[] = {"type", "named", "layout", "copied"};
	bool *replaced = processes_replaced(t);
	json_t *list = json_array();

	for (size_t i = 0; i < trace_meta_count(t); i++) {
		json_t *copy;

		if (!json_is_type(trace_meta_get(t, i), type) || replaced[i])
			continue;
		copy = json_copy(trace_meta_get(t, i));
		for (size_t k = 0; k < sizeof(left_out) / sizeof(left_out[0]); k++)
			json_object_del(copy, left_out[k]);
		json_array_append_new(list, copy);
	}
	free(replaced);
	return list;
}

static json_t *kinds_json(const struct trace_totals *s)
{
	json_t *kinds = json_object();
	char name[16];

	for (const struct record_kind *k = NULL; (k = record_kind_next(k));)
		if (s->kind[k->kind])
			json_set_int(kinds, k->name, s->kind[k->kind]);
	for (unsigned int i = 0; i < 256; i++) {
		snprintf(name, sizeof(name), "kind%u", i);
		if (s->kind[i] && !record_kind_find((uint8_t)i))
			json_set_int(kinds, name, s->kind[i]);
	}
	return kinds;
}

static double bytes_per_record(const struct trace_summary *sum, const struct trace_totals *s)
{
	return s->records ? (double)sum->file_bytes / (double)s->records : 0;
}

static void set_meta(const struct trace *t, json_t *obj, const char *type)
{
	json_t *meta = trace_meta_find(t, type);
	json_t *copy = meta ? json_copy(meta) : json_null();

	json_object_del(copy, "type");
	json_object_set_new(obj, type, copy);
}

static json_t *clocks_json(const struct trace *t)
{
	struct trace_clocks c;

	if (trace_clocks(t, &c) || !c.has_end)
		return json_null();
	return json_pack("{s:I,s:I,s:I}", "realtime_moved_ns", (json_int_t)c.realtime_moved_ns,
			 "suspended_ns", (json_int_t)c.suspended_ns, "slewed_ns",
			 (json_int_t)c.slewed_ns);
}

static json_t *totals_json(const struct trace_totals *s)
{
	json_t *obj = json_object();

	json_set_int(obj, "calls", s->kind[POV_KIND_CALL]);
	json_set_int(obj, "open_calls", s->open_calls);
	json_set_int(obj, "nested_calls", s->nested_calls);
	json_set_int(obj, "spins", s->kind[POV_KIND_SPIN]);
	json_set_int(obj, "polls", s->polls);
	json_set_int(obj, "switches", s->kind[POV_KIND_SWITCH]);
	json_set_int(obj, "preemptions", s->preempted);
	json_set_int(obj, "wakings", s->kind[POV_KIND_WAKING]);
	return obj;
}

static json_t *ends_json(const struct model *m)
{
	uint64_t start_ns = model_get_info(m)->start_ns;
	json_t *list = json_array(), *o;
	char end[END_LABEL_BYTES];

	for (uint32_t i = 0; i < model_process_count(m); i++) {
		const struct model_process *p = model_process_get(m, i);

		if (!p->is_rank)
			break;
		o = json_pack("{s:i,s:i,s:s,s:o,s:o}", "pid", (int)p->pid, "rank", (int)p->rank,
			      "end", end_label(p, end), "exit_status",
			      p->ended_ns ? json_integer(p->exit_code) : json_null(), "ended_ns",
			      p->ended_ns ? json_integer((json_int_t)(p->ended_ns - start_ns)) :
					    json_null());
		json_array_append_new(list, o);
	}
	return list;
}

static int print_json(const struct trace *t, const struct model *m, const struct trace_totals *s,
		      const struct info_options *opt)
{
	const struct trace_summary *sum = trace_get_summary(t);
	json_t *root = json_object();
	uint64_t start, end;
	int err;

	trace_times(t, &start, &end);
	json_object_set_new(root, "complete", json_boolean(sum->complete));
	json_set_int(root, "start_ns", start);
	json_set_int(root, "end_ns", end);
	json_set_int(root, "duration_ns", end - start);
	json_set_int(root, "start_realtime_ns", (uint64_t)trace_realtime(t, start));
	json_object_set_new(root, "clocks", clocks_json(t));
	set_meta(t, root, "recording");
	set_meta(t, root, "host");
	json_object_set_new(root, "processes", metas_of(t, "process"));
	json_object_set_new(root, "ends", ends_json(m));
	json_object_set_new(root, "libraries", metas_of(t, "library"));
	json_set_int(root, "records", s->records);
	json_object_set_new(root, "kinds", kinds_json(s));
	json_object_set_new(root, "totals", totals_json(s));
	json_object_set_new(root, "drops", trace_drops(t, s));
	set_meta(t, root, "end");
	json_set_int(root, "blocks", sum->blocks);
	json_set_int(root, "meta_blocks", sum->meta_blocks);
	json_set_int(root, "event_blocks", sum->event_blocks);
	json_set_int(root, "unknown_blocks", sum->unknown_blocks);
	json_set_int(root, "bad_blocks", sum->bad_blocks);
	json_set_int(root, "bad_records", sum->bad_records);
	json_set_int(root, "lost_tail_bytes", sum->lost_tail_bytes);
	json_set_int(root, "raw_bytes", s->raw_bytes);
	json_set_int(root, "file_bytes", sum->file_bytes);
	json_object_set_new(root, "bytes_per_record", json_real(bytes_per_record(sum, s)));
	if (opt->meta) {
		json_t *list = json_array();

		for (size_t i = 0; i < trace_meta_count(t); i++)
			json_array_append(list, trace_meta_get(t, i));
		json_object_set_new(root, "meta", list);
	}
	err = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) ? -EIO : 0;
	fputc('\n', stdout);
	json_decref(root);
	return err;
}

/* ---- text ---- */

/* Prints text from a file without characters that could control the terminal. */
static void print_safe(const char *s)
{
	for (; *s; s++)
		fputc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, stdout);
}

__attribute__((format(printf, 2, 3))) static void print_line(const char *name, const char *fmt, ...)
{
	va_list ap;
	char *value;

	va_start(ap, fmt);
	value = xvasprintf(fmt, ap);
	va_end(ap);
	printf("%-10s ", name);
	print_safe(value);
	fputc('\n', stdout);
	free(value);
}

static void print_origin(const struct trace *t)
{
	const json_t *host = trace_meta_find(t, "host");
	const json_t *recording = trace_meta_find(t, "recording");
	char dur[HUMAN_BYTES], when[64] = "at an unknown time";
	uint64_t start, end;
	const json_t *word;
	time_t seconds;
	struct tm tm;
	size_t i;

	trace_times(t, &start, &end);
	seconds = (time_t)(trace_realtime(t, start) / NS_PER_S);
	if (seconds && localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %z", &tm);
	if (host)
		print_line("host", "%s, Linux %s, %s, %" PRId64 " CPUs",
			   json_get_text(host, "hostname"), json_get_text(host, "kernel"),
			   json_get_text(host, "machine"), json_get_int(host, "cpus"));
	print_line("recorded", "%s, for %s", when, human_ns(dur, sizeof(dur), end - start));
	if (!json_array_size(json_object_get(recording, "argv")))
		return;
	printf("%-10s", "command");
	json_array_foreach(json_object_get(recording, "argv"), i, word)
	{
		fputc(' ', stdout);
		print_safe(json_is_string(word) ? json_string_value(word) : "?");
	}
	fputc('\n', stdout);
}

static void print_own(const char *name, char *text)
{
	if (text)
		print_line(name, "%s", text);
	free(text);
}

/* Prints which part of a `record --last` recording the file holds, and why it was written. */
static void print_kept(const struct trace *t)
{
	char *text = trace_kept_text(t);

	if (!text)
		return;
	print_own("kept", text);
	print_line("ended by", "%s", json_get_text(trace_meta_find(t, "end"), "reason"));
	print_own("trigger", trace_trigger_text(t));
}

#define MOVED_MIN_NS 10000 /* smaller differences are within the error of reading a clock */

/* Prints how clocks moved apart, for comparing the trace with other logs of the machine. */
static void print_clocks(const struct trace *t)
{
	char moved[HUMAN_BYTES], suspended[HUMAN_BYTES];
	struct trace_clocks c;
	uint64_t moved_ns;
	bool behind;

	if (trace_clocks(t, &c) || !c.has_end)
		return;
	behind = c.realtime_moved_ns < 0;
	moved_ns = behind ? -(uint64_t)c.realtime_moved_ns : (uint64_t)c.realtime_moved_ns;
	if (!c.suspended_ns && moved_ns < MOVED_MIN_NS)
		return;
	human_ns(suspended, sizeof(suspended), (uint64_t)c.suspended_ns);
	print_line("clocks", "the time of day went %s %s the recording's clock%s%s",
		   human_ns(moved, sizeof(moved), moved_ns), behind ? "behind" : "ahead of",
		   c.suspended_ns > 0 ? "; the machine was suspended for " : "",
		   c.suspended_ns > 0 ? suspended : "");
}

static void print_process(const json_t *p)
{
	bool no_mpi = json_is_false(json_object_get(p, "mpi")) ||
		      json_is_false(json_object_get(p, "initialised"));

	if (json_get_int(p, "rank") >= 0)
		print_line(no_mpi ? "process" : "rank",
			   "%" PRId64 " of %" PRId64 ": pid %" PRId64 ", %s, job %s",
			   json_get_int(p, "rank"), json_get_int(p, "size"), json_get_int(p, "pid"),
			   json_get_text(p, "exe"), json_get_text(p, "job"));
	else
		print_line(no_mpi ? "process" : "rank", "%spid %" PRId64 ", %s",
			   no_mpi ? "" : "unknown: ", json_get_int(p, "pid"),
			   json_get_text(p, "exe"));
}

static void print_ends(const struct model *m)
{
	uint64_t start_ns = model_get_info(m)->start_ns;
	char rank[RANK_LABEL_BYTES], end[END_LABEL_BYTES];

	for (uint32_t i = 0; i < model_process_count(m); i++) {
		const struct model_process *p = model_process_get(m, i);

		if (!p->is_rank)
			break;
		if (p->ended_ns)
			print_line("ended", "rank %s, pid %u: %s at %.3f s", rank_label(m, p, rank),
				   p->pid, end_label(p, end),
				   (double)(p->ended_ns - start_ns) / NS_PER_S);
		else
			print_line("ended",
				   "rank %s, pid %u: still running at the end of the recording",
				   rank_label(m, p, rank), p->pid);
	}
}

static void print_library(const json_t *l)
{
	const char *version = json_get_text(l, "version");

	if (json_get_int(l, "preloaded"))
		print_line("library",
			   "%s (%s%s%s), %" PRId64
			   " functions recorded by the processes themselves",
			   json_get_text(l, "path"), json_get_text(l, "flavour"),
			   *version ? " " : "", version, json_get_int(l, "preloaded"));
	if (json_get_int(l, "preloaded") && !json_get_int(l, "attached") &&
	    !json_array_size(json_object_get(l, "failed")))
		return;
	print_line("library", "%s (%s%s%s), %" PRId64 " functions by %s, %zu absent, %zu failed",
		   json_get_text(l, "path"), json_get_text(l, "flavour"), *version ? " " : "",
		   version, json_get_int(l, "attached"), json_get_text(l, "link"),
		   json_array_size(json_object_get(l, "missing")),
		   json_array_size(json_object_get(l, "failed")));
}

static void print_kind(const struct trace_totals *s, const struct record_kind *k)
{
	char buf[HUMAN_BYTES];

	if (!s->kind[k->kind])
		return;
	printf("  %-10s %15s", k->name, human_count(buf, sizeof(buf), s->kind[k->kind]));
	if (k->kind == POV_KIND_CALL && (s->open_calls || s->nested_calls))
		printf("   %" PRIu64 " open, %" PRIu64 " nested", s->open_calls, s->nested_calls);
	if (k->kind == POV_KIND_SPIN)
		printf("   %s polls that found nothing", human_count(buf, sizeof(buf), s->polls));
	if (k->kind == POV_KIND_SWITCH && s->preempted)
		printf("   %s preempted", human_count(buf, sizeof(buf), s->preempted));
	fputc('\n', stdout);
}

static void print_records(const struct trace_totals *s)
{
	char buf[HUMAN_BYTES];

	print_line("records", "%s", human_count(buf, sizeof(buf), s->records));
	for (const struct record_kind *k = NULL; (k = record_kind_next(k));)
		print_kind(s, k);
	for (unsigned int i = 0; i < 256; i++)
		if (s->kind[i] && !record_kind_find((uint8_t)i))
			printf("  kind %-5u %15s   unknown to this version\n", i,
			       human_count(buf, sizeof(buf), s->kind[i]));
}

static void print_drops(const struct trace *t, const struct trace_totals *s)
{
	json_t *drops = trace_drops(t, s), *drop;
	char buf[HUMAN_BYTES];
	size_t i;

	if (!json_array_size(drops))
		print_line("dropped", "nothing");
	json_array_foreach(drops, i, drop)
		print_line("dropped", "%s records of class %s, ring %" PRId64,
			   human_count(buf, sizeof(buf), (uint64_t)json_get_int(drop, "cnt")),
			   json_get_text(drop, "class"), json_get_int(drop, "ring"));
	json_decref(drops);
}

static void print_file(const struct trace *t, const struct trace_totals *s)
{
	const struct trace_summary *sum = trace_get_summary(t);
	char raw[HUMAN_BYTES], file[HUMAN_BYTES];

	print_line("file", "%s in %" PRIu64 " blocks, for %s of records: %.1f bytes a record",
		   human_bytes(file, sizeof(file), sum->file_bytes), sum->blocks,
		   human_bytes(raw, sizeof(raw), s->raw_bytes), bytes_per_record(sum, s));
	print_line("complete", sum->complete ? "yes" : "no: the recording was cut off");
	if (sum->unknown_blocks)
		print_line("newer",
			   "%" PRIu64
			   " blocks of unknown types were skipped: a newer version wrote them",
			   sum->unknown_blocks);
	if (sum->bad_blocks)
		print_line("damaged", "%" PRIu64 " blocks are missing", sum->bad_blocks);
	if (sum->bad_records)
		print_line("damaged", "%" PRIu64 " records are invalid", sum->bad_records);
	if (sum->lost_tail_bytes)
		print_line("damaged", "the last %" PRIu64 " bytes are an incomplete block",
			   sum->lost_tail_bytes);
}

static void print_text(const struct trace *t, const struct model *m, const struct trace_totals *s)
{
	bool *replaced = processes_replaced(t);

	print_origin(t);
	print_kept(t);
	print_clocks(t);
	for (size_t i = 0; i < trace_meta_count(t); i++)
		if (json_is_type(trace_meta_get(t, i), "process") && !replaced[i])
			print_process(trace_meta_get(t, i));
	free(replaced);
	print_ends(m);
	for (size_t i = 0; i < trace_meta_count(t); i++)
		if (json_is_type(trace_meta_get(t, i), "library"))
			print_library(trace_meta_get(t, i));
	print_records(s);
	print_drops(t, s);
	print_file(t, s);
}

/* ---- the command ---- */

static int info_print(struct trace *t, const char *path, const struct info_options *opt)
{
	struct trace_totals totals;
	struct model *m;
	int err;

	trace_sources_progress(&(struct trace_source){.path = path}, 1, 0, 1);
	err = trace_totals_count(t, &totals);
	progress_end();
	if (!err)
		err = model_open(t, &(struct model_options){.roles_only = true}, &m);
	if (err)
		return err;
	if (opt->json)
		err = print_json(t, m, &totals, opt);
	else
		print_text(t, m, &totals);
	model_close(m);
	return err;
}

static int info_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct info_options *opt = opts;
	struct trace *t;
	int err;

	if (argc != 1) {
		log_error("info: give exactly one trace file; see `povtrace help info`");
		return 2;
	}
	trace_limit_memory(argv, 1);
	if (trace_open(argv[0], &t))
		return 1;
	if (opt->dump) {
		err = records_dump(t, opt->first);
	} else if (opt->meta && !opt->json) {
		print_metas(t, "");
		err = 0;
	} else {
		err = info_print(t, argv[0], opt);
	}
	trace_close(t);
	return err ? 1 : 0;
}

#define OFF(member) offsetof(struct info_options, member)

static const struct option_def info_option_defs[] = {
	{"json", 'j', OPTION_FLAG, OFF(json), .help = "Print one JSON object."},
	{"meta", 'm', OPTION_FLAG, OFF(meta),
	 .help = "Print the meta objects, one JSON object a line; with --json, add them as member "
		 "\"meta\"."},
	{"dump", 'd', OPTION_FLAG, OFF(dump),
	 .help = "Print meta objects and all records in time order, one a line. Times are "
		 "nanoseconds of CLOCK_MONOTONIC."},
	{"first", 'n', OPTION_U64, OFF(first), "N", .min = 1,
	 .help = "Stop the dump after N records."},
	{.name = NULL},
};

static const char *const info_examples[] = {
	"povtrace info run.pov",
	"Print what was recorded, how much, and whether all of it is there.",
	"povtrace info --dump --first 20 run.pov",
	"Print the first 20 records as text.",
	"povtrace info --json run.pov | jq .totals",
	"Print how many calls, polls and context switches there are, for a program.",
	NULL,
};

const struct command cmd_info = {
	.name = "info",
	.brief = "Print what is in a trace file.",
	.usage = "[options] FILE",
	.details =
		"Prints where, when and how FILE was recorded, the ranks and libraries in it, how "
		"ranks ended, the number of records of each kind, what was dropped, its size, and "
		"whether it is complete and undamaged. Needs no privilege.\n\n"
		"A damaged or truncated file is read as far as possible, and what is missing is "
		"reported.",
	.examples = info_examples,
	.options = info_option_defs,
	.options_bytes = sizeof(struct info_options),
	.run = info_run,
};
