/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A process that inspects files, commands and processes on behalf of the collector. These files
 * belong to other people: one on a file system that does not answer, or made to use up memory or
 * time, must not keep the collector from emptying its rings. So every request has a time limit,
 * after which the helper is abandoned and another one replaces it. Attached probes are handed over
 * at once, as descriptors.
 */
#ifndef POV_TARGET_HELPER_HELPER_H
#define POV_TARGET_HELPER_HELPER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/code_file.h"
#include "target/helper/inspect.h"

/*
 * Receives a reply to a request: {file: …} for each inspected file, then {done: true, …}; see
 * helper_main.c. links has what was attached to the file; the callee takes over its descriptors, if
 * any.
 */
typedef void helper_reply_fn(void *ctx, const json_t *request, const json_t *reply,
			     struct links *links);

/*
 * Called before a request is sent, because many processes that start together ask about the same
 * files. Returns true if the answer is known by now and was acted on: then the request is not sent.
 * May add members to the request.
 */
typedef bool helper_known_fn(void *ctx, json_t *request);

struct helper;

/*
 * Starts a helper. opt and files are borrowed. files are the files that the collector knows; a
 * helper that replaces a stuck one knows them, too. helper_poll passes replies to reply. 0 or
 * -errno (printed).
 */
int helper_start(const struct inspect_options *opt, const struct code_files *files,
		 helper_reply_fn *reply, helper_known_fn *known, void *ctx, struct helper **out);
/*
 * Sends a request, or keeps it until earlier ones are answered. Takes over the object:
 *   {do: "map", pid, start, end}
 *	inspect the file behind a mapping, given by its addresses
 *   {do: "attach", pid, start, end, from, left, rows, wide, loader, soon, parent}
 *	attach the probes of a known file that is mapped there. from, left and rows choose its
 *	sites (struct site_choice). wide: in all processes, instead of this one. loader: also
 *	those in a loader, where processes wait. soon: before other requests in the queue.
 *	parent: process that has the mapping if this one no longer has it.
 *   {do: "path", pid, path}
 *	inspect a file, and its interpreter if it is a script, as the process sees them
 *   {do: "command", argv, env, cwd, libraries}
 *	inspect all files that a command will probably load, and libraries by name
 *   {do: "functions", pid, places}
 *	attach to more functions of known libraries: [[row of the function table, address]]
 *	(inspect.h)
 *   {do: "handed_ops", pid}
 *	attach to functions of known libraries that the process received before
 *	(target/handed_ops.h)
 *   {do: "process", pid, copies, began, ran}
 *	read the process's identity. copies are those of a library in it (code_file.h), or null.
 *	began: it has called a function that initialises MPI. ran: it was already running when
 *	the recording began.
 */
void helper_ask(struct helper *h, json_t *request);
/*
 * Returns a descriptor that is readable when there are replies. It changes when the helper is
 * replaced.
 */
int helper_fd(const struct helper *h);
/* Processes replies without waiting. Abandons a helper that takes too long. */
void helper_poll(struct helper *h, uint64_t now_ns);
bool helper_is_idle(const struct helper *h); /* true if every request is answered */
/* Returns the CPU time of all helpers so far. */
uint64_t helper_cpu_ns(const struct helper *h);
void helper_stop(struct helper *h);

/* Reads members dev, ino and stamp of a request or reply; 0 if absent. */
struct code_id helper_message_id(const json_t *message);

#endif
