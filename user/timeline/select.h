/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Whether a selection can show anything of a recording. */
#ifndef POV_TIMELINE_SELECT_H
#define POV_TIMELINE_SELECT_H

#include "timeline/writer.h"

struct model_process;

/* 0; -ENOENT (printed) if no rank, function or moment asked for is in the recording called path. */
int select_check(const struct model *m, const char *path, const struct writer_select *sel);

/* How many ranks the recording has, and how many of them are chosen. */
uint32_t select_ranks(const struct model *m, const struct writer_select *sel, uint32_t *nranks);

/* Whether a process is selected: all are, unless ranks are named. */
bool select_process(const struct writer_select *sel, const struct model_process *p);
/* By index, those that are. Caller frees. */
bool *select_processes(const struct model *m, const struct writer_select *sel);

#endif
