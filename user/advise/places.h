/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where ranks ran and how far apart these places are: on different hosts, or within a host by the
 * recorded topology (hwloc: packages and shared caches). A rank's place is the CPU on which its
 * threads ran longest.
 */
#ifndef POV_ADVISE_PLACES_H
#define POV_ADVISE_PLACES_H

#include "lib/map.h"
#include "model/model.h"

enum place_distance { PLACE_CACHE, PLACE_PACKAGE, PLACE_HOST, PLACE_FAR, PLACE_DISTANCES };

struct place {
	uint32_t host; /* index for model_host_get() */
	uint32_t cpu;  /* the trace's CPU number */
};

struct place_cpu {
	int l3, package; /* -1: unknown */
};

struct places {
	struct model_sink sink;
	const struct model *model;
	struct map ran; /* (process, CPU) → ns run there, plus 1 per stretch, as a pointer */
	struct place_cpu *cpu; /* by the trace's CPU number; owned */
	uint32_t ncpu;
};

void places_init(struct places *p, const struct model *m);
void places_release(struct places *p);
/* Call after the replay. Returns false if the process never ran. */
bool places_of(const struct places *p, const struct model_process *process, struct place *out);
enum place_distance places_distance(const struct places *p, struct place a, struct place b);

#endif
