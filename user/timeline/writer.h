/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A writer turns the model's reports into a timeline file. Each format is one file ending in one
 * const struct writer. The registry is generated from the file names.
 */
#ifndef POV_TIMELINE_WRITER_H
#define POV_TIMELINE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/human.h"

struct model;
struct out;
struct timeline_options;

/* The selection. Empty lists select everything. Times are relative to the recording's start. */
struct writer_select {
	uint64_t from_ns, to_ns;      /* to_ns 0 = end */
	struct rank_list ranks;	      /* empty: all */
	const char *const *functions; /* globs, e.g. "MPI_I*" */
	uint32_t nfunctions;
	bool every_switch; /* merge no switches (timeline_sched.c) */
	bool all_calls;	   /* draw no calls together (timeline_group.c) */
	/* draw shorter calls together; 0: chosen by the recording (export.h) */
	uint64_t resolution_ns;
};

/* Counts of written items, to be compared with the counts of an importer. */
struct writer_totals {
	/*
	 * slices = calls + spins - grouped + groups + counted + irqs + markers + phases + posts +
	 * completions + arrivals + messages + findings - misplaced. An importer counts instants as
	 * slices, too.
	 */
	uint64_t slices, instants, flows, counters, switches, wakings, bytes;
	uint64_t calls, spins, counted, irqs, markers, phases;
	uint64_t posts, completions, arrivals, messages, findings;
	uint64_t groups;     /* slices that stand for several calls or spins */
	uint64_t grouped;    /* calls and spins in these */
	uint64_t pairs;	     /* flows from a post to its completion */
	uint64_t arrows;     /* flows from a send to its receive */
	uint64_t operations; /* flows from the start of a nonblocking operation to its completion */
	/* left out: received before sent, according to the hosts' clocks */
	uint64_t arrows_reversed;
	uint64_t unpaired; /* completions with an id whose post was not seen */
	uint64_t messages_hidden, findings_hidden; /* for lack of a track */
	uint64_t arrows_hidden, counters_hidden;   /* by the resolution */
	uint64_t resolution_ns;			   /* 0: each call was drawn */
	uint64_t samples;   /* with stacks; of WRITER_STACKS all that count */
	uint64_t stacks;    /* WRITER_STACKS: lines */
	uint64_t raw_bytes; /* size before compression */
	uint64_t open;	    /* calls and posts without an end */
	uint64_t synthetic; /* switches that open or close an interval that was not recorded */
	uint64_t merged;    /* switches not written: others include their threads' time */
	/* calls, spins, irqs, markers that would overlap others; written as instants */
	uint64_t misplaced;
	uint64_t early;	    /* began before the first time that the format can show; cut there */
	uint64_t undecided; /* wake-ups forgotten before it was known whether they lie in calls */
};

enum writer_kind {
	WRITER_TIMELINE, /* for Perfetto */
	WRITER_PICTURE,	 /* for people to look at */
	WRITER_STACKS,	 /* for flame graphs */
};

struct writer {
	const char *name;	    /* "json", "pftrace": as --format takes it */
	const char *const *endings; /* ".json"; NULL-terminated; each also with ".gz" */
	enum writer_kind kind;
	unsigned int passes; /* how often write() replays the recording */
	/*
	 * Replays the model into out. The writer completes opt with what the format shows. 0 or
	 * -errno (printed).
	 */
	int (*write)(struct model *m, struct out *out, struct timeline_options *opt,
		     struct writer_totals *totals);
};

extern const struct writer *const writers[]; /* generated; ends with NULL */
/* Finds a writer by the ending of a path, or by name ("json", "json.gz"). NULL if none. */
const struct writer *writer_find(const char *path_or_name, bool *gzip);

/* Checks that a selection shows something of a recording. */

struct model_process;

/* 0, or -ENOENT (printed) if the recording at path contains no selected rank, function or time. */
int select_check(const struct model *m, const char *path, const struct writer_select *sel);

/* Returns the number of selected ranks; *nranks: all ranks of the recording. */
uint32_t select_ranks(const struct model *m, const struct writer_select *sel, uint32_t *nranks);

/* True if a process is selected. Without a list of ranks, all are. */
bool select_process(const struct writer_select *sel, const struct model_process *p);
/* Array by process index: true for selected ones. The caller frees it. */
bool *select_processes(const struct model *m, const struct writer_select *sel);

/* ---- output ---- */

/*
 * Buffered output of a writer, optionally through gzip. Errors are sticky: after the first one all
 * output is dropped and out_finish() returns the error, so the many small appends need no checks.
 */

#define OUT_ROOM_BYTES 8192 /* most that one out_room() can provide */

/* The caller keeps file, and ends the output with out_finish(). */
struct out *out_new(FILE *file, bool gzip);

/*
 * Returns space for at least OUT_ROOM_BYTES bytes. Pass the end of the written data to
 * out_advance().
 */
char *out_room(struct out *o);
void out_advance(struct out *o, char *end);

void out_write(struct out *o, const void *data, size_t bytes);
void out_text(struct out *o, const char *text);

/* Bytes appended so far, before compression. */
uint64_t out_raw_bytes(const struct out *o);

/* The sticky error so far: 0 or -errno. */
int out_error(const struct out *o);

/* Flushes to the file and frees o. *bytes: size written. 0 or the first -errno (not printed). */
int out_finish(struct out *o, uint64_t *bytes);

#endif
