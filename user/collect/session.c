/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The order matters: kernel half loaded → guard → calibration → child at its gate → trace file → identity
 * and scheduler live → existing tasks and targets → gate open → loop → probes gone → rings empty → open calls →
 * end. Nothing a target does between two steps can fall through.
 */
#include "collect/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/event.h"
#include "attach/proc.h"
#include "base/log.h"
#include "collect/open_calls.h"
#include "collect/session_priv.h"
#include "layer/func_table.h"
#include "layer/mpi_sig.h"

#define POLL_MS 10
#define SAMPLE_NS 10000000ull	   /* drops and rings are looked at this often */
#define FLUSH_AGE_NS 1000000000ull /* blocks older than this go to the file */
#define HOLD_MAX_NS 2000000000ull  /* no process stays stopped for longer */
#define PROGRESS_NS 1000000000ull

/* ---- records ---- */

static void record_add(struct session *s, unsigned int stream, const struct pov_hdr *rec)
{
	int err;

	if (s->end_ns && rec->ts_ns > s->end_ns)
		return;
	s->seen++;
	err = trace_writer_add(s->writer, stream, rec);
	s->refused += err != 0;
	if (err && !s->err)
		s->err = err;
	if (!err)
		toll_record(&s->toll, rec);
}

static int on_ring(void *ctx, void *data, size_t bytes)
{
	const struct ring_ctx *r = ctx;

	(void)bytes;
	if (!r->s->discard)
		record_add(r->s, r->stream, data);
	return 0;
}

static int on_control(void *ctx, void *data, size_t bytes)
{
	struct session *s = ctx;

	(void)bytes;
	if (s->discard)
		return 0;
	record_add(s, TRACE_STREAM_TASKS, data);
	images_control(s->images, data);
	return 0;
}

static int rings_open(struct session *s)
{
	int err;

	s->rings = ring_buffer__new(s->kernel.control_fd, on_control, s, NULL);
	if (!s->rings)
		goto fail;
	for (unsigned int i = 0; i <= s->kernel.rings; i++) {
		s->ring_ctx[i] = (struct ring_ctx){.s = s, .stream = i};
		if (ring_buffer__add(s->rings, s->kernel.ring_fd[i], on_ring, &s->ring_ctx[i]))
			goto fail;
	}
	return 0;
fail:
	err = -errno;
	log_error("cannot map the rings: %s", strerror(-err));
	return err;
}

static void on_snapshot(void *ctx, const void *task)
{
	record_add(ctx, TRACE_STREAM_TASKS, task);
}

static void on_open_call(void *ctx, const struct pov_hdr *rec)
{
	record_add(ctx, 0, rec);
}

/* ---- targets ---- */

static int target_add(struct session *s, pid_t pid)
{
	int err;

	err = kernel_add_target(&s->kernel, pid);
	if (err)
		return err;
	session_meta_target(s, pid);
	err = images_scan(s->images, pid);
	return err < 0 ? err : 0;
}

/* Adds the processes whose parent is a target, until there are no more. */
struct family {
	struct session *s;
	bool grew;
};

static int family_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct family *f = ctx;
	unsigned int v, child = pid, mother = parent;

	if (bpf_map_lookup_elem(f->s->kernel.targets_fd, &mother, &v) ||
	    !bpf_map_lookup_elem(f->s->kernel.targets_fd, &child, &v))
		return 0;
	f->grew = true;
	target_add(f->s, pid);
	return 0;
}

static int all_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct session *s = ctx;

	(void)parent;
	if (pid != getpid())
		images_scan(s->images, pid);
	return 0;
}

static int targets_find(struct session *s)
{
	struct family f = {.s = s};
	int err;

	for (size_t i = 0; i < s->opt->pid_cnt; i++) {
		err = target_add(s, s->opt->pids[i]);
		if (err) {
			log_error("no process %d to attach to: %s", s->opt->pids[i],
				  strerror(-err));
			return err;
		}
	}
	if (s->opt->pid_cnt) {
		do {
			f.grew = false;
			proc_for_each(family_visit, &f);
		} while (f.grew);
	}
	if (s->opt->all)
		proc_for_each(all_visit, s);
	if (s->launch.pid) {
		err = kernel_add_target(&s->kernel, s->launch.pid);
		if (err)
			return err;
		session_meta_command(s);
	}
	return 0;
}

/* ---- start, loop, end ---- */

