/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Checks the options, and prints the final messages, of all commands that record. The recording
 * itself is record/session.c.
 */
#include "cmd/recording/recording_common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/preload.h"
#include "layers/func_table.h"
#include "lib/file.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/own_state.h"
#include "lib/person.h"
#include "lib/table.h"
#include "lib/text.h"
#include "target/proc.h"

/* Time for the command to end after a Ctrl-C, which it receives, too. */
#define REAP_WAIT_MS 2000

static volatile int stop, interrupted, asked;
static bool in_background; /* a script started us with &, so SIGINT was ignored */

static void on_signal(int sig, siginfo_t *info, void *context)
{
	/* Ctrl-C at the terminal reaches the command as well; a signal from kill does not. */
	bool of_terminal = sig == SIGINT && info->si_code == SI_KERNEL;

	if (of_terminal && in_background)
		return;
	if (of_terminal)
		interrupted = 1;
	stop = 1;
}

static void on_asked(int sig)
{
	asked++;
}

/* From this call on, each SIGUSR1 increments the returned counter. */
static const volatile int *watch_requests(void)
{
	struct sigaction sa = {.sa_handler = on_asked, .sa_flags = SA_RESTART};

	own_signal_set(SIGUSR1, &sa);
	return &asked;
}

const volatile int *watch_signals(void)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	in_background = own_signal_set(SIGINT, &sa);
	own_signal_set(SIGTERM, &sa);
	if (own_signal_set(SIGHUP, &sa)) /* nohup */
		own_signal_give_back(SIGHUP);
	own_signal(SIGPIPE, SIG_IGN);
	/* Batch systems announce a job's end with these. They are for the command. */
	own_signal(SIGUSR1, SIG_IGN);
	own_signal(SIGUSR2, SIG_IGN);
	own_signal(SIGXCPU, SIG_IGN);
	return &stop;
}

bool watch_reap(pid_t pid, int *status)
{
	return launch_reap(pid, interrupted ? REAP_WAIT_MS : 0, status);
}

#define PIDS_BETWEEN ", \t\n" /* so `pgrep` in quotes works, as with strace */

static bool pid_parse(const char *text, pid_t *out)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || n <= 0 || n > 1 << 22)
		return false;
	*out = proc_process_of((pid_t)n);
	if (*out != n)
		log_info("-p %ld is a thread; taking its whole process, %d", n, *out);
	return true;
}

/* An item has one number or several. */
static int pids_parse(const struct option_list *list, struct watch *w)
{
	bool ok = true;

	for (size_t i = 0; i < list->cnt && ok; i++) {
		char *text = xstrdup(list->item[i]), *rest;
		char *one = strtok_r(text, PIDS_BETWEEN, &rest);

		do
			ok = one && pid_parse(one, table_append(w->pids, w->pid_cnt));
		while (ok && (one = strtok_r(NULL, PIDS_BETWEEN, &rest)));
		if (!ok && one)
			log_error("-p %s: not a process number", one);
		else if (!ok)
			log_error("-p: there is no process number");
		free(text);
	}
	return ok ? 0 : -EINVAL;
}

/* Finds the users who run the command and own the files; NULL is our own user. */
static int people_find(struct watch *w, const char *user, const struct person **runner)
{
	w->behind = person_behind();
	if (user && person_find(user, &w->named))
		return -ENOENT;
	*runner = user ? w->named : w->behind;
	w->owner = w->behind;
	if (user && !w->named->uid)
		w->owner = NULL;
	if (user && w->named->uid == geteuid())
		*runner = NULL;
	else if (user && w->behind && w->named->uid == w->behind->uid)
		*runner = w->behind;
	return 0;
}

int watch_prepare(const struct option_list *pids, const char *user, int argc, char **argv,
		  struct watch *out)
{
	const struct person *runner;
	struct watch w = {0};

	if (pids_parse(pids, &w)) {
		free(w.pids);
		return 2;
	}
	if (people_find(&w, user, &runner) ||
	    (argc && launch_plan_make(argv, runner, runner == w.behind, &w.plan))) {
		watch_release(&w);
		return 1;
	}
	*out = w;
	return 0;
}

void watch_release(struct watch *w)
{
	launch_plan_release(&w->plan);
	person_free(w->behind);
	person_free(w->named);
	free(w->pids);
	*w = (struct watch){0};
}

int watch_status(int child_status)
{
	if (child_status == -1)
		return 0;
	if (WIFSIGNALED(child_status)) {
		log_warn("the command was killed by signal %d (%s)", WTERMSIG(child_status),
			 strsignal(WTERMSIG(child_status)));
		return 128 + WTERMSIG(child_status);
	}
	if (WEXITSTATUS(child_status))
		log_warn("the command exited with status %d", WEXITSTATUS(child_status));
	return WEXITSTATUS(child_status);
}

