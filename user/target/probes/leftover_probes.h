/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Perf-event uprobes that a finished recording leaves. Their programs do nothing any more; they
 * cost the traced processes little more than the trap. The kernel takes about 0.1 s to remove each
 * one, and nobody should have to wait for that.
 */
#ifndef POV_TARGET_PROBES_LEFTOVER_PROBES_H
#define POV_TARGET_PROBES_LEFTOVER_PROBES_H

#include "target/probes/perf_probe.h"

struct leftover_probes {
	struct perf_probes probes;
	/* array of rings; emptied first, so that the programs do not keep their memory */
	int rings_fd;
	unsigned int rings; /* number of rings; 0: none */
};

/*
 * Closes all probes in a background process, which holds nothing else, and forgets them. Call this
 * after releasing the recording's other resources, because the process is a copy of this one.
 */
void leftover_probes_close(struct leftover_probes *leftover);

#endif