static void recipes_make(struct session *s)
{
	struct mpi_attrs attrs;
	struct mpi_sig sig;
	const char *why;

	s->fns = xcalloc(POV_FUNCS_MAX, sizeof(*s->fns));
	s->wanted = xcalloc(func_table_count(), sizeof(*s->wanted));
	for (size_t i = 0; i < func_table_count(); i++) {
		const struct func_row *row = func_table_get(i);

		if (mpi_sig_parse(row->sig, &sig, &why) || mpi_attrs_parse(row->attrs, &attrs) ||
		    mpi_sig_compile(&sig, &attrs, &s->fns[i]))
			die("function table: %s: \"%s\"", row->name, row->sig);
		s->wanted[i] = s->opt->recorded[i] || s->fns[i].learn;
		if (!s->opt->recorded[i])
			s->fns[i].flags |= POV_FN_SILENT;
	}
	calibrate_recipes(s->fns);
}

static int session_load(struct session *s)
{
	const struct session_options *o = s->opt;
	struct kernel_options ko = {
		.sched = o->sched,
		.irq = o->irq,
		.all = o->all,
		.perf_links = o->perf_links,
		.spin_gap_ns = o->spin_gap_ns,
		.ring_bytes = o->ring_bytes,
		.cpus_per_ring = o->cpus_per_ring,
		.fns = s->fns,
	};
	struct library_options lo = {
		.programs = &s->kernel.programs,
		.wanted = s->wanted,
		.spent = &s->kernel.spent,
	};
	uint32_t pid;
	int err;

	err = kernel_load(&ko, &s->kernel);
	if (err)
		return err;
	lo.libs_fd = s->kernel.libs_fd;
	s->libs = library_set_new(&lo);
	err = guard_start(s->kernel.held_fd, &s->guard);
	if (!err)
		err = rings_open(s);
	if (err)
		return err;
	calibrate_run(&s->kernel, &s->cost, &pid);
	s->discard = true;
	ring_buffer__consume(s->rings);
	s->discard = false;
	kernel_reset_counters(&s->kernel);
	return 0;
}

static bool any_held(const struct session *s)
{
	uint32_t pid;

	return !bpf_map_get_next_key(s->kernel.held_fd, NULL, &pid);
}

/*
 * Says that processes that ran already are being recorded. Scripts wait for this line, so what was mapped or
 * stopped while probes were attached is dealt with first.
 */
static void say_live(struct session *s)
{
	uint64_t until_ns = kernel_now_ns() + HOLD_MAX_NS;
	uint32_t n;
	size_t libs;

	do
		ring_buffer__poll(s->rings, POLL_MS);
	while (any_held(s) && kernel_now_ns() < until_ns);
	n = images_rank_count(s->images);
	libs = library_set_count(s->libs);
	log_info("recording %u MPI process%s (%zu MPI librar%s, %zu probes); Ctrl-C ends", n,
		 n == 1 ? "" : "es", libs, libs == 1 ? "y" : "ies",
		 library_set_probe_count(s->libs));
}

static int session_start(struct session *s)
{
	struct trace_writer_options wo = {
		.max_bytes = s->opt->max_bytes,
		.uid = s->opt->uid,
		.gid = s->opt->gid,
	};
	int err;

	err = trace_writer_open(s->opt->path, &wo, &s->writer);
	if (err)
		return err;
	s->images = images_new(&s->kernel, s->libs, s->writer);
	s->start_ns = kernel_now_ns();
	drops_init(&s->drops, s->kernel.counters, s->start_ns);
	session_meta_begin(s);
	err = kernel_attach(&s->kernel);
	if (!err && s->opt->sched != POV_SCHED_OFF)
		err = kernel_snapshot(&s->kernel, on_snapshot, s);
	if (!err)
		err = targets_find(s);
	if (!err && (s->opt->pid_cnt || s->opt->all))
		say_live(s);
	if (!err && s->launch.pid)
		err = launch_open_gate(&s->launch, s->opt->command[0]);
	return err;
}

static void progress_show(struct session *s, uint64_t now, bool last)
{
	struct trace_writer_stats st;
	double seconds = (now - s->start_ns) / 1e9;

	trace_writer_get_stats(s->writer, &st);
	if (last)
		fprintf(stderr, "\r\033[K");
	else
		fprintf(stderr,
			"\rrecording %.0f s: %" PRIu64 " ranks, %" PRIu64 " records, %" PRIu64
			" lost, %.1f MB, own CPU %.1f %%\033[K",
			seconds, (uint64_t)images_rank_count(s->images), s->seen, s->drops.total,
			st.file_bytes / 1e6,
			100.0 * session_own_cpu_ns() / 1e9 / (seconds > 0 ? seconds : 1));
	fflush(stderr);
}