#define COMM_BYTES_MAX 16

/*
 * Returns why a function cannot be a region: it returns twice or elsewhere, or has no return
 * address. NULL if its name shows no reason.
 */
static const char *region_problem(const char *name)
{
	static const char *const odd[] = {"_start",	 "setjmp",     "_setjmp", "sigsetjmp",
					  "__sigsetjmp", "vfork",      "__vfork", "getcontext",
					  "setcontext",	 "swapcontext"};

	if (!*name || strpbrk(name, "*?[] "))
		return "give one symbol; patterns are not supported";
	if (strstr(name, ".cold") || text_begins(name, "_dl_") ||
	    table_any(sizeof(odd) / sizeof(*odd), i, !strcmp(name, odd[i])))
		return "it is not called like an ordinary function";
	return NULL;
}

static int regions_check(const char *command, const struct option_list *regions)
{
	const char *problem;

	if (regions->cnt > POV_REGIONS_MAX) {
		log_error("%s: too many --region options: at most %d", command, POV_REGIONS_MAX);
		return -EINVAL;
	}
	for (size_t i = 0; i < regions->cnt; i++) {
		problem = region_problem(regions->item[i]);
		if (problem) {
			log_error("%s: --region %s: %s", command, regions->item[i], problem);
			return -EINVAL;
		}
	}
	return 0;
}

static int options_check(const char *command, const struct record_options *o, int argc,
			 int dashdash)
{
	const char *problem = NULL;

	if (argc && dashdash != 0)
		problem = WATCH_NO_DASHES(o->pids);
	else if (!argc && !o->pids.cnt && !o->all)
		problem = "nothing to record: give -- COMMAND, -p PID, or --all";
	else if (o->user && !argc && strcmp(o->user, "root"))
		problem = "--user needs a command (without one, only --user root is allowed, for a "
			  "file that root owns)";
	else if (o->capture == CAPTURE_PRELOAD && (!argc || o->pids.cnt || o->all))
		problem =
			"--capture preload needs a command to launch (-- COMMAND), without -p and "
			"--all";
	else if (o->capture == CAPTURE_PRELOAD && (o->layers || o->regions.cnt))
		problem = "--layers and --region need probes: use --capture probes";
	if (!problem)
		return regions_check(command, &o->regions);
	log_error("%s: %s; see `povtrace help %s`", command, problem, command);
	return -EINVAL;
}

#define MAX_OVERHEAD_PCT 5

/* Parses --max-overhead into r. 0 or -EINVAL (printed). */
static int max_overhead_parse(const char *command, const char *text, struct recording *r)
{
	char *end;
	double pct;

	r->max_overhead_pct = !strcmp(text, "auto") ? MAX_OVERHEAD_PCT : 0;
	if (r->max_overhead_pct > 0 || !strcmp(text, "off"))
		return 0;
	pct = strtod(text, &end);
	if (end == text || *end || !(pct == 0 || (pct >= 0.1 && pct <= 100))) {
		log_error("%s: --max-overhead %s: give a percentage from 0.1 to 100, auto or off",
			  command, text);
		return -EINVAL;
	}
	r->max_overhead_pct = pct;
	r->max_overhead_all = true;
	return 0;
}

int record_prepare(const char *command, const struct record_options *opt, int argc, char **argv,
		   int dashdash, struct recording *out)
{
	const struct func_choice choice = {
		.groups = opt->mpi,
		.layers = opt->layers,
		.functions = &opt->functions,
		.no_functions = &opt->no_functions,
	};
	struct recording r = {.command = command, .opt = opt, .argv = argv};
	int status;

	if (options_check(command, opt, argc, dashdash) ||
	    max_overhead_parse(command, opt->max_overhead, &r))
		return 2;
	r.recorded = xcalloc(func_table_count(), sizeof(*r.recorded));
	r.named = xcalloc(func_table_count(), sizeof(*r.named));
	if (func_table_select(&choice, r.recorded, r.named))
		status = 2;
	else
		status = watch_prepare(&opt->pids, opt->user, argc, argv, &r.watch);
	if (status)
		record_release(&r);
	else
		*out = r;
	return status;
}

static enum session_preload preload_of(const struct record_options *o, int argc)
{
	if (o->capture == CAPTURE_PRELOAD)
		return SESSION_PRELOAD_MUST;
	if (o->capture == CAPTURE_PROBES || !argc || o->pids.cnt || o->all || o->layers ||
	    o->regions.cnt)
		return SESSION_PRELOAD_NO;
	return SESSION_PRELOAD_MAY;
}

