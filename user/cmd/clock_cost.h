/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What `povtrace clock --cost` measured: the work at switches, printed, and as a result file for povplot. */
#ifndef POV_CMD_CLOCK_COST_H
#define POV_CMD_CLOCK_COST_H

#include <stdio.h>

#include "clock/clock.h"

void clock_cost_print(const struct clock_result *r, FILE *out);
/* In the form of povbench's result files, for povplot. 0 or -errno (printed). */
int clock_cost_write(const struct clock_result *r, const char *path);

#endif
