/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Checks that a selection shows something of a recording. */
#ifndef POV_TIMELINE_SELECT_H
#define POV_TIMELINE_SELECT_H

#include "timeline/writer.h"

struct model_process;

/* 0, or -ENOENT (printed) if the recording at path contains no selected rank, function or time. */
int select_check(const struct model *m, const char *path, const struct writer_select *sel);

/* Returns the number of selected ranks; *nranks: all ranks of the recording. */
uint32_t select_ranks(const struct model *m, const struct writer_select *sel, uint32_t *nranks);

/* True if a process is selected. Without a list of ranks, all are. */
bool select_process(const struct writer_select *sel, const struct model_process *p);
/* Array by process index: true for selected ones. The caller frees it. */
bool *select_processes(const struct model *m, const struct writer_select *sel);

#endif
