/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls and merged polls as slices of their threads. Those shorter than the resolution may be drawn
 * together (timeline_group.c), the others separately.
 */
#include "timeline/timeline_priv.h"

#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"

/*
 * True if a nested call is reported before the call around it. Keeps track of the outermost calls.
 */
static bool orphan_check(struct tl_thread *th, uint64_t begin_ns, uint64_t end_ns, uint8_t depth)
{
	if (!depth) {
		th->outer_seen = true;
		th->outer_end_ns = end_ns;
		return false;
	}
	return !th->outer_seen || begin_ns > th->outer_end_ns;
}

/*
 * A call's record names the process, so even a straggler's process is known from its first call on.
 */
struct tl_thread *tl_caller_of(struct timeline *tl, struct model_thread *t)
{
	struct tl_thread *th = tl_thread_of(tl, t);

	if (!th->announced && !th->has_slices && t->proc) {
		th->proc = t->proc;
		th->track.pid = t->proc->out_pid;
	}
	return th;
}

static uint64_t call_end_ns(const struct model_call *c)
{
	return c->open ? UINT64_MAX : c->end_ns;
}

bool tl_call_selected(struct timeline *tl, const struct model_call *c)
{
	return tl_interval_shown(tl, c->begin_ns, call_end_ns(c)) &&
	       tl_process_shown(tl, c->thread->proc) && tl_func_shown(tl, c->func);
}

/* For MPI calls. Calls of other layers are coloured by their names. */
static const char *activity_of(const struct model_call *c)
{
	const struct call_roles *r = c->view ? &c->view->roles : NULL;

	enum request_event event = r && r->nrequests ? r->requests->event : REQUEST_NONE;

	if (!r || !func_is_top(c->func) || event == REQUEST_INIT)
		return NULL;
	if (r->sends || r->receives || event == REQUEST_RESTART)
		return "transfers";
	if (c->func->polls)
		return "polls";
	return c->func->waits ? "waits" : NULL;
}

/* Draws one slice, or adds it to a group of short ones. False if it became an instant. */
static bool slice_draw(struct timeline *tl, struct tl_thread *th, struct slice *s,
		       const struct tl_brief *brief)
{
	return tl_group_begin(th, s, brief) ||
	       tl_track_add(tl, &th->track, s, brief->depth, brief->orphan);
}

static bool call_draw(struct timeline *tl, struct tl_thread *th, const struct model_call *c,
		      bool orphan)
{
	struct slice s = {.begin_ns = c->begin_ns,
			  .end_ns = c->end_ns,
			  .open = c->open,
			  .name = c->func->name,
			  .category = c->func->group,
			  .activity = activity_of(c),
			  .func = c->func,
			  .args = &tl->args};
	struct tl_brief brief;

	tl->totals->calls++;
	tl_brief_from_call(tl, c, orphan, s.activity, &brief);
	if (tl_group_join(tl, th, &brief))
		return true;
	args_reset(&tl->args);
	args_from_call(&tl->args, c, tl->opt.sched_recorded);
	return slice_draw(tl, th, &s, &brief);
}

void tl_call(void *ctx, const struct model_call *c)
{
	struct timeline *tl = ctx;
	struct tl_thread *th = tl_caller_of(tl, c->thread);
	uint64_t end_ns = call_end_ns(c);
	bool shown = tl_call_selected(tl, c);
	bool orphan = orphan_check(th, c->begin_ns, end_ns, c->depth);

	tl_yield_call(tl, c);
	if (c->view && c->view->roles.mark != MARK_NONE && tl_process_shown(tl, c->thread->proc))
		tl_phase(tl, th, c);
	shown = shown && call_draw(tl, th, c, orphan);
	tl_wake_slice(tl, th, &(struct wake_slice){c->begin_ns, end_ns, shown, orphan});
}

static bool spin_draw(struct timeline *tl, struct tl_thread *th, const struct model_spin *sp,
		      bool orphan)
{
	struct slice s = {.begin_ns = sp->begin_ns,
			  .end_ns = sp->end_ns,
			  .category = sp->nfuncs ? sp->func[0].func->group : "polls",
			  .activity = "polls",
			  .args = &tl->args};
	struct tl_brief brief;

	tl->totals->spins++;
	tl_brief_from_spin(tl, sp, orphan, s.activity, &brief);
	if (tl_group_join(tl, th, &brief))
		return true;
	args_reset(&tl->args);
	s.name = args_spin_name(&tl->args, sp);
	args_from_spin(&tl->args, sp, tl->opt.start_ns, tl->opt.sched_recorded, &tl->opt.poll_cost);
	return slice_draw(tl, th, &s, &brief);
}

