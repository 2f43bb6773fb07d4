/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Code shared by all commands that record. Each command decides what to do with the result.
 *
 *	status = record_prepare("record", &o->record, argc, argv, dashdash, &r);
 *	if (status)
 *		return status;
 *	err = record_run(&r, path, 0);
 *	record_hints(&r, err, "give -o a place with more room");
 *	record_wait(&r);
 *	status = err ? 1 : record_status(&r);
 *	record_release(&r);
 */
#ifndef POV_CMD_RECORDING_RECORDING_COMMON_H
#define POV_CMD_RECORDING_RECORDING_COMMON_H

#include "cmd/recording/options.h"
#include "lib/option.h"
#include "record/launch/launch.h"
#include "record/session.h"

/* ---- watching processes ---- */

/* The choice of processes, and the command to run with its user. */
struct watch {
	pid_t *pids; /* owned, like all members that follow */
	size_t pid_cnt;
	struct person *behind;	 /* the user who ran sudo, or NULL */
	struct person *named;	 /* the user given by --user, or NULL */
	struct launch_plan plan; /* program is NULL if there is no command */
	/* owner of all files written: `behind` or `named`; NULL: our own user */
	const struct person *owner;
};

/*
 * Does all lookups that may take time or hang on a server. Call it before signals are caught. user
 * may be NULL. argv is the command to run (argc 0: none) and must outlive the watch. 0, or the exit
 * status (printed).
 */
int watch_prepare(const struct option_list *pids, const char *user, int argc, char **argv,
		  struct watch *out);
void watch_release(struct watch *w);
/* Error message for operands that are not after "--". */
#define WATCH_NO_DASHES(pids)                                                             \
	((pids).cnt ? "put the command to run after --, or several numbers of -p in one " \
		      "argument: -p 11,12" :                                              \
		      "put the command to run after --")

/*
 * From this call on, Ctrl-C, SIGTERM and SIGHUP set the returned flag instead of ending the
 * process.
 */
const volatile int *watch_signals(void);
/*
 * Waits a moment for the command, which the Ctrl-C that stopped us may also be ending. Returns true
 * if it has ended, with its status in *status.
 */
bool watch_reap(pid_t pid, int *status);
/*
 * Converts a status from waitpid to an exit status, and prints it if it is not 0. Returns 0 for -1.
 */
int watch_status(int child_status);

/* ---- recording ---- */

struct recording {
	const char *command; /* as the user typed it: "record" */
	const struct record_options *opt;
	char *const *argv; /* the command to run and its arguments; empty: none */
	struct watch watch;
	double max_overhead_pct; /* 0: no limit */
	/* the limit also holds for processes that record their own calls */
	bool max_overhead_all;
	bool *recorded, *named;	      /* by row of the function table, for session_options; owned */
	struct keep_options *keep;    /* for --last, else NULL; the caller's */
	struct session_result result; /* set by record_run */
};

/*
 * Checks the options and does all lookups that may take time or hang on a server. Call it before
 * signals are caught. 0, or the command's exit status (printed). opt and argv must outlive the
 * recording.
 */
int record_prepare(const char *command, const struct record_options *opt, int argc, char **argv,
		   int dashdash, struct recording *out);
/*
 * Records into a new file. With fd > 0 it uses this empty file, which stays the caller's, and path
 * is only its name in messages. 0 or -errno (printed); after an error the file has what was
 * recorded until then. From this call on, Ctrl-C, SIGTERM and SIGHUP do not end the process.
 */
int record_run(struct recording *r, const char *path, int fd);
/* Prints what went wrong and what to do about it. more_room is the advice for a full disk. */
void record_hints(const struct recording *r, int err, const char *more_room);
/*
 * Waits for the command if the recording ended before it, because povtrace's caller waits for
 * the command: a job script would go on, and the batch system would then end the job. Does not
 * wait if a signal ended the recording. From this call on, signals end the process.
 */
void record_wait(struct recording *r);
/* Returns the command's exit status, and prints it if it is not 0. Returns 0 without a command. */
int record_status(const struct recording *r);
void record_release(struct recording *r);

/*
 * Makes a file for a recording that is not kept. It has no name, so nothing is left however the
 * command ends. Returns a descriptor, or -1 (printed in the command's name). *dir is the file's
 * directory: a constant or from the environment.
 */
int record_temporary_open(const char *command, const char **dir);

/*
 * Parses --last and --when as the user typed them. recorded has a flag for each row of the function
 * table. 0, or -EINVAL (printed). Release out in both cases.
 */
int record_last_parse(const char *last, const struct option_list *whens, const bool *recorded,
		      struct keep_options *out);
void record_last_release(struct keep_options *o);

#endif
