/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace check prints what this kernel, this machine and these privileges allow, each with its
 * consequence for a recording, and lists the libraries that can be recorded here. With --sites it
 * prints where the functions of a library would be probed. It changes nothing.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "target/features.h"
#include "target/elf/elf_file.h"
#include "target/helper/library_kind.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "record/kernel_functions.h"
#include "record/sites_print.h"
#include "layers/func_table.h"
#include "cmd/recording/options.h"

/* Verdicts. TRY: only root can find out. */
#define OK "ok"
#define LESS "less"
#define NO "NO"
#define TRY "?"

static void feature_add(json_t *features, const char *what, const char *verdict,
			const char *consequence)
{
	json_array_append_new(features, json_pack("{s:s,s:s,s:s}", "what", what, "verdict", verdict,
						  "consequence", consequence));
}

/* Adds "ok" with the consequence good if the feature exists, else verdict missing with bad. */
static void feature_add_if(json_t *features, const char *what, bool exists, const char *missing,
			   const char *good, const char *bad)
{
	feature_add(features, what, exists ? OK : missing, exists ? good : bad);
}

static void add_images(json_t *out, const struct features *f)
{
	static const char *const ways[] = {
		[IMAGE_NONE] = "libraries that a program maps after the start are not recorded",
		[IMAGE_FENTRY] = "fentry: libraries mapped later are noticed at once",
		[IMAGE_KPROBE] = "kprobe: libraries mapped later are noticed at once",
		[IMAGE_TREE] = "tracepoint ma_write: libraries mapped later are noticed at once",
	};

	feature_add(out, "new code mappings", f->image_way == IMAGE_NONE ? LESS : OK,
		    ways[f->image_way]);
}

#if defined(__x86_64__)
#define HAVE_DECODER true /* target/elf/probe_site.c decodes instructions */
#else
#define HAVE_DECODER false
#endif

/* Adds the features that are found by loading a BPF program, which needs privileges. */
static void add_loaded(json_t *out, const struct features *f)
{
	static const char *const names[] = {"BPF ring buffer",	 "attach cookies",
					    "typed tracepoints", "uprobes",
					    "new code mappings", "waiting uprobes"};

	if (!f->root) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			feature_add(out, names[i], TRY, "unknown without root");
		return;
	}
	feature_add_if(out, "BPF ring buffer", f->ringbuf, NO, "records reach the collector",
		       "needs Linux 5.8; no recording");
	feature_add_if(out, "attach cookies", f->cookie, NO, "one program serves all functions",
		       "needs Linux 5.15; no recording");
	feature_add_if(out, "typed tracepoints", f->tracing, NO,
		       "tasks and the scheduler can be followed",
		       "tp_btf programs do not load; no recording");
	if (f->uprobe_multi)
		feature_add(out, "uprobes", OK,
			    "uprobe_multi: one link attaches hundreds of functions at once");
	else if (f->perf_uprobe)
		feature_add(out, "uprobes", LESS,
			    "a perf event for each function (no uprobe_multi before Linux 6.6), "
			    "removed in the background after a recording");
	else
		feature_add(out, "uprobes", NO,
			    "none (CONFIG_UPROBE_EVENTS): no MPI call can be recorded");
	add_images(out, f);
	feature_add_if(
		out, "waiting uprobes", f->wait, LESS,
		"a thread that maps a new library waits in the kernel until its probes are in",
		"none (before Linux 6.1): the first calls of libraries that povtrace could not "
		"predict may be missing; the trace counts these libraries");
}

/* Adds one line for all functions that are recorded in the same way as the first one. */
static void add_way(json_t *out, const json_t *functions, size_t first)
{
	const json_t *one = json_array_get(functions, first);
	const char *way = json_get_text(one, "way");
	bool whole = json_get_bool(one, "whole");
	char text[640];
	size_t used = (size_t)snprintf(text, sizeof(text),
				       "%s%s:", *way ? way : "cannot be recorded",
				       *way && !whole ? ", without durations" : "");

	for (size_t i = first; i < json_array_size(functions) && used < sizeof(text); i++) {
		const json_t *f = json_array_get(functions, i);

		if (!strcmp(json_get_text(f, "way"), way))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s",
						 i > first ? "," : "", json_get_text(f, "name"));
	}
	feature_add(out, "kernel functions", whole ? OK : LESS, text);
}

