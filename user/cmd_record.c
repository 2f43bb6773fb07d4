/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povtrace record: options, signals, the file's name, and the lines said at the end. The recording itself
 * is collect/session.c; what -o FILE.json exports afterwards is writer/export.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/launch.h"
#include "base/human.h"
#include "base/log.h"
#include "base/option.h"
#include "base/person.h"
#include "collect/recorder.h"
#include "collect/session.h"
#include "commands.h"
#include "layer/func_table.h"
#include "writer/export.h"

struct record_options {
	const char *output, *user, *mpi, *layers;
	struct option_list pids, functions, no_functions, regions;
	bool all, irq;
	int sched, kernel_api;
	uint64_t duration_ns, max_bytes, ring_bytes, cpus_per_ring, spin_gap_ns;
};

enum { API_AUTO, API_MULTI, API_PERF };
static const char *const sched_names[] = {"off", "ranks", "all", NULL};
static const char *const api_names[] = {"auto", "multi", "perf", NULL};

#define FIELD(name) offsetof(struct record_options, name)
static const struct option_def options[] = {
	{"output", 'o', OPTION_STRING, FIELD(output), "FILE", .dflt = "run.pov",
	 .help = "Where to record to. If FILE ends in .json, .json.gz or .pftrace, the trace is exported to it "
		 "after recording, and kept beside it as .pov. A recording that is there already is kept as "
		 "FILE.old."},
	{"pid", 'p', OPTION_LIST, FIELD(pids), "PID",
	 .help = "Attach to a running process, its threads and its children; a launcher's PID attaches to its "
		 "ranks. May be given several times."},
	{"all", 'a', OPTION_FLAG, FIELD(all),
	 .help = "Every MPI process of the node, also those started later."},
	{"duration", 'd', OPTION_SECONDS, FIELD(duration_ns), "SECONDS",
	 .help = "Stop after this time. The targets go on."},
	{"max-size", 0, OPTION_BYTES, FIELD(max_bytes), "BYTES",
	 .help = "Stop when the file has this size."},
	{"mpi", 0, OPTION_STRING, FIELD(mpi), "GROUPS", .words = func_table_groups_print,
	 .help = "Groups of MPI functions, separated by commas; -GROUP takes one away. \"default\" is all but "
		 "local queries, \"all\" is both. Conversion of handles has to be named (\"all,conv\"), for Open "
		 "MPI's Fortran bindings convert each handle by a call that would look like the program's."},
	{"layers", 0, OPTION_STRING, FIELD(layers), "LAYERS", .words = func_table_layers_print,
	 .help = "What to record besides MPI, separated by commas, and to show inside the MPI calls that make it: calls to "
		 "UCX (ucp; uct: what that hands to its transports), the steps of Open MPI's own protocols (ob1), calls to "
		 "libfabric (ofi), work requests to RDMA adapters (verbs), and what processes have the kernel do to move data, by "
		 "sockets and by copies from process to process (os). Ranks' times and messages stay those of MPI. \"posts\": "
		 "all layers whose posts can be counted as traffic; \"all\": every layer."},
	{"functions", 'f', OPTION_LIST, FIELD(functions), "GLOB",
	 .help = "Functions of any layer to record by name (shell pattern), added to --mpi's and --layers'; alone: only these. May be given "
		 "several times."},
	{"no-functions", 0, OPTION_LIST, FIELD(no_functions), "GLOB",
	 .help = "Functions to leave out. May be given several times."},
	{"region", 0, OPTION_LIST, FIELD(regions), "FUNC",
	 .help = "A function of the program, or of a library that it loads, whose calls are phases of it: shown as such in the "
		 "timeline, and summed up in the report. FUNC is its symbol (as nm prints it, also that of a static function). May be given "
		 "several times; \"main\" is the whole program."},
	{"sched", 0, OPTION_CHOICE, FIELD(sched), "WHOSE", .dflt = "all", .choices = sched_names,
	 .help = "Scheduler events: of all tasks (so that it is known who took a core), of the targets' "
		 "threads only, or none."},
	{"irq", 0, OPTION_FLAG, FIELD(irq), .help = "Record interrupts and softirqs, too."},
	{"spin-gap", 0, OPTION_SECONDS, FIELD(spin_gap_ns), "TIME", .dflt = "1ms",
	 .help = "Polls that find nothing (MPI_Test, MPI_Iprobe …) are merged into one record unless they are "
		 "further apart than this."},
	{"ring-size", 0, OPTION_BYTES, FIELD(ring_bytes), "BYTES", .max = 1ull << 30,
	 .help = "Size of each ring between kernel and collector, rounded up to a power of two. If not given: 16M, "
		 "or less on many CPUs, so that all of them take 256M at most."},
	{"cpus-per-ring", 0, OPTION_U64, FIELD(cpus_per_ring), "N", .max = 1024,
	 .help = "CPUs that share a ring. If not given: as many as keep the number of rings at 32 or less."},
	{"user", 'u', OPTION_STRING, FIELD(user), "NAME",
	 .help = "Run COMMAND as this user. If not given: as the user who ran sudo, in the environment of the "
		 "shell where sudo was typed. With root, COMMAND runs as root, and the files are root's."},
	{"kernel-api", 0, OPTION_CHOICE, FIELD(kernel_api), "API", .dflt = "auto",
	 .choices = api_names,
	 .help = "How probes are attached: one uprobe_multi link for many (Linux 6.6), or a perf event each."},
	{.name = NULL},
};

