/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Texts for a trace that is the newest part of a longer recording (record --last). */
#ifndef POV_TRACE_KEPT_H
#define POV_TRACE_KEPT_H

struct trace;

/*
 * When the recording began, and how much of it was stored. NULL: the trace is a whole recording.
 * The caller frees the text, here and below.
 */
char *trace_kept_text(const struct trace *t);
/* The call that triggered the file, and how many calls did. NULL: no trigger was set. */
char *trace_trigger_text(const struct trace *t);

#endif
