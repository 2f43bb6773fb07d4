/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Selects the values that a call's slice shows, and their names; kmod-docs/PERFETTO.md lists them.
 * Unknown and usual values (error 0, no wait) are left out to keep files small.
 */
#include "timeline/args.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"
#include "site/site_names.h"

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
