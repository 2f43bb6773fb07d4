/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Of a trace that is the newest part of a longer recording (record --last): that it is, and why it was written. */
#ifndef POV_TRACE_KEPT_H
#define POV_TRACE_KEPT_H

struct trace;

/* When the recording began, and how much was kept. NULL: the trace is all of a recording. The caller frees, here and below. */
char *trace_kept_text(const struct trace *t);
/* The call that had it written, and how many did. NULL: none was waited for. */
char *trace_trigger_text(const struct trace *t);

#endif
