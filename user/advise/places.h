/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where ranks ran, and how far their places are from each other: by host, and within a host by the topology that was recorded (hwloc: packages and
 * shared caches). A rank's place is the CPU on which its threads ran longest.
 */
#ifndef POV_ADVISE_PLACES_H
#define POV_ADVISE_PLACES_H

#include "lib/map.h"
#include "model/model.h"

enum place_distance { PLACE_CACHE, PLACE_PACKAGE, PLACE_HOST, PLACE_FAR, PLACE_DISTANCES };

struct place {
	uint32_t host; /* of model_host_get */
	uint32_t cpu;  /* in the trace's numbers */
};

struct place_cpu {
	int l3, package; /* -1: not known */
};

struct places {
	struct model_sink sink;
	const struct model *model;
	struct map ran;	       /* process, CPU → ns + 1, as a pointer */
	struct place_cpu *cpu; /* by the trace's number; owned */
	uint32_t ncpu;
};

void places_init(struct places *p, const struct model *m);
void places_release(struct places *p);
/* After the replay. false: it did not run. */
bool places_of(const struct places *p, const struct model_process *process, struct place *out);
enum place_distance places_distance(const struct places *p, struct place a, struct place b);

#endif
