/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Selects the values that a call's slice and the whole recording show, and their names (listed in
 * kmod-docs/PERFETTO.md). Unknown and usual values (error 0, no wait) are left out to keep files
 * small.
 */
#include "timeline/args.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/event.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/text.h"
#include "site/site_names.h"
#include "timeline/writer.h"
#include "trace/trace_read.h"
#include "trace/trace_totals.h"
#include "version.h"

static struct call_value *args_new(struct writer_args *a, const char *name, enum value_kind kind)
{
	struct call_value *arg = &a->arg[a->n < ARGS_MAX ? a->n++ : ARGS_MAX];

	arg->name = name;
	arg->kind = kind;
	return arg;
}

void args_add_int(struct writer_args *a, const char *name, int64_t v)
{
	args_new(a, name, VALUE_INT)->i = v;
}

void args_add_uint(struct writer_args *a, const char *name, uint64_t v)
{
	args_new(a, name, VALUE_UINT)->u = v;
}

void args_add_hex(struct writer_args *a, const char *name, uint64_t v)
{
	args_new(a, name, VALUE_HEX)->u = v;
}

void args_add_bool(struct writer_args *a, const char *name, bool v)
{
	args_new(a, name, VALUE_BOOL)->u = v;
}

void args_add_us(struct writer_args *a, const char *name, uint64_t ns)
{
	args_new(a, name, VALUE_US)->u = ns;
}

void args_add_text(struct writer_args *a, const char *name, const char *text)
{
	args_new(a, name, VALUE_TEXT)->text = text;
}

