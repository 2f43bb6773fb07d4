/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The session's part in recording by processes themselves. All functions are no-ops in other
 * sessions.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "abi/event.h"
#include "record/launch/launch.h"
#include "lib/log.h"
#include "lib/person.h"
#include "record/preload/preload_area.h"
#include "record/session.h"
#include "record/session_priv.h"

/*
 * Stores a record in the processes' own stream. A thread's first call and the initialisation of MPI
 * are handled like the kernel half's records.
 */
static void on_record(void *ctx, const struct pov_hdr *rec)
{
	struct session *s = ctx;

	if (rec->kind != POV_KIND_CALLER && rec->kind != POV_KIND_INIT) {
		session_record(s, s->kernel.rings + 1, rec);
		return;
	}
	if (rec->kind == POV_KIND_CALLER)
		session_record(s, TRACE_STREAM_TASKS, rec);
	images_control(s->images, rec);
}

static bool process_settled(void *ctx, pid_t pid)
{
	const struct session *s = ctx;

	return images_answered(s->images, pid);
}

static void process_libraries(void *ctx, pid_t pid, library_place_fn *fn, void *fn_ctx)
{
	const struct session *s = ctx;

	images_libraries(s->images, pid, fn, fn_ctx);
}

static void process_bindings(void *ctx, pid_t pid, struct pov_bindings *out, struct pov_step *step)
{
	const struct session *s = ctx;

	images_bindings(s->images, pid, out, step);
}

static void process_program(void *ctx, pid_t pid, const char *path)
{
	const struct session *s = ctx;

	images_program(s->images, pid, path);
}

static size_t functions_unserved(void *ctx, pid_t pid, const struct library *lib,
				 const uint16_t *row, size_t cnt)
{
	const struct session *s = ctx;

	return images_probe_rows(s->images, pid, lib, row, cnt);
}

static void process_taken(void *ctx, pid_t pid)
{
	const struct session *s = ctx;

	images_taken(s->images, pid);
}

static int process_adopt(void *ctx, pid_t pid)
{
	return session_targets_adopt(ctx, pid);
}

bool session_preload_records(const struct session *s)
{
	return s->opt->preload != SESSION_PRELOAD_NO && !s->preload_only_waits;
}

int session_preload_choose(struct session *s)
{
	bool must = s->opt->preload == SESSION_PRELOAD_MUST;
	char *problem;
	int err;

	if (!s->opt->launch || geteuid()) /* kernel_check() refuses others than root */
		return 0;
	s->preload_library = preload_library_find(s->opt->launch, &problem);
	if (!problem && session_preload_records(s) && preload_is_recorded()) {
		s->preload_only_waits = true;
		problem = xstrdup("another povtrace records this command, too, and processes "
				  "record their calls for one only");
	} else if (!problem && session_preload_records(s) && (err = preload_pool_try())) {
		s->preload_only_waits = true;
		problem = xasprintf("cannot allocate memory for records: %s", log_unwritten(-err));
	}
	if (problem && must)
		log_error("--capture preload: %s", problem);
	else if (problem && s->preload_only_waits)
		log_warn("calls are recorded by probes, which cost 20 times as much: %s", problem);
	else if (problem && session_preload_records(s))
		log_warn("calls are recorded by probes, which cost 20 times as much and are in all "
			 "processes on this machine: %s",
			 problem);
	else if (problem)
		log_warn("all processes on this machine get breakpoints during this recording: %s",
			 problem);
	must &= problem != NULL;
	free(problem);
	return must ? -ENOENT : 0;
}

int session_preload_open(struct session *s)
{
	struct preload_options po = {
		.library = s->preload_library,
		.records = session_preload_records(s),
		.kernel = &s->kernel,
		.fns = s->fns,
		.wanted = s->wanted,
		.spin_gap_ns = s->opt->spin_gap_ns,
		.record = on_record,
		.settled = process_settled,
		.libraries = process_libraries,
		.bindings = process_bindings,
		.program = process_program,
		.unserved = functions_unserved,
		.taken = process_taken,
		.adopt = process_adopt,
		.ctx = s,
	};
	int err;

	if (!s->preload_library)
		return 0;
	po.uid = s->opt->launch->as ? s->opt->launch->as->uid : getuid();
	err = preload_open(&po, &s->preload);
	if (!err)
		s->plan.envp = preload_environment(s->preload, s->opt->launch);
	return err;
}

