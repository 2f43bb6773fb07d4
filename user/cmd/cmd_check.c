/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace check: what this kernel, this machine and these privileges allow, each with its consequence
 * for a recording, and which libraries can be recorded here; with --sites, where the functions of a library would be probed. Changes nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "target/features.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/option.h"
#include "record/recorder.h"
#include "cmd/commands.h"

struct check_options {
	const char *sites;
	bool json;
};

#define FIELD(name) offsetof(struct check_options, name)
static const struct option_def options[] = {
	{"sites", 's', OPTION_STRING, FIELD(sites), "LIB",
	 .help = "List each MPI function of a library or program: its first instruction, the probe site chosen, "
		 "and why."},
	{"json", 0, OPTION_FLAG, FIELD(json), .help = "Print JSON."},
	{.name = NULL},
};

/* Verdicts; TRY: it takes privileges to find out. */
#define OK "ok"
#define LESS "less"
#define NO "NO"
#define TRY "?"

static void add(json_t *findings, const char *what, const char *verdict, const char *consequence)
{
	json_array_append_new(findings, json_pack("{s:s,s:s,s:s}", "what", what, "verdict", verdict,
						  "consequence", consequence));
}

/* A line that is either fine or not: good and bad tell what follows. */
static void add_if(json_t *findings, const char *what, bool have, const char *otherwise,
		   const char *good, const char *bad)
{
	add(findings, what, have ? OK : otherwise, have ? good : bad);
}

static void add_images(json_t *out, const struct features *f)
{
	static const char *const ways[] = {
		[IMAGE_NONE] = "libraries that a target maps after the start are not traced",
		[IMAGE_FENTRY] = "fentry: libraries mapped later are seen at once",
		[IMAGE_KPROBE] = "kprobe: libraries mapped later are seen at once",
		[IMAGE_TREE] = "tracepoint ma_write: libraries mapped later are seen at once",
	};

	add(out, "new code mappings", f->image_way == IMAGE_NONE ? LESS : OK, ways[f->image_way]);
}

#if defined(__x86_64__)
#define HAVE_DECODER true /* target/elf/probe_site.c */
#else
#define HAVE_DECODER false
#endif

/* What is found out by loading a program, for which privileges are needed. */
static void add_loaded(json_t *out, const struct features *f)
{
	static const char *const names[] = {"BPF ring buffer",	 "attach cookies",
					    "typed tracepoints", "uprobes",
					    "new code mappings", "waiting uprobes"};

	if (!f->root) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			add(out, names[i], TRY, "cannot be tried without privileges");
		return;
	}
	add_if(out, "BPF ring buffer", f->ringbuf, NO, "records reach the collector",
	       "needs Linux 5.8; no recording");
	add_if(out, "attach cookies", f->cookie, NO, "one program serves all functions",
	       "needs Linux 5.15; no recording");
	add_if(out, "typed tracepoints", f->tracing, NO, "tasks and the scheduler can be followed",
	       "tp_btf programs do not load; no recording");
	if (f->uprobe_multi)
		add(out, "uprobes", OK, "uprobe_multi: hundreds of functions by one link, at once");
	else if (f->perf_uprobe)
		add(out, "uprobes", LESS,
		    "a perf event for each function (no uprobe_multi before "
		    "Linux 6.6): they are taken away in the background after a recording");
	else
		add(out, "uprobes", NO, "none (CONFIG_UPROBE_EVENTS): no MPI call can be seen");
	add_images(out, f);
	add_if(out, "waiting uprobes", f->wait, LESS,
	       "a thread that maps a new library waits in the kernel until its probes are in",
	       "no (before Linux 6.1): the first calls of libraries that could not be foreseen may be missing, "
	       "and the trace says so");
}

/* The functions that are seen in the way of the first one. */
static void add_way(json_t *out, const json_t *functions, size_t first)
{
	const json_t *one = json_array_get(functions, first);
	const char *way = json_get_text(one, "way");
	bool whole = json_get_bool(one, "whole");
	char text[640];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s%s:", *way ? way : "cannot be seen",
				       *way && !whole ? ", without durations" : "");

	for (size_t i = first; i < json_array_size(functions) && used < sizeof(text); i++) {
		const json_t *f = json_array_get(functions, i);

		if (!strcmp(json_get_text(f, "way"), way))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s",
						 i > first ? "," : "", json_get_text(f, "name"));
	}
	add(out, "kernel functions", whole ? OK : LESS, text);
}

