/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Samples where threads of targets run outside MPI, with a clock on each CPU, POV_SAMPLES_HZ times
 * a second. Unlike context switches, samples are in proportion to time. The rest of the recording
 * works without them.
 *
 * Samples with callers (struct pov_sample) are made from the registers and stack copies that the
 * kernel half takes (struct pov_stack). Only the copy of a stack is read, because the thread runs
 * on. Callers beyond the copy are left out, and the sample has a flag for this. Unwind tables are
 * read from the process, once for each place in a file (target/unwind.h). x86-64 only.
 */
#ifndef POV_RECORD_SAMPLES_H
#define POV_RECORD_SAMPLES_H

#include "abi/thread.h"

struct kernel;

/* Attaches the clocks. Prints the reason if this fails. */
void place_samples_attach(struct kernel *k);

struct callers;

struct callers *callers_new(void);
void callers_free(struct callers *c); /* NULL is allowed */

/*
 * Handles records by which a process maps a file, executes a program, or is new. Other records
 * change nothing.
 */
void callers_identity(struct callers *c, const struct pov_hdr *rec);

#define CALLERS_SAMPLE_BYTES (sizeof(struct pov_sample) + 8u * POV_SAMPLE_CALLERS_MAX)
/* Fills out, which has CALLERS_SAMPLE_BYTES. */
void callers_sample(struct callers *c, const struct pov_stack *stack, struct pov_sample *out);

#endif
