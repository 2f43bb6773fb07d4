/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A file for a recording that is not kept. It has no name, so nothing is left however the command
 * ends.
 */
#ifndef POV_CMD_RECORD_TEMPORARY_H
#define POV_CMD_RECORD_TEMPORARY_H

/*
 * Returns a descriptor, or -1 (printed in the command's name). *dir is the file's directory: a
 * constant or from the environment.
 */
int record_temporary_open(const char *command, const char **dir);

#endif
