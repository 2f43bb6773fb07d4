/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See poll_cost.h. */
#include "model/poll_cost.h"

#include "model/model.h"
#include "trace/trace_read.h"

static double cost_of(const struct trace *t, const char *type, const char *key)
{
	double ns = json_number_value(json_object_get(trace_meta_find(t, type), key));

	return ns > 0 ? ns : 0;
}

struct poll_cost poll_cost_read(const struct trace *t)
{
	return (struct poll_cost){
		.probe_ns = cost_of(t, "probe_cost", "spin_ns"),
		.preload_ns = cost_of(t, "preload", "call_ns"),
	};
}

double poll_cost_ns(const struct poll_cost *c, const struct model_spin *s)
{
	return s->preloaded ? c->preload_ns : c->probe_ns;
}
