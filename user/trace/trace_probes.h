/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Meta objects "probes": what was put into a library after its meta object "library" was written. Whoever reads a library wants to
 * know of all of them.
 */
#ifndef POV_TRACE_TRACE_PROBES_H
#define POV_TRACE_TRACE_PROBES_H

#include <jansson.h>
#include <stddef.h>

/* Adds what an object "probes" says to the "library" that it is about. */
void trace_probes_fold(json_t *library, const json_t *probes);
/* The same of all in a list, each to the latest library before it that has its number. */
void trace_probes_fold_all(json_t *const *meta, size_t cnt);

#endif
