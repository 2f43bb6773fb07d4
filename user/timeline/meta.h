/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a timeline says about the recording as a whole, and how its processes are called.
 */
#ifndef POV_TIMELINE_META_H
#define POV_TIMELINE_META_H

#include "timeline/args.h"

struct writer_select;

/* Host, kernel, command, versions, clocks, losses, selection. Texts lie in a or in the model. */
void meta_fill(struct writer_args *a, struct model *m, const struct writer_select *sel);

/* "rank 3 · app", with its job when there are several; other processes by name. Caller frees. */
char *meta_process_name(const struct model_process *p, uint32_t njobs);

/* uname -v of the recorded host, or "". */
const char *meta_kernel_version(struct model *m);

#endif
