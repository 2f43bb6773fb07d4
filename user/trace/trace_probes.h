/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Meta objects "probes": probes inserted into a library after its meta object "library" was
 * written. Readers of a library want all of them.
 */
#ifndef POV_TRACE_TRACE_PROBES_H
#define POV_TRACE_TRACE_PROBES_H

#include <jansson.h>
#include <stddef.h>

/* Adds an object "probes" to the "library" that it refers to. */
void trace_probes_fold(json_t *library, const json_t *probes);
/* The same for all objects in a list: each goes to the latest library before it with its number. */
void trace_probes_fold_all(json_t *const *meta, size_t cnt);

#endif
