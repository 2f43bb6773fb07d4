/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Trust in files that a trace names and povtrace wants to run. The trace may be anybody's. It can
 * make povtrace run files that exist on this machine, by any name and build ID it chooses. It
 * cannot make povtrace run a file that anybody but root or the user could have put there.
 */
#ifndef POV_ADVISE_LIBRARY_FILE_H
#define POV_ADVISE_LIBRARY_FILE_H

#include <sys/types.h>

/*
 * Returns why the user must not run a file, or NULL if it may be run. Reasons: the file does not
 * exist; it lacks that build ID ("": any); it or a directory above it belongs to somebody other
 * than root and the user, or is writable by others. Caller frees.
 */
char *library_file_distrust(const char *path, const char *build_id, uid_t user);

#endif
