/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The order matters: kernel half loaded → calibration begun → child at its gate → trace file →
 * helper, which inspects the files that the command will load → calibration's records dropped →
 * identity and scheduler live → existing tasks and targets → all files inspected → gate open → loop
 * → probes removed → rings empty → open calls → end. Nothing that a target does between two steps
 * is missed.
 */
#include "record/session.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/event.h"
#include "lib/clock.h"
#include "target/helper/inspect.h"
#include "target/helper/library_kind.h"
#include "target/proc.h"
#include "lib/human.h"
#include "lib/log.h"
#include "record/open_calls.h"
#include "record/session_priv.h"
#include "layers/func_table.h"

#define CALM_RECORDS_PER_MS 50
#define SAMPLE_NS 10000000ull	   /* between readings of rings and losses */
#define FLUSH_AGE_NS 1000000000ull /* blocks older than this are written to the file */
/* limit for inspecting all files that a command will load or has loaded */
#define SETTLE_NS 10000000000ull
#define LIMITS_NS 100000000ull /* between readings of CPU time limits */
#define URGENT_NICE (-20)
#define PROGRESS_NS 1000000000ull

/* Sets this thread's priority. The threads that compress and write keep theirs. */
static void session_nice(struct session *s, int nice)
{
	if (nice == s->nice)
		return;
	s->nice = nice;
	if (setpriority(PRIO_PROCESS, (id_t)gettid(), nice))
		log_debug("cannot change the priority: %s", strerror(errno));
}

static void on_snapshot(void *ctx, const void *task)
{
	session_record(ctx, TRACE_STREAM_TASKS, task);
}

int session_snapshot(struct session *s)
{
	return kernel_snapshot(&s->kernel, on_snapshot, s);
}

static void on_written_before(void *ctx, const void *written)
{
	struct pov_written r = *(const struct pov_written *)written;

	r.hdr.flags = POV_WRITTEN_BEGIN;
	session_record(ctx, TRACE_STREAM_TASKS, &r.hdr);
}

static void on_written(void *ctx, const void *written)
{
	session_record(ctx, TRACE_STREAM_TASKS, written);
}

static void on_mapping(void *ctx, const struct pov_hdr *rec)
{
	session_record(ctx, TRACE_STREAM_TASKS, rec);
}

static void on_open_call(void *ctx, const struct pov_hdr *rec)
{
	session_stack_seen(ctx, rec);
	session_record(ctx, 0, rec);
}

/* ---- start, loop, end ---- */

/*
 * Chooses the functions whose brief calls are only counted. A call that makes a datatype may be
 * counted only if the file has all other calls that make one. So none of these functions may be
 * left out, and the file must have the whole recording.
 */
static void briefs_choose(struct session *s, size_t cnt)
{
	bool all_recorded = !s->opt->keep;

	for (size_t i = 0; i < cnt; i++)
		all_recorded &= s->fns[i].made_arg == POV_ARG_NONE || s->opt->recorded[i];
	for (size_t i = 0; i < cnt; i++)
		s->fns[i].brief = all_recorded && s->opt->recorded[i] && !s->opt->named[i] &&
				  func_table_is_brief(i);
}

/* Makes the recipes of all functions, followed by the calibration's. */
static void recipes_make(struct session *s)
{
	size_t cnt = func_table_count();

	s->fns = xcalloc(cnt + CALIBRATE_ROWS, sizeof(*s->fns));
	s->wanted = xcalloc(cnt, sizeof(*s->wanted));
	for (size_t i = 0; i < cnt; i++) {
		func_table_recipe(i, &s->fns[i]);
		s->wanted[i] = s->opt->recorded[i] ||
			       (s->fns[i].learn && (func_table_layer(i)->is_top ||
						    session_records_layer(s, func_table_layer(i))));
		if (!s->opt->recorded[i])
			s->fns[i].flags |= POV_FN_SILENT;
	}
	briefs_choose(s, cnt);
	calibrate_recipes(&s->fns[cnt]);
}

/*
 * Returns true if all processes get the probes. A launched process that does not wait by itself
 * could map too much before it got its own.
 */
static bool is_machine_wide(const struct session *s)
{
	return s->opt->all || (s->opt->launch && !s->preload_library);
}

/*
 * Returns true if probes of MPI libraries are in all processes, not only in targets. A launched
 * command's are if they are perf events (inspect_library.c).
 */
static bool probes_lie_in_all(const struct session *s)
{
	return is_machine_wide(s) || (s->opt->launch && !session_preload_records(s) &&
				      s->kernel.programs.api != LINK_MULTI);
}

