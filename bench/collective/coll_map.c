/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * All ranks start at the same time (start_window.h): a chain of messages that starts them one after the other would be hidden
 * in the collective, and be taken for overlap. A broadcast's root may be long gone when the last rank has the data, hence the
 * longest time of all ranks.
 */
#include "collective/coll_map.h"

#include "lib/log.h"
#include "core/start_window.h"

#include <math.h>
#include <stdlib.h>

struct coll_state {
	void *in, *out; /* owned; may be the same */
	struct start_window window;
	uint64_t clock_error_ns; /* rank 0 */
};

void coll_map_size_begin(struct map *m)
{
	const struct coll_data *data = m->pattern->data;
	struct coll_state *s = xcalloc(1, sizeof(*s));

	if (data->make)
		data->make(m, &s->in, &s->out);
	start_window_init(m->comm, &s->window);
	s->clock_error_ns = start_window_clock_error_ns(m->comm, &s->window);
	m->state = s;
}

void coll_map_size_end(struct map *m)
{
	struct coll_state *s = m->state;

	start_window_release(&s->window);
	if (s->in != s->out)
		free(s->in);
	free(s->out);
	free(s);
	m->state = NULL;
}

static uint64_t whole_ns(double ns)
{
	return ns > 0 ? (uint64_t)llround(ns) : 0;
}

/* A try that began too late leaves nothing behind. */
static uint64_t overlapped(void *ctx)
{
	struct map *m = ctx;
	const struct coll_data *data = m->pattern->data;
	struct coll_state *s = m->state;
	struct comm *c = m->comm;
	double posted, computed;

	m->in_calls_ns = 0;
	m->wait_ns = 0;
	map_begin(m);
	c->ops->icoll(c, data->op, s->in, s->out, m->bytes, 0, &m->request[0]);
	posted = map_now(m);
	map_compute(m);
	computed = map_now(m);
	c->ops->wait(c, &m->request[0]);
	map_in_calls(m, posted, map_now(m) - computed);
	return whole_ns(map_end(m));
}

double coll_map_sequence(struct map *m)
{
	struct coll_state *s = m->state;

	return start_window_longest(m->comm, &s->window, overlapped, m);
}

static uint64_t computed(void *ctx)
{
	struct map *m = ctx;

	map_begin(m);
	map_compute(m);
	return whole_ns(map_end(m));
}

double coll_map_computation(struct map *m)
{
	struct coll_state *s = m->state;

	return start_window_longest(m->comm, &s->window, computed, m);
}

static uint64_t blocked(void *ctx)
{
	struct map *m = ctx;
	const struct coll_data *data = m->pattern->data;
	struct coll_state *s = m->state;

	map_begin(m);
	m->comm->ops->coll(m->comm, data->op, s->in, s->out, m->bytes, 0);
	return whole_ns(map_end(m));
}

double coll_map_blocking(struct map *m)
{
	struct coll_state *s = m->state;

	return start_window_longest(m->comm, &s->window, blocked, m);
}

void coll_map_reference(struct map *m, struct samples *out)
{
	map_reference_by(m, coll_map_blocking, &m->blocking);
	map_reference(m, out);
}

void coll_map_check(struct map *m)
{
	const struct coll_data *data = m->pattern->data;
	struct coll_state *s = m->state;

	if (data->check)
		data->check(m, s->out);
}

/* What was late is of all the size's samples. */
void coll_map_params(struct map *m, struct result_point *point)
{
	struct coll_state *s = m->state;

	result_param(point, "ranks", (uint64_t)m->comm->size);
	result_value(point, "late_thrown", (double)(s->window.late_cnt - s->window.kept_cnt));
	result_value(point, "late_kept", (double)s->window.kept_cnt);
	result_value(point, "clock_error_ns", (double)s->clock_error_ns);
}
