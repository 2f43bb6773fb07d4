/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the recording could see, what it missed, and what it cost: attached libraries, losses by class
 * with their times, misses, and the tracer's own overhead (probe hits × calibrated cost, which is
 * higher where the kernel single-steps the probed instruction).
 */
#ifndef POV_ANALYSIS_COVERAGE_H
#define POV_ANALYSIS_COVERAGE_H

#include "abi/config.h"
#include "lib/map.h"
#include "model/model.h"

struct coverage_loss {
	uint64_t cnt;
	uint64_t stretches;	    /* LOST records */
	uint64_t first_ns, last_ns; /* of all stretches */
};

struct coverage_hits {
	uint64_t calls; /* probe pairs hit: recorded calls of any depth */
	uint64_t polls; /* merged into spins */
	uint64_t preloaded; /* calls and polls that the process has recorded itself, without a probe; in none of these */
	uint64_t preloaded_polls; /* of preloaded: polls */
	uint64_t preloaded_counted; /* calls that the process has counted itself; in none of the others */
	uint64_t counted;	/* probe pairs hit by calls that were counted only: not in calls */
	uint64_t stepped;	/* of calls and polls: the probed instruction is single-stepped */
	uint64_t stepped_polls; /* of stepped: polls */
	uint64_t kernel; /* calls and polls within the kernel (layer os): what they cost is not calibrated */
	uint64_t switches; /* scheduler records its threads caused */
	uint64_t cost_ns;  /* by calibrated costs */
};

/* What is called, or polled in vain, some times. */
struct coverage_made {
	const struct func_info *func;
	uint16_t lib;
	bool preloaded;
	uint64_t calls, polls, counted;
};

struct coverage_library {
	const char *path, *build_id, *flavour, *version, *link; /* "" if not told */
	uint64_t attached, missing, failed, emulated, stepped;
	uint64_t preloaded; /* functions whose calls processes record themselves */
	uint64_t id;
	const char *refused;			    /* why probes failed, "" if none did */
	const json_t *missing_names, *failed_names; /* arrays or NULL; borrowed */
};

/* A process had begun to run a library before probes were in it. */
struct coverage_late {
	uint64_t ts_ns, late_ns; /* when it mapped it, and for how long it was unseen */
	uint32_t pid;
	const char *path; /* "" if the library is not told */
};

/* What became of a function by the limit on the cost of tracing. */
struct coverage_limit {
	const struct func_info *func;
	uint64_t counted_ns, detached_ns; /* how long */
	uint64_t first_ns, last_ns;
	uint64_t calls; /* counted, of whatever process */
	/* the most that tracing took of a process's time when it was given up further, and whose */
	double cost;
	const struct model_process *proc; /* NULL: not known */
};

struct coverage {
	struct model_sink sink;
	double limit; /* part of a process's time that tracing may cost; 0: no limit */
	bool limit_all; /* of what processes spend on recording their calls themselves, too, not of probes only */
	struct coverage_limit *limited; /* by function id, func NULL of those that were not; owned */
	uint32_t nlimited;		/* allocated */
	struct coverage_limit
		exceeded; /* counted_ns: for how long the limit was not held; 0: never */
	struct coverage_loss loss[POV_CLASS_CNT]; /* by the LOST records */
	struct model_lost *lost;		  /* the first ones; owned */
	uint32_t nlost;
	struct coverage_hits *process;	  /* by idx; owned */
	uint32_t nprocess;		  /* allocated */
	struct coverage_hits *func;	  /* by function id, over all ranks; owned */
	uint32_t nfunc;			  /* allocated */
	struct coverage_library *library; /* owned */
	uint32_t nlibrary;
	struct coverage_late *late; /* owned */
	uint32_t nlate;
	struct map stepped;				 /* key of (library, function) → marker */
	bool calibrated;				 /* a probe_cost block is there */
	double call_ns, spin_ns, stepped_ns, counted_ns; /* 0 if not measured */
	bool has_preload;	   /* some processes recorded their calls themselves: */
	double preload_ns;	   /* what that adds to one; 0 if not measured */
	double preload_counted_ns; /* the same of one that is counted only */
	uint64_t preload_wait_ns;  /* threads waited for room to record, together */
	uint64_t preload_no_area; /* of the lost calls, those of threads that could get no memory to record them in */
	uint64_t preload_missed; /* functions that processes could not record themselves, and that got probes there */
	uint64_t preload_damaged; /* of these threads nothing was taken from some time on */
	bool has_end;
	const char *end_reason;
	uint64_t lost_cnt[POV_CLASS_CNT]; /* as the end block counts, or LOST records if more */
	const json_t *misses, *stats;	  /* objects of the end block, or NULL; borrowed */
	uint64_t questions, wait_ns;	  /* of threads about files; their wait for answers */
	uint64_t own_cpu_ns;
	bool own_cpu_split; /* of own_cpu_ns these are known: */
	uint64_t own_cpu_start_ns,
		own_cpu_stop_ns; /* before the recording ran, and from its end on */
	uint64_t open_calls, unwound_calls;
};

#define COVERAGE_LOST_MAX 1000 /* stretches kept one by one */

/* CPU time of the recorder while the recording ran; all of it if the parts are not known. */
uint64_t coverage_own_cpu_steady(const struct coverage *a);
/* Processes that hit probes. */
uint32_t coverage_probed(const struct coverage *a);
/* What single-stepping adds to a hit, by the calibration; 0 if that is not known. */
double coverage_step_ns(const struct coverage *a);
/* Whether probes came late for a library of this process. */
bool coverage_was_late(const struct coverage *a, const struct model_process *p);
/* ns that hits cost by the calibration; 0 if there is none. */
double coverage_cost(const struct coverage *a, const struct coverage_hits *h);
/* Of that, by polls that found nothing. */
double coverage_poll_cost(const struct coverage *a, const struct coverage_hits *h);
/* ns that calls of a function cost which are recorded, polled in vain, and counted. */
double coverage_made_cost(const struct coverage *a, const struct coverage_made *made);
void coverage_init(struct coverage *a);
void coverage_release(struct coverage *a);

#endif