int record_run(struct recording *r, const char *path, int fd)
{
	const struct record_options *o = r->opt;
	struct session_options so = {
		.path = path,
		.fd = fd,
		.launch = r->watch.plan.program ? &r->watch.plan : NULL,
		.pids = r->watch.pids,
		.pid_cnt = r->watch.pid_cnt,
		.all = o->all,
		.recorded = r->recorded,
		.named = r->named,
		.region = (const char *const *)o->regions.item,
		.region_cnt = o->regions.cnt,
		.groups = o->mpi,
		.layers = o->layers,
		.sched = o->sched,
		.irq = o->irq,
		.stacks = o->stacks,
		.perf_links = o->kernel_api == API_PERF,
		.preload = preload_of(o, r->watch.plan.program != NULL),
		.max_overhead_pct = r->max_overhead_pct,
		.max_overhead_all = r->max_overhead_all,
		.spin_gap_ns = o->spin_gap_ns,
		.ring_bytes = o->ring_bytes,
		.cpus_per_ring = o->cpus_per_ring,
		.duration_ns = o->duration_ns,
		.max_bytes = o->max_bytes,
		.keep = r->keep,
		.owner = r->watch.owner,
		.argv = r->argv,
		.progress = isatty(STDERR_FILENO) && log_get_level() >= LOG_WARN,
	};
	struct session_result *res = &r->result;
	const volatile int *stop_asked = watch_signals();
	int err;

	*res = (struct session_result){.child_status = -1};
	if (r->keep)
		r->keep->asked = watch_requests();
	err = session_run(&so, stop_asked, res);
	if (res->child_pid && watch_reap(res->child_pid, &res->child_status))
		res->child_pid = 0;
	return err;
}

void record_release(struct recording *r)
{
	watch_release(&r->watch);
	free(r->recorded);
	free(r->named);
}

static int nameless_open(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	char *path;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	path = xasprintf("%s/povtrace.XXXXXX", dir); /* the file system has no O_TMPFILE */
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

/* /var/tmp comes before /tmp because it is meant for large files. */
int record_temporary_open(const char *command, const char **dir)
{
	const char *const dirs[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	int fd = -1;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs) && fd < 0; i++) {
		if (!dirs[i] || !*dirs[i])
			continue;
		*dir = dirs[i];
		fd = nameless_open(*dir);
		if (fd < 0)
			log_warn("%s: cannot make a temporary file in %s: %s", command, *dir,
				 strerror(errno));
	}
	if (fd < 0)
		log_error(
			"%s: no directory for the temporary recording; set TMPDIR to one with room",
			command);
	else if (fd <= STDERR_FILENO) /* povtrace was started with a closed standard descriptor */
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return fd;
}

/* --region and --layers work without MPI, too. */
static bool mpi_is_wanted(const struct recording *r)
{
	const struct record_options *o = r->opt;

	if (!o->mpi && (o->regions.cnt || o->layers))
		return false;
	return table_any(func_table_count(), i, r->recorded[i] && func_table_layer(i)->is_top);
}

/* Returns the daemon that starts a command's programs in its stead; NULL: none is known. */
static const char *daemon_of(const char *command)
{
	static const char *const daemons[][2] = {
		{"srun", "slurmstepd"},
		{"sbatch", "slurmstepd"},
		{"qsub", "the batch system"},
		{"bsub", "the batch system"},
		{"flux", "flux-broker"},
		{"prun", "prte"},
		{"ssh", "sshd"},
		{"docker", "containerd-shim"},
		{"systemd-run", "systemd"},
	};

	for (size_t i = 0; i < sizeof(daemons) / sizeof(*daemons); i++)
		if (!strcmp(command, daemons[i][0]))
			return daemons[i][1];
	return NULL;
}

/* Warns that no MPI process was recorded, and why. */
static void no_mpi_print(const struct recording *r)
{
	static const char *const launchers[] = {"mpirun",  "mpiexec", "orterun",
						"prterun", "srun",    NULL};
	const char *name = text_base_name(r->watch.plan.program ?: "");
	bool launcher = text_begins_any(name, launchers);
	bool ended_well = r->result.child_status == -1 || !r->result.child_status;

	if ((!launcher && !mpi_is_wanted(r)) || r->result.unprobed)
		return;
	if (r->result.left_cnt || r->result.child_pid)
		log_warn("no process had loaded an MPI library by the end of the recording");
	else if (ended_well && daemon_of(name))
		log_warn("no MPI process was seen: %s has its programs started by %s. They are "
			 "recorded if that happens on this node, with the command's environment; "
			 "record others on their own node, by -p PID or --all",
			 name, daemon_of(name));
	else if (ended_well && r->result.found_mpi)
		log_warn("no MPI process was seen: no process completed MPI_Init");
	else if (ended_well)
		log_warn("no MPI process was seen: no program loaded an MPI library that povtrace "
			 "knows; `povtrace check --sites PROGRAM` shows whether one with MPI "
			 "linked into it can be recorded");
	else
		log_warn("the command ended before any MPI process had started%s%s",
			 WIFSIGNALED(r->result.child_status) ? "" : "; see its own message above",
			 launcher && !r->watch.plan.as && !geteuid() &&
					 !getenv("OMPI_ALLOW_RUN_AS_ROOT") ?
				 ". It ran as root, which some launchers refuse: --user NAME runs "
				 "it as another user" :
				 "");
}