/* Why the recording is to end now, or NULL. */
static const char *over(struct session *s, const volatile int *stop, uint64_t now)
{
	size_t alive = 0;

	if (*stop)
		return "signal";
	if (s->err)
		return s->err == -EFBIG	 ? "size limit" :
		       s->err == -ENOSPC ? "disk full" :
					   "write error";
	if (s->opt->duration_ns && now - s->start_ns >= s->opt->duration_ns)
		return "duration";
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

/* What is to be done now and then as long as anything is attached. */
static void session_sample(struct session *s, uint64_t now)
{
	s->sampled_ns = now;
	ring_buffer__consume(s->rings);
	drops_sample(&s->drops, s->kernel.rings, s->writer, now);
	trace_writer_flush(s->writer, now - FLUSH_AGE_NS);
	images_release_old(s->images, now - HOLD_MAX_NS);
}

static int session_loop(struct session *s, const volatile int *stop)
{
	uint64_t now;
	int n;

	for (;;) {
		n = ring_buffer__poll(s->rings, POLL_MS);
		if (n < 0 && n != -EINTR) {
			log_error("rings: %s", strerror(-n));
			s->res->reason = "ring error";
			return n;
		}
		now = kernel_now_ns();
		if (now - s->sampled_ns < SAMPLE_NS)
			continue;
		session_sample(s, now);
		if (s->opt->progress && now - s->shown_ns >= PROGRESS_NS) {
			s->shown_ns = now;
			progress_show(s, now, false);
		}
		s->res->reason = over(s, stop, now);
		if (s->res->reason)
			return 0;
	}
}

static void toll_sum(struct session *s)
{
	struct distortion *d = &s->res->distortion;
	const struct library *lib;
	uint32_t pid;
	int rank;

	for (size_t i = 0; (lib = library_set_get(s->libs, i)); i++)
		toll_library(&s->toll, lib->meta);
	toll_find(&s->toll, &s->cost, s->start_ns, s->end_ns, d, &pid);
	rank = images_rank_of(s->images, pid);
	d->low = drops_of(&s->drops, s->kernel.rings, POV_CLASS_CALL) ||
		 drops_of(&s->drops, s->kernel.rings, POV_CLASS_SPIN);
	snprintf(d->who, sizeof(d->who), rank >= 0 ? "rank %d" : "process %d",
		 rank >= 0 ? rank : (int)pid);
}

/*
 * The recording ends at a moment when all of the scheduler is still seen: while its programs are taken away
 * one by one, what they write no longer fits together.
 */
static void session_end(struct session *s)
{
	if (s->opt->progress && s->shown_ns)
		progress_show(s, kernel_now_ns(), true);
	kernel_calls_end(&s->kernel);
	library_set_detach(s->libs);
	s->end_ns = kernel_now_ns();
	kernel_detach(&s->kernel);
	ring_buffer__consume(s->rings);
	s->res->open_calls = open_calls_read(&s->kernel, s->end_ns, on_open_call, s);
	drops_sample(&s->drops, s->kernel.rings, s->writer, s->end_ns);
	s->res->wall_ns = s->end_ns - s->start_ns;
	s->res->lost = s->drops.total;
	s->res->ranks = images_rank_count(s->images);
	toll_sum(s);
	s->res->child_pid = s->launch.pid;
	session_meta_end(s);
}

static int session_finish(struct session *s)
{
	int err = s->err == -EFBIG ? 0 : s->err, e;
	struct stat st;

	trace_writer_drain(s->writer);
	session_stored_count(s);
	e = trace_writer_finish(s->writer);
	s->writer = NULL;
	if (!stat(s->opt->path, &st))
		s->res->file_bytes = st.st_size;
	return err ? err : e == -EFBIG ? 0 : e;
}

static void session_release(struct session *s)
{
	launch_cancel(&s->launch);
	ring_buffer__free(s->rings);
	guard_stop(&s->guard);
	images_free(s->images);
	toll_release(&s->toll);
	library_set_free(s->libs);
	kernel_release(&s->kernel);
	free(s->fns);
	free(s->wanted);
}

/* Before anything is loaded or created. */
static int targets_check(const struct session_options *o)
{
	for (size_t i = 0; i < o->pid_cnt; i++)
		if (!proc_alive(o->pids[i])) {
			log_error("no process %d to attach to", o->pids[i]);
			return -ESRCH;
		}
	return 0;
}

int session_run(const struct session_options *opt, const volatile int *stop,
		struct session_result *out)
{
	struct session *s = xcalloc(1, sizeof(*s));
	int err, e;

	memset(out, 0, sizeof(*out));
	out->child_status = -1;
	out->reason = "error";
	s->opt = opt;
	s->res = out;
	recipes_make(s);
	err = targets_check(opt);
	if (!err)
		err = session_load(s);
	if (!err && opt->command)
		err = launch_start(opt->command, opt->user, &s->launch);
	if (!err)
		err = session_start(s);
	if (!err)
		err = session_loop(s, stop);
	if (s->images)
		session_end(s);
	if (s->writer) {
		e = session_finish(s);
		if (!err)
			err = e;
	}
	session_release(s);
	free(s);
	return err;
}
