/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A writer turns the model's story into a timeline file. One file a format, ending in one const
 * struct writer; the registry is generated from the file names.
 */
#ifndef POV_TIMELINE_WRITER_H
#define POV_TIMELINE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/rank_list.h"

struct model;
struct out;
struct timeline_options;

/* What is left out. Empty lists select all. Times relative to the recording's start. */
struct writer_select {
	uint64_t from_ns, to_ns;      /* to 0 = end */
	struct rank_list ranks;	      /* empty: all */
	const char *const *functions; /* globs, e.g. "MPI_I*" */
	uint32_t nfunctions;
	bool every_switch; /* none is merged with others (timeline_yield.c) */
	bool all_calls;	   /* none is drawn with others (timeline_group.c) */
	uint64_t resolution_ns; /* calls that are shorter are; 0: chosen by the recording (resolution.h) */
};

/* What was written, to be compared with what an importer counts. */
struct writer_totals {
	/*
	 * slices = calls + spins - grouped + groups + counted + irqs + markers + phases + posts + completions + arrivals + messages + findings -
	 * misplaced. An importer counts instants as slices, too.
	 */
	uint64_t slices, instants, flows, counters, switches, wakings, bytes;
	uint64_t calls, spins, counted, irqs, markers, phases;
	uint64_t posts, completions, arrivals, messages, findings;
	uint64_t groups;  /* slices that stand for several calls or spins: … */
	uint64_t grouped; /* … of calls and spins, so many */
	uint64_t pairs;	  /* of flows: from a post to its completion */
	uint64_t arrows;  /* of flows: from a send to its receive */
	uint64_t operations; /* of flows: from the start of a nonblocking operation to its completion */
	uint64_t arrows_reversed; /* left out: by the hosts' clocks, received before it was sent */
	uint64_t unpaired; /* of completions with an id: it was not seen which post they are of */
	uint64_t messages_hidden, findings_hidden; /* for want of a track */
	uint64_t arrows_hidden, counters_hidden;   /* by the resolution */
	uint64_t resolution_ns;			   /* 0: each call was drawn */
	uint64_t raw_bytes;			   /* bytes before they were compressed */
	uint64_t open;				   /* of calls and posts: without an end */
	uint64_t synthetic; /* of switches: close or open a stretch that was not recorded */
	uint64_t merged;    /* switches that are not written: others have their threads' time */
	uint64_t misplaced; /* of calls, spins, irqs, markers: would overlap another; written as instants */
	uint64_t early;	    /* began before the first time the format can show; cut there */
	uint64_t undecided; /* wake-ups forgotten before it was known whether they lie in calls */
};

struct writer {
	const char *name;	    /* "json", "pftrace": as --format takes it */
	const char *const *endings; /* ".json"; NULL-terminated; each also with ".gz" */
	bool picture;		    /* for people to look at, and not a timeline for Perfetto */
	/* Replays the model into out. opt: to be completed by what the format shows. 0 or -errno (printed). */
	int (*write)(struct model *m, struct out *out, struct timeline_options *opt,
		     struct writer_totals *totals);
};

extern const struct writer *const writers[]; /* generated; ends with NULL */
/* By the ending of a path, or by name ("json", "json.gz"); NULL if none. */
const struct writer *writer_find(const char *path_or_name, bool *gzip);

#endif