static void left_append(char **text, char *more)
{
	char *longer = xasprintf("%s%s", *text ?: "", more);

	free(*text);
	free(more);
	*text = longer;
}

static void left_name_append(char **names, pid_t pid)
{
	size_t len = 0;
	char *comm = proc_file_read(pid, "comm", COMM_BYTES_MAX, &len);
	char *name = text_printable(comm && len ? strtok(comm, "\n") ?: "?" : "?", COMM_BYTES_MAX);

	left_append(names, xasprintf("%s%s (%d)", *names ? ", " : "", name, pid));
	free(name);
	free(comm);
}

/* Warns about processes that the command started and that outlive it. */
static void left_print(const struct recording *recording)
{
	const struct session_result *r = &recording->result;
	char *names = NULL, *options = NULL, n[80];
	uint32_t named = 0;

	for (; named < SESSION_LEFT_MAX && r->left[named]; named++) {
		left_name_append(&names, r->left[named]);
		left_append(&options, xasprintf(" -p %d", r->left[named]));
	}
	if (names && r->left_cnt > named)
		left_append(&names, xasprintf(" and %u more", r->left_cnt - named));
	if (names)
		log_warn("the command has ended, but %s that it started %s still running and no "
			 "longer recorded: %s; `povtrace %s%s` would follow %s",
			 human_plural(n, sizeof(n), r->left_cnt, "process", "processes"),
			 r->left_cnt == 1 ? "is" : "are", names, recording->command, options,
			 r->left_cnt == 1 ? "it" : "them");
	free(names);
	free(options);
}

void record_hints(const struct recording *recording, int err, const char *more_room)
{
	const struct session_result *r = &recording->result;

	if (r->child_pid)
		log_warn("the command is still running, as process %d%s", r->child_pid,
			 stop ? "" : "; povtrace waits for it, but no longer records it");
	else if (recording->watch.plan.program)
		left_print(recording);
	if (r->throttled[0])
		log_warn("%s", r->throttled);
	if (r->lost > r->no_area)
		log_warn("%llu records were lost because ring buffers were full; try a larger "
			 "--ring-size, fewer --functions, or --sched ranks",
			 (unsigned long long)(r->lost - r->no_area));
	if (r->no_area)
		log_warn("%llu calls are missing because threads got no memory to record them in: "
			 "more than %d threads of a process call MPI (%d with ulimit -v), or it "
			 "was out of file descriptors (ulimit -n) or memory, could not reach "
			 "povtrace (a forked child in a chroot or container), or got no answer in "
			 "time; --capture probes needs none of these",
			 (unsigned long long)r->no_area, POV_PRELOAD_SLOTS, POV_PRELOAD_SLOTS_FEW);
	if (err == -EMFILE)
		log_warn("povtrace needs more open files; raise the hard limit (ulimit -Hn)");
	if ((err == -ENOSPC || err == -EDQUOT) && r->unstored)
		log_warn("the file holds only the first %llu of %llu records; %s, or record less "
			 "(--max-size, --duration, --mpi, --sched ranks)",
			 (unsigned long long)r->stored.records,
			 (unsigned long long)(r->stored.records + r->unstored),
			 err == -EDQUOT ? "raise the limit (ulimit -f, or the quota)" : more_room);
	if (!r->ranks && !r->stored.calls && !r->stored.polls &&
	    (r->stored.records || (r->child_status != -1 && !err)))
		no_mpi_print(recording);
}

void record_wait(struct recording *recording)
{
	struct session_result *r = &recording->result;

	own_signal_give_back(SIGINT);
	own_signal_give_back(SIGTERM);
	own_signal_give_back(SIGHUP);
	if (r->child_pid && !stop && waitpid(r->child_pid, &r->child_status, 0) == r->child_pid)
		r->child_pid = 0;
}

int record_status(const struct recording *recording)
{
	return watch_status(recording->result.child_status);
}
