/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Chooses how short a call may be to be drawn separately, so that the timeline of a large recording
 * stays usable.
 */
#ifndef POV_TIMELINE_RESOLUTION_H
#define POV_TIMELINE_RESOLUTION_H

#include <stdint.h>

struct model;
struct writer_select;

/*
 * Returns the requested resolution in ns. Without a request, returns the shortest of 1, 2, 3, 5, 10
 * us … 10 ms with which the selection takes about ten times the recording's bytes in Perfetto's
 * format; 0 (draw each call) if calls are few. Reads a large recording once. 0 or -errno (printed).
 */
int resolution_choose(struct model *m, const struct writer_select *sel, uint64_t recording_bytes,
		      uint64_t *resolution_ns);

#endif