void tl_spin(void *ctx, const struct model_spin *sp)
{
	struct timeline *tl = ctx;
	struct tl_thread *th = tl_caller_of(tl, sp->thread);
	bool shown = false, orphan;

	tl_yield_spin(tl, sp);
	for (uint32_t i = 0; i < sp->nfuncs && i < 4; i++)
		shown |= tl_func_shown(tl, sp->func[i].func);
	shown = shown && tl_interval_shown(tl, sp->begin_ns, sp->end_ns) &&
		tl_process_shown(tl, sp->thread->proc);
	orphan = orphan_check(th, sp->begin_ns, sp->end_ns, sp->depth);
	shown = shown && spin_draw(tl, th, sp, orphan);
	tl_wake_slice(tl, th, &(struct wake_slice){sp->begin_ns, sp->end_ns, shown, orphan});
}

/* ---- counted calls ---- */

/*
 * Calls that were counted and not recorded one by one (struct pov_counted). There is one slice for
 * everything that a thread counted before it reported the counts. It lies on a track of its own,
 * because other calls lie between the counted ones.
 */

#define FUNCTIONS_MAX 16 /* the most that a thread counts at once */
#define NAMES_MAX 3

struct counted_of {
	const struct func_info *func;
	uint64_t calls, busy_ns;
};

struct tl_counted {
	struct track *track;
	uint64_t begin_ns, end_ns;
	uint32_t cnt;
	struct counted_of of[FUNCTIONS_MAX];
};

static const char *counted_slice_name(struct timeline *tl, const struct tl_counted *c,
				      uint64_t calls)
{
	const char *text = c->of[0].func->name;

	for (uint32_t i = 1; i < c->cnt && i < NAMES_MAX; i++)
		text = args_keep(&tl->args, "%s, %s", text, c->of[i].func->name);
	return args_keep(&tl->args, "%s%s \xc3\x97%s", text, c->cnt > NAMES_MAX ? ", …" : "",
			 COUNT_TEXT(calls));
}

static struct track *counted_track_new(struct timeline *tl, const struct tl_thread *th)
{
	const struct model_thread *t = th->model;
	char *name = t->proc && t->tid == t->proc->pid ? xstrdup("counted calls") :
							 xasprintf("counted calls of %u", t->tid);

	return tl_track_new(tl, TRACK_COUNTED, th->track.pid, th->track.order, name);
}

static void counted_write(struct timeline *tl, struct tl_thread *th)
{
	struct tl_counted *c = th->counted;
	struct slice s = {.begin_ns = c->begin_ns,
			  .end_ns = c->end_ns,
			  .category = c->of[0].func->group,
			  .args = &tl->args};
	uint64_t calls = 0, busy_ns = 0;

	for (uint32_t i = 0; i < c->cnt; i++) {
		calls += c->of[i].calls;
		busy_ns += c->of[i].busy_ns;
	}
	args_reset(&tl->args);
	s.name = counted_slice_name(tl, c, calls);
	args_add_uint(&tl->args, "count", calls);
	args_add_us(&tl->args, "busy_us", busy_ns);
	for (uint32_t i = 0; i < c->cnt && c->cnt > 1; i++) {
		const char *name = c->of[i].func->name;

		args_add_uint(&tl->args, args_keep(&tl->args, "%s_count", name), c->of[i].calls);
		args_add_us(&tl->args, args_keep(&tl->args, "%s_busy_us", name), c->of[i].busy_ns);
	}
	if (!c->track)
		c->track = counted_track_new(tl, th);
	tl_track_add(tl, c->track, &s, 0, false);
	tl->totals->counted++;
	c->cnt = 0;
}

void tl_counted_add(struct timeline *tl, struct tl_thread *th, const struct model_counted *m)
{
	struct tl_counted *c = th->counted;
	uint32_t at;

	if (!c)
		c = th->counted = xcalloc(1, sizeof(*c));
	/* After a report, the thread starts counting anew. */
	if (c->cnt && (m->begin_ns >= c->end_ns || c->cnt == FUNCTIONS_MAX))
		counted_write(tl, th);
	if (!c->cnt || m->begin_ns < c->begin_ns)
		c->begin_ns = m->begin_ns;
	if (!c->cnt || m->end_ns > c->end_ns)
		c->end_ns = m->end_ns;
	/* merges calls inside other calls with the rest */
	for (at = 0; at < c->cnt && c->of[at].func != m->func; at++)
		;
	if (at == c->cnt)
		c->of[c->cnt++] = (struct counted_of){.func = m->func};
	c->of[at].calls += m->calls;
	c->of[at].busy_ns += m->busy_ns;
}

void tl_counted_finish(struct timeline *tl, struct tl_thread *th)
{
	if (th->counted && th->counted->cnt)
		counted_write(tl, th);
}