const char *args_keep(struct writer_args *a, const char *fmt, ...)
{
	uint32_t room = ARGS_SCRATCH_BYTES - a->used;
	char *at = a->scratch + a->used;
	va_list ap;
	int n;

	if (room < 2)
		return "";
	va_start(ap, fmt);
	n = vsnprintf(at, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		return "";
	a->used += (uint32_t)n < room ? (uint32_t)n + 1 : room;
	return at;
}

/* Allocates from the scratch memory, aligned for integers. NULL if it is full. */
static void *args_room(struct writer_args *a, size_t bytes)
{
	size_t at = (a->used + 7u) & ~(size_t)7;

	if (at + bytes > ARGS_SCRATCH_BYTES)
		return NULL;
	a->used = (uint32_t)(at + bytes);
	return a->scratch + at;
}

bool args_copy_text(struct writer_args *a, const char **text)
{
	size_t bytes = strlen(*text) + 1;
	char *copy = args_room(a, bytes);

	if (copy)
		*text = memcpy(copy, *text, bytes);
	return copy;
}

static bool args_copy_array(struct writer_args *a, struct call_value *v)
{
	size_t bytes = v->n * sizeof(*v->ints);
	int64_t *copy = args_room(a, bytes);

	if (copy)
		v->ints = memcpy(copy, v->ints, bytes);
	return copy;
}

bool args_copy(struct writer_args *to, const struct writer_args *from)
{
	bool fits = true;

	args_share(to, from);
	for (uint32_t i = 0; i < to->n && fits; i++) {
		struct call_value *v = &to->arg[i];

		if (v->kind == VALUE_TEXT && v->text)
			fits = args_copy_text(to, &v->text);
		else if ((v->kind == VALUE_INTS || v->kind == VALUE_HEXES) && v->n)
			fits = args_copy_array(to, v);
		fits = fits && args_copy_text(to, &v->name);
	}
	return fits;
}

void args_share(struct writer_args *to, const struct writer_args *from)
{
	args_reset(to);
	to->n = from->n;
	memcpy(to->arg, from->arg, from->n * sizeof(*from->arg));
}

/* An array that was cut short, or is empty, also shows its true length. */
static void args_add_value(struct writer_args *a, const struct call_value *v)
{
	bool array = v->kind == VALUE_INTS || v->kind == VALUE_HEXES;

	if (!array || v->n)
		*args_new(a, v->name, v->kind) = *v;
	if (array && (!v->n || v->cnt > v->n))
		args_add_uint(a, args_keep(a, "%s_cnt", v->name), v->cnt);
}

/* "libapp.so+0x1f", or the address if the file is unknown. Too frequent for printf(). */
static void args_add_place(struct writer_args *a, const char *name, const struct model_site *site)
{
	const char *path = site->module ? site->module->path : "", *slash = strrchr(path, '/'),
		   *file = slash ? slash + 1 : path;
	size_t n = strnlen(file, 255);
	char *p = a->scratch + a->used;

	if (ARGS_SCRATCH_BYTES - a->used < n + TEXT_NUMBER_BYTES)
		return;
	args_add_text(a, name, p);
	if (site->module) {
		memcpy(p, file, n);
		p[n] = '+';
		p = text_hex(p + n + 1, site->offset);
	} else {
		p = text_hex(p, site->address);
	}
	*p++ = 0;
	a->used = (uint32_t)(p - a->scratch);
}

/* Shows the site by its name in the source, if known here. */
static void args_add_site(struct writer_args *a, const struct model_site *site)
{
	const struct site_name *name = sites_find(a->sites, site);

	if (name)
		args_add_text(a, "site", name->text);
	if (site->module || site->address)
		args_add_place(a, name ? "site_offset" : "site", site);
}

void args_add_split(struct writer_args *a, const struct state_times *split)
{
	args_add_us(a, "running_us", split->ns[THREAD_RUNNING]);
	if (split->ns[THREAD_RUNNABLE])
		args_add_us(a, "runnable_us", split->ns[THREAD_RUNNABLE]);
	if (split->ns[THREAD_BLOCKED])
		args_add_us(a, "blocked_us", split->ns[THREAD_BLOCKED]);
	if (split->ns[THREAD_UNKNOWN])
		args_add_us(a, "unknown_us", split->ns[THREAD_UNKNOWN]);
}

void args_from_call(struct writer_args *a, const struct model_call *c, bool sched)
{
	const struct call_view *view = c->view;

	for (uint32_t i = 0; view && i < view->nvalues && i < CALL_VALUES_MAX; i++)
		args_add_value(a, &view->values[i]);
	if (view && !c->open && !c->unwound && view->roles.error)
		args_add_int(a, "error", view->roles.error);
	args_add_site(a, &c->site);
	if (sched)
		args_add_split(a, &c->split);
	else
		args_add_uint(a, "cpu", c->cpu);
	if (c->open)
		args_add_bool(a, "open", true);
	if (c->unwound)
		args_add_bool(a, "unwound", true);
	if (c->partial)
		args_add_bool(a, "partial", true);
	if (c->fault)
		args_add_bool(a, "fault", true);
}

static uint32_t spin_funcs(const struct model_spin *s)
{
	return s->nfuncs < 4 ? s->nfuncs : 4;
}

void args_from_spin(struct writer_args *a, const struct model_spin *s, uint64_t start_ns,
		    bool sched, const struct poll_cost *cost)
{
	struct poll_times times = poll_times_of(s, cost);

	args_add_uint(a, "count", s->cnt);
	args_add_us(a, "busy_us", s->busy_ns);
	if (poll_cost_ns(cost, s) > 0) {
		args_add_us(a, "probes_us", times.probes_ns);
		args_add_us(a, "between_us", times.between_ns);
	}
	args_add_us(a, "first_us", s->begin_ns > start_ns ? s->begin_ns - start_ns : 0);
	args_add_us(a, "last_us", s->end_ns > start_ns ? s->end_ns - start_ns : 0);
	for (uint32_t i = 0; i < spin_funcs(s); i++) {
		const struct model_spin_func *f = &s->func[i];
		const struct layer *layer = f->func->layer;
		const char *arg = layer && layer->spin_arg_name ? layer->spin_arg_name(f->func) :
								  NULL;

		if (spin_funcs(s) > 1) {
			args_add_uint(a, args_keep(a, "%s_count", f->func->name), f->cnt);
			args_add_us(a, args_keep(a, "%s_busy_us", f->func->name), f->busy_ns);
		}
		if (arg && spin_funcs(s) > 1)
			arg = args_keep(a, "%s_%s", f->func->name, arg);
		if (arg)
			args_add_hex(a, arg, f->arg);
	}
	args_add_site(a, &s->site);
	if (sched)
		args_add_split(a, &s->split);
	else
		args_add_uint(a, "cpu", s->cpu);
	if (s->open)
		args_add_bool(a, "open", true);
}

const char *args_spin_name(struct writer_args *a, const struct model_spin *s)
{
	char cnt[TEXT_NUMBER_BYTES];
	uint32_t n = spin_funcs(s);

	*text_count(cnt, s->cnt) = 0;
	return args_keep(a, "%s%s%s%s%s%s%s \xc3\x97%s", n > 0 ? s->func[0].func->name : "polls",
			 n > 1 ? ", " : "", n > 1 ? s->func[1].func->name : "", n > 2 ? ", " : "",
			 n > 2 ? s->func[2].func->name : "", n > 3 ? ", " : "",
			 n > 3 ? s->func[3].func->name : "", cnt);
}

/*
 * ---- the recording as a whole ----
 *
 * Meta blocks come from outside: any member may be missing or odd.
 */

#define HOSTS_WITH_CLOCKS 16 /* there is no room for all of them */

static const char *const drop_name[POV_CLASS_CNT] = {
	"lost_calls", "lost_spins", "lost_call_details", "lost_sched", "lost_irqs", "lost_tasks",
};

/* A command as one line; words with blanks are quoted. */
static const char *command_line(struct writer_args *a, json_t *argv)
{
	char line[1024];
	size_t used = 0, i;
	json_t *word;

	line[0] = 0;
	json_array_foreach(argv, i, word)
	{
		const char *s = json_string_value(word);
		const char *quote = s && (!*s || strpbrk(s, " \t\n'\"")) ? "'" : "";
		int n = snprintf(line + used, sizeof(line) - used, "%s%s%s%s", i ? " " : "", quote,
				 s ? s : "", quote);

		if (n < 0 || (size_t)n >= sizeof(line) - used)
			break;
		used += (size_t)n;
	}
	return args_keep(a, "%s", line);
}

static const char *utc_time(struct writer_args *a, int64_t realtime_ns)
{
	time_t s = (time_t)(realtime_ns / 1000000000);
	struct tm tm;
	char text[40];

	if (realtime_ns <= 0 || !gmtime_r(&s, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		return "";
	return args_keep(a, "%s.%09lldZ", text, (long long)(realtime_ns % 1000000000));
}

static void drops_fill(struct writer_args *a, json_t *end)
{
	uint64_t cnt[POV_CLASS_CNT] = {0};
	size_t i;
	json_t *drop;

	json_array_foreach(json_object_get(end, "drops"), i, drop)
	{
		json_int_t class = json_get_int(drop, "class");
		json_int_t n = json_get_int(drop, "cnt");

		if (class >= 0 && class < POV_CLASS_CNT && n > 0)
			cnt[class] += (uint64_t)n;
	}
	for (int class = 0; class < POV_CLASS_CNT; class ++)
		args_add_uint(a, drop_name[class], cnt[class]);
}

static void clocks_fill(struct writer_args *a, const struct trace *t)
{
	struct trace_clocks clocks;

	if (trace_clocks(t, &clocks) || !clocks.has_end)
		return;
	args_add_int(a, "realtime_moved_ns", clocks.realtime_moved_ns);
	if (clocks.suspended_ns)
		args_add_int(a, "suspended_ns", clocks.suspended_ns);
}

static void select_fill(struct writer_args *a, const struct model *m,
			const struct writer_select *sel)
{
	uint32_t nranks;

	if (sel->from_ns || sel->to_ns) {
		args_add_us(a, "selected_from_us", sel->from_ns);
		if (sel->to_ns)
			args_add_us(a, "selected_to_us", sel->to_ns);
	}
	if (sel->ranks.n)
		args_add_uint(a, "selected_ranks", select_ranks(m, sel, &nranks));
	if (sel->nfunctions)
		args_add_uint(a, "selected_function_patterns", sel->nfunctions);
}

/* Corrections applied to the times of a host other than the first. */
static void host_clock_fill(struct writer_args *a, uint32_t number, const struct model_host *h)
{
	args_add_int(a, args_keep(a, "host_%u_offset_ns", number), h->offset_ns);
	args_add_int(a, args_keep(a, "host_%u_drift_ppb", number), h->drift_ppb);
	if (h->clock_by == TRACE_CLOCK_MESSAGES)
		args_add_uint(a, args_keep(a, "host_%u_uncertainty_ns", number),
			      h->clock_uncertainty_ns);
}

void meta_fill(struct writer_args *a, struct model *m, const struct writer_select *sel)
{
	const struct model_info *info = model_get_info(m);
	const struct model_host *host = model_host_get(m, 0);
	struct trace *t = model_get_trace(m);
	json_t *rec = trace_meta_find(t, "recording"), *end = trace_meta_find(t, "end");
	const char *utc;
	char *kept;

	args_reset(a);
	args_add_text(a, "host", host->name);
	args_add_text(a, "kernel", host->kernel);
	args_add_text(a, "machine", host->machine);
	for (uint32_t i = 1; i < info->nhosts; i++)
		args_add_text(a, args_keep(a, "host_%u", i + 1), model_host_get(m, i)->label);
	args_add_uint(a, "cpus", info->nr_cpus);
	args_add_text(a, "command", command_line(a, json_object_get(rec, "argv")));
	args_add_text(a, "recorded_by",
		      args_keep(a, "povtrace %s", json_get_text(rec, "povtrace")));
	args_add_text(a, "exported_by", "povtrace " POV_VERSION);
	args_add_text(a, "scheduler",
		      !info->sched_recorded ? "off" :
		      info->sched_all	    ? "all" :
					      "ranks");
	args_add_uint(a, "monotonic_start_ns", info->start_ns);
	args_add_int(a, "boottime_offset_ns", info->boottime_offset_ns);
	args_add_int(a, "realtime_offset_ns", info->realtime_offset_ns);
	utc = utc_time(a, (int64_t)info->start_ns + info->realtime_offset_ns);
	if (*utc)
		args_add_text(a, "started", utc);
	args_add_bool(a, "complete", info->complete);
	if (end)
		args_add_text(a, "ended_by", json_get_text(end, "reason"));
	kept = trace_kept_text(t);
	if (kept)
		args_add_text(a, "part", args_keep(a, "%s", kept));
	free(kept);
	drops_fill(a, end);
	clocks_fill(a, t);
	select_fill(a, m, sel);
	for (uint32_t i = 1; i < info->nhosts && i < HOSTS_WITH_CLOCKS; i++)
		host_clock_fill(a, i + 1, model_host_get(m, i));
}

char *meta_process_name(const struct model_process *p, uint32_t njobs)
{
	const char *name = p->name && *p->name ? p->name : "?";
	char rank[16] = "?";
	const char *host = p->host ? p->host : "", *sep = *host ? " \xc2\xb7 " : "";
	char job[160] = "";

	if (!p->is_rank)
		return xasprintf("%s%s%s", name, sep, host);
	if (p->rank >= 0)
		snprintf(rank, sizeof(rank), "%d", p->rank);
	if (njobs > 1 && p->job && *p->job)
		snprintf(job, sizeof(job), "job %.128s \xc2\xb7 ", p->job);
	else if (njobs > 1)
		snprintf(job, sizeof(job), "job %d \xc2\xb7 ", p->job_idx);
	return xasprintf("%srank %s \xc2\xb7 %s%s%s", job, rank, name, sep, host);
}

const char *meta_kernel_version(struct model *m)
{
	return json_get_text(trace_meta_find(model_get_trace(m), "host"), "version");
}
