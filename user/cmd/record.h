/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the commands that record have in common: the options that say what and whom, and the recording. What becomes of it is
 * theirs.
 *
 *	status = record_prepare("record", &o->record, argc, argv, dashdash, &r);
 *	if (status)
 *		return status;
 *	err = record_run(&r, path, 0);
 *	record_hints(&r, err, "give -o a place with more room");
 *	status = err ? 1 : record_status(&r);
 *	record_release(&r);
 */
#ifndef POV_CMD_RECORD_H
#define POV_CMD_RECORD_H

#include "lib/option.h"
#include "record/session.h"
#include "cmd/watch.h"

/* First in the commands' own options. */
struct record_options {
	const char *user, *mpi, *layers, *max_overhead;
	struct option_list pids, functions, no_functions, regions;
	bool all, irq;
	int sched, kernel_api, capture;
	uint64_t duration_ns, max_bytes, ring_bytes, cpus_per_ring, spin_gap_ns;
};

extern const struct option_def record_option_rows[]; /* struct command's shared */

struct recording {
	const char *command; /* as the user typed it: "record" */
	const struct record_options *opt;
	char *const *argv; /* of what is to be run; empty if nothing is */
	struct watch watch;
	double max_overhead_pct;      /* 0: no limit */
	bool max_overhead_all;	      /* not of probes only */
	bool *recorded, *named;	      /* by row of the function table: of session_options; owned */
	struct keep_options *keep;    /* of the newest part only, or NULL; the caller's */
	struct session_result result; /* once it has run */
};

/*
 * Checks the options, and finds out all that may take time or ask servers that do not answer: before signals are caught.
 * 0, or the command's exit status (printed). opt and argv must outlive the recording.
 */
int record_prepare(const char *command, const struct record_options *opt, int argc, char **argv,
		   int dashdash, struct recording *out);
/*
 * Records into a file that it makes, or (fd > 0) into that one, which stays the caller's and is empty and only called path.
 * 0 or -errno (printed): then the file has what was recorded until then. From here on Ctrl-C, SIGTERM and SIGHUP do not end the process.
 */
int record_run(struct recording *r, const char *path, int fd);
/* What to do about what was not as it should be; more_room: if the disk was full. */
void record_hints(const struct recording *r, int err, const char *more_room);
/* The exit status of what was run (said if it is not 0); 0 if nothing was. */
int record_status(const struct recording *r);
void record_release(struct recording *r);

#endif
