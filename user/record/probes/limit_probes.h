/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Removes the probes of chosen functions from all libraries, and puts them back. The kernel waits
 * for grace periods with each probe, so a separate thread does this, one job at a time, while the
 * rings continue to be emptied.
 */
#ifndef POV_RECORD_PROBES_LIMIT_PROBES_H
#define POV_RECORD_PROBES_LIMIT_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "target/probes/links.h"

struct images;
struct limit_probes;

/* Borrows im. */
struct limit_probes *limit_probes_new(struct images *im, const struct link_programs *programs);
/* Waits for the running job. Call it before images_detach. */
void limit_probes_free(struct limit_probes *p);
/* Returns true if a function has probes that can be detached, or that are detached. */
bool limit_probes_has(const struct limit_probes *p, uint16_t func);
/* Returns true if some of a function's probes are detached or could not be put back. */
bool limit_probes_lacks(const struct limit_probes *p, uint16_t func);
/* Returns true if a job is running, after checking whether it has ended. */
bool limit_probes_busy(struct limit_probes *p);
/*
 * Start a job, unless there is nothing to do. func selects functions by row of the function table.
 * Do not call them while a job is running. A call that is open when its probes are removed has no
 * end.
 */
void limit_probes_detach(struct limit_probes *p, const bool *func);
void limit_probes_attach(struct limit_probes *p, const bool *func);

#endif