unsigned int session_preload_polled(const struct session *s, struct pollfd *out)
{
	return s->preload ? preload_poll(s->preload, out) : 0;
}

void session_preload_work(struct session *s, const struct pollfd *polled, unsigned int cnt)
{
	bool asked = false;

	if (!s->preload)
		return;
	preload_say_alive(s->preload, true);
	for (unsigned int i = 0; i < cnt; i++)
		asked |= polled[i].revents != 0;
	if (asked) /* the kernel half's records of the asking processes come first */
		ring_buffer__consume(s->rings);
	preload_work(s->preload, polled, cnt);
	if (s->preload_full || session_preload_fills(s))
		session_preload_take(s);
}

bool session_preload_fills(const struct session *s)
{
	return s->preload && preload_fills(s->preload);
}

void session_preload_take(struct session *s)
{
	if (s->preload)
		s->preload_full = preload_consume(s->preload);
}

void session_preload_identity(struct session *s, const struct pov_hdr *rec)
{
	/* Calls of a process that ends after the recording's end are open at that end. */
	if (!s->preload || (s->end_ns && rec->ts_ns > s->end_ns))
		return;
	preload_identity(s->preload, rec);
}

/* With fewer samples nothing is concluded. */
#define SAMPLES_LEAST 16

/*
 * Returns how many ns longer the two halves of recording a call take in the program than in the
 * calibration, where code and memory are in the cache.
 */
static double cold_ns(const struct preload_counts *c, enum pov_half_of begin)
{
	double ns = 0;

	for (int of = begin; of < (int)begin + 2; of++)
		if (c->sample_cnt[of] >= SAMPLES_LEAST)
			ns += (double)c->sample_ns[of] / (double)c->sample_cnt[of] -
			      (double)c->hot_ps[of] / 1e3 / c->cost_cnt;
	return ns;
}

static void cost_note(struct session *s, const struct preload_counts *c)
{
	double call_ns, counted_ns;

	if (!c->cost_cnt)
		return;
	call_ns = (double)c->cost_ps / 1e3 / c->cost_cnt;
	counted_ns = (double)(s->opt->max_overhead_all ? c->counted_ps : c->brief_ps) / 1e3 /
		     c->cost_cnt;
	s->cost.preload_ns = call_ns + cold_ns(c, POV_HALF_BEGIN);
	s->cost.preload_counted_ns =
		counted_ns + (s->opt->max_overhead_all ? 0 : cold_ns(c, POV_HALF_BRIEF_BEGIN));
	log_debug("a recorded call costs %.0f ns, of which %.0f in the calibration; a counted call "
		  "%.0f, of which %.0f",
		  s->cost.preload_ns, call_ns, s->cost.preload_counted_ns, counted_ns);
}

void session_preload_cost(struct session *s)
{
	struct preload_counts counts;

	if (!s->preload)
		return;
	preload_counts_get(s->preload, &counts);
	cost_note(s, &counts);
}

void session_preload_count(struct session *s, uint64_t now_ns)
{
	struct preload_counts counts;

	if (!s->preload)
		return;
	preload_counts_get(s->preload, &counts);
	drops_preloaded(&s->drops, &counts, s->writer, now_ns);
	cost_note(s, &counts);
}

void session_preload_end(struct session *s)
{
	if (!s->preload)
		return;
	preload_refuse(s->preload);
	preload_consume(s->preload);
	s->res->open_calls += preload_open_calls(s->preload, s->end_ns, on_record, s);
	preload_say_alive(s->preload, false);
	session_preload_count(s, s->end_ns);
}

void session_preload_release(struct session *s)
{
	free(s->preload_library);
	if (!s->preload)
		return;
	launch_env_free(s->plan.envp);
	preload_close(s->preload);
}
