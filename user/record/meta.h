/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Meta objects of a trace (kmod-docs/TRACE_META.md), as JSON. */
#ifndef POV_RECORD_META_H
#define POV_RECORD_META_H

#include <jansson.h>

struct trace_writer;

/* Writes a meta object and releases it. 0 or -errno, as trace_writer_meta. */
int meta_write(struct trace_writer *w, json_t *meta);

#endif