static void add_functions(json_t *out, const json_t *functions)
{
	for (size_t i = 0, j; i < json_array_size(functions); i++) {
		const char *way = json_get_text(json_array_get(functions, i), "way");

		for (j = 0; strcmp(json_get_text(json_array_get(functions, j), "way"), way);)
			j++;
		if (j == i) /* nobody before it */
			add_way(out, functions, i);
	}
}

static void findings_make(const struct features *f, const json_t *functions, json_t *out)
{
	add_if(out, "privilege", f->root, NO, "BPF programs can be loaded",
	       "BPF programs cannot be loaded: run as root (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN)");
	add_if(out, "kernel BTF", f->btf, NO, "the kernel half can be fitted to this kernel",
	       "no /sys/kernel/btf/vmlinux: the kernel must be built with CONFIG_DEBUG_INFO_BTF=y; no recording");
	add_loaded(out, f);
	if (!f->btf)
		add(out, "sched_switch state", TRY, "is told by the kernel's BTF");
	else
		add_if(out, "sched_switch state", f->switch_state, LESS, "as the scheduler saw it",
		       "read from the task (before Linux 5.18): a wake-up at the same moment may hide that it slept");
	if (f->root)
		add_functions(out, functions);
	else
		add(out, "kernel functions", TRY, "cannot be tried without privileges");
	add_if(out, "instruction decoder", HAVE_DECODER, LESS,
	       "probes are put where the kernel emulates the instruction",
	       "none for this machine: all probes lie on the first instruction, which may be slow");
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

/* A line of its own: "librxe-rdmav65: USDT rdma_core_rxe:post_send (in post_send)"; nothing if it has none. */
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
		printf(", %zu not in it", missing);
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
 * Files of which functions are met at run time, and which are many (a provider of libibverbs for each kind of adapter), by name
 * only: all that are like the i-th library, if that is the first of them.
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
	printf("  %-6s %s, functions are met at run time (paths: --json):",
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

/* 1 if anything forbids a recording. */
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

static int check_host(const struct recorder *recording, const struct check_options *o)
{
	json_t *found = json_array(), *libraries = recording->library_list(), *functions;
	struct features f;
	struct utsname u;
	int rc;

	uname(&u);
	recording->features_probe(&f);
	functions = recording->kernel_functions_list();
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
			   "Whether recording is possible here only root can tell: sudo povtrace check" :
			   "Recording is not possible here.");
	}
	json_decref(found);
	json_decref(libraries);
	return rc;
}

static int run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct check_options *o = opts;
	const struct recorder *recording;

	(void)dashdash;
	if (argc) {
		log_error("check: takes no operand (\"%s\"); see `povtrace help check`", argv[0]);
		return 2;
	}
	recording = recorder_load("check");
	if (!recording)
		return 1;
	if (o->sites)
		return recording->sites_print(o->sites, o->json, stdout) ? 1 : 0;
	return check_host(recording, o);
}

static const char *const examples[] = {
	"sudo povtrace check",
	"what this kernel allows, and what follows",
	"povtrace check --sites /usr/lib/x86_64-linux-gnu/libmpi.so.40",
	"where Open MPI would be probed",
	"povtrace check --sites ./app",
	"a program with MPI linked into it",
	NULL,
};

const struct command cmd_check = {
	.name = "check",
	.brief = "Tell what this kernel and host allow.",
	.usage = "[options]",
	.details =
		"Tries each kernel feature that a recording uses and tells what follows from the result: \"ok\", "
		"\"less\" (recording works, something is lost), \"NO\", or \"?\" (it takes root to try). Exit "
		"status 1 if no recording is possible, for this user or at all. Then lists the libraries in /usr/lib, /usr/lib64 "
		"and the like of /usr/local whose functions can be recorded. Nothing is changed.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct check_options),
	.run = run,
};
