/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Like arguments.c, with the tool in the program itself. */
#include "arguments.c"
#include "plugin/pmpi_tool.c"
