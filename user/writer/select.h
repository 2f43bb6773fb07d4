/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Whether a selection can show anything of a recording. */
#ifndef POV_WRITER_SELECT_H
#define POV_WRITER_SELECT_H

#include "writer/writer.h"

/* 0; -ENOENT (printed) if no rank, function or moment asked for is in the recording called path. */
int select_check(const struct model *m, const char *path, const struct writer_select *sel);

/* How many ranks the recording has, and how many of them are chosen. */
uint32_t select_ranks(const struct model *m, const struct writer_select *sel, uint32_t *nranks);

#endif