/* How long a command may take to end by the Ctrl-C that it got, too. */
#define REAP_WAIT_MS 2000

static volatile int stop, interrupted;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	stop = 1;
	/* The terminal's goes to the command as well, one of kill does not. */
	if (sig == SIGINT && info->si_code == SI_KERNEL)
		interrupted = 1;
}

static void signals_catch(void)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, was;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (!sigaction(SIGHUP, NULL, &was) && was.sa_handler != SIG_IGN) /* nohup */
		sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int pids_parse(const struct option_list *list, pid_t **out)
{
	pid_t *pids = xcalloc(list->cnt + 1, sizeof(*pids));
	char *end;
	long n;

	for (size_t i = 0; i < list->cnt; i++) {
		n = strtol(list->item[i], &end, 10);
		if (*end || n <= 0 || n > 1 << 22) {
			log_error("-p %s: not a process id", list->item[i]);
			free(pids);
			return -EINVAL;
		}
		pids[i] = n;
	}
	*out = pids;
	return 0;
}

/* Who is who in a recording. NULL: whoever runs this. */
struct people {
	struct person *behind;		     /* ran sudo */
	struct person *named;		     /* by --user */
	const struct person *runner, *owner; /* of the command, of the files */
};

static int people_find(const char *user, struct people *out)
{
	*out = (struct people){.behind = person_behind()};
	if (user && person_find(user, &out->named)) {
		person_free(out->behind);
		return -ENOENT;
	}
	out->runner = user ? out->named : out->behind;
	out->owner = out->behind;
	if (user && !out->named->uid)
		out->owner = NULL;
	if (user && out->named->uid == geteuid())
		out->runner = NULL;
	else if (user && out->behind && out->named->uid == out->behind->uid)
		out->runner = out->behind;
	return 0;
}

static void people_free(struct people *p)
{
	person_free(p->behind);
	person_free(p->named);
}

/* Where the recording itself goes: run.json → run.pov. The caller frees. */
static char *trace_path(const char *output)
{
	const char *base = strrchr(output, '/'), *dot;

	if (!export_wants(output))
		return xstrdup(output);
	dot = strchr(base ? base + 2 : output + 1, '.');
	return xasprintf("%.*s.pov", (int)(dot - output), output);
}

static void totals_print(const char *path, const struct session_result *r)
{
	char wall[HUMAN_BYTES], cpu[HUMAN_BYTES], size[HUMAN_BYTES];
	char lost[HUMAN_BYTES], unstored[HUMAN_BYTES];
	char ranks[64], calls[64], polls[64], switches[64];

	if (log_get_level() < LOG_WARN)
		return;
	fprintf(stderr, "povtrace: %s: %s: %s, %s, %s, %s, %s lost, %s%s%s, own CPU %s (%s)\n",
		path, human_ns(wall, HUMAN_BYTES, r->wall_ns),
		human_plural(ranks, sizeof(ranks), r->ranks, "MPI process", "MPI processes"),
		human_plural(calls, sizeof(calls), r->stored.calls, "call", "calls"),
		human_plural(polls, sizeof(polls), r->stored.polls, "empty poll", "empty polls"),
		human_plural(switches, sizeof(switches), r->stored.switches, "switch", "switches"),
		human_count(lost, HUMAN_BYTES, r->lost),
		r->unstored ? human_count(unstored, HUMAN_BYTES, r->unstored) : "",
		r->unstored ? " not stored, " : "", human_bytes(size, HUMAN_BYTES, r->file_bytes),
		human_ns(cpu, HUMAN_BYTES, r->own_cpu_ns), r->reason);
}

/* Regions and layers are asked for also of programs without MPI. */
static bool mpi_is_wanted(const struct record_options *o, const bool *recorded)
{
	if (!o->mpi && (o->regions.cnt || o->layers))
		return false;
	for (size_t i = 0; i < func_table_count(); i++)
		if (recorded[i] && func_table_layer(i)->is_top)
			return true;
	return false;
}

