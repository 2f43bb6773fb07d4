/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The table of a picture's data, for --tsv. */
#ifndef POVPLOT_TABLE_H
#define POVPLOT_TABLE_H

#include "data.h"
#include "script.h"

/* Starts a table with the script's next blocks as rows. columns: see script_table. */
void table_begin(struct script *s, const struct data_result *const *result, size_t cnt,
		 const char *columns);

#endif
