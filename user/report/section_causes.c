/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes JSON: what each rank's MPI calls waited for, and the root causes over all ranks
 * (analysis/causes.h).
 */
#include "report/section.h"

static const char *const kind_names[CAUSE_KINDS] = {
	[CAUSE_COMPUTED] = "computed", [CAUSE_NO_CORE] = "no_core",   [CAUSE_SLEPT] = "slept",
	[CAUSE_OUTSIDE] = "outside",   [CAUSE_MPI] = "mpi",	      [CAUSE_POLLED] = "polled",
	[CAUSE_UNKNOWN] = "unknown",   [CAUSE_WAITED] = "waited_for",
};

static uint64_t sum_of(const struct state_times *t)
{
	uint64_t ns = 0;

	for (int s = 0; s < THREAD_STATE_CNT; s++)
		ns += t->ns[s];
	return ns;
}

static uint64_t at_most(uint64_t ns, uint64_t most_ns)
{
	return ns < most_ns ? ns : most_ns;
}

/* Writes a member of the open object: how a rank's time in MPI calls splits. */
void json_waits(struct json_out *j, const struct report *r, uint32_t process)
{
	const struct blame *b = causes_blame(&r->findings.causes, process);
	uint64_t calls_ns = sum_of(&b->calls), waited_ns = 0,
		 core_ns = b->calls.ns[THREAD_RUNNABLE];

	for (int how = 0; how < CAUSE_WAITS; how++) {
		waited_ns += sum_of(&b->waited[how]);
		core_ns -= at_most(b->waited[how].ns[THREAD_RUNNABLE], core_ns);
	}
	waited_ns = at_most(waited_ns, calls_ns);
	core_ns = at_most(core_ns, calls_ns - waited_ns);
	json_out_key_object(j, "waits");
	json_out_key_uint(j, "calls_ns", calls_ns);
	json_out_key_uint(j, "late_sender_ns", sum_of(&b->waited[CAUSE_LATE_SENDER]));
	json_out_key_uint(j, "late_receiver_ns", sum_of(&b->waited[CAUSE_LATE_RECEIVER]));
	json_out_key_uint(j, "collective_ns", sum_of(&b->waited[CAUSE_COLLECTIVE]));
	json_out_key_uint(j, "late_post_ns", sum_of(&b->waited[CAUSE_EPOCH + EPOCH_LATE_POST]));
	json_out_key_uint(j, "late_complete_ns",
			  sum_of(&b->waited[CAUSE_EPOCH + EPOCH_LATE_COMPLETE]));
	json_out_key_uint(j, "lock_ns", sum_of(&b->waited[CAUSE_EPOCH + EPOCH_LOCKED]));
	json_out_key_uint(j, "late_progress_ns",
			  sum_of(&b->waited[CAUSE_EPOCH + EPOCH_NO_PROGRESS]));
	json_known_uint(j, "without_core_ns", r->facts & FACT_SCHED, core_ns);
	json_out_key_uint(j, "rest_ns", calls_ns - waited_ns - core_ns);
	json_out_object_end(j);
}

static void json_who(struct json_out *j, const struct report *r, const char *pid, const char *rank,
		     uint32_t process)
{
	const struct model_process *p = process == CAUSE_NOBODY ?
						NULL :
						model_process_get(r->model, process);

	json_known_uint(j, pid, p, p ? p->host_pid : 0);
	json_known_uint(j, rank, p && p->is_rank && p->rank >= 0, p ? (uint64_t)p->rank : 0);
}

static void json_worst(struct json_out *j, const struct report *r, const char *key,
		       const struct cause_worst *w)
{
	json_out_key(j, key);
	if (!w->ns) {
		json_out_null(j);
		return;
	}
	json_out_object_begin(j);
	json_out_key_uint(j, "cost_ns", w->ns);
	json_out_key_uint(j, "from_ns", json_since_start(r, w->from_ns));
	json_out_key_uint(j, "to_ns", json_since_start(r, w->to_ns));
	json_out_key_string(j, "next_call", w->after ? w->after->name : NULL);
	json_out_key_array(j, "chain");
	for (uint32_t i = 0; i < w->nchain; i++) {
		json_out_object_begin(j);
		json_who(j, r, "pid", "rank", w->chain[i]);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_object_end(j);
}

void json_causes(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "causes");
	for (uint32_t i = 0; i < r->findings.nroot; i++) {
		const struct cause *c = &r->findings.root[i];

		json_out_object_begin(j);
		json_who(j, r, "pid", "rank", c->process);
		json_out_key_string(j, "kind", kind_names[c->kind]);
		json_who(j, r, "holder_pid", "holder_rank", c->other);
		json_out_key_uint(j, "cost_ns", c->ns);
		json_out_key_uint(j, "through_others_ns", c->through_ns);
		json_out_key_uint(j, "waits", c->cnt);
		json_worst(j, r, "worst", &c->worst);
		json_worst(j, r, "farthest", &c->farthest);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}
