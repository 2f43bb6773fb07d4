/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reports what the recording could see, what it missed, and what it cost: attached libraries,
 * losses by class with their times, misses, and tracing overhead. Overhead is probe hits ×
 * calibrated cost; the cost is higher where the kernel single-steps the probed instruction.
 */
#ifndef POV_ANALYSIS_COVERAGE_H
#define POV_ANALYSIS_COVERAGE_H

#include "abi/config.h"
#include "lib/map.h"
#include "model/model.h"

struct coverage_loss {
	uint64_t cnt;
	uint64_t stretches; /* number of LOST records */
	/* begin of the first stretch and end of the last one */
	uint64_t first_ns, last_ns;
};

struct coverage_hits {
	/* recorded calls of any depth, each of which hit a pair of probes */
	uint64_t calls;
	/* polls merged into spins, each of which hit a pair of probes */
	uint64_t polls;
	/*
	 * Calls and polls that the process recorded itself, without a probe. They are in none of
	 * the other members.
	 */
	uint64_t preloaded;
	uint64_t preloaded_polls; /* part of preloaded: polls */
	/* Calls that the process counted itself. They are in none of the other members. */
	uint64_t preloaded_counted;
	/* calls that were only counted, each of which hit a pair of probes; not in calls */
	uint64_t counted;
	/* part of calls and polls: the probed instruction is single-stepped */
	uint64_t stepped;
	uint64_t stepped_polls; /* part of stepped: polls */
	/* calls and polls inside the kernel (layer os), whose cost is not calibrated */
	uint64_t kernel;
	uint64_t switches; /* recorded switches to its threads */
	uint64_t cost_ns;  /* total cost, as measured by samples and calibration */
};

/* How often a function was called, polled without success, and counted. */
struct coverage_made {
	const struct func_info *func;
	uint16_t lib;
	bool preloaded;
	uint64_t calls, polls, counted;
};

struct coverage_library {
	/* "" if unknown */
	const char *path, *build_id, *flavour, *version, *link;
	uint64_t attached, missing, failed, emulated, stepped;
	/* functions whose calls the processes record themselves */
	uint64_t preloaded;
	uint64_t id;
	const char *refused;			    /* why probes failed; "" if none failed */
	const json_t *missing_names, *failed_names; /* arrays or NULL; borrowed */
};

/* A process that began to run a library before its probes were attached. */
struct coverage_late {
	/* When the process mapped the library, and how long the library ran without probes. */
	uint64_t ts_ns, late_ns;
	uint32_t pid;
	const char *path; /* "" if the library is unknown */
};

/* Effect of the overhead limit on a function. */
struct coverage_limit {
	const struct func_info *func;
	/* since when it was only counted, and since when not even that; 0: never */
	uint64_t counted_since_ns, detached_since_ns;
	uint64_t calls; /* counted calls of all processes */
	/* The highest share of a process's time that tracing took when the limit acted. */
	double cost;
	const struct model_process *proc; /* The process with that share. NULL: unknown. */
};

struct coverage {
	struct model_sink sink;
	/* share of a process's time that tracing may cost; 0: no limit */
	double limit;
	/* The limit also covers the calls that processes record themselves, not only probes. */
	bool limit_all;
	/* By function id; func is NULL for functions that were not limited; owned. */
	struct coverage_limit *limited;
	uint32_t nlimited; /* allocated */
	/* from the LOST records */
	struct coverage_loss loss[POV_CLASS_CNT];
	/* the first COVERAGE_LOST_MAX LOST records; owned */
	struct model_lost *lost;
	uint32_t nlost;
	struct coverage_hits *process;	  /* by process idx; owned */
	uint32_t nprocess;		  /* allocated */
	struct coverage_hits *func;	  /* by function id, over all ranks; owned */
	uint32_t nfunc;			  /* allocated */
	struct coverage_library *library; /* owned */
	uint32_t nlibrary;
	struct coverage_late *late; /* owned */
	uint32_t nlate;
	struct map stepped; /* (library, function) → marker */
	bool calibrated;    /* the trace has a probe_cost block */
	/*
	 * cost of a recorded call, a poll, a single-stepped hit and a counted call; 0 if not
	 * measured
	 */
	double call_ns, spin_ns, stepped_ns, counted_ns;
	double switch_ns; /* cost of recording a context switch; 0 if not measured */
	/* some processes recorded their calls themselves */
	bool has_preload;
	/* cost of a call that a process records itself; 0 if not measured */
	double preload_ns;
	/* cost of a call that a process only counts itself; 0 if not measured */
	double preload_counted_ns;
	/* total time that threads waited for room to record */
	uint64_t preload_wait_ns;
	/* lost calls of threads that got no memory to record in */
	uint64_t preload_no_area;
	/* functions that processes could not record themselves, which got probes instead */
	uint64_t preload_missed;
	/* threads whose buffer was damaged; nothing was read from it after that */
	uint64_t preload_damaged;
	bool has_end;
	const char *end_reason;
	/* the count in the end block, or that of the LOST records if larger */
	uint64_t lost_cnt[POV_CLASS_CNT];
	const json_t *misses, *stats; /* objects of the end block, or NULL; borrowed */
	/* How often threads asked for a file to be examined, and how long they waited for that. */
	uint64_t questions, wait_ns;
	uint64_t own_cpu_ns;
	/* own_cpu_start_ns and own_cpu_stop_ns are known */
	bool own_cpu_split;
	/* parts of own_cpu_ns: before the recording ran, and from its end on */
	uint64_t own_cpu_start_ns, own_cpu_stop_ns;
	uint64_t open_calls, unwound_calls;
};

#define COVERAGE_LOST_MAX 1000 /* LOST records that are kept individually */

/* The recorder's CPU time while the recording ran; all of its CPU time if the parts are unknown. */
uint64_t coverage_own_cpu_steady(const struct coverage *a);
/* Number of processes that hit probes. */
uint32_t coverage_probed(const struct coverage *a);
/* Cost that single-stepping adds to a hit, by calibration; 0 if unknown. */
double coverage_step_ns(const struct coverage *a);
/* True if probes came late for a library of this process. */
bool coverage_was_late(const struct coverage *a, const struct model_process *p);
/* True if probes came late for a process that is no rank. Its calls may all be missing. */
bool coverage_late_others(const struct coverage *a, const struct model *m);
/* Cost of the hits in ns, by calibration; 0 if not calibrated. */
double coverage_cost(const struct coverage *a, const struct coverage_hits *h);
/* The part of coverage_cost for polls that found nothing. */
double coverage_poll_cost(const struct coverage *a, const struct coverage_hits *h);
/* Cost in ns of a function's recorded calls, empty polls and counted calls. */
double coverage_made_cost(const struct coverage *a, const struct coverage_made *made);
void coverage_init(struct coverage *a);
void coverage_release(struct coverage *a);

#endif
