/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The subcommands. One command is one file, user/cmd_<name>.c, that ends in
 * `const struct command cmd_<name>`; make generates the table from the files.
 */
#ifndef POV_CMD_COMMANDS_H
#define POV_CMD_COMMANDS_H

#include "lib/option.h"

extern const struct command *const commands[]; /* by name; ends with NULL */

#endif
