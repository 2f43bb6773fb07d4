/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The table of a picture's data, which --tsv prints. */
#ifndef POVPLOT_TABLE_H
#define POVPLOT_TABLE_H

#include "data.h"
#include "script.h"

/* The script's blocks that follow are its rows. columns: as for script_table; the comment names the results' benchmarks and files. */
void table_begin(struct script *s, const struct data_result *const *result, size_t cnt,
		 const char *columns);

#endif
