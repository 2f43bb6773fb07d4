/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A file for a recording that nobody keeps: it has no name, so that nothing is left behind however the command ends. */
#ifndef POV_CMD_RECORD_TEMPORARY_H
#define POV_CMD_RECORD_TEMPORARY_H

/* A descriptor, or -1 (printed, as the command's). *dir: where the file is; a constant, or of the environment. */
int record_temporary_open(const char *command, const char **dir);

#endif
