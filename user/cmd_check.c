/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace check: what this kernel, this machine and these privileges allow, each with its consequence
 * for a recording; with --sites, where the functions of a library would be probed. Changes nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "attach/features.h"
#include "base/log.h"
#include "base/option.h"
#include "collect/recorder.h"
#include "commands.h"

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

enum verdict { VERDICT_OK, VERDICT_LESS, VERDICT_NO, VERDICT_UNKNOWN };
static const char *const verdict_names[] = {"ok", "less", "NO", "?"};

struct finding {
	const char *what;
	enum verdict verdict;
	char consequence[200];
};

#define FINDINGS_MAX 16
struct findings {
	struct finding f[FINDINGS_MAX];
	size_t cnt;
};

static void add(struct findings *out, const char *what, enum verdict v, const char *consequence)
{
	struct finding *f = &out->f[out->cnt++];

	f->what = what;
	f->verdict = v;
	snprintf(f->consequence, sizeof(f->consequence), "%s", consequence);
}

/* A line that is either fine or not: good and bad tell what follows. */
static void add_if(struct findings *out, const char *what, bool have, enum verdict otherwise,
		   const char *good, const char *bad)
{
	add(out, what, have ? VERDICT_OK : otherwise, have ? good : bad);
}

static void add_images(struct findings *out, const struct features *f)
{
	static const struct {
		enum verdict verdict;
		const char *text;
	} ways[] = {
		[IMAGE_NONE] = {VERDICT_LESS,
				"libraries that a target maps after the start are not traced"},
		[IMAGE_FENTRY] = {VERDICT_OK, "fentry: libraries mapped later are seen at once"},
		[IMAGE_KPROBE] = {VERDICT_OK, "kprobe: libraries mapped later are seen at once"},
		[IMAGE_TREE] = {VERDICT_OK,
				"tracepoint ma_write: libraries mapped later are seen at once"},
	};

	add(out, "new code mappings", ways[f->image_way].verdict, ways[f->image_way].text);
}

#if defined(__x86_64__)
#define HAVE_DECODER true /* elf/probe_site.c */
#else
#define HAVE_DECODER false
#endif

/* What is found out by loading a program, for which privileges are needed. */
static void add_loaded(struct findings *out, const struct features *f)
{
	static const char *const names[] = {"BPF ring buffer",	 "attach cookies",
					    "typed tracepoints", "uprobes",
					    "new code mappings", "waiting uprobes"};

	if (!f->root) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			add(out, names[i], VERDICT_UNKNOWN, "cannot be tried without privileges");
		return;
	}
	add_if(out, "BPF ring buffer", f->ringbuf, VERDICT_NO, "records reach the collector",
	       "needs Linux 5.8; no recording");
	add_if(out, "attach cookies", f->cookie, VERDICT_NO, "one program serves all functions",
	       "needs Linux 5.15; no recording");
	add_if(out, "typed tracepoints", f->tracing, VERDICT_NO,
	       "tasks and the scheduler can be followed",
	       "tp_btf programs do not load; no recording");
	if (f->uprobe_multi)
		add(out, "uprobes", VERDICT_OK,
		    "uprobe_multi: hundreds of functions by one link, at once");
	else if (f->perf_uprobe)
		add(out, "uprobes", VERDICT_LESS,
		    "a perf event for each function (no uprobe_multi before "
		    "Linux 6.6): they are taken away in the background after a recording");
	else
		add(out, "uprobes", VERDICT_NO,
		    "none (CONFIG_UPROBE_EVENTS): no MPI call can be seen");
	add_images(out, f);
	add_if(out, "waiting uprobes", f->wait, VERDICT_LESS,
	       "a thread that maps a new library waits in the kernel until its probes are in",
	       "no (before Linux 6.1): the first calls of libraries that could not be foreseen may be missing, "
	       "and the trace says so");
}

static void findings_make(const struct features *f, struct findings *out)
{
	memset(out, 0, sizeof(*out));
	add_if(out, "privilege", f->root, VERDICT_NO, "BPF programs can be loaded",
	       "BPF programs cannot be loaded: run as root (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN)");
	add_if(out, "kernel BTF", f->btf, VERDICT_NO,
	       "the kernel half can be fitted to this kernel",
	       "no /sys/kernel/btf/vmlinux: the kernel must be built with CONFIG_DEBUG_INFO_BTF=y; no recording");
	add_loaded(out, f);
	if (!f->btf)
		add(out, "sched_switch state", VERDICT_UNKNOWN, "is told by the kernel's BTF");
	else
		add_if(out, "sched_switch state", f->switch_state, VERDICT_LESS,
		       "as the scheduler saw it",
		       "read from the task (before Linux 5.18): a wake-up at the same moment may hide that it slept");
	add_if(out, "instruction decoder", HAVE_DECODER, VERDICT_LESS,
	       "probes are put where the kernel emulates the instruction",
	       "none for this machine: all probes lie on the first instruction, which may be slow");
}

static int print_text(const struct findings *out, const struct utsname *u)
{
	printf("Linux %s, %s\n", u->release, u->machine);
	for (size_t i = 0; i < out->cnt; i++)
		printf("  %-4s  %-20s %s\n", verdict_names[out->f[i].verdict], out->f[i].what,
		       out->f[i].consequence);
	return 0;
}

static int print_json(const struct findings *out, const struct utsname *u)
{
	json_t *o = json_pack("{s:i,s:s,s:s}", "schema_version", 1, "kernel", u->release, "machine",
			      u->machine);
	json_t *a = json_array();
	int err;

	for (size_t i = 0; i < out->cnt; i++)
		json_array_append_new(a, json_pack("{s:s,s:s,s:s}", "what", out->f[i].what,
						   "verdict", verdict_names[out->f[i].verdict],
						   "consequence", out->f[i].consequence));
	json_object_set_new(o, "findings", a);
	err = json_dumpf(o, stdout, JSON_INDENT(2)) || putchar('\n') < 0 ? -EIO : 0;
	json_decref(o);
	return err;
}

static int check_host(const struct recorder *recording, const struct check_options *o)
{
	struct findings found;
	struct features f;
	struct utsname u;
	int rc = 0;

	uname(&u);
	recording->features_probe(&f);
	findings_make(&f, &found);
	if (o->json ? print_json(&found, &u) : print_text(&found, &u))
		return 1;
	for (size_t i = 0; i < found.cnt; i++)
		if (found.f[i].verdict == VERDICT_NO)
			rc = 1;
	if (!o->json)
		puts(!rc ? "Recording is possible here." :
		     !f.root && geteuid() ?
			   "Whether recording is possible here only root can tell: sudo povtrace check" :
			   "Recording is not possible here.");
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
		"status 1 if no recording is possible, for this user or at all. Nothing is changed.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct check_options),
	.run = run,
};