static void add_functions(json_t *out, const json_t *functions)
{
	for (size_t i = 0, j; i < json_array_size(functions); i++) {
		const char *way = json_get_text(json_array_get(functions, i), "way");

		for (j = 0; strcmp(json_get_text(json_array_get(functions, j), "way"), way);)
			j++;
		if (j == i) /* the first function of its way */
			add_way(out, functions, i);
	}
}

static void findings_make(const struct features *f, const json_t *functions, json_t *out)
{
	feature_add_if(
		out, "privilege", f->root, NO, "BPF programs can be loaded",
		"BPF programs cannot be loaded: run as root (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN)");
	feature_add_if(out, "kernel BTF", f->btf, NO,
		       "the BPF programs can be adapted to this kernel",
		       "no /sys/kernel/btf/vmlinux: the kernel must be built with "
		       "CONFIG_DEBUG_INFO_BTF=y; no recording");
	add_loaded(out, f);
	if (!f->btf)
		feature_add(out, "sched_switch state", TRY, "unknown without the kernel's BTF");
	else
		feature_add_if(out, "sched_switch state", f->switch_state, LESS,
			       "a thread's state as the scheduler saw it",
			       "read from the thread (before Linux 5.18): a wake-up at the same "
			       "moment may hide that it slept");
	if (f->root)
		add_functions(out, functions);
	else
		feature_add(out, "kernel functions", TRY, "unknown without root");
	feature_add_if(
		out, "instruction decoder", HAVE_DECODER, LESS,
		"probes are put where the kernel emulates the instruction",
		"none for this machine: all probes are on the first instruction, which may be "
		"slow");
}

static int print_json(json_t *findings, json_t *libraries, const struct utsname *u)
{
	json_t *o = json_pack("{s:i,s:s,s:s,s:O,s:O}", "schema_version", 1, "kernel", u->release,
			      "machine", u->machine, "findings", findings, "libraries", libraries);
	int err = json_dumpf(o, stdout, JSON_INDENT(2)) || putchar('\n') < 0 ? -EIO : 0;

	json_decref(o);
	return err;
}

static void print_text(const json_t *findings, const struct utsname *u)
{
	const json_t *f;
	size_t i;

	printf("Linux %s, %s\n", u->release, u->machine);
	json_array_foreach(findings, i, f)
		printf("  %-4s  %-20s %s\n", json_get_text(f, "verdict"), json_get_text(f, "what"),
		       json_get_text(f, "consequence"));
}

/*
 * Prints the static probes of a library on a line of their own, or nothing if it has none:
 * "librxe-rdmav65: USDT rdma_core_rxe:post_send (in post_send)".
 */
static void print_notes(const json_t *l)
{
	const char *probe, *before = "USDT", *name = strrchr(json_get_text(l, "path"), '/') + 1;
	json_t *notes = json_object_get(l, "usdt"), *one, *function;
	size_t i;

	if (!json_object_size(notes))
		return;
	printf("         %.*s:", (int)strcspn(name, "."), name);
	json_object_foreach(notes, probe, one)
	{
		printf(" %s %s", before, probe);
		json_array_foreach(json_object_get(one, "in"), i, function)
			printf("%s%s", i ? ", " : " (in ", json_string_value(function));
		printf("%s", i ? ")" : "");
		before = "and";
	}
	putchar('\n');
}

static void print_library(const json_t *l)
{
	size_t missing = json_array_size(json_object_get(l, "missing"));
	char functions[64];

	printf("  %-6s %s: %s%s%s, %s", json_get_text(l, "layer"), json_get_text(l, "path"),
	       json_get_text(l, "flavour"), *json_get_text(l, "version") ? " " : "",
	       json_get_text(l, "version"),
	       human_plural(functions, sizeof(functions), json_get_u64(l, "functions"), "function",
			    "functions"));
	if (missing)
		printf(", %zu missing", missing);
	putchar('\n');
	print_notes(l);
}

#define LINE_COLUMNS 100

static bool is_met_like(const json_t *l, const json_t *first)
{
	return json_get_bool(l, "met") &&
	       !strcmp(json_get_text(l, "flavour"), json_get_text(first, "flavour"));
}

/*
 * Prints libraries whose functions are found only at run time. There are many (libibverbs has one
 * provider for each kind of adapter), so one line lists all that are like the library first_idx by
 * name. Prints nothing if an earlier library is like it: that one's line has it.
 */
