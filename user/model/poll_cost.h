/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What recording adds to a poll that found nothing, by the trace's own calibration. */
#ifndef POV_MODEL_POLL_COST_H
#define POV_MODEL_POLL_COST_H

struct trace;
struct model_spin;

/* By a probe, and recorded by its process itself, in ns; 0 if the trace has none. */
struct poll_cost {
	double probe_ns, preload_ns;
};

struct poll_cost poll_cost_read(const struct trace *t);
/* Cost of each of a spin's polls, in ns; 0 if it is unknown. */
double poll_cost_ns(const struct poll_cost *c, const struct model_spin *s);

#endif
