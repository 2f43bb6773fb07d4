/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Why ranks' threads slept outside MPI, while their process used MPI (windows.h): by the state in
 * which the kernel had them, and by who woke them. A sleep in a call that waits is that call's.
 */
#ifndef POV_ANALYSIS_SLEEPS_H
#define POV_ANALYSIS_SLEEPS_H

#include "analysis/windows.h"
#include "model/model.h"

enum sleep_kind {
	SLEEP_UNKNOWN,	     /* who woke it was not recorded */
	SLEEP_DEVICE,	     /* uninterruptible: file I/O, paging */
	SLEEP_STOPPED,	     /* stopped by a signal or a debugger */
	SLEEP_OWN_THREAD,    /* woken by a thread of its process */
	SLEEP_OTHER_PROCESS, /* woken by another process */
	SLEEP_INTERRUPT,     /* woken by a timer or a device */
	SLEEP_KINDS,
};

extern const char *const sleep_names[SLEEP_KINDS]; /* names in JSON; NULL for SLEEP_UNKNOWN */

struct sleeps_thread;

struct sleeps {
	struct model_sink sink;
	const struct windows *windows;
	struct sleeps_thread *thread; /* by idx; owned */
	uint32_t nthread;
};

void sleeps_init(struct sleeps *a, const struct windows *w);
void sleeps_release(struct sleeps *a);
/*
 * The kind of most of a thread's sleep; *ns: its time. SLEEP_UNKNOWN unless that is half of all_ns.
 */
enum sleep_kind sleeps_mostly(const struct sleeps *a, uint32_t thread, uint64_t all_ns,
			      uint64_t *ns);

#endif
