/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Calls and spins that are still under way when recording ends. */
#ifndef POV_RECORD_OPEN_CALLS_H
#define POV_RECORD_OPEN_CALLS_H

#include <stdint.h>

struct kernel;
struct pov_hdr;
struct pov_thread;

/*
 * Reads them out of the kernel half's thread states (after the probes are gone) and hands each as a
 * finished record, flagged POV_CALL_OPEN and ended at end_ns, to fn. Returns the number of open calls.
 */
uint64_t open_calls_read(struct kernel *k, uint64_t end_ns,
			 void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);

/* The same of one thread's state, a copy of which is taken. */
void open_calls_of(const struct pov_thread *thread, uint64_t end_ns,
		   void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx);

#endif