static int session_load(struct session *s)
{
	const struct session_options *o = s->opt;
	struct kernel_options ko = {
		.each = !is_machine_wide(s),
		.sched = o->sched,
		.irq = o->irq,
		.stacks = o->stacks,
		.all = o->all,
		.regions = o->region_cnt > 0,
		.notes = inspect_notes_wanted(s->wanted),
		.handovers = library_kind_hands_over(s->wanted),
		.perf_links = o->perf_links,
		.spin_gap_ns = o->spin_gap_ns,
		.ring_bytes = o->ring_bytes,
		.cpus_per_ring = o->cpus_per_ring,
		.fns = s->fns,
		.fn_cnt = func_table_count() + CALIBRATE_ROWS,
		.wanted = s->wanted,
		.preload = s->preload_library && session_preload_records(s),
	};
	int err = kernel_load(&ko, &s->kernel);

	if (err)
		return err;
	err = session_preload_open(s);
	if (err)
		return err;
	session_keep_open(s);
	if (o->stacks)
		s->callers = callers_new();
	if (calibrate_start(&s->kernel, func_table_count(), &s->calibration))
		log_debug("cannot start the calibration: %s", strerror(errno));
	return session_rings_open(s);
}

/* Waits for the calibration, and drops its records. */
static void session_calibrated(struct session *s)
{
	if (calibrate_wait(&s->kernel, &s->calibration, &s->cost))
		log_debug("the calibration has measured nothing");
	s->discard = true;
	ring_buffer__consume(s->rings);
	s->discard = false;
	kernel_reset_counters(&s->kernel);
}

/*
 * Waits until the helper has answered every request, or SETTLE_NS have passed. Files that are not
 * inspected by then are inspected when a process maps them. The rings are emptied meanwhile.
 */
static void session_settle(struct session *s, const volatile int *stop)
{
	uint64_t until_ns = clock_now_ns() + SETTLE_NS;

	do {
		session_rings_poll(s);
	} while (!images_settled(s->images) && !*stop && clock_now_ns() < until_ns);
}

/* Prints that already running processes are now recorded. Scripts wait for this line. */
static void live_print(const struct session *s)
{
	char n[80], libs[80];

	log_info("recording %s (%s, %" PRIu64 " probes); Ctrl-C ends",
		 human_plural(n, sizeof(n), images_rank_count(s->images), "MPI process",
			      "MPI processes"),
		 human_plural(libs, sizeof(libs), images_library_count(s->images), "library",
			      "libraries"),
		 images_probe_count(s->images));
}

static int session_start(struct session *s, const volatile int *stop)
{
	const struct images_wanted wanted = {
		.function = s->wanted,
		.region = s->opt->region,
		.region_cnt = s->opt->region_cnt,
		.machine_wide = is_machine_wide(s),
		.waits_wide = s->opt->launch && is_machine_wide(s),
		.waits = s->preload != NULL,
		.preload = s->preload && session_preload_records(s),
		.removable = s->may_throttle,
		.record = on_mapping,
		.ctx = s,
	};
	struct trace_writer_options wo = {
		.max_bytes = s->opt->max_bytes,
		.keep_ns = s->opt->keep ? s->opt->keep->span_ns : 0,
		.keep_bytes = s->opt->keep ? s->opt->keep->bytes : 0,
		.as = s->opt->owner,
		.keep_old = true,
		.fd = s->opt->fd,
	};
	int err = trace_writer_open(s->opt->path, &wo, &s->writer);

	if (err)
		return err;
	s->usual_nice = s->nice = getpriority(PRIO_PROCESS, (id_t)gettid());
	session_nice(s, URGENT_NICE);
	err = images_new(&s->kernel, &wanted, s->writer, &s->images);
	if (err)
		return err;
	if (s->opt->launch || s->opt->all)
		images_predict(s->images, s->opt->launch ? &s->plan : NULL);
	session_calibrated(s);
	session_throttle_start(s);
	s->start_ns = clock_now_ns();
	drops_init(&s->drops, s->kernel.counters, s->kernel.drops, s->kernel.rings, s->start_ns);
	session_keep_begin(s);
	session_meta_begin(s);
	err = kernel_attach(&s->kernel);
	session_meta_kernel(s);
	if (!err && s->opt->sched == POV_SCHED_ALL)
		err = session_snapshot(s);
	if (!err)
		err = session_targets_find(s);
	if (!err)
		err = kernel_written(&s->kernel, on_written_before, s);
	if (!err)
		session_settle(s, stop);
	if (!err && (s->opt->pid_cnt || s->opt->all))
		live_print(s);
	if (!err && s->launch.pid && *stop) {
		log_error("interrupted by a signal before the command was started");
		err = -EINTR;
	}
	if (s->launch.pid)
		s->launch_fd = (int)syscall(SYS_pidfd_open, s->launch.pid, 0);
	if (!err && s->launch.pid)
		err = launch_open_gate(&s->launch, &s->plan);
	return err < 0 ? err : 0; /* if the command does not run yet (1), the loop waits for it */
}

