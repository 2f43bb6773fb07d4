/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Perf-event uprobes that a recording is done with. Their programs have been told to do nothing; what remains
 * costs the traced processes little more than the trap. The kernel takes about 0.1 s to take each away, and
 * nobody should have to wait for that.
 */
#ifndef POV_TARGET_PROBES_LEFTOVER_PROBES_H
#define POV_TARGET_PROBES_LEFTOVER_PROBES_H

#include "target/probes/perf_probe.h"

struct leftover_probes {
	struct perf_probes probes;
	int rings_fd; /* array of maps to be emptied first, so that its memory does not stay as long … */
	unsigned int rings; /* … as the programs do, and how many; 0 = none */
};

/*
 * Closes them all in a process left behind, which holds nothing else, and forgets them. To be called when the
 * other resources of the recording are gone, for the process is a copy of this one.
 */
void leftover_probes_close(struct leftover_probes *leftover);

#endif
