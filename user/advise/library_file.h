/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Files that a trace names and that are to be run. The trace may be anybody's: it can make us run what is on this machine anyway, under a
 * name and with an identity of its choice, but nothing that somebody else than root or the user could have put there.
 */
#ifndef POV_ADVISE_LIBRARY_FILE_H
#define POV_ADVISE_LIBRARY_FILE_H

#include <sys/types.h>

/*
 * Why a file is not to be run by a user: it is not there, has not that build ID ("": any), or it or a directory above it belongs to
 * somebody else than root and the user, or may be written by others. NULL: it may be run. Caller frees.
 */
char *library_file_distrust(const char *path, const char *build_id, uid_t user);

#endif
