/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What cost ranks most, and who was the cause. Each kind of finding has a rule (kmod-docs/FINDINGS.md) and says what ranks lost by it,
 * added up. Costs of different findings may be of the same time: a rank is late because somebody held its core; they are never
 * added. The analyses that they are made of are sinks of one replay.
 */
#ifndef POV_FINDING_FINDING_H
#define POV_FINDING_FINDING_H

#include "analysis/any_source.h"
#include "analysis/app_time.h"
#include "analysis/arrivals.h"
#include "analysis/causes.h"
#include "analysis/contests.h"
#include "analysis/demand.h"
#include "analysis/allotted.h"
#include "analysis/file_io.h"
#include "analysis/holders.h"
#include "analysis/late.h"
#include "analysis/locks.h"
#include "analysis/moves.h"
#include "analysis/storms.h"
#include "analysis/overlap.h"
#include "analysis/passive.h"
#include "analysis/transfer_start.h"
#include "analysis/unexpected.h"
#include "analysis/volumes.h"
#include "model/model.h"
#include "site/sites.h"

#define FINDING_NS 1000000 /* what cost less is none … */
#define FINDING_PART \
	200 /* … nor is what cost less than one part in so many of what a rank lives on average */

#define FINDING_NOBODY UINT32_MAX

struct finding {
	const char *kind; /* its name, as in JSON and documents */
	uint64_t cost_ns; /* of all ranks that lost by it */
	char *text;	  /* one sentence without an end mark: who, whom, how much; owned */
	char *advice;	  /* what to do about it, or NULL; owned */
	uint32_t process; /* idx of whoever is the cause; or FINDING_NOBODY: several are, or it is none */
	uint64_t from_ns, to_ns; /* of the longest part of it; both 0: it is at no certain time */
	uint32_t *contest, ncontest; /* what it tells of: indices of findings.contest; owned */
	const char *
		told_by; /* the kind of another one that tells of nearly all of this time, and better; or NULL */
};

#define FINDING_SINKS_MAX 20

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
	void (*matched)(void *ctx, const struct match *m); /* the caller's: each match; or NULL */
	void *matched_ctx;
	struct causes causes;
	struct any_source any_source;
	struct unexpecteds unexpecteds;
	struct cause *root, *direct[CAUSE_WAITS]; /* causes_list of its maps; owned */
	uint32_t nroot, ndirect[CAUSE_WAITS];
	struct contests contests;
	struct contest *contest; /* contests_list; owned */
	uint32_t ncontest;
	struct demand demand;
	struct allotted allotted;
	struct moves moves;
	struct storms storms;
	struct overlaps overlaps;
	struct volumes volumes;
	struct file_io file_io;
	struct sites *sites;			/* the caller's, for names of places; or NULL */
	const struct transfer_start *transfers; /* the caller's, settled; or NULL */
	const bool *chosen; /* by process index: whose loss counts; NULL: all ranks' */
	bool *limited; /* by process index: a limit of CPU time held it back, says the kernel; owned */
	struct finding *finding; /* owned; the costliest first */
	uint32_t n;
	uint64_t least_ns; /* what cost less is none */
};

void findings_init(struct findings *f);
void findings_release(struct findings *f);
/* Those that the replay must tell; room for FINDING_SINKS_MAX. Returns how many. */
uint32_t findings_sinks(struct findings *f, const struct model_sink **sinks);
/* Once, after the replay. chosen must outlive f. */
void findings_make(struct findings *f, const struct model *m, const bool *chosen);

#endif
