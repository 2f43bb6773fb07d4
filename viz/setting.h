/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The environment of a file's measurements, as far as it decides which settings exist. It comes
 * from the file's factors (kmod-docs/BENCH_FORMAT.md). Unknown factors yield no setting.
 */
#ifndef POVPLOT_SETTING_H
#define POVPLOT_SETTING_H

#include <stdbool.h>

#include "data.h"

enum setting_library { SETTING_OTHER, SETTING_OPENMPI, SETTING_MPICH };

/* The library. *name is its first word or two, for sentences; "" if the file does not name it. */
enum setting_library setting_library(const struct data_file *f, const char **name);

/*
 * A setting that lets messages progress while ranks compute, in a few words. NULL if none is known
 * or it is already set. Caller frees.
 */
char *setting_progress(const struct data_file *f);

/* How to start a rank with as many cores as threads. Caller frees. */
char *setting_cores(const struct data_file *f);

#endif
