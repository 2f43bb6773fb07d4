/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Findings report what cost ranks most time, and which process caused it. Each kind of finding has
 * a rule (kmod-docs/FINDINGS.md). Its cost is the sum over all ranks that lost time. Different
 * findings may cover the same time: a rank is late because another process held its core. Never add
 * their costs. All analyses behind the findings are sinks of one replay.
 */
#ifndef POV_ANALYSIS_FINDING_H
#define POV_ANALYSIS_FINDING_H

#include "analysis/advice.h"
#include "analysis/app_time.h"
#include "analysis/arrivals.h"
#include "analysis/call_places.h"
#include "analysis/causes.h"
#include "analysis/contests.h"
#include "analysis/demand.h"
#include "analysis/epochs.h"
#include "analysis/file_io.h"
#include "analysis/holders.h"
#include "analysis/late.h"
#include "analysis/migrations.h"
#include "analysis/overlap.h"
#include "analysis/queues.h"
#include "analysis/samples.h"
#include "analysis/transfer_start.h"
#include "analysis/untraced.h"
#include "model/model.h"
#include "site/site_names.h"

/*
 * Bytes that each process moves by MPI: what it sends and what it receives. Point-to-point messages
 * count at both ends, with the size that the sending call reports, if it names the receiver.
 * Collectives and one-sided operations count with the process's own arguments, once their call has
 * returned without an error.
 */

struct volumes {
	struct model_sink sink;
	const struct model *model;
	uint64_t *bytes; /* by idx of processes; owned */
	uint32_t nprocess;
};

void volumes_init(struct volumes *a);
void volumes_release(struct volumes *a);

/* A finding that costs less than this many ns is dropped. */
#define FINDING_NS 1000000
/* A finding that costs less than 1/FINDING_PART of a rank's mean lifetime is dropped, too. */
#define FINDING_PART 200

/* For process indices: several processes are to blame, or none. */
#define FINDING_NOBODY UINT32_MAX

struct finding {
	const char *kind;	 /* name of the rule, as in JSON and documents */
	uint64_t cost_ns;	 /* sum over all ranks that lost time */
	char *text;		 /* one sentence without full stop: who, whom, how much; owned */
	char *advice;		 /* how to fix it, or NULL; owned */
	uint32_t process;	 /* index of the process to blame, or FINDING_NOBODY */
	uint64_t from_ns, to_ns; /* longest occurrence; both 0: no particular time */
	uint32_t *contest, ncontest; /* its contests: indices of findings.contest; owned */
	/* kind of findings that cover nearly all of this time and explain it better, or NULL */
	const char *explained_by;
};

#define FINDING_SINKS_MAX 21

struct findings {
	const struct model *model;
	struct app_time app;
	struct holders holders;
	struct holder *held; /* holders_list; owned */
	uint32_t nheld;
	struct arrivals arrivals;
	struct late_pairs late;
	struct epochs epochs;
	struct locks locks;
	struct passive passive;
	struct untraced untraced;
	struct causes causes;
	struct call_places places;
	struct any_source any_source;
	struct unexpecteds unexpecteds;
	/* lists that causes_list() makes of causes.roots and causes.direct; owned */
	struct cause *root, *direct[CAUSE_WAITS];
	uint32_t nroot, ndirect[CAUSE_WAITS];
	struct contests contests;
	struct contest *contest; /* contests_list; owned */
	uint32_t ncontest;
	struct demand demand;
	struct allotted allotted;
	struct migrations migrations;
	struct storms storms;
	struct overlaps overlaps;
	struct volumes volumes;
	struct file_io file_io;
	struct samples samples;
	struct sleeps sleeps;
	struct sites *sites;			/* for names of code locations; borrowed; or NULL */
	const struct transfer_start *transfers; /* settled; borrowed; or NULL */
	/* by process index: losses of this process count; NULL: losses of all ranks count */
	const bool *chosen;
	/* by process index: the kernel reports that a CPU time limit throttled it; owned */
	bool *limited;
	struct finding *finding; /* costliest first; owned */
	uint32_t n;
	uint64_t least_ns; /* findings that cost less are dropped */
};

void findings_init(struct findings *f);
void findings_release(struct findings *f);
/* Stores the sinks for the replay. sinks has room for FINDING_SINKS_MAX. Returns their number. */
uint32_t findings_sinks(struct findings *f, const struct model_sink **sinks);
/* Makes the findings. Call it once, after the replay. chosen must outlive f. */
void findings_make(struct findings *f, const struct model *m, const bool *chosen);

#endif
