/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A process that looks at files, commands and processes on the collector's behalf. What it meets are other people's
 * files: one on a file system that does not answer, or made to use up memory or time, must not keep the collector from
 * emptying its rings. So every request has a time limit, behind which the helper is given up and another takes its
 * place; and what has been attached is handed over at once, as descriptors.
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
 * A reply to a request: {file: …} for each file looked at, then {done: true, …}; see helper.c. links: what was attached
 * to the file; the callee takes over its descriptors, if there are any.
 */
typedef void helper_reply_fn(void *ctx, const json_t *request, const json_t *reply,
			     struct links *links);

/*
 * Asked before a request is sent: true if its answer has become known meanwhile, and has been acted on. May complete the request.
 * Many processes that start together ask about the same files.
 */
typedef bool helper_known_fn(void *ctx, json_t *request);

struct helper;

/*
 * opt and files are borrowed. files: what is known to the collector; a helper that is started later knows it, too. reply
 * gets what helper_poll has received. 0 or -errno (printed).
 */
int helper_start(const struct inspect_options *opt, const struct code_files *files,
		 helper_reply_fn *reply, helper_known_fn *known, void *ctx, struct helper **out);
/*
 * Sends a request, or keeps it until those before have been answered. Takes over the object:
 *   {do: "map", pid, start, end}	the file behind a mapping, given by its addresses
 *   {do: "attach", pid, start, end, from, left, rows, wide, parent}	the probes of a known file that is mapped there, from that
 *				one of its sites on (struct site_choice), in this process or in all; parent: who has the mapping where this process has it no more
 *   {do: "path", pid, path}		a file, and its interpreter if it is a script, as the process sees it
 *   {do: "command", argv, env, cwd, libraries}	all that a command will probably load, and libraries by name
 *   {do: "functions", pid, places}	more of known libraries: [[row of the function table, address]] (inspect_library.h)
 *   {do: "held", pid}			functions of known libraries that it was handed before (target/held.h)
 *   {do: "process", pid, copies, began, ran}	who it is; copies: of a library in it (code_file.h), or null; began: it has called a function
 *				that initialises MPI; ran: it ran when the recording began
 */
void helper_ask(struct helper *h, json_t *request);
/* Descriptor that becomes readable when replies are there; changes when the helper is replaced. */
int helper_fd(const struct helper *h);
/* Takes in replies, without waiting; gives up a helper that has taken too long. */
void helper_poll(struct helper *h, uint64_t now_ns);
bool helper_is_idle(const struct helper *h); /* nothing asked that is not answered */
/* CPU time of all helpers so far. */
uint64_t helper_cpu_ns(const struct helper *h);
void helper_stop(struct helper *h);

/* Members dev, ino and stamp of requests and replies, 0 if there are none. */
struct code_id helper_message_id(const json_t *message);

#endif