static void print_met(const json_t *libraries, size_t first_idx)
{
	const json_t *first = json_array_get(libraries, first_idx);
	int column = 0, bytes;
	const char *name;
	const json_t *l;
	size_t i;

	for (i = 0; i < first_idx; i++)
		if (is_met_like(json_array_get(libraries, i), first))
			return;
	printf("  %-6s %s, functions are found at run time (paths: --json):",
	       json_get_text(first, "layer"), json_get_text(first, "flavour"));
	json_array_foreach(libraries, i, l)
	{
		if (!is_met_like(l, first))
			continue;
		name = strrchr(json_get_text(l, "path"), '/') + 1;
		bytes = (int)strcspn(name, ".");
		if (column == 0 || column + 1 + bytes > LINE_COLUMNS)
			column = printf("\n        ") - 1;
		column += printf(" %.*s", bytes, name);
	}
	putchar('\n');
	json_array_foreach(libraries, i, l)
	{
		if (is_met_like(l, first))
			print_notes(l);
	}
}

static void print_libraries(const json_t *libraries)
{
	const json_t *l;
	size_t i;

	puts(json_array_size(libraries) ? "Libraries that can be recorded, by layer:" :
					  "No library that can be recorded is installed.");
	json_array_foreach(libraries, i, l)
	{
		if (json_get_bool(l, "met"))
			print_met(libraries, i);
		else
			print_library(l);
	}
}

/* Returns 1 if anything rules out a recording, else 0. */
static int findings_status(const json_t *findings)
{
	const json_t *f;
	size_t i;

	json_array_foreach(findings, i, f)
	{
		if (!strcmp(json_get_text(f, "verdict"), NO))
			return 1;
	}
	return 0;
}

static int check_host(const struct check_options *o)
{
	json_t *found = json_array(), *libraries = library_list(), *functions;
	struct features f;
	struct utsname u;
	int rc;

	uname(&u);
	features_probe(&f);
	functions = kernel_functions_list();
	findings_make(&f, functions, found);
	json_decref(functions);
	rc = findings_status(found);
	if (o->json) {
		rc = print_json(found, libraries, &u) ? 1 : rc;
	} else {
		print_text(found, &u);
		print_libraries(libraries);
		puts(!rc ? "Recording is possible here." :
		     !f.root && geteuid() ?
			   "Only root can find out whether recording is possible: sudo povtrace "
			   "check" :
			   "Recording is not possible here.");
	}
	json_decref(found);
	json_decref(libraries);
	return rc;
}

/* ---- the sites of one file ---- */

/* Returns true if a file is a library of a layer below MPI. */
static bool is_lower(const struct layer *layer, const struct elf_file *elf)
{
	const struct library_kind *kind = library_kind_of(layer);
	struct library_facts facts;

	if (layer->is_top || !kind || !kind->describe(elf, &facts))
		return false;
	json_decref(facts.meta);
	json_decref(facts.copies);
	return true;
}

/*
 * Lists the functions of the lower layers that a file belongs to; 0: none. The caller frees *out.
 */
static size_t lower_functions(const struct elf_file *elf, struct site_function **out)
{
	size_t cnt = 0;

	*out = xcalloc(func_table_count(), sizeof(**out));
	for (size_t l = 0; layers[l]; l++) {
		if (!is_lower(layers[l], elf))
			continue;
		for (size_t i = 0; i < layers[l]->row_cnt; i++)
			(*out)[cnt++] = (struct site_function){layers[l]->rows[i].name, 6};
	}
	return cnt;
}

static int sites_of_file_print(const char *path, bool json, FILE *out)
{
	struct site_function *lower;
	struct elf_file *elf;
	size_t cnt;
	int err = elf_file_open(path, &elf);

	if (err) {
		log_error("check: %s: %s", path,
			  err == -ENOEXEC ? "not an ELF file of this machine" : strerror(-err));
		return err;
	}
	cnt = lower_functions(elf, &lower);
	err = sites_print(elf, path, cnt ? lower : NULL, cnt, json, out);
	free(lower);
	elf_file_close(elf);
	return err;
}

int check_command_run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct check_options *o = opts;

	if (argc) {
		log_error("check: unexpected operand \"%s\"; see `povtrace help check`", argv[0]);
		return 2;
	}
	if (o->sites)
		return sites_of_file_print(o->sites, o->json, stdout) ? 1 : 0;
	return check_host(o);
}