/* Why there is nothing of MPI in it. */
static void no_mpi_print(const struct session_result *r, const struct launch_plan *plan,
			 bool wanted)
{
	static const char *const launchers[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun"};
	const char *slash = plan ? strrchr(plan->program, '/') : NULL;
	const char *name = plan ? (slash ? slash + 1 : plan->program) : "";
	bool launcher = false;

	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
		launcher |= !strncmp(name, launchers[i], strlen(launchers[i]));
	if (!launcher && !wanted)
		return;
	if (r->child_status == -1 || !r->child_status)
		log_warn(
			"no MPI process was seen; does the program use MPI, and is its library not stripped? "
			"try `povtrace check --sites LIBRARY`");
	else if (launcher && !plan->as && !geteuid())
		log_warn(
			"the command ended before any MPI process had started: see its own message above; it ran "
			"as root, which some launchers refuse: --user NAME runs it as somebody else");
	else
		log_warn(
			"the command ended before any MPI process had started: see its own message above");
}

static void hints_print(const struct session_result *r, const struct launch_plan *plan,
			bool mpi_wanted, int err)
{
	if (r->child_pid)
		log_warn("the command goes on, as process %d", r->child_pid);
	if (r->lost)
		log_warn(
			"%llu records were lost because rings were full; try a larger --ring-size, fewer "
			"--functions, or --sched ranks",
			(unsigned long long)r->lost);
	if (err && r->unstored)
		log_warn(
			"the file holds %llu of the %llu records that were seen, the first ones; give -o a "
			"place with more room, or record less (--max-size, --duration, --mpi, --sched ranks)",
			(unsigned long long)r->stored.records,
			(unsigned long long)(r->stored.records + r->unstored));
	if (!r->ranks && !r->stored.calls && !r->stored.polls &&
	    (r->stored.records || (r->child_status != -1 && !err)))
		no_mpi_print(r, plan, mpi_wanted);
}

static int status_of(const struct session_result *r)
{
	if (r->child_status == -1)
		return 0;
	if (WIFSIGNALED(r->child_status)) {
		log_warn("the command was ended by signal %d (%s)", WTERMSIG(r->child_status),
			 strsignal(WTERMSIG(r->child_status)));
		return 128 + WTERMSIG(r->child_status);
	}
	if (WEXITSTATUS(r->child_status))
		log_warn("the command exited with status %d", WEXITSTATUS(r->child_status));
	return WEXITSTATUS(r->child_status);
}

/* Said last, where it is seen: what was recorded is not what the program does by itself. */
static void distortion_print(const struct session_result *r)
{
	char *text;

	if (!distortion_matters(&r->distortion))
		return;
	text = distortion_text(&r->distortion);
	log_warn("%s", text);
	free(text);
}

/*
 * Why a function cannot be one: it looks at its own return address, which a probe changes, or has none. NULL if it can, as far
 * as its name tells.
 */
static const char *region_problem(const char *name)
{
	static const char *const odd[] = {"_start",	 "setjmp",     "_setjmp", "sigsetjmp",
					  "__sigsetjmp", "vfork",      "__vfork", "getcontext",
					  "setcontext",	 "swapcontext"};

	if (!*name || strpbrk(name, "*?[] "))
		return "it is no symbol; patterns are not known here";
	if (strstr(name, ".cold") || !strncmp(name, "_dl_", 4))
		return "it is not called as functions are";
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		if (!strcmp(name, odd[i]))
			return "it is not called as functions are";
	return NULL;
}

static int regions_check(const struct option_list *regions)
{
	const char *problem;

	if (regions->cnt > POV_REGIONS_MAX) {
		log_error("record: more than %d regions", POV_REGIONS_MAX);
		return -EINVAL;
	}
	for (size_t i = 0; i < regions->cnt; i++) {
		problem = region_problem(regions->item[i]);
		if (problem) {
			log_error("record: --region %s: %s", regions->item[i], problem);
			return -EINVAL;
		}
	}
	return 0;
}

static int options_check(const struct record_options *o, int argc, int dashdash)
{
	const char *problem = NULL;

	if (argc && dashdash != 0)
		problem = "a command to run goes behind --";
	else if (!argc && !o->pids.cnt && !o->all)
		problem = "nothing to record: give -- COMMAND, -p PID, or --all";
	else if (o->user && !argc && strcmp(o->user, "root"))
		problem =
			"--user goes with a command (without one, only --user root, for a file of root's)";
	else if (!o->output[0] || !strcmp(o->output, "-"))
		problem =
			"a recording cannot go to standard output: give a file, then `povtrace export -o -`";
	if (!problem)
		return 0;
	log_error("record: %s; see `povtrace help record`", problem);
	return -EINVAL;
}

static int record(const struct record_options *o, const char *path, const struct launch_plan *plan,
		  const struct person *owner, char **argv, const pid_t *pids, const bool *recorded)
{
	struct session_options so = {
		.path = path,
		.launch = plan,
		.pids = pids,
		.pid_cnt = o->pids.cnt,
		.all = o->all,
		.recorded = recorded,
		.region = (const char *const *)o->regions.item,
		.region_cnt = o->regions.cnt,
		.groups = o->mpi,
		.layers = o->layers,
		.sched = o->sched,
		.irq = o->irq,
		.perf_links = o->kernel_api == API_PERF,
		.spin_gap_ns = o->spin_gap_ns,
		.ring_bytes = o->ring_bytes,
		.cpus_per_ring = o->cpus_per_ring,
		.duration_ns = o->duration_ns,
		.max_bytes = o->max_bytes,
		.owner = owner,
		.argv = argv,
		.progress = isatty(STDERR_FILENO) && log_get_level() >= LOG_WARN,
	};
	const struct recorder *recording;
	struct session_result res;
	int err, rc;

	recording = recorder_load("record");
	if (!recording)
		return 1;
	signals_catch();
	err = recording->session_run(&so, &stop, &res);
	if (res.child_pid &&
	    launch_reap(res.child_pid, interrupted ? REAP_WAIT_MS : 0, &res.child_status))
		res.child_pid = 0;
	if (res.stored.records || res.unstored || !err)
		totals_print(path, &res);
	hints_print(&res, plan, mpi_is_wanted(o, recorded), err);
	rc = err || (strcmp(path, o->output) && export_file(path, o->output, owner)) ?
		     1 :
		     status_of(&res);
	distortion_print(&res);
	return rc;
}

/* What can fail, or ask servers that do not answer, is done before signals are caught. */
static int prepare_and_record(const struct record_options *o, int argc, char **argv,
			      const pid_t *pids, const bool *recorded)
{
	char *path = trace_path(o->output);
	struct launch_plan plan = {0};
	struct people people;
	int rc = 1;

	if (!people_find(o->user, &people)) {
		if (!argc ||
		    !launch_plan_make(argv, people.runner, people.runner == people.behind, &plan))
			rc = record(o, path, argc ? &plan : NULL, people.owner, argv, pids,
				    recorded);
		launch_plan_release(&plan);
		people_free(&people);
	}
	free(path);
	return rc;
}

static int run(const void *opts, int argc, char **argv, int dashdash)
{
	const struct record_options *o = opts;
	pid_t *pids;
	const struct func_choice choice = {
		.groups = o->mpi,
		.layers = o->layers,
		.functions = &o->functions,
		.no_functions = &o->no_functions,
	};
	bool *recorded;
	int rc = 2;

	if (options_check(o, argc, dashdash) || regions_check(&o->regions) ||
	    pids_parse(&o->pids, &pids))
		return 2;
	recorded = xcalloc(func_table_count(), sizeof(*recorded));
	if (!func_table_select(&choice, recorded))
		rc = prepare_and_record(o, argc, argv, pids, recorded);
	free(recorded);
	free(pids);
	return rc;
}

static const char *const examples[] = {
	"sudo povtrace record -o run.pov -- mpirun -np 2 ./app",
	"record a job from its first instruction",
	"sudo povtrace record -d 10 -p $(pgrep mpirun)",
	"ten seconds of a job that runs already",
	"sudo povtrace record -o run.pftrace --mpi p2p,req -- mpirun -np 2 ./app",
	"only point-to-point calls and completions, exported for ui.perfetto.dev",
	"sudo povtrace record --all --sched ranks -d 60",
	"every MPI process of the node for a minute",
	"sudo povtrace record --region solve --region exchange -- mpirun -np 2 ./app",
	"the time in two functions of the program, and the MPI calls in them",
	NULL,
};

const struct command cmd_record = {
	.name = "record",
	.brief = "Record MPI calls and scheduling of a job into a trace file.",
	.usage = "[options] -- COMMAND [ARG ...] | -p PID ... | --all",
	.details =
		"Runs COMMAND, or attaches to running processes, and records every MPI call of every rank "
		"together with what the scheduler did. The programs need no change. A command is started when what "
		"it will load has been looked at and the probes are live; its forks, execs and libraries loaded "
		"later are followed: a thread that maps a library nobody has looked at waits in the kernel, at most "
		"10 s, until its probes are in (before Linux 6.1 it does not wait, and late probes are reported). No "
		"process is stopped or signalled. With -p or --all a line that begins \"povtrace: recording\" says "
		"when the probes are live.\n\n"
		"Recording ends when the command or the processes end, after --duration, at --max-size, or with "
		"Ctrl-C. The exit status is the command's, or 1 if recording failed.\n\n"
		"Under sudo the command runs as the user who typed it, with the PATH, LD_LIBRARY_PATH and all else "
		"of that user's shell, and the files are written with that user's rights and belong to that user; "
		"--user root runs and writes as root.",
	.examples = examples,
	.options = options,
	.options_bytes = sizeof(struct record_options),
	.run = run,
};