static void progress_show(struct session *s, uint64_t now, bool last)
{
	struct trace_writer_stats st;
	double seconds = (now - s->start_ns) / 1e9, steady = (now - s->loop_ns) / 1e9;

	if (!log_ready())
		return;
	trace_writer_get_stats(s->writer, &st);
	if (last)
		fprintf(stderr, "\r\033[K");
	else
		fprintf(stderr,
			"\rrecording %.0f s: %" PRIu64 " ranks, %" PRIu64 " records, %" PRIu64
			" lost, %.1f MB, own CPU %.1f %%\033[K",
			seconds, (uint64_t)images_rank_count(s->images), s->seen, s->drops.total,
			st.file_bytes / 1e6,
			100.0 * (session_own_cpu_ns(s) - s->cpu_begun_ns) / 1e9 / steady);
	fflush(stderr);
}

/* Returns why the recording must end now, or NULL. */
static const char *end_reason(struct session *s, const volatile int *stop, uint64_t now)
{
	size_t alive = 0;

	if (*stop)
		return "signal";
	if (s->err)
		return s->err == -EFBIG	 ? "size limit" :
		       s->err == -ENOSPC ? "disk full" :
		       s->err == -EDQUOT ? "file limit" :
					   "write error";
	if (s->opt->duration_ns && now - s->start_ns >= s->opt->duration_ns)
		return "duration";
	if (launch_executed(&s->launch, &s->plan, 0) < 0) {
		s->useless = true;
		return "command not executed";
	}
	if (s->launch.pid &&
	    waitpid(s->launch.pid, &s->res->child_status, WNOHANG) == s->launch.pid) {
		s->launch.pid = 0;
		return "command ended";
	}
	if (!s->opt->pid_cnt)
		return NULL;
	for (size_t i = 0; i < s->opt->pid_cnt; i++)
		alive += proc_alive(s->opt->pids[i]);
	return alive ? NULL : "targets ended";
}

void session_take(struct session *s)
{
	ring_buffer__consume(s->rings);
	session_preload_take(s);
	drops_take(&s->drops);
	drops_write(&s->drops, s->writer, clock_now_ns());
}

/* Does the regular work while anything is attached. */
static void session_sample(struct session *s, uint64_t now)
{
	uint64_t elapsed_ns = now - s->sampled_ns;
	bool pressing = session_rings_press(s);

	(void)log_ready();
	s->sampled_ns = now;
	session_take(s);
	s->calm = s->seen - s->sampled_seen < CALM_RECORDS_PER_MS * elapsed_ns / 1000000;
	/*
	 * Threads spin while they wait for our answers, so this thread is urgent. While it has much
	 * to do, it is not: the kernel would clear its core by moving ranks to other cores.
	 */
	session_nice(s, s->calm || pressing ? URGENT_NICE : s->usual_nice);
	s->sampled_seen = s->seen;
	session_keep_work(s, now);
	images_limits_read(s->images, LIMITS_NS);
	trace_writer_flush(s->writer, now - FLUSH_AGE_NS);
}

static int session_loop(struct session *s, const volatile int *stop)
{
	uint64_t now;
	int n;

	s->loop_ns = s->shown_ns = clock_now_ns();
	s->cpu_begun_ns = session_own_cpu_ns(s);
	for (;;) {
		n = session_rings_poll(s);
		if (n < 0) {
			log_error("cannot read the rings: %s", strerror(-n));
			s->res->reason = "ring error";
			return n;
		}
		now = clock_now_ns();
		session_throttle_tick(s, now);
		if (!n && now - s->sampled_ns < SAMPLE_NS)
			continue;
		session_sample(s, now);
		if (s->opt->progress && now - s->shown_ns >= PROGRESS_NS) {
			s->shown_ns = now;
			progress_show(s, now, false);
		}
		s->res->reason = end_reason(s, stop, now);
		if (s->res->reason)
			return 0;
	}
}

static void overhead_sum(struct session *s)
{
	struct distortion *d = &s->res->distortion;
	uint32_t pid;
	int rank;

	for (uint32_t i = 0; i < images_library_count(s->images); i++)
		overhead_library(&s->overhead, images_library_meta(s->images, i));
	overhead_find(&s->overhead, &s->cost, s->start_ns, s->end_ns, d, &pid);
	rank = images_rank_of(s->images, pid);
	d->low = true; /* only the report knows how long povtrace had the ranks' cores */
	snprintf(d->who, sizeof(d->who), rank >= 0 ? "rank %d" : "process %d",
		 rank >= 0 ? rank : (int)pid);
}

