/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Takes probes of chosen functions out of all libraries, and puts them back. The kernel waits for grace periods with each, and so does a
 * thread of its own, one job at a time; rings are emptied meanwhile.
 */
#ifndef POV_RECORD_PROBES_LIMIT_PROBES_H
#define POV_RECORD_PROBES_LIMIT_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "target/probes/links.h"

struct images;
struct limit_probes;

/* Borrows the images. */
struct limit_probes *limit_probes_new(struct images *im, const struct link_programs *programs);
/* Waits for the job that is under way. Before images_detach. */
void limit_probes_free(struct limit_probes *p);
/* Whether a function has probes that can be given up, or has given them up. */
bool limit_probes_has(const struct limit_probes *p, uint16_t func);
/* Whether some of a function's probes are given up, or could not be put back. */
bool limit_probes_lacks(const struct limit_probes *p, uint16_t func);
/* A job is under way; looks whether it has ended. */
bool limit_probes_busy(struct limit_probes *p);
/*
 * Begins a job, unless there is nothing to do. func: by row of the function table, those that are meant. Not while one is under way.
 * A call that is under way when its probes go has no end.
 */
void limit_probes_detach(struct limit_probes *p, const bool *func);
void limit_probes_attach(struct limit_probes *p, const bool *func);

#endif
