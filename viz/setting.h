/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a file was measured with, as far as it decides which settings there are: from its factors (kmod-docs/BENCH_FORMAT.md). What these do
 * not tell is unknown, and brings no setting.
 */
#ifndef POVPLOT_SETTING_H
#define POVPLOT_SETTING_H

#include <stdbool.h>

#include "data.h"

enum setting_library { SETTING_OTHER, SETTING_OPENMPI, SETTING_MPICH };

/* Which library it is; *name: its first word or two, for sentences; "" if the file does not say. */
enum setting_library setting_library(const struct data_file *f, const char **name);

/*
 * What lets messages go on while ranks compute, in a few words; NULL: nothing is known, or it is set already. Caller
 * frees.
 */
char *setting_progress(const struct data_file *f);

/* How a rank is started with as many cores as threads. Caller frees. */
char *setting_cores(const struct data_file *f);

#endif