/* Warns about regions that no file had. */
static void regions_warn(const struct session *s)
{
	for (size_t i = 0; i < s->opt->region_cnt; i++)
		if (!images_have_region(s->images, s->opt->region[i]))
			log_warn(
				"region %s: no recorded program or library has this function; give "
				"the symbol's name as nm prints it; the function may be inlined "
				"everywhere, or its file stripped",
				s->opt->region[i]);
}

/*
 * Waits for the answers about processes and files. No process waits for them any more, but they
 * belong in the recording.
 */
static void answers_wait(struct session *s)
{
	uint64_t until_ns = clock_now_ns() + SETTLE_NS;
	struct pollfd p = {.events = POLLIN};

	while (!images_settled(s->images) && clock_now_ns() < until_ns) {
		p.fd = images_fd(s->images);
		poll(&p, 1, 100);
		images_poll(s->images);
	}
}

/*
 * Ends the recording at a moment when the scheduler is still fully recorded: while its programs are
 * detached one by one, their records no longer fit together.
 */
static void session_end(struct session *s)
{
	s->cpu_over_ns = session_own_cpu_ns(s);
	if (s->opt->progress && s->shown_ns)
		progress_show(s, clock_now_ns(), true);
	session_stack_find(s);
	kernel_written(&s->kernel, on_written, s);
	s->end_ns = kernel_calls_end(&s->kernel);
	kernel_say_alive(&s->kernel, false);
	images_limits_read(s->images, 0);
	ring_buffer__consume(s->rings);
	s->res->open_calls = open_calls_read(&s->kernel, s->end_ns, on_open_call, s);
	session_stack_write(s);
	session_preload_end(s);
	session_throttle_end(s);
	if (!s->useless)
		answers_wait(s);
	drops_take(&s->drops);
	drops_write(&s->drops, s->writer, s->end_ns);
	images_detach(s->images);
	kernel_detach(&s->kernel);
	ring_buffer__consume(s->rings);
	s->res->wall_ns = s->end_ns - s->start_ns;
	s->res->lost = s->drops.total;
	s->res->no_area = s->drops.preloaded.no_area;
	s->res->ranks = images_rank_count(s->images);
	overhead_sum(s);
	if (!s->useless)
		regions_warn(s);
	s->res->child_pid = s->useless ? 0 : s->launch.pid;
	session_meta_end(s);
}

static int session_finish(struct session *s)
{
	int err = s->err == -EFBIG ? 0 : s->err, e;

	trace_writer_drain(s->writer);
	session_stored_count(s);
	if (s->useless) {
		trace_writer_undo(s->writer);
		s->writer = NULL;
		s->res->stored = (struct trace_tally){0};
		s->res->unstored = 0;
		return -ECANCELED;
	}
	e = trace_writer_finish(s->writer, &s->res->file_bytes);
	s->writer = NULL;
	return err ? err : e == -EFBIG ? 0 : e;
}

static void session_release(struct session *s)
{
	launch_cancel(&s->launch);
	session_preload_release(s);
	session_keep_release(s);
	session_stack_release(s);
	callers_free(s->callers);
	if (s->launch_fd >= 0)
		close(s->launch_fd);
	ring_buffer__free(s->rings);
	calibrate_leave(&s->calibration);
	images_free(s->images);
	session_throttle_release(s);
	overhead_release(&s->overhead);
	kernel_release(&s->kernel);
	session_nice(s, s->usual_nice);
	free(s->fns);
	free(s->wanted);
}

int session_run(const struct session_options *opt, const volatile int *stop,
		struct session_result *out)
{
	struct session *s = xcalloc(1, sizeof(*s));
	int err, e;

	memset(out, 0, sizeof(*out));
	out->child_status = -1;
	out->reason = "error";
	s->launch_fd = -1;
	s->opt = opt;
	s->res = out;
	if (opt->launch)
		s->plan = *opt->launch;
	log_set_patient(true);
	recipes_make(s);
	session_throttle_prepare(s);
	err = session_targets_check(opt);
	if (!err)
		err = session_preload_choose(s);
	if (!err)
		err = session_load(s);
	if (!err && probes_lie_in_all(s))
		err = session_targets_check_all(opt);
	if (!err && opt->launch)
		err = launch_start(&s->plan, &s->launch);
	if (!err) {
		err = session_start(s, stop);
		s->useless = err != 0;
	}
	if (!err)
		err = session_loop(s, stop);
	if (s->images)
		session_end(s);
	if (s->writer) {
		e = session_finish(s);
		if (!err)
			err = e;
		if (!s->launch.pid)
			session_targets_left(s);
	}
	session_release(s);
	log_set_patient(false); /* nobody waits for us any more */
	free(s);
	return err;
}
